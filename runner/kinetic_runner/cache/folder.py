# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The files of a cache, and that of a job on this machine: a directory in the store, to which all such jobs write."""

import os
import stat
import time

from ..documents import check_path
from ..errors import RunnerError
from ..outputs.tree import is_temporary

HALF_SECONDS = 2.0  # before the end of a call that was cut off, within which a file may not have been finished


def files_in(top):
    """Return the files that can be kept, by path, each with its os.stat_result."""
    found = {}
    for folder, _, names in os.walk(top):
        for name in names:
            full = os.path.join(folder, name)
            path = full[len(top) + 1 :]
            try:
                status = os.lstat(full)
                if stat.S_ISREG(status.st_mode) and not name.endswith(".lock") and not is_temporary(path):
                    found[check_path(path, full)] = status
            except (OSError, RunnerError):
                pass  # it is gone, or an index can't have its name
    return found


def drop_unfinished(top, end):
    """Remove the files that were written right before a call was cut off, at this time.time()."""
    for path, status in files_in(top).items():
        if status.st_mtime > end - HALF_SECONDS:
            remove(os.path.join(top, path))


def remove(path):
    """Remove a file, if it is still there."""
    try:
        os.unlink(path)
    except OSError:
        pass


class Folder:
    """The directory path, in which at most size bytes stay. It has the methods of bucket.Cache."""

    def __init__(self, path, size):
        self.path, self._size = path, size

    def begin(self, _):
        """Make the directory."""
        os.makedirs(self.path, mode=0o700, exist_ok=True)

    def wait(self):
        """Do nothing: all is there."""

    def ended(self, in_order):
        """Remove what a call that was cut off may not have finished."""
        if not in_order:
            drop_unfinished(self.path, time.time())

    def finish(self):
        """Remove what was not used for the longest time, if the directory is too large."""
        found = files_in(self.path)
        over = sum(status.st_size for status in found.values()) - self._size
        for path, status in sorted(found.items(), key=lambda item: max(item[1].st_atime, item[1].st_mtime)):
            if over > 0:
                remove(os.path.join(self.path, path))
                over -= status.st_size
