# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""`python -m kinetic …` and the command `kinetic …`: what `kubectl kinetic …` is."""

from __future__ import annotations

import os
import sys

from . import _module
from .errors import NotInstalled


def main() -> int:
    """Become the front door of the binaries, with the same words. On Windows, run it and return its exit code."""
    try:
        binaries = _module("client.binaries")
        path = binaries.find(binaries.FRONT_DOOR)
    except NotInstalled as exc:
        print(f"error: {exc}", file=sys.stderr)
        return exc.code
    if os.name == "nt":
        import signal
        import subprocess

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the console sends Ctrl-C to both, and the exit code tells what became of it
        return subprocess.call([path, *sys.argv[1:]])
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
