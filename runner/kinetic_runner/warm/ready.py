# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A runner that has started before its call: it, and the interpreter of the function, wait for a command line.

So a call on a warm host waits for no Python to start.
"""

import json
import os
import sys


def main(argv, early_signals):
    """Wait for one line on standard input, the call's command line and variables, run it, and end the process."""
    from ..ahead import start, workspace_of

    child = start(workspace_of(argv))
    from .. import single  # noqa: F401 # what an attempt needs, before there is one
    from ..main import main as run

    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        os._exit(0)  # the holder has ended, or needs this runner no longer; so does the interpreter, whose pipe closes
    order = json.loads(line)
    os.environ.update(order["environ"])
    os._exit(run(argv[:1] + order["argv"], early_signals, child if "--function" in order["argv"] else None))
