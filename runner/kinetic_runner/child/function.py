# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The process that imports and calls a function and reports the outcome. It exits as any Python program does."""

import sys

STARTUP_MODULES = frozenset(sys.modules)  # what python3 loads before the first line of a program, and a little more

import marshal
import os

from . import modules, outcomes
from .answer import answer_signal, find_projects
from .report import Report

DOCUMENT_FD = 5
importing = []  # this process's ID while it imports the user's program: a job that it submits then would import it, too, and submit another one


def main(argv, _):
    """Call the function that the document names; return the exit code."""
    call = read_call()
    return run(call, Report(call["scratch"]))


def run(call, report):
    """Call the function in this process, which has entered the call's place; return the exit code."""
    return conclude(forms_of(call), call, report, lambda: call_function(call))


def read_call():
    """Wait for the runner's document, and go where it says."""
    call = wait_for_call()
    enter(call)
    return call


def wait_for_call():
    """Wait for the runner's document, which says what to call and where."""
    with open(DOCUMENT_FD, "rb", buffering=0) as pipe:
        data = pipe.readall()
    try:
        return marshal.loads(data)
    except EOFError:
        os._exit(0)  # the runner ended without sending a call


def enter(call):
    """Go to the place of a call: its directory and its variables."""
    os.chdir(call["cwd"])
    os.environ.update(call["environ"])
    answer_signal()
    find_projects()


def conclude(forms, call, report, action):
    """Report the outcome of action and return its exit code. A fork made by the user's code reports nothing."""
    try:
        value = action()
    except BaseException as exc:
        if not report.ours:
            raise
        outcome = forms.of_exception(exc, call)
    else:
        if not report.ours:
            return 0
        outcome = forms.of_value(value, call)
    report.send(outcome=outcome)
    outcomes.watch_threads(call["title"])
    return outcome["exit_code"]


def forms_of(call):
    """Return the module that makes the outcomes of this kind of call. Later, the user's modules may have the names of those it imports."""
    if call["kind"] == "function":
        return outcomes
    from . import pickled

    return pickled


def call_function(call):
    """Return the value of the call, or None on hosts whose value is not kept. From here on the user's code runs."""
    debugger = modules.prepare(call, STARTUP_MODULES)
    function, args, kwargs = what_to_call(call)
    if call["payload"]:
        os.unlink(call["payload"])  # its room on the disk is for the result
    value = modules.value_of(function, args, kwargs, debugger)
    return value if call["keep_value"] else None


def what_to_call(call):
    """Return the function, its arguments and its keyword arguments."""
    importing.append(os.getpid())  # a process that is forked meanwhile does not import it
    try:
        if call["kind"] == "function":
            return modules.find_function(call), (), call["kwargs"]
        from .payload import load

        return load(call)
    finally:
        importing.pop()
