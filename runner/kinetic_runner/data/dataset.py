# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A data set: many indexes, read one after the other, so that any number of files needs little memory."""

from collections import namedtuple

from ..bundle.tree import read_index
from ..bundle.unpack import Tree, empty_directory
from ..contract import AGES
from ..documents import SHA256, field, parse_document
from ..errors import Mismatch, NotFound, RunnerError
from ..store import in_parallel, read_verified
from ..store.names import blob_name

DOCUMENT_LIMIT = 32 << 20  # bytes: more than 100,000 shards
THREADS = 8
TRUSTED_AGE = AGES["set"]

Shard = namedtuple("Shard", "sha256 files bytes")


class DataSet:
    """Files that the client has put into the store."""

    def __init__(self, store, sha256, file):
        self._store, self._sha256, self._file = store, sha256, file
        self.size = 0

    def look(self):
        """Find out the size."""
        self.size = set_size(self._store, self._sha256)

    def copy(self, folder, progress):
        """Copy the files, each verified by its hash."""
        fetch_set(self._store, self._sha256, folder, progress.add)
        return self._file


def set_size(store, sha256):
    """Return how many bytes the files of a data set have."""
    return sum(shard.bytes for shard in read_shards(store, sha256))


def fetch_set(store, sha256, target, progress=None):
    """Write a data set into a directory, which is emptied first. If this raises, what is there is incomplete.

    progress is called in several threads, with the number of bytes that were written to files since.
    """
    shards = read_shards(store, sha256)
    empty_directory(target)
    try:
        write_shards(store, shards, Tree(store, target, progress))
    except (NotFound, Mismatch) as exc:
        # Where a client finds the document, it does not look at the other objects.
        raise RunnerError(f"{exc}; delete {store.url(blob_name(sha256))} too, so that the next submit uploads what is missing") from None


def write_shards(store, shards, tree):
    """Write the files of all shards, then their links."""
    linked = []
    for shard in shards:
        index = read_shard(store, shard)
        tree.write_files(index, THREADS)
        if index.links:
            linked.append(shard)
    for shard in linked:  # read again, since the links of all shards may not fit into memory
        tree.write_links(read_shard(store, shard))


def renew_set(store, sha256):
    """Renew all objects of a data set together, when its document is old.

    The document comes last: where a client finds a young one, it does not look at the other objects.
    """
    store.renew(blob_name(sha256), first=lambda: renew_blobs(store, sha256))


def renew_blobs(store, sha256):
    """Renew what the document of a data set refers to, even if it is not as old as the document."""
    for shard in read_shards(store, sha256):
        names = [blob.name for blob in read_shard(store, shard).blobs] + [blob_name(shard.sha256)]
        in_parallel(lambda name: store.renew(name, TRUSTED_AGE), names, THREADS)


def read_shards(store, sha256):
    """Return the shards of a data set, fully verified."""
    name = blob_name(sha256)
    where = f"data set {store.url(name)}"
    document = parse_document(read_verified(store, name, sha256, DOCUMENT_LIMIT), where)
    shards = [parse_shard(entry, where) for entry in field(document, "shards", list, where, [])]
    for key, total in (("files", sum(shard.files for shard in shards)), ("bytes", sum(shard.bytes for shard in shards))):
        if field(document, key, int, where) != total:
            raise RunnerError(f"{where} has {document[key]} {key}, but its shards have {total}")
    return shards


def parse_shard(entry, where):
    entry = entry if isinstance(entry, dict) else {}
    sha256 = field(entry, "sha256", str, where)
    counts = [field(entry, key, int, where) for key in ("files", "bytes")]
    if not SHA256.fullmatch(sha256) or min(counts) < 0:
        raise RunnerError(f"{where}: malformed shard {sha256!r:.70}: {counts[0]} files, {counts[1]} bytes")
    return Shard(sha256, *counts)


def read_shard(store, shard):
    """Return the index of a shard, which must have what the data set says."""
    index = read_index(store, shard.sha256)
    files, size = len(index.files), sum(file.size for file in index.files)
    if (files, size) != (shard.files, shard.bytes):
        name = store.url(blob_name(shard.sha256))
        raise RunnerError(f"{name} has {files} files of {size} bytes, but the data set says {shard.files} of {shard.bytes}")
    return index
