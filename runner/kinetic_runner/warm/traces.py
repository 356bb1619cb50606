# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What imports leave in the system. All forks would share it, and the first one to end would remove it or use it up."""

import fcntl
import os
import stat
import sys
from contextlib import suppress

from .leftovers import PLACES, names_in, processes

FILES = "/proc/self/fd"


class Traces:
    """What is left from when this is made until settle(). counts(frame) reports whether the code that runs counts."""

    def __init__(self, counts=lambda frame: True):
        self._before = {place: names_in(place) for place in {*PLACES, os.environ.get("TMPDIR") or PLACES[0]}}
        self._children, self._files = children(), open_files()
        self._made, self._ran, self._noting, self._counts = set(), False, True, counts
        sys.addaudithook(self._hear)  # Python can't remove it again

    def _hear(self, event, args):
        if not self._noting:
            return
        with suppress(Exception):  # such as a number in place of a path
            if event == "os.mkdir" or event == "open" and (args[2] or 0) & os.O_CREAT:
                if self._counts(sys._getframe(1)):
                    self._made.add(os.path.abspath(os.fsdecode(args[0])))
            elif event == "subprocess.Popen":
                self._ran = self._ran or self._counts(sys._getframe(1))

    def settle(self):
        """Note nothing any more."""
        self._noting, self._made = False, set()

    def left(self):
        """Return what is left in the system, "" if nothing."""
        if self._has_files():
            return "temporary files"
        if children() - self._children:
            return "a process"
        return "an open file" if open_files() - self._files else ""

    def lost(self):
        """Return what is left that does not outlive a call, "" if nothing."""
        return "temporary files" if self._has_files() else "a process" if self._ran and children() - self._children else ""

    def _has_files(self):
        return any(self._is_temporary(path) and os.path.lexists(path) for path in self._made)

    def _is_temporary(self, path):
        """Report whether a path is one that does not outlive a call, and not one of Python's own caches."""
        for place, before in self._before.items():
            if path.startswith(place + os.sep) and path[len(place) + 1 :].partition(os.sep)[0] not in before:
                return "__pycache__" not in path and not path.startswith(sys.pycache_prefix or "\0")
        return False


def children():
    """Return the pids of the children of this process."""
    return {pid for pid, parent in processes().items() if parent == os.getpid()}


def open_files():
    """Return the open files and sockets of this process, except for files to which all append."""
    found = set()
    for fd in map(int, os.listdir(FILES) if os.path.isdir(FILES) else ()):
        with suppress(OSError):
            status = os.fstat(fd)
            if stat.S_ISSOCK(status.st_mode) or stat.S_ISREG(status.st_mode) and not fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_APPEND:
                found.add((fd, status.st_dev, status.st_ino))
    return found
