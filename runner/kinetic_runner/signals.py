# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Handle SIGTERM and SIGINT before, during and after the call."""

import math
import signal
import time

from .errors import Stopped

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Signals:
    """The handler of both signals.

    Before the call, the first signal raises Stopped, once, in whatever the runner
    waits for. From the call on, only its time is noted: the supervisor passes
    it on, and publishing must hurry.
    """

    def __init__(self):
        self.came_at = math.inf  # time.monotonic() of the first signal
        self._raise = True
        self._listeners = []

    @property
    def came(self):
        return self.came_at < math.inf

    def install(self, early=()):
        """Handle both signals from now on. early lists signals that arrived before."""
        for number in STOP_SIGNALS:
            signal.signal(number, self._handle)
        if early:
            self._handle()

    def listen(self, action):
        """Call action at the first signal; at once if it has already arrived."""
        self._listeners.append(action)
        if self.came:
            action()

    def never_raise(self):
        """Do not raise Stopped from now on."""
        self._raise = False

    def wait(self):
        """Wait for a signal without polling: an idle host holds its accelerator until this returns."""
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        if not self.came:
            signal.sigwait(STOP_SIGNALS)

    def _handle(self, *_):
        interrupt, self._raise = self._raise, False  # a second signal must not interrupt what this one starts
        if not self.came:
            self.came_at = time.monotonic()
            for action in self._listeners:
                action()
        if interrupt:
            raise Stopped
