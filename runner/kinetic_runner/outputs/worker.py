# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The thread that saves outputs while the call runs, so that nothing else waits for it."""

import contextlib
import math
import threading
import time

from ..errors import text_of, why_of
from ..threads import start_threads
from .index import Superseded
from .moment import HURRIED_SECONDS

SHORT = 5  # the part of an interval after which another moment is taken if the last one was worth nothing
POLL_SECONDS = 0.1  # between looks at what comes after a moment
WATCH_SECONDS = 0.5  # after which a new directory is watched
SHARE = 4  # of its time, a thread that looks uses at most a fourth
RENEW_SECONDS = 86_400.0


class Commit:
    """A wish of the program: to save, now, all that is closed."""

    def __init__(self):
        self.left_out, self.failure, self.done = [], None, threading.Event()


class Worker:
    """Takes moments with a keeper, one every interval, and the last one when it is told to finish. renew is called once a day."""

    def __init__(self, keeper, interval, renew, say):
        self._keeper, self._renew, self._say = keeper, renew, say
        self._interval = interval or math.inf
        self._changing = threading.Condition()
        self._hurried, self._commits = False, []
        self._everything, self._left_open = None, frozenset()
        self._told = None  # why the last moment failed
        self.failure = None  # why the last one could not be saved
        self.superseded = None  # by a later attempt: its message
        self.done = threading.Event()

    def start(self):
        """Start the thread. Return whether there is room for one more."""
        return bool(start_threads(1, self.run))

    def hurry(self):
        """Take moments more often: SIGTERM has come."""
        with self._changing:
            self._hurried = True
            self._changing.notify_all()

    def commit(self, commit):
        """Carry out a Commit soon."""
        with self._changing:
            self._commits.append(commit)
            self._changing.notify_all()

    def finish(self, everything, left_open):
        """Save what is left, then set done. everything says that the call has ended in order."""
        with self._changing:
            self._everything, self._left_open = everything, left_open
            self._changing.notify_all()

    def run(self):
        """Take moments until the last one."""
        due, began, renew_at = 0.0 if self._interval < math.inf else math.inf, 0.0, time.monotonic() + RENEW_SECONDS
        hurried = False  # when it last looked whether SIGTERM has come: that may be before it starts
        try:
            while not self._wait(min(due, renew_at), hurried):
                now, hurried = time.monotonic(), self._hurried
                if now >= renew_at:
                    renew_at = now + RENEW_SECONDS
                    self._guarded(self._renew)
                if self._commits:
                    self._guarded(lambda: self._answer(self._commit))
                    due = min(due, time.monotonic() + self._pace / SHORT)  # it gave up a moment, and left out what was open
                    continue
                if now < due and not self._hurried:
                    continue
                began = began if self._keeper.moment else now
                again = self._guarded(self._next) or self._hurried
                pause = max(POLL_SECONDS, SHARE * (time.monotonic() - now))
                due = now + POLL_SECONDS if self._keeper.moment else max(now + pause, began + self._pace / (SHORT if again else 1))
            if not self.superseded:
                self._keeper.finish(self._everything, self._left_open)
        except Superseded as exc:
            self._note_superseded(exc)
        except Exception as exc:
            self.failure = exc
        finally:
            self._answer(lambda: "the call has ended")
            self.done.set()

    @property
    def _pace(self):
        """The interval of now: from SIGTERM on, a program may have only seconds left."""
        return min(self._interval, HURRIED_SECONDS) if self._hurried else self._interval

    def _wait(self, due, hurried):
        """Wait until the next look is due, or something is to be done at once. Return whether it is time to finish."""
        while True:
            with self._changing:
                left = due - time.monotonic()
                if self._everything is not None or self._commits or self._hurried != hurried or left <= 0:
                    return self._everything is not None
                self._changing.wait(min(left, WATCH_SECONDS))
            with contextlib.suppress(OSError):  # the next look tells
                self._keeper.watch()

    def _next(self):
        """Take a step. Return whether another one should follow soon."""
        if self.superseded:
            return False
        return self._keeper.carry_on() if self._keeper.moment else self._keeper.start()

    def _commit(self):
        if self.superseded:
            return self.superseded
        try:
            self._left_out = self._keeper.commit()
        except Superseded as exc:
            self._note_superseded(exc)
            return self.superseded
        except Exception as exc:  # a mistake of the runner, too: the program waits for an answer
            return why_of(exc)
        return None

    def _answer(self, action):
        """Answer the commits of now, all by one action, which returns why it failed, or None."""
        with self._changing:
            commits, self._commits = self._commits, []
        if commits:
            self._left_out = []
            failure = action()
            for commit in commits:
                commit.failure, commit.left_out = failure, self._left_out
                commit.done.set()

    def _guarded(self, action):
        """Return what action does. A failure does not end the thread."""
        try:
            result = action()
            self._told = None
            return result
        except Superseded as exc:
            self._note_superseded(exc)
        except Exception as exc:  # even a mistake in the runner must not end it
            why = why_of(exc)
            if why != self._told:
                self._told = why
                self._say(f"warning: outputs are not saved for now, the next try is in {self._pace:g} seconds: {why}")
        return False

    def _note_superseded(self, exc):
        if not self.superseded:
            self.superseded = text_of(exc)
            self._say(self.superseded)
