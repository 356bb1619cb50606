# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The log on disk, and its way to the store in parts."""

import _thread
import os

from .errors import AlreadyExists, RunnerError
from .store.names import log_part_name
from .text import BLOCK, write_all

PART_BYTES = 8 << 20
SPOOL_BYTES = 256 << 20  # of log that may wait for the store before the call's output has to wait


class Spool:
    """Lines of the log on disk, some of them pending, that is, not published yet.

    With keep, the file is the whole log; otherwise it holds little more than what
    is pending. One thread appends while another one publishes.
    """

    def __init__(self, path, keep):
        self._keep = keep
        flags = os.O_RDWR | os.O_CREAT | (os.O_APPEND if keep else os.O_TRUNC)
        self.path = path
        self._fd = os.open(path, flags, 0o600)
        self._start = os.fstat(self._fd).st_size
        self._changing = _thread.allocate_lock()
        self.pending = 0  # bytes

    def recover(self):
        """Make pending what the process that wrote the file had not published when it crashed."""
        start = os.pread(self._fd, 20, 0)
        self._start = int(start) if start.isdigit() else 0
        self.pending = os.fstat(self._fd).st_size - self._start

    def append(self, lines):
        """Add whole lines, all of them or none; return whether there was room."""
        with self._changing:
            try:
                write_all(self._fd, lines)
            except OSError:
                os.ftruncate(self._fd, self._start + self.pending)
                os.lseek(self._fd, 0, os.SEEK_END)
                return False
            self.pending += len(lines)
            return True

    def whole_lines(self, limit):
        """Return how many of the first pending bytes, at most limit, form whole lines."""
        end = min(limit, self.pending)
        while end > 0:
            begin = max(0, end - BLOCK)
            found = os.pread(self._fd, end - begin, self._start + begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            end = begin
        return 0

    def blocks(self, length):
        """Yield the first pending bytes."""
        done = 0
        while done < length:
            block = os.pread(self._fd, min(BLOCK, length - done), self._start + done)
            if not block:
                raise RunnerError(f"the log file {self.path} was truncated while the job ran")
            yield block
            done += len(block)

    def release(self, length):
        """Drop the first pending bytes, which are now published."""
        with self._changing:
            self._start += length
            self.pending -= length
            # Moving what is pending must not cost more than it frees.
            if not self._keep and self.pending <= max(self._start, PART_BYTES):
                self._move_to_front()
            elif not self._keep:  # for recover(): it overwrites the time of the first line, which is longer and not a number
                os.pwrite(self._fd, b"%020d" % self._start, 0)

    def _move_to_front(self):
        end = 0
        for block in self.blocks(self.pending):
            end += os.pwrite(self._fd, block, end)
        os.ftruncate(self._fd, end)
        os.lseek(self._fd, end, os.SEEK_SET)
        self._start = 0


class LogParts:
    """Publishes a spool in parts, logs/{host}/{attempt}-{part}.log."""

    def __init__(self, store, job, host, attempt):
        self._store = store
        self._name = lambda part: log_part_name(job, host, attempt, part)
        self._next = 1
        self._tried = 0  # bytes of the part that may be stored although its upload failed

    def publish_full(self, spool):
        """Publish parts of full size."""
        # Send a failed part again unchanged: if it did arrive, its lines must not be stored twice.
        self._publish(spool, self._tried)
        while spool.pending >= PART_BYTES:
            self._publish(spool, spool.whole_lines(PART_BYTES) or PART_BYTES)

    def publish_all(self, spool):
        """Publish all that is pending."""
        self.publish_full(spool)
        self._publish(spool, spool.pending)

    def _publish(self, spool, length):
        self._tried = length
        while self._tried:
            try:
                self._store.create(self._name(self._next), lambda: spool.blocks(length))
                spool.release(length)
                self._tried = 0
            except AlreadyExists:  # stored before the container was restarted, perhaps with thousands of others
                stored = set(self._store.list(os.path.dirname(self._name(0)) + "/"))
                while os.path.basename(self._name(self._next + 2)) in stored:  # try the last one again: it may be this part
                    self._next += 1
            self._next += 1
