# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Symbolic links among outputs. What a link in the index leads to is in the index too, so that no restored link leads to nothing."""

import os

from .units import folders_of, parents


class Links:
    """Links that wait for what they lead to, while a round enters files into the index.

    files are the stamps of what there is, by path; known are the folders with entries in the index.
    """

    def __init__(self, root, files, known):
        self._root, self._files, self._known = root, files, set(known)
        self._folders = None  # of the files, once they are needed
        self._waiting = []

    def holds(self, entry, entries):
        """Return whether an entry has to wait: it is a link to something that has no entry yet."""
        if entry.link is None:
            self._known.update(parents(entry.path))
            return False
        if self._is_early(entry, entries):
            self._waiting.append(entry)
            return True
        return False

    def rest(self, entries, everything):
        """Return by path the links that no longer wait, or all that did."""
        return {entry.path: entry for entry in self._waiting if everything or not self._is_early(entry, entries)}

    def needed(self, paths, entries):
        """Return those of the paths to which links among the entries lead, or to folders above them."""
        targets = {self._target(entry) for entry in entries.values() if entry.link is not None}
        return {path for path in paths if path in targets or not targets.isdisjoint(parents(path))}

    def _is_early(self, entry, entries):
        target = self._target(entry)
        if self._folders is None:
            self._folders = folders_of(self._files)
        return (target in self._files or target in self._folders) and target not in entries and target not in self._known

    def _target(self, entry):
        """Return the path below the root to which a link leads."""
        return os.path.relpath(os.path.join(self._root, os.path.dirname(entry.path), entry.link), self._root)
