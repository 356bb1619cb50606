# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Notice a call that hangs: one that prints, writes and finishes nothing."""

import os
import time

from .child.answer import FILE
from .stacks import ask_all

RUNNER = f'File "{os.path.dirname(os.path.abspath(__file__))}{os.sep}'

class Hang:
    """Looks from time to time whether a call has made progress, in a thread of the errands. If not, it notes where the call is.

    timeout is in seconds. restart says that the call is then ended. folders are where it writes files.
    """

    def __init__(self, timeout, restart, scratch, folders):
        self.timeout, self._restart = timeout, restart
        self._file, self._folders = os.path.join(scratch, FILE), folders
        self._at, self._told, self._texts = time.monotonic(), False, []
        self.over = False  # the call is to be ended

    @property
    def every(self):
        """The seconds between looks."""
        return max(self.timeout / 4, 0.05)

    def moved(self):
        """Note that the call has printed or finished something."""
        self._at, self._told = time.monotonic(), False

    def texts(self):
        """Yield what is to be printed, once."""
        while self._texts:
            yield self._texts.pop(0)

    def look(self, _=None):
        """Look whether the call hangs; if so, note its stacks. Takes as long as it takes to read its directories and to ask it."""
        idle = time.monotonic() - self._at
        if self._told or idle < self.timeout:
            return
        written = time.time() - newest(self._folders)
        if written < self.timeout:
            self._at = time.monotonic() - max(written, 0)
            return
        self._told = True
        where = self._stacks()
        self._texts.append(f"nothing was printed, written or finished for {self.timeout:g} seconds (--hang-timeout)\n{where}")
        self.over = self._restart

    def _stacks(self):
        try:
            answers = ask_all(self._file)
        except OSError as exc:
            return f"its stacks can't be read: {exc}"
        lines = [f"process {answer['pid']} ({' '.join(answer['command'])}):\n{without_runner(answer['text']) or answer['why']}" for answer in answers]
        return "\n".join(lines) or "it has no Python program that can be asked for its stacks"


def without_runner(text):
    """Return stacks without the runner's frames, which are the oldest of a function's call, and without empty lines."""
    lines, ours = [], False
    for line in text.splitlines():
        ours = line.startswith("  ") and (ours or RUNNER in line)
        if line and not ours:
            lines.append(line)
    return "\n".join(lines)


def newest(folders):
    """Return the time of the last change of a file in the folders, 0 if there is none."""
    last = 0.0
    for top in folders:
        for folder, _, names in os.walk(top):
            for name in names:
                try:
                    last = max(last, os.stat(os.path.join(folder, name)).st_mtime)
                except OSError:
                    pass  # it is gone
    return last
