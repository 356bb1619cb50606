# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where the files of an input are copied from."""

from ..errors import RunnerError


def open_source(attempt, entry):
    """Return the source of an input.

    Its look() finds out how large it is, as size in bytes. Its copy(folder, progress) fills an
    empty directory and returns the name of the file in it that is meant, "" for all of them.
    """
    if entry.set:
        return DataSet(attempt.store, entry.set, entry.file)
    if entry.url.startswith("gs://"):
        from .bucket import Bucket

        return Bucket(attempt, entry.url)
    if entry.url.startswith("hf://"):
        from .hub import Hub

        return Hub(attempt, entry.url)
    raise RunnerError(f"{entry.url!r:.200} is neither gs:// nor hf://: submit again with a single version of the client")


class DataSet:
    """Files that the client has put into the store."""

    def __init__(self, store, sha256, file):
        self._store, self._sha256, self._file = store, sha256, file
        self.size = 0

    def look(self):
        """Find out the size."""
        from .dataset import set_size

        self.size = set_size(self._store, self._sha256)

    def copy(self, folder, progress):
        """Copy the files, each verified by its hash."""
        from .dataset import fetch_set

        fetch_set(self._store, self._sha256, folder, progress.add)
        return self._file
