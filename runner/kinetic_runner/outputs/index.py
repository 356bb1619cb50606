# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The index of a host's outputs, {id}/sync/{host}.json: what of them is complete. A restore brings exactly that."""

import os
from collections import namedtuple

from ..documents import VERSION, field, parse_document
from ..errors import AlreadyExists, NotFound, RunnerError
from ..store.names import job_name
from ..text import BLOCK, encode_json, readable

LIMIT = 256 << 20  # bytes
LATEST = 1 << 62  # nanoseconds: a time that no file system refuses

# A file that is complete in the store, or a link, which has no object. unit names what belongs together.
Entry = namedtuple("Entry", "path size mode mtime_ns md5 generation link unit")


def index_name(job, host):
    """Return the name of a host's index."""
    return job_name(job, f"sync/{host}.json")


def to_json(entry):
    """Return an entry as the index has it."""
    if entry.link is not None:
        fields = {"path": entry.path, "link": entry.link}
    else:
        fields = {name: getattr(entry, name) for name in ("path", "size", "mode", "mtime_ns", "md5", "generation")}
    return fields if entry.unit == os.path.dirname(entry.path) else dict(fields, unit=entry.unit)


def from_json(fields, where):
    """Return an entry after its checks."""
    fields = fields if isinstance(fields, dict) else {}
    path = field(fields, "path", str, where)
    unit = field(fields, "unit", str, where, os.path.dirname(path))
    if "link" in fields:
        return Entry(path, 0, 0o777, 0, "", "", field(fields, "link", str, where), unit)
    size, mode, mtime_ns = (field(fields, name, int, where) for name in ("size", "mode", "mtime_ns"))
    md5, generation = (field(fields, name, str, where) for name in ("md5", "generation"))
    return Entry(path, size, mode & 0o7777, max(-LATEST, min(mtime_ns, LATEST)), md5, generation, None, unit)


def read_index(store, name):
    """Return the entries of an index by path."""
    blocks = []
    with store.open(name) as file:
        while block := file.read(BLOCK):
            blocks.append(block)
            if len(blocks) * BLOCK > LIMIT:
                raise RunnerError(f"{store.url(name)} has more than {readable(LIMIT)}")
    document = parse_document(b"".join(blocks), store.url(name))
    entries = [from_json(entry, store.url(name)) for entry in field(document, "files", list, store.url(name), [])]
    return {entry.path: entry for entry in entries}


def read_indexes(store, job):
    """Return the entries of all hosts of a job by path, or None if no host has an index."""
    entries, some = {}, False
    for name in store.list(job_name(job, "sync/")):
        try:
            entries.update(read_index(store, job_name(job, f"sync/{name}")))
            some = True
        except NotFound:
            pass  # just removed
    return entries if some else None


def attempt_of(text):
    """Return the number of an attempt from an object's metadata, or 0 if somebody else wrote that."""
    try:
        return int(text)
    except (TypeError, ValueError):
        return 0


class Superseded(RunnerError):
    """A later attempt has written the index: it runs instead of this one."""


class Index:
    """The index that this attempt writes."""

    def __init__(self, store, job, host, attempt):
        self._store, self._name, self._attempt = store, index_name(job, host), attempt
        self._generation = None  # not known
        self.entries = {}

    def write(self, entries):
        """Replace the index."""
        document = {"version": VERSION, "attempt": self._attempt, "files": [to_json(entry) for _, entry in sorted(entries.items())]}
        data, metadata = encode_json(document), {"attempt": str(self._attempt)}
        while True:
            if self._generation is None:
                self._generation, theirs = self._store.generation(self._name)
                if (later := attempt_of(theirs.get("attempt"))) > self._attempt:
                    raise Superseded(f"attempt {later} has started in the meantime, and saves its own outputs")
            try:
                self._generation = self._store.upload(self._name, lambda: [data], metadata, self._generation)["generation"]
                break
            except AlreadyExists:
                self._generation = None
        self.entries = entries
