# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Starts the interpreter of a function call first of all, then the runner: both take long to begin."""

import os
import sys

from .environment import WORK, at_start
from .process import Child, interpreter


def main(argv, early_signals):
    """Runs one attempt and ends the process."""
    child = start(workspace_of(argv)) if "--function" in argv else None
    from .main import main as run  # only now

    code = run(argv, early_signals, child)
    if sys.stdout is not None:
        sys.stdout.flush()  # the text of --help
    os._exit(code)  # Python's own end would take longer than all that is left to do


def workspace_of(argv):
    """The workspace of a command line that has not been checked yet."""
    work = WORK
    for flag, value in zip(argv, argv[1:] + [""]):
        if flag == "--work":
            work = value
        elif flag.startswith("--work="):
            work = flag[len("--work=") :]
    return os.path.join(os.path.abspath(work), "workspace")


def differs_later(workspace, environ):
    """Reports whether Python, the loader or the user's start-up code might find something else once the workspace is filled."""
    paths = [path for name in ("PYTHONPATH", "LD_LIBRARY_PATH") for path in (environ.get(name) or "/").split(os.pathsep)]
    return not all(map(os.path.isabs, paths)) or any(workspace in value for value in environ.values())


def start(workspace):
    """Returns a Child in the workspace that waits for its document, or None if it has to start later."""
    if differs_later(workspace, os.environ):
        return None
    environ = dict(os.environ, **at_start(os.environ))
    try:
        os.makedirs(workspace, exist_ok=True)
        return Child(interpreter("function", workspace, environ))
    except OSError:
        return None  # if it lasts, the attempt meets it, too, and tells of it
