# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Handle SIGTERM and SIGINT before, during and after the call."""

import math
import os
import signal
import time

from .errors import Stopped

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
ABANDONED_GRACE = 1.5  # seconds for a call when the program that waited for it has ended


class Signals:
    """The handler of both signals.

    Before the call, the first signal raises Stopped, once, in whatever the runner
    waits for. From the call on, only its time is noted: the supervisor passes
    it on, and publishing must hurry.
    """

    def __init__(self):
        self.came_at = math.inf  # time.monotonic() of the first signal
        self.abandoned = False  # the program that waited for the job has ended
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

    def follow(self, caller):
        """Act as on SIGTERM, with less time, when the pipe caller ends without a byte.

        The program that waits for the job holds its other end. It writes a byte if the job is to go on without it.
        """
        import threading

        def wait():
            if not os.read(caller, 1):
                self.abandoned = True
                os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=wait, daemon=True).start()

    def shorten(self, grace):
        """Return the seconds from the first signal to SIGKILL, of which --grace asks for these."""
        return min(grace, ABANDONED_GRACE) if self.abandoned else grace

    def never_raise(self):
        """Do not raise Stopped from now on."""
        self._raise = False

    def wait(self):
        """Wait for a signal without polling: an idle host holds its accelerator until this returns. Any thread may get it."""
        wake, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write)
        while not self.came:
            os.read(wake, 1)

    def _handle(self, *_):
        interrupt, self._raise = self._raise, False  # a second signal must not interrupt what this one starts
        if not self.came:
            self.came_at = time.monotonic()
            for action in self._listeners:
                action()
        if interrupt:
            raise Stopped
