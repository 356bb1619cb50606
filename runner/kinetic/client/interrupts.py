# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What becomes of Ctrl-C while a binary runs."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from typing import Optional

MOST_INTERRUPTS = 2  # that a binary is told of


class Interrupts:
    """Passes Ctrl-C on to a process instead of raising KeyboardInterrupt, which could come in the middle of anything.

    It does so in the main thread, unless the program handles Ctrl-C in its own way. A context manager that can be entered again.

    Attributes:
        count: how many there were.
        raises: whether the next one raises KeyboardInterrupt all the same.
    """

    def __init__(self) -> None:
        self.count = 0
        self.raises = False
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._handles = False

    def __enter__(self) -> Interrupts:
        in_main = threading.current_thread() is threading.main_thread()
        self._handles = in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._handles:
            signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._handles:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def pass_to(self, process: subprocess.Popen[bytes]) -> None:
        """Pass them to this process, also one that came while it was being started."""
        self._process = process
        if self.count:
            interrupt(process)

    def _handle(self, number: int, frame: object) -> None:
        self.count += 1
        if self.raises or self.count > MOST_INTERRUPTS:
            raise KeyboardInterrupt
        if self._process is not None:
            interrupt(self._process)


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Tell a binary to stop waiting."""
    if os.name == "nt":
        process.terminate()  # Windows has no such signal for one process
    else:
        process.send_signal(signal.SIGINT)


class Stop:
    """Ends the waiting of a binary that another thread runs, even if that has yet to start it.

    Attributes:
        asked: whether it was told to.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: Optional[subprocess.Popen[bytes]] = None
        self.asked = False

    def started(self, process: subprocess.Popen[bytes]) -> None:
        """Note which process it is."""
        with self._lock:
            self._process = process
            if self.asked:
                interrupt(process)

    def ask(self) -> None:
        """End it now, or as soon as it has started."""
        with self._lock:
            self.asked = True
            if self._process is not None:
                interrupt(self._process)
