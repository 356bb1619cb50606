# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Run a file or a module as python3 does, after what must come first: Pathways, and a debugger that stops before the first line."""

import sys

STARTUP_MODULES = frozenset(sys.modules)

import atexit
import json
import os

from . import modules, outcomes


def main(argv, _):
    """Run a file or -m MODULE with arguments."""
    what = argv[2:]
    is_module = what[0] == "-m"
    sys.argv = what[is_module:]
    name = sys.argv[0]
    sys.path[:1] = [os.getcwd() if is_module else os.path.dirname(name)]
    import runpy

    debugging, ended = modules.import_debug(), []
    modules.let_shadow(sys.path[:1] + list(filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))), STARTUP_MODULES)
    sys.excepthook = show
    debugger = modules.begin(debugging)
    # After the exit handlers of the program, and before those of JAX, which may crash.
    atexit.register(report, os.path.dirname(os.environ["KINETIC_STOP_FILE"]), os.getpid(), ended)
    if debugger:
        debugger.breakpoint()
    try:
        runpy.run_module(name, None, "__main__", True) if is_module else runpy.run_path(name, None, "__main__")  # step into it
    except SystemExit as exc:
        ended.append(exc.code if isinstance(exc.code, int) else int(exc.code is not None))
        if ended[0]:
            raise
    except BaseException:
        ended.append(1)
        raise
    else:
        ended += [0, "returned"]  # after SIGTERM, sys.exit(0) means that it has saved its work, not that it has finished


def report(scratch, pid, ended):
    """Report how the program has ended, unless it has not, or this is a fork of it."""
    if ended and os.getpid() == pid:
        told = {"exit_code": ended[0]} if ended[0] else {"outcome": dict(outcomes.outcome_of("Completed", 0), returned=len(ended) > 1)}
        with open(os.path.join(scratch, "report.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")


def show(kind, exc, _):
    """Print an exception as python3 would, without our own frames."""
    outcomes.hide_runner(exc)
    sys.__excepthook__(kind, exc, exc.__traceback__)
