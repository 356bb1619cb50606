# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Requests to the store while the call runs."""

import _thread
import os
import time

from . import spool as spools

PART_SECONDS = 30.0
RENEW_SECONDS = 86_400.0


class Errands:
    """Publishes full parts of the log, renews objects that must not expire, and saves outputs.

    Threads do this, because the supervisor must not wait for the store. They
    exist only while there is something to send.
    """

    def __init__(self, spool, parts, renew, outputs, outage):
        self._spool, self._parts, self._outputs = spool, parts, outputs
        self._outage, self._say = outage, outage.say
        outage.say = outputs.note  # another thread prints it
        self._changing = _thread.allocate_lock()
        self._asked, self._busy, self._threads = [], False, []
        now = time.monotonic()
        self._part_at, self._due = now + PART_SECONDS, {}
        self.every(RENEW_SECONDS, renew)
        self._full_at = now  # no full part before this
        self._wake = None  # a descriptor to write to after each errand
        self.waited = False  # the call had to wait for the store

    def every(self, seconds, action):
        """Run action(spool) again and again from now on, each time after this many seconds."""
        self._due[action] = (time.monotonic() + seconds, seconds)

    @property
    def next_at(self):
        """The time.monotonic() of the next timed errand."""
        return min(self._part_at, self._outputs.next_at, *(at for at, _ in self._due.values()))

    def wake(self, fd):
        """Write a byte to the descriptor after each errand from now on; None to stop."""
        self._wake = fd

    def tick(self, now):
        """Start the errands that are due."""
        if now >= self._part_at:
            self._part_at = now + PART_SECONDS
            self._ask(self._parts.publish_all)
        elif self._spool.pending >= spools.PART_BYTES and now >= self._full_at:
            self._ask(self._parts.publish_full)
        for action, (at, pause) in self._due.items():
            if now >= at:
                self._due[action] = (now + pause, pause)
                self._ask(action)
        self._outputs.tick(now)

    def behind(self):
        """Return whether too much of the log waits for the store to accept more output of the call."""
        behind = self._spool.pending >= spools.SPOOL_BYTES
        self.waited = self.waited or behind
        return behind

    def publish_all(self):
        """Publish everything now, because time is short."""
        self._ask(self._parts.publish_all)
        self._outputs.hurry()

    def note_left(self):
        """Note what the processes do that the call has left running, before they are told to end."""
        self._outputs.note_left()

    def finish(self):
        """Wait for the errands in progress. Nothing else prints meanwhile, so they tell at once that the store is away."""
        self._outage.say = self._say
        for thread in self._threads:
            thread.join()
        self._outage.say = self._outputs.note

    def _ask(self, action):
        from .threads import start_threads  # not needed by a short job

        with self._changing:
            if action not in self._asked:
                self._asked.append(action)
            if self._busy:
                return
            self._busy = True
        self._threads = start_threads(1, self._work)
        if not self._threads:  # the call uses all the threads that the limits allow
            self._busy = False
            self._full_at = time.monotonic() + PART_SECONDS

    def _work(self):
        while action := self._next():
            try:
                action(self._spool)
            except Exception:
                # Whatever could not be stored stays pending. The last try reports the error.
                self._full_at = time.monotonic() + PART_SECONDS
            self._tell()

    def _tell(self):
        try:
            if self._wake is not None:
                os.write(self._wake, b"\0")
        except OSError:
            pass  # the pipe is full, so the supervisor wakes up anyway, or it is closed

    def _next(self):
        with self._changing:
            self._busy = bool(self._asked)
            return self._asked.pop(0) if self._asked else None
