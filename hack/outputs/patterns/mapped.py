# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A file that is written through memory, as by numpy.memmap: neither its size nor its times tell when."""

import mmap
import os
import time

import contents

from .pattern import Pattern

NAME = "memmap.bin"


class Mapped(Pattern):
    """A file stays mapped as long as the program lives, and no process has it open.

    Its pages are never flushed: after the first state, its times don't change.
    """

    promise, atomic, every, size, bytes, closes = "whole", False, 1.0, 2_000_000, 2e6, False

    def begin(self, p):
        """Reserve the size of the file."""
        self.memory = None

    def save(self, p, identity):
        """Write the file through memory."""
        data = contents.blob(identity, NAME, size=self.size)
        with p.change(NAME, identity):
            if self.memory is None:
                self.memory = self.map(p.at(NAME), len(data))
            for start in range(0, len(data), 100_000):
                self.memory[start : start + 100_000] = data[start : start + 100_000]
                time.sleep(0.02)
                if start == 1_000_000:
                    p.maybe_die()
            if self.closes:
                self.memory.flush()
                self.memory.close()
                self.memory = None

    def map(self, path, size):
        """Map a file, then close it. Python's own copy of the descriptor then leads elsewhere."""
        with open(path, "r+b" if os.path.exists(path) else "w+b") as file:
            file.truncate(size)
            memory = mmap.mmap(file.fileno(), 0)
        elsewhere = os.open(os.devnull, os.O_RDONLY)
        for fd in os.listdir("/proc/self/fd"):
            if os.path.exists(f"/proc/self/fd/{fd}") and os.path.samefile(f"/proc/self/fd/{fd}", path):
                os.dup2(elsewhere, int(fd))
        os.close(elsewhere)
        return memory


PATTERNS = {
    "mmap-open": Mapped(),
    "mmap-close": Mapped(promise="fresh", closes=True, every=2.5),  # unmapped after each state
}
