# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Support for --debug: the call waits for the user's debugger before it starts."""

import importlib
import os
import sys
import time

from ..contract import PORTS
from ..text import text_of
from .outcomes import tell

PORT, PATIENCE = str(PORTS["debug"]), "600"  # the debugger's port and the seconds to wait, unless the environment overrides them


def wait_for_debugger():
    """Wait for the user's debugger to attach. Return the module debugpy, or None if none attached."""
    environ = os.environ.get
    port, patience = environ("KINETIC_DEBUG_PORT", PORT), environ("KINETIC_DEBUG_WAIT_TIMEOUT", PATIENCE)
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # avoids three lines of warnings about frozen modules
    try:
        debugpy = importlib.import_module("debugpy")
    except ImportError as exc:
        sys.exit(f"kinetic: --debug needs the package debugpy ({exc}): install it where the job runs, or add it to the project")
    try:
        import threading

        timer = threading.Timer(float(patience), give_up, [debugpy])
        debugpy.listen(("127.0.0.1", int(port)))  # kubectl port-forward reaches it, other pods do not
    except Exception as exc:
        sys.exit(f"kinetic: cannot wait for a debugger on port {port} for {patience} seconds: {text_of(exc)}")
    tell(f"kinetic: waiting up to {patience} seconds for a debugger on port {port}: attach with kubectl kinetic jobs debug {environ('KINETIC_JOB_ID')}\n")
    timer.daemon = True
    timer.start()
    debugpy.wait_for_client()
    timer.cancel()
    if debugpy.is_client_connected():
        return debugpy
    tell("kinetic: no debugger attached in time: the call starts without one, and you can still attach\n")
    return None


def give_up(debugpy):
    """Cancel the wait for a client. On a busy machine it may not have started yet."""
    while True:
        try:
            return debugpy.wait_for_client.cancel()
        except RuntimeError:
            time.sleep(0.01)
