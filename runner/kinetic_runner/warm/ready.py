# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A runner that has started before its call: it, and the interpreter of the function, wait for a command line.

So a call on a warm host waits for no Python to start. The interpreter has the variables of the last call: similar.py.
"""

import json
import os
import select
import signal
import struct
import sys
from contextlib import suppress

from ..ahead import start
from ..environment import WORK
from .handover import KEPT
from .similar import likeness, program_for, workspace_in
from .swept import sweep_ahead

LAST_SIZE = struct.Struct("!I")  # before likeness() of the last call, as JSON, the first that comes on standard input


def main(argv, early_signals):
    """Wait for one line on standard input, the call's command line and variables, run it, and end the process."""
    kept, own = os.environ.pop(KEPT, ""), dict(os.environ)
    last = json.loads(read_all(LAST_SIZE.unpack(read_all(LAST_SIZE.size))[0]))
    work = argv[argv.index("--work") + 1] if "--work" in argv else WORK
    program, child = program_for(last, work), None
    if program is not None:
        python, environ = program
        os.environ.update(environ, **{KEPT: kept})
        child = start(workspace_in(work), "relay", python)
        os.environ.clear()
        os.environ.update(own)
    run = prepared()
    call_waits, _, _ = select.select([sys.stdin], (), (), 0)
    swept = None if call_waits else sweep_ahead(workspace_in(work))

    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        os._exit(0)  # the holder has ended, or needs this runner no longer; so does the interpreter, whose pipe closes
    order = json.loads(line)
    usable = "--function" in order["argv"] and likeness(order) == last and child is not None and not has_ended(child)
    if child is not None and not usable:
        discard(child)
    os.environ.update(order["environ"])
    os._exit(run(argv[:1] + order["argv"], early_signals, child if usable else None, swept))


def prepared():
    """Return the function that runs a call, with all that a usual call needs imported."""
    import encodings.idna  # noqa: F401 # for names of servers
    import shutil  # noqa: F401

    from .. import single  # noqa: F401
    from ..bundle import update  # noqa: F401
    from ..cache import bucket, folder  # noqa: F401
    from ..errors import RunnerError
    from ..main import main as run
    from ..outputs import commit, watch  # noqa: F401
    from ..store import gcs, given, http  # noqa: F401

    if "KINETIC_LEADER" in os.environ:
        from ..hosts import runner  # noqa: F401
    with suppress(ImportError, OSError, RunnerError):  # what is missing or broken here: the call may need none of it
        import ctypes  # noqa: F401

        http.tls_context()
    return run


def read_all(size):
    """Return so many bytes of standard input, and not more: select() must see the rest."""
    data = b""
    while len(data) < size:
        block = os.read(0, size - len(data))
        if not block:
            os._exit(0)  # the holder has ended
        data += block
    return data


def discard(child):
    """End an interpreter that the call can't use: the call must not find the variables of the last one in its environment."""
    child.close()
    child.signal(signal.SIGKILL, group=False)
    os.waitpid(child.pid, 0)


def has_ended(child):
    """Report whether a process has ended, and leave its status to who waits for it."""
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
