# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The results of a map's inputs on their way from the child to the store."""

import json
import math
import os
import time
from queue import SimpleQueue

from ..errors import AT_LIMIT, RunnerError
from ..threads import start_threads

WINDOW = 128  # inputs that the child may be ahead of the store
MARK_SECONDS = 1.0  # after which an input that is still computed is noted in the store


class Results:
    """Brings results to the store while the child computes the next ones.

    For the supervisor it is a link that says when the child can stop: when a
    result cannot be stored. The child takes a credit before each input. A careful
    Results gives the next one only when the result before is stored, and the input is noted.
    """

    def __init__(self, numbers, publish, mark, parallel, careful):
        self._numbers = numbers  # in the order of the child
        self._publish, self._mark, self._parallel, self._careful = publish, mark, parallel, careful
        self.credit, self._credit_write = os.pipe()
        self._alarm, self._alarm_write = os.pipe()
        self._queue, self._threads = SimpleQueue(), []
        self.current, self.next_at = None, math.inf  # the input that is computed, and when, of time.monotonic, it is noted
        self.failure = None
        self.closed = False  # the child was told to end, and what it reports now is no result
        if careful:
            self._mark(numbers[0])
        os.write(self._credit_write, b"\0" * (1 if careful else WINDOW))

    @property
    def stopping(self):
        """Reports whether a result could not be stored."""
        return self.failure is not None

    def fileno(self):
        """What becomes readable when a result could not be stored."""
        return -1 if self.stopping else self._alarm

    def note(self, report):
        """Takes a report of the child: an input that begins, or its outcome."""
        if self.closed:
            return
        if "begins" in report:
            self.current = report["begins"]
            self.next_at = math.inf if self._careful else time.monotonic() + MARK_SECONDS
        elif "ended" in report:
            self.current, self.next_at = None, math.inf
            self._put(self._publish_one, report["ended"], report["outcome"])

    def attend(self):
        """Notes an input that takes long."""
        if time.monotonic() >= self.next_at:
            self.next_at = math.inf
            self._put(self._mark, self.current)

    def finish(self):
        """Waits until all that the child has reported is in the store; raises why not."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()
        for fd in (self.credit, self._credit_write, self._alarm, self._alarm_write):
            os.close(fd)
        if self.failure is not None:
            raise self.failure

    def _put(self, *task):
        if not self._threads:  # only now: no thread may exist when the child is forked
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
