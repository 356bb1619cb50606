# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The outputs of the inputs of a map: each input has a directory and an index of its own."""

import _thread
import math
import os
import time

from ..errors import RunnerError
from ..losses import unsaved
from .directory import FIRST_SECONDS, MESSAGES_SECONDS, Outputs, holds_something

WATCHES = 4  # that are kept for inputs that wait to be saved: closing one takes milliseconds, and a user has 128


class InputOutputs(Outputs):
    """The outputs of a chunk. The child makes the directory INDEX below path for each input, and names it to the function."""

    def __init__(self, attempt):
        super().__init__(attempt)
        self._sessions, self._changing = {}, _thread.allocate_lock()
        self._current = None  # the input in progress
        self.in_order = True  # False if that input was interrupted, and did not choose exit code 0
        self._watches, self._watched = {}, None  # of inputs without a session, and the one that has begun last
        self._messages = []

    def _restore(self):
        """Fill the directories of the inputs that have no result yet."""
        from .restore import read_numbers

        attempt = self._attempt
        home = attempt.store.at(self.home)
        known = read_numbers(home)
        if self.earlier:
            known |= read_numbers(attempt.store.at(self.earlier[0]))
        for number in attempt.left:
            if number in known or attempt.options.output_dir:
                self._restore_input(number)

    def _restore_input(self, number):
        earlier = self.earlier and (self.earlier[0], f"{self.earlier[1]}/{number}")
        self._open(number).restore(earlier, shared=bool(self._attempt.options.output_dir))

    def begin(self, number):
        """Save the outputs of an input that has begun."""
        self._current = number
        if not self.synced:
            return
        self.next_at = min(self.next_at, time.monotonic() + FIRST_SECONDS)
        with self._changing:
            session = self._sessions.get(number)
            if session is None:
                self._watch_input(number)
        if session is not None:
            session.start()

    def end(self, number, outcome):
        """Save what an input has left, before its result is stored. Several threads call this."""
        if self._current == number:
            self._current = None
        with self._changing:
            session = self._sessions.get(number)
        if not self.synced or session is None and not holds_something(self._place(number)):
            return
        session = self._open(number)
        in_order = outcome.ok or (outcome.error or {}).get("type") == "SystemExit"
        outcome.warnings += unsaved(session.finish(in_order)) + session.refusals
        try:
            session.settle()
        except (RunnerError, OSError):
            pass  # all is saved: the next client tidies up
        session.close()
        with self._changing:
            self._sessions.pop(number, None)

    def go_back(self, number):
        """Go back to what an input has finished: its process was killed, perhaps in the middle of a file, and another one will compute it."""
        if self._current == number:
            self._current = None
        with self._changing:
            session = self._sessions.get(number)
        if not self.synced or session is None and not holds_something(self._place(number)):
            return
        session = self._open(number)
        session.finish(False, self._left_open)
        session.close()
        with self._changing:
            del self._sessions[number]
        self._restore_input(number)

    def tick(self, now):
        """Save the outputs of the input in progress once there is something in its directory."""
        if now < self.next_at:
            return
        number = self._current
        with self._changing:
            session = self._sessions.get(number)
        if session is None and number is not None and holds_something(self._place(number)):
            self._open(number).start()
        while self._messages:
            self._attempt.say(self._messages.pop(0))
        for running in list(self._sessions.values()):
            running.tell()
        self.next_at = now + min(self._interval or math.inf, FIRST_SECONDS if session is None else MESSAGES_SECONDS)

    def note(self, text):
        """Print a message of another thread soon."""
        self._messages.append(text)

    def hurry(self):
        """Save what is finished more often: SIGTERM has come."""
        super().hurry()
        for session in list(self._sessions.values()):
            session.hurry()

    def save(self, everything):
        """Save what the input in progress has left, if the chunk ends within it, and return what cannot be saved."""
        number, self._current = self._current, None
        if not self.synced or number is None or number not in self._sessions and not holds_something(self._place(number)):
            return []
        return self._open(number).finish(everything and self.in_order, self._left_open)

    @property
    def refusals(self):
        """Sentences about outputs that do not have their plain names in the store."""
        return [sentence for session in self._sessions.values() for sentence in session.refusals]

    def settle(self):
        """Do nothing: each input is tidied up when it ends."""

    def _watch_early(self):
        """Do nothing: the directory of an input is watched when it has begun."""

    def _watch_input(self, number):
        """Watch the directory of an input: it may rename a file, and end, before the first look. The input before it has ended."""
        from .watch import Watch

        watch = self._watches.pop(self._watched, None)
        if watch and self._watched != number and holds_something(self._place(self._watched)):
            if len(self._watches) >= WATCHES:
                watch.drain()
                watch.close()  # what it has seen is for the session
            self._watches[self._watched], watch = watch, None
        self._watched, watch = number, watch or Watch()
        self._watches[number] = watch
        try:
            watch.drain()  # else the directory of an earlier input with the same inode would seem to be watched
            watch.add(self._place(number), os.stat(self._place(number)).st_ino)
        except OSError:
            pass  # the input has ended, or could not make it

    def commit(self, commit, number):
        """Save all that is closed of an input, as its function asks for."""
        if number.isdigit() and int(number) in self._attempt.left:
            self._open(int(number)).commit(commit)
        else:
            commit.failure = f"KINETIC_INPUT={number} is not an input in progress"
            commit.done.set()

    def _place(self, number):
        return os.path.join(self.path, str(number))

    def _open(self, number=None):
        number = self._current if number is None else number
        with self._changing:
            if number not in self._sessions:
                from .session import Session  # not needed by a map without outputs

                alive = lambda: number == self._current and self.alive()  # noqa: E731
                where = f"{self.url}/{number}", self.home, self._place(number)
                self._sessions[number] = Session(self._attempt, *where, number, self._interval, alive, self.note, self._watches.pop(number, None))
                if self._hurried:
                    self._sessions[number].hurry()
            return self._sessions[number]
