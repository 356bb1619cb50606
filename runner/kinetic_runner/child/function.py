# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The process that calls a function: import, call, report. It ends as any Python program ends."""

import sys

STARTUP_MODULES = frozenset(sys.modules)  # what python3 has loaded before the first line of a program, and a little

import marshal
import os

from . import modules, outcomes
from .report import Report

DOCUMENT_FD = 5


def main(argv, _):
    """Calls the function that the document names; returns the exit code."""
    call = read_call()
    report = Report(call["scratch"])
    return conclude(call, report, lambda: call_function(call))


def read_call():
    """Waits for the document that the runner sends: what to call, and where."""
    with open(DOCUMENT_FD, "rb", buffering=0) as pipe:
        data = pipe.readall()
    try:
        call = marshal.loads(data)
    except EOFError:
        os._exit(0)  # the runner has ended, and there is nothing to call
    os.chdir(call["cwd"])
    os.environ.update(call["environ"])
    return call


def conclude(call, report, action):
    """Reports the outcome of action and returns its exit code. In a fork of the user's code it ends as without us."""
    try:
        value = action()
    except BaseException as exc:
        if not report.ours:
            raise
        outcome = outcomes.of_exception(exc, call)
    else:
        if not report.ours:
            return 0
        outcome = outcomes.of_value(value, call)
    report.send(outcome=outcome)
    outcomes.watch_threads(call["title"])
    return outcome["exit_code"]


def call_function(call):
    """The value of the call, None on hosts whose value is not kept. Everything from here on is the user's code."""
    debugger = modules.prepare(call, STARTUP_MODULES)
    function = modules.find_function(call)
    value = modules.value_of(function, (), call["kwargs"], debugger)
    return value if call["keep_value"] else None
