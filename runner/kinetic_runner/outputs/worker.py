# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The thread that keeps outputs in step with the store while the call runs, so that nothing else waits for it."""

import math
import threading
import time

from ..errors import RunnerError, text_of
from ..threads import start_threads
from .index import Superseded
from .sender import Interrupted


class Worker:
    """Runs the rounds of a keeper, one every interval, and the last one when it is told to finish."""

    def __init__(self, keeper, sender, interval):
        self._keeper, self._sender = keeper, sender
        self._interval = interval or math.inf
        self._changing = threading.Condition()
        self._urgent, self._everything = False, None
        self._told = None  # why the last round failed
        self.messages = []
        self.total = 0  # bytes to save in the last round
        self.unsaved, self.failure = [], None  # what the last round came to
        self.superseded = False  # by a later attempt
        self.done = threading.Event()

    def start(self):
        """Start the thread; return whether there is room for one more."""
        return bool(start_threads(1, self.run))

    def hurry(self):
        """Save what is finished, now."""
        with self._changing:
            self._urgent = True
            self._sender.interrupt.set()
            self._changing.notify_all()

    def finish(self, everything):
        """Run the last round, then set done. everything says that the call has ended by itself."""
        with self._changing:
            self._everything = everything
            self._sender.interrupt.set()
            self._changing.notify_all()

    def run(self):
        """Run rounds until the last one."""
        try:
            due = time.monotonic() if self._interval < math.inf else math.inf
            while True:
                urgent = self._wait(due)
                if self._everything is not None:
                    break
                began = time.monotonic()
                self._round(not urgent)
                if not urgent:
                    due = began + self._interval
            self._last_round()
        except Exception as exc:
            self.failure = exc
        finally:
            self.done.set()

    def _wait(self, due):
        """Wait for the next round; return whether it is an urgent one."""
        with self._changing:
            while not self._urgent and self._everything is None and (left := due - time.monotonic()) > 0:
                self._changing.wait(min(left, threading.TIMEOUT_MAX))
            urgent, self._urgent = self._urgent, False
            self._sender.interrupt.clear()
            return urgent

    def _round(self, regular):
        if self.superseded:
            return
        try:
            self._keeper.round(regular)
            self._told = None
        except Interrupted:
            pass
        except Superseded as exc:
            self.superseded = True
            self.messages.append(text_of(exc))
        except Exception as exc:  # even a mistake in the runner must not end the rounds
            why = text_of(exc) if isinstance(exc, (RunnerError, OSError)) else repr(exc)
            if why != self._told:
                self._told = why
                self.messages.append(f"warning: outputs are not saved for now, the next try is in {self._interval:g} seconds: {why}")

    def _last_round(self):
        if self.superseded:
            return
        self.total = self._sender.sent + self._keeper.unsent()
        self.unsaved = self._keeper.last_round(self._everything)
