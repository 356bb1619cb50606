# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The process that calls a function with each input of a map's chunk, one after another."""

import sys

STARTUP_MODULES = frozenset(sys.modules)

import json
import marshal
import os

from . import modules, outcomes
from .function import read_call
from .report import Report

CREDIT_FD = 4  # one byte for each input that may start
INLINE_BYTES = 64 << 10  # small, since many results may wait for the store


def main(argv, _):
    """Call the function with each remaining input; return the exit code."""
    from ..text import timestamp

    call = read_call()
    report = Report(call["scratch"])
    os.set_inheritable(CREDIT_FD, False)
    shared = marshal.dumps(call["kwargs"])  # each call gets its own copy
    function, failure = load(call, report)
    left = set(call["left"])
    with open(call["inputs"], "rb") as lines:
        for number, line in zip(call["numbers"], lines):
            if number not in left:
                continue
            os.read(CREDIT_FD, 1)
            report.send(begins=number)
            here = dict(call, scratch=os.path.join(call["scratch"], "inputs", str(number)), inline_bytes=INLINE_BYTES)
            make_directory(here["scratch"])
            started = timestamp()
            outcome = dict(failure) if failure else compute(function, line, marshal.loads(shared), here, report)
            outcome.update(started=started, finished=timestamp())
            report.send(ended=number, outcome=outcome)
    outcomes.watch_threads(call["title"])
    return 0


def make_directory(path):
    """Create the directory for what does not fit into a report. On a full disk, small values do without."""
    try:
        os.makedirs(path)
    except OSError:
        pass


def load(call, report):
    """Return the function, or the outcome of every input if its module cannot be imported."""
    try:
        modules.prepare(call, STARTUP_MODULES)
        return modules.find_function(call), None
    except BaseException as exc:
        if not report.ours:
            raise
        failure = outcomes.of_exception(exc, call)
    if failure["reason"] == "Completed":
        failure = outcomes.of_missing(call)
    return None, failure


def compute(function, line, kwargs, call, report):
    """Return the outcome of one call."""
    try:
        args, kwargs = arguments(json.loads(line), kwargs)
        value = modules.value_of(function, args, kwargs)
    except BaseException as exc:
        if not report.ours:
            raise
        return outcomes.of_exception(exc, call)
    if not report.ours:
        sys.exit(0)
    return outcomes.of_value(value, call)


def arguments(value, kwargs):
    """Return the arguments of a call: its input, and those that all calls share."""
    if isinstance(value, dict):
        return (), dict(kwargs, **value)
    return value if isinstance(value, list) else (value,), kwargs
