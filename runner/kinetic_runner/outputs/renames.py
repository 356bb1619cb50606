# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Find files that are saved with another name or mode, so that their bytes are not sent again."""


class Renames:
    """The files of a directory that are saved under other names only."""

    def __init__(self):
        self._found = {}  # by path: what identifies the file, and its entry under the other name

    def look(self, files, saved):
        """Find those among the stamps by path, given what is saved by path."""
        new = [path for path in files if path not in saved]
        earlier = {}  # by inode
        if new:
            earlier = {one.stamp.inode: (identity(one.stamp), one.entry) for one in saved.values() if one.entry and one.entry.md5}
            earlier.update((found[0][0], found) for found in self._found.values())  # renamed twice
        self._found = {}
        for path in new:
            found = earlier.get(files[path].inode)
            if found is not None and found[0] == identity(files[path]):
                self._found[path] = found

    def earlier(self, path, stamp, saved):
        """Return the last entry of a file, given what is saved under its name, or None if its bytes may be new."""
        if saved is None:
            return self._found.get(path, (None, None))[1]
        same = identity(saved.stamp) == identity(stamp) and saved.entry and saved.entry.md5
        return saved.entry if same else None

    @property
    def sources(self):
        """The other names of the files that are not saved under their own ones yet."""
        return {entry.path for _, entry in self._found.values()}


def identity(stamp):
    """Return what of a stamp stays the same when a file gets another name or mode. Another file may have it, too."""
    return stamp.inode, stamp.size, stamp.mtime_ns
