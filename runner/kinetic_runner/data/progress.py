# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The progress of copies, as lines in the log."""

import threading
import time

from ..text import readable

LINE_SECONDS = 10.0  # between two lines


class Progress:
    """Says every few seconds how much has been copied. Several threads may add."""

    def __init__(self, say, total):
        self._say, self._total = say, total
        self._began = self._next = time.monotonic()
        self._next += LINE_SECONDS
        self._done, self._lock = 0, threading.Lock()

    def add(self, size):
        """Note that size more bytes were copied."""
        with self._lock:
            self._done += size
            now = time.monotonic()
            if now < self._next:
                return
            self._next = now + LINE_SECONDS
            done, rate = self._done, self._done / (now - self._began)
        left = f", {max(0, self._total - done) / rate:.0f} s left" if self._total > done and rate else ""
        self._say(f"data: {readable(done)} of {readable(max(done, self._total))}, {readable(int(rate))}/s{left}")

    def end(self, count):
        """Say that all is there."""
        seconds = time.monotonic() - self._began
        self._say(f"data: {count} source{'' if count == 1 else 's'}, {readable(self._done)} in {seconds:.1f} s")
