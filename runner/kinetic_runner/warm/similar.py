# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a process that waits for a call is started with: as if that were similar to the last one.

Python and packages read variables when they start, so a call with others, or with other packages, gets a new process.
"""

import os

from ..ahead import differs_later
from ..environment import CACHE, OF_RUNNER, activated, at_start, cache_variables, venv_bin
from ..process import PYTHON

NONE = {"environ": {}, "environment": ""}  # before any call


def likeness(order):
    """Return what must be equal for two calls to be similar: the variables, and the hash of the packages that are installed for them."""
    argv = order["argv"]
    return {"environ": order["environ"], "environment": argv[argv.index("--environment") + 1] if "--environment" in argv else ""}


def words_of(like):
    """Return what likeness() has returned as words, in the order of the client."""
    return [*sorted(f"{name}={value}" for name, value in like["environ"].items()), like["environment"]]


def workspace_in(work):
    """Return the directory of the project."""
    return os.path.join(work, "workspace")


def program_for(last, work):
    """Return the interpreter for a call like the last one, and its variables; None if Python could only start after its files are there."""
    environ, python = {name: value for name, value in os.environ.items() if name not in OF_RUNNER}, PYTHON
    environ.update(last["environ"])
    if last["environment"]:
        venv = os.path.join(work, "env")
        environ.update(activated(environ, venv))
        python = os.path.join(venv_bin(venv), "python")
    if os.path.isdir(cache := os.path.join(work, CACHE)):  # JAX looks for its folder when it is imported
        environ.update(cache_variables(environ, cache))
    if "KINETIC_NETWORK" in environ or differs_later(workspace_in(work), environ) or not os.path.exists(python):
        return None
    return python, dict(environ, **at_start(environ))
