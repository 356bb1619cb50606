# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The kernel's inotify(7), which tells what happens in directories."""

import os

# Events, and flags of a watch: <sys/inotify.h>.
MODIFIED, ATTRIBUTES, CLOSED, MOVED_FROM, MOVED_TO, CREATED, DELETED, SELF_DELETED, SELF_MOVED = 0x2, 0x4, 0x8, 0x40, 0x80, 0x100, 0x200, 0x400, 0x800
OVERFLOW, IGNORED, FOLDER = 0x4000, 0x8000, 0x40000000
ONLY_FOLDERS, NO_LINKS = 0x1000000, 0x2000000
BUFFER = 1 << 16


class Inotify:
    """A queue of events. Making one raises OSError, ImportError or AttributeError where there is no inotify."""

    def __init__(self):
        import ctypes

        self._errno, self._libc = ctypes.get_errno, ctypes.CDLL(None, use_errno=True)
        self._fd = self._checked(self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))

    def close(self):
        """Stop watching."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def add(self, folder, events):
        """Watch a directory for these events; return its number in them."""
        return self._checked(self._libc.inotify_add_watch(self._fd, os.fsencode(folder), events))

    def read(self):
        """Return some events as the kernel writes them, b"" if there are none."""
        try:
            return os.read(self._fd, BUFFER)
        except BlockingIOError:
            return b""

    def _checked(self, result):
        if result < 0:
            number = self._errno()
            raise OSError(number, os.strerror(number))
        return result
