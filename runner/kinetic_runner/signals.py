# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""SIGTERM and SIGINT before, during and after the call."""

import math
import signal
import time

from .errors import Stopped

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Signals:
    """What the two signals do.

    Before the call the first one raises Stopped, once, in whatever the runner
    waits for. From the call on it only takes note of the time: the supervisor
    passes it on, and what is published must hurry.
    """

    def __init__(self):
        self.came_at = math.inf  # of time.monotonic: the first of them
        self._raise = True
        self._listeners = []

    @property
    def came(self):
        return self.came_at < math.inf

    def install(self, early=()):
        """Handles both from now on; early are those that came before there was a handler."""
        for number in STOP_SIGNALS:
            signal.signal(number, self._handle)
        if early:
            self._handle()

    def listen(self, action):
        """Calls action when the first of them comes, at once if it has come."""
        self._listeners.append(action)
        if self.came:
            action()

    def never_raise(self):
        """From now on they interrupt nothing."""
        self._raise = False

    def wait(self):
        """Waits for one of them without polling: a host that rests holds its accelerator until this returns."""
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        if not self.came:
            signal.sigwait(STOP_SIGNALS)

    def _handle(self, *_):
        interrupt, self._raise = self._raise, False  # another one must not interrupt what this one begins
        if not self.came:
            self.came_at = time.monotonic()
            for action in self._listeners:
                action()
        if interrupt:
            raise Stopped
