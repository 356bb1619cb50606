# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The index of a cache: its packs, which are blobs with one file or many, and when each was last used."""

import gzip
import time

from ..bundle.tree import Index, inflate, member, parse_blob, parse_file
from ..contract import AGES
from ..documents import VERSION, check_path, field, parse_document
from ..errors import NotFound, RunnerError
from ..records import whole
from ..store import in_parallel
from ..text import encode_json

USED_SECONDS = 86_400  # what was used within the last day counts as used together


class Pack:
    """Files in one blob. used is when one of them was last needed, in seconds since 1970."""

    def __init__(self, blob, files, used):
        self.blob, self.files, self.used = blob, files, used

    @property
    def size(self):
        """The bytes of the blob."""
        return self.blob.size

    @property
    def index(self):
        """The index of these files alone."""
        return Index([self.blob], self.files, [], [])


class CacheIndex:
    """What the store had at one moment. renewed is when all packs were last known to be young."""

    def __init__(self, store, name):
        self._store, self._name = store, name
        self.packs, self.generation, self.renewed = {}, 0, int(time.time())
        self.problem = None  # why it can't be used
        try:
            with store.open(name) as source:
                data = whole(source)
        except NotFound:
            return
        self.generation = source.generation
        try:
            where = store.url(name)
            document = parse_document(inflate(data, where), where)
            self.renewed = field(document, "renewed", int, where)
            for entry in field(document, "packs", list, where):
                pack = parse_pack(member(entry, where), where)
                self.packs[pack.blob.sha256] = pack
        except RunnerError as exc:
            self.packs, self.problem = {}, exc

    @property
    def paths(self):
        """The paths of all files."""
        return {file.path for pack in self.packs.values() for file in pack.files}

    @property
    def newest(self):
        """The packs, those that were used last first."""
        return sorted(self.packs.values(), key=lambda pack: -pack.used)

    @property
    def in_use(self):
        """The packs that were used on the last day of use."""
        packs = self.newest
        return [pack for pack in packs if pack.used > packs[0].used - USED_SECONDS]

    @property
    def is_old(self):
        """Whether the packs must be renewed, before a rule of the bucket deletes them."""
        return bool(self.packs) and time.time() - self.renewed > AGES["blob"]

    def shrink(self, limit):
        """Leave out what was not used for the longest time, as long as all has more bytes."""
        over = sum(pack.size for pack in self.packs.values()) - limit
        for pack in reversed(self.newest):
            if over > 0:
                del self.packs[pack.blob.sha256]
                over -= pack.size

    def write(self):
        """Replace what the store had. Raise AlreadyExists if that has changed meanwhile."""
        if self.is_old:
            in_parallel(lambda pack: self._store.renew(pack.blob.name, AGES["blob"]), self.newest, self._store.parallel)
            self.renewed = int(time.time())
        packs = [
            {"sha256": pack.blob.sha256, "size": pack.size, "used": int(pack.used), "files": [described(file) for file in pack.files]}
            for pack in self.packs.values()
        ]  # fmt: skip
        data = gzip.compress(encode_json({"version": VERSION, "renewed": self.renewed, "packs": packs}), 1)
        self._store.write(self._name, lambda: [data], self.generation)


def described(file):
    """Return what the index says about a file."""
    return {"path": file.path, "mode": file.mode, "size": file.size, "offset": file.offset}


def parse_pack(entry, where):
    """Return a pack of an index after its checks."""
    blob = parse_blob(entry, where)
    files = [parse_file(file, lambda path: check_path(path, where), [blob], where) for file in field(entry, "files", list, where)]
    return Pack(blob, files, field(entry, "used", int, where))
