# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A workspace that is swept before its next bundle is known, while the host waits for a call."""

import os

from ..bundle.tree import parents_of
from ..bundle.update import memory_of, recall, sweep

# <sys/inotify.h>
IN_MODIFY, IN_ATTRIB, IN_CLOSE_WRITE, IN_MOVED_FROM, IN_MOVED_TO = 0x2, 0x4, 0x8, 0x40, 0x80
IN_CREATE, IN_DELETE, IN_DELETE_SELF, IN_MOVE_SELF = 0x100, 0x200, 0x400, 0x800
IN_ONLYDIR, IN_DONT_FOLLOW = 0x1000000, 0x2000000
CHANGES = IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF
BUFFER = 1 << 16
SWEEPS = 2  # the first one may itself change something


def sweep_ahead(workspace):
    """Return a Swept of this workspace, None if there is nothing to keep or its directories can't be watched."""
    if os.path.islink(workspace):
        return None
    try:
        swept = Swept(workspace)
        return swept if swept.files is not None else None
    except (AttributeError, ImportError, OSError):  # no inotify in the C library, no ctypes in this Python, or too many watches
        return None


class Swept:
    """What a sweep of a workspace has found. files are the paths of all its files, each as known says."""

    def __init__(self, workspace):
        self.workspace, self.files = workspace, None
        self.known = recall(memory_of(workspace))
        if not self.known:
            return
        folders = parents_of(self.known)
        self._watch = Watch()
        for folder in folders:
            self._watch.add(os.path.join(workspace, folder))
        os.utime(workspace)
        if not self._watch.has_seen_changes():
            return  # this system does not tell
        for _ in range(SWEEPS):
            files = sweep(workspace, {path: mark for path, (_, mark, _) in self.known.items()}, folders)
            if not self._watch.has_seen_changes():
                self.files = files
                return

    def holds(self, workspace, paths):
        """Report whether nobody has changed the workspace since, and a bundle with these paths has all that was known."""
        return workspace == self.workspace and self.known.keys() <= set(paths) and not self._watch.has_seen_changes()


class Watch:
    """Changes of what directories contain, as the system tells them: inotify(7)."""

    def __init__(self):
        import ctypes

        self._errno, self._libc = ctypes.get_errno, ctypes.CDLL(None, use_errno=True)
        self._events = open(self._checked(self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)), "rb", buffering=0)

    def add(self, folder):
        """Watch a directory, unless there is none of this name."""
        try:
            self._checked(self._libc.inotify_add_watch(self._events.fileno(), os.fsencode(folder), CHANGES | IN_ONLYDIR | IN_DONT_FOLLOW))
        except (FileNotFoundError, NotADirectoryError):
            pass

    def has_seen_changes(self):
        """Report whether something has changed since the last question."""
        changed = False
        while self._events.read(BUFFER):
            changed = True
        return changed

    def _checked(self, result):
        if result < 0:
            number = self._errno()
            raise OSError(number, os.strerror(number))
        return result
