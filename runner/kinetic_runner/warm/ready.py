# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A runner that has started before its call: it, and the interpreter of the function, wait for a command line.

So a call on a warm host waits for no Python to start. The interpreter has the variables of the last call and imports
what that has imported: a call with other variables gets a new one, since packages read them when they are imported.
"""

import json
import os
import sys

from ..environment import CACHE, WORK, cache_variables
from ..place import packages_file

LAST = "KINETIC_LAST_CALL"  # the variables of the last call, as JSON; set for this program only


def main(argv, early_signals):
    """Wait for one line on standard input, the call's command line and variables, run it, and end the process."""
    from ..ahead import start, workspace_of

    last, own = json.loads(os.environ.pop(LAST, "{}")), dict(os.environ)
    work = argv[argv.index("--work") + 1] if "--work" in argv else WORK
    os.environ.update(last)
    if "--preload" in argv:
        os.environ["KINETIC_PRELOAD"] = packages_file(work)
    if os.path.isdir(cache := os.path.join(work, CACHE)):  # JAX looks for its folder when it is imported
        os.environ.update(cache_variables(os.environ, cache))
    child = start(workspace_of(argv))
    os.environ.clear()
    os.environ.update(own)
    from .. import single  # noqa: F401 # what an attempt needs, before there is one
    from ..cache import bucket  # noqa: F401
    from ..main import main as run

    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        os._exit(0)  # the holder has ended, or needs this runner no longer; so does the interpreter, whose pipe closes
    order = json.loads(line)
    usable = "--function" in order["argv"] and order["environ"] == last and child is not None and not has_ended(child)
    if child is not None and not usable:
        child.close()
    os.environ.update(order["environ"])
    os._exit(run(argv[:1] + order["argv"], early_signals, child if usable else None))


def has_ended(child):
    """Report whether a process has ended, and leave its status to who waits for it."""
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
