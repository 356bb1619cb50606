# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The cache of a job on this machine: a directory in the store, to which all such jobs write."""

import os
import time

from .files import drop_unfinished, files_in, remove


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
