# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The child of the runner on a warm host. It waits for a call, and hands it to the process that is kept, if there is one.

The runner notices no difference: this process gets its signals and ends as the call does.
"""

import sys

from ..child import function  # first: what it finds loaded is what Python itself has loaded

import os
import signal
import socket

from ..child.outcomes import tell
from ..child.report import Report
from .handover import KEPT, events, has_left, send_order
from .imports import Imports

BEGIN_SECONDS = 60.0  # for it to import packages and begin the call, before the call runs here


def main(argv, _):
    """Run one call, here or in the process that is kept; return its exit code."""
    path = os.environ.pop(KEPT, "")
    early = connect(path) if path else None  # so that it forks now
    call = function.wait_for_call()
    if told := Imports(call["packages"]).untold():
        tell(told)
    if path:
        hand_over(path, early, call)
    function.enter(call)
    report = Report(call["scratch"])
    code = function.run(call, report)
    if report.ours:
        Imports(call["packages"]).note(call, function.STARTUP_MODULES)
    return code


def connect(path):
    """Return a connection to the process that is kept, or None."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        return None
    return connection


def hand_over(path, early, call):
    """Let the process that is kept run the call, and end as the call does. Return if it can't. early is a connection to it, or None."""
    came, pid = [], 0

    def pass_on(number, _):
        if pid:
            kill(pid, number)
        else:
            came.append(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGTERM, signal.SIGINT)}
    if early is not None and has_left(early):  # it may have been replaced since
        early.close()
        early = None
    begun = begin(early or connect(path), call)
    if begun is None:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came:
            os.kill(os.getpid(), number)
        return
    pid, lasting, connection, told = begun
    for number in came:
        kill(pid, number)
    connection.settimeout(None)
    status = next(told, {}).get("status", signal.SIGKILL)
    if lasting and os.WIFSIGNALED(status):  # else it has told so itself
        tell("kinetic: the next call runs in a new process: this one has failed or was cancelled\n")
    end_as(status)


def begin(connection, call):
    """Send the call on a connection. Return the PID of its process, whether that runs further calls, the connection and its further events.

    Return None if the call does not begin in time.
    """
    if connection is None:
        return None
    try:
        connection.settimeout(BEGIN_SECONDS)
        send_order(connection, {"pid": os.getpid(), "environ": dict(os.environ), "call": call})
        told = events(connection)
        process = next(told)
        return process["pid"], process["lasting"], connection, told
    except (OSError, StopIteration, ValueError):
        connection.close()
        return None


def kill(pid, number):
    """Send a signal to the call."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass  # it has just ended


def end_as(status):
    """End this process with a status of os.waitpid."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)
