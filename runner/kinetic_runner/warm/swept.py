# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A workspace that is swept before its next bundle is known, while the host waits for a call.

inotify tells who touches it afterwards. It does not tell of writes through another name of a file, or through a mapping from before:
no process of a call is left that could do that, but for children of the process that is kept at level `process`.
"""

import os
from contextlib import suppress

from .. import inotify
from ..bundle.tree import Earlier, parents_of
from ..bundle.update import CACHE, memory_of, mounted_below, recall, sweep
from ..threads import start_threads

CHANGES = (
    inotify.MODIFIED | inotify.ATTRIBUTES | inotify.CLOSED | inotify.MOVED_FROM | inotify.MOVED_TO | inotify.CREATED | inotify.DELETED
    | inotify.SELF_DELETED | inotify.SELF_MOVED | inotify.ONLY_FOLDERS | inotify.NO_LINKS
)  # fmt: skip
MOST_FILES = 100_000  # of an index that is read ahead: it takes half a kilobyte of memory for each, while the host waits
SWEEPS = 2  # the first one may itself change something


def sweep_ahead(workspace):
    """Return a Swept of this workspace, None if there is nothing to keep or its directories can't be watched."""
    try:
        packed, known = recall(memory_of(workspace))
        if not known or os.path.islink(workspace) or mounted_below(workspace):
            return None
        earlier = Earlier(packed) if len(known) <= MOST_FILES else None
        if earlier and known.keys() != set(earlier.paths):
            return None
        swept = Swept(workspace, earlier, known)
    except Exception:  # this only saves time: the call hits the problem again, and reports it
        return None
    return swept if swept.files is not None else None


class Swept:
    """A workspace after a sweep.

    files are the paths of all its files, each as it was written; None if that is not certain.
    """

    def __init__(self, workspace, earlier, known):
        self.workspace, self.known, self.files = workspace, known, None
        self._earlier = earlier
        self._folders, self._places = parents_of(known), {}
        self._events = inotify.Inotify()
        try:
            self._sweep()
        finally:
            if self.files is None:
                self._events.close()

    def _sweep(self):
        seals = {path: mark for path, (_, mark, _) in self.known.items()}
        for _ in range(SWEEPS):
            self._watch()
            os.utime(self.workspace)
            if not self._changed():
                return  # this system reports no changes
            files = sweep(self.workspace, seals, self._folders)
            if not self._changed():
                self.files, self._places = files, self._places_now()
                return

    def _watch(self):
        for folder in self._folders:
            for path in (os.path.join(self.workspace, folder), os.path.join(self.workspace, folder, CACHE)):
                with suppress(FileNotFoundError, NotADirectoryError):
                    self._events.add(path, CHANGES)

    def _places_now(self):
        """Return which directories are there, so that another one in their place is noticed."""
        places = {}
        for folder in self._folders:
            with suppress(OSError):
                status = os.lstat(os.path.join(self.workspace, folder))
                places[folder] = status.st_dev, status.st_ino
        return places

    def _changed(self):
        """Report whether something has changed since the last question."""
        changed = False
        while self._events.read():
            changed = True
        return changed

    def forget(self):
        """Free the memory: the call has begun, and may need it."""
        self.known, self.files = {}, None

    def take_earlier(self):
        """Return, once, the index that the files are of, None if it is too large to be kept."""
        earlier, self._earlier = self._earlier, None
        return earlier

    def to_look_at(self, index):
        """Return the files of an index that are new, or are no longer as they were written."""
        gone = (self.known.keys() - self.files).difference(file.path for file in index.new)
        return index.new + [file for file in index.files if file.path in gone] if gone else index.new

    def holds(self, workspace, index):
        """Report, once, whether nobody has changed the workspace since, and an index has all files that were known."""
        try:
            same = workspace == self.workspace and self.known.keys() <= {file.path for file in index.files} and self._places == self._places_now()
            return same and not self._changed()
        finally:
            if not start_threads(1, self._events.close):  # which takes some milliseconds, and the call waits
                self._events.close()
