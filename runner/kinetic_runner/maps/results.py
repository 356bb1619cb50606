# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The results of a map's inputs, on their way from the child to the store."""

import math
import os
import time
from queue import SimpleQueue

from ..errors import AT_LIMIT, RunnerError
from ..threads import start_threads

WINDOW = 128  # how many inputs the child may be ahead of the store
MARK_SECONDS = 1.0  # before an input in progress is noted in the store


class Results:
    """Stores results while the child computes the next ones.

    For the supervisor it is a link that stops the child if a result cannot be
    stored. The child takes a credit before each input but its first. A careful Results gives
    the next credit only when the last result is stored and the next input is noted.
    """

    def __init__(self, numbers, publish, mark, parallel, careful):
        self._numbers = numbers  # in the child's order
        self._publish, self._mark, self._parallel, self._careful = publish, mark, parallel, careful
        self.credit, self._credit_write = os.pipe()
        self._alarm, self._alarm_write = os.pipe()
        self._queue, self._threads = SimpleQueue(), []
        self.current, self.next_at = None, math.inf  # the input in progress, and the time.monotonic() to note it
        self.reported = False  # the outcome of an input
        self.failure = None
        self.closed = False  # the child was told to stop, so what it reports now is not a result
        if careful:
            self._mark(numbers[0])
        else:
            os.write(self._credit_write, b"\0" * WINDOW)

    @property
    def stopping(self):
        """Whether a result could not be stored."""
        return self.failure is not None

    def fileno(self):
        """Return a descriptor that becomes readable if a result cannot be stored."""
        return -1 if self.stopping else self._alarm

    def note(self, report):
        """Process a report of the child: the start of an input, or its outcome."""
        if self.closed:
            return
        if "begins" in report:
            self.current = report["begins"]
            self.next_at = math.inf if self._careful else time.monotonic() + MARK_SECONDS
        elif "ended" in report:
            self.current, self.next_at, self.reported = None, math.inf, True
            self._put(self._publish_one, report["ended"], report["outcome"])

    def attend(self):
        """Note an input that takes long in the store."""
        if time.monotonic() >= self.next_at:
            self.next_at = math.inf
            self._put(self._mark, self.current)

    def finish(self):
        """Wait until every reported result is in the store; raise the error if one cannot be stored."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()
        for fd in (self.credit, self._credit_write, self._alarm, self._alarm_write):
            os.close(fd)
        if self.failure is not None:
            raise self.failure

    def _put(self, *task):
        if not self._threads:  # not earlier: no thread may exist when the child is forked
            self._threads = start_threads(self._parallel, self._work)
        if not self._threads:
            raise RunnerError(f"cannot start a thread: {AT_LIMIT}")
        self._queue.put(task)

    def _work(self):
        while task := self._queue.get():
            try:
                if self.failure is None:
                    task[0](*task[1:])
            except Exception as exc:
                self.failure = exc
                os.write(self._alarm_write, b"\0")

    def _publish_one(self, number, outcome):
        self._publish(number, outcome)
        if self._careful:
            following = self._numbers.index(number) + 1
            if following < len(self._numbers):
                self._mark(self._numbers[following])
        os.write(self._credit_write, b"\0")
