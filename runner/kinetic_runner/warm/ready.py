# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A runner that has started before its call: it, and the interpreter of the function, wait for a command line.

So a call on a warm host waits for no Python to start. The interpreter has the variables of the last call: similar.py.
"""

import json
import os
import sys

from ..ahead import start
from ..environment import WORK
from .handover import KEPT
from .similar import likeness, program_for, workspace_in

LAST = "KINETIC_LAST_CALL"  # likeness() of the last call, as JSON; set for this program only


def main(argv, early_signals):
    """Wait for one line on standard input, the call's command line and variables, run it, and end the process."""
    last, kept, own = json.loads(os.environ.pop(LAST)), os.environ.pop(KEPT, ""), dict(os.environ)
    work = argv[argv.index("--work") + 1] if "--work" in argv else WORK
    program, child = program_for(last, work), None
    if program is not None:
        python, environ = program
        os.environ.update(environ, **{KEPT: kept})
        child = start(workspace_in(work), "relay", python)
        os.environ.clear()
        os.environ.update(own)
    from .. import single  # noqa: F401 # what an attempt needs, before there is one
    from ..cache import bucket  # noqa: F401
    from ..main import main as run

    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        os._exit(0)  # the holder has ended, or needs this runner no longer; so does the interpreter, whose pipe closes
    order = json.loads(line)
    usable = "--function" in order["argv"] and likeness(order) == last and child is not None and not has_ended(child)
    if child is not None and not usable:
        child.close()
    os.environ.update(order["environ"])
    os._exit(run(argv[:1] + order["argv"], early_signals, child if usable else None))


def has_ended(child):
    """Report whether a process has ended, and leave its status to who waits for it."""
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
