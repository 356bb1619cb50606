# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Start the interpreter of a function call first, then the runner: both are slow to start."""

import os
import sys

from .environment import OF_RUNNER, WORK, at_start
from .process import PYTHON, Child, interpreter


def main(argv, early_signals):
    """Run one attempt and end the process."""
    child = start(workspace_of(argv)) if "--function" in argv and not starts_later(argv) else None
    from .main import main as run  # only now

    code = run(argv, early_signals, child)
    if sys.stdout is not None:
        sys.stdout.flush()  # the text of --help
    os._exit(code)  # a normal exit would take longer than everything that is left to do


def workspace_of(argv):
    """Return the workspace of a command line that is not checked yet."""
    work = WORK
    for flag, value in zip(argv, argv[1:] + [""]):
        if flag == "--work":
            work = value
        elif flag.startswith("--work="):
            work = flag[len("--work=") :]
    return os.path.join(os.path.abspath(work), "workspace")


def starts_later(argv):
    """Return whether the call needs the interpreter of an environment, which is not there yet, or several."""
    return any(word.partition("=")[0] in ("--environment", "--processes") for word in argv)


def differs_later(workspace, environ):
    """Return whether Python, the loader or the user's start-up code might find other files once the workspace is filled."""
    paths = [path for name in ("PYTHONPATH", "LD_LIBRARY_PATH") for path in (environ.get(name) or "/").split(os.pathsep)]
    return not all(map(os.path.isabs, paths)) or any(workspace in value for value in environ.values())


def start(workspace, role="function", python=PYTHON):
    """Return a Child that waits in the workspace for its document, or None if it must start later."""
    if "KINETIC_NETWORK" in os.environ or differs_later(workspace, os.environ):  # whose script would run twice
        return None
    environ = dict(os.environ, **at_start(os.environ))
    for name in (*OF_RUNNER, "KINETIC_STOP_FILE"):  # the last is of the job in which this one was started
        environ.pop(name, None)
    try:
        os.makedirs(workspace, exist_ok=True)
        return Child(interpreter(role, workspace, environ, python=python))
    except OSError:
        return None  # if the problem lasts, the attempt hits it too and reports it
