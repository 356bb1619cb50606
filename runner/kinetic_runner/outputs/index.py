# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The index of a host's outputs, sync/{host}.json: one finished state. A restore brings exactly what it names."""

import calendar
import dataclasses
import json
import os
import time
import zlib
from collections import namedtuple

from ..contract import LIMITS, VERSIONS
from ..documents import SHA256, field, parse_document
from ..errors import AlreadyExists, BadData, NotFound, RunnerError
from ..store import Replaced
from ..store.names import SYNC
from ..store.objects import can_be_file, is_path
from ..text import BLOCK, encode_json, readable
from .tree import FILE, FOLDER, LINK

VERSION = VERSIONS["outputs_index"]
LIMIT = LIMITS["outputs_index"]  # bytes
LATEST = 1 << 62  # nanoseconds: a time that no file system refuses
GZIP = b"\x1f\x8b"
PENDING = 100  # names that an index has at most

MOMENT, ATTEMPT = "kinetic-moment", "kinetic-attempt"  # metadata of an index: of its Document

# A path of the index. object is relative to the home of the outputs; "" means that it has the plain name. since tells, for
# several hosts, when it was finished, in nanoseconds since 1970.
Entry = namedtuple("Entry", "kind size sha256 mode mtime target object since", defaults=[0])
# What a path was until it was changed or removed, in nanoseconds since 1970. Only several hosts need it.
Past = namedtuple("Past", "path entry until")
# A file that was not finished, and why.
Incomplete = namedtuple("Incomplete", "size object reason")


class Superseded(RunnerError):
    """A later attempt has written the index: it runs instead of this one."""


class Conflict(RunnerError):
    """An earlier attempt, which still runs, has written the index after this one has read it."""


@dataclasses.dataclass
class Document:
    """What an index says."""

    attempt: int = 0  # that wrote it
    entries: dict = dataclasses.field(default_factory=dict)  # Entry by path
    pending: list = dataclasses.field(default_factory=list)  # names of what was not finished
    incomplete: dict = dataclasses.field(default_factory=dict)  # Incomplete by path
    done: bool = False  # the job has ended for good
    at: str = ""  # its moment
    write: str = ""  # recognises one's own index if an answer is lost
    before: list = dataclasses.field(default_factory=list)  # Past: what another host may still need
    ended: bool = False  # the call of this host has ended: nothing comes after the moment
    in_order: bool = False  # and all that it has left was finished
    restored: int = 0  # with several hosts, the moment that this attempt has begun with, in nanoseconds since 1970; 0: with nothing
    grace: float = 0.0  # seconds after SIGTERM in which it may still be written

    def __post_init__(self):
        self.pending, self.incomplete = sorted(self.pending)[:PENDING], self.incomplete or {}

    @property
    def moment(self):
        """Until when it tells what its host had finished, in nanoseconds since 1970: LATEST if nothing comes after it."""
        if self.ended or not self.at:
            return LATEST
        seconds, _, fraction = self.at.rstrip("Z").partition(".")
        try:
            return calendar.timegm(time.strptime(seconds, "%Y-%m-%dT%H:%M:%S")) * 10**9 + int(fraction or 0) * 1000
        except ValueError:
            return 0

    def state_at(self, moment):
        """Return what its host had finished at a moment."""
        state = {past.path: past.entry for past in self.before if past.entry.since <= moment < past.until}
        state.update((path, entry) for path, entry in self.entries.items() if entry.since <= moment)
        return state

    def objects(self):
        """Return the names of all objects that it names, but the plain ones."""
        named = (*self.entries.values(), *self.incomplete.values(), *(past.entry for past in self.before))
        return {one.object for one in named if one.object}

    def to_json(self):
        """Return the document, ready for JSON."""
        incomplete = [{"path": path, "size": one.size, "object": one.object, "reason": one.reason} for path, one in sorted(self.incomplete.items())]
        return {
            "version": VERSION, "write": self.write, "attempt": self.attempt, "at": self.at, "done": self.done,
            "ended": self.ended, "in_order": self.in_order, "restored_ns": self.restored, "grace": self.grace,
            "files": [to_json(path, entry) for path, entry in sorted(self.entries.items())],
            "before": [dict(to_json(past.path, past.entry), until_ns=past.until) for past in self.before],
            "pending": self.pending, "incomplete": incomplete,
        }  # fmt: skip

    @classmethod
    def from_json(cls, fields, where):
        """Return the document after its checks."""
        entries = dict(entry_of(one, where) for one in field(fields, "files", list, where, []))
        incomplete = {}
        for one in field(fields, "incomplete", list, where, []):
            one = one if isinstance(one, dict) else {}
            size, name, reason = field(one, "size", int, where), field(one, "object", str, where), field(one, "reason", str, where, "")
            incomplete[field(one, "path", str, where)] = Incomplete(size, name, reason)
        pending = [str(name) for name in field(fields, "pending", list, where, [])]
        before = [Past(*entry_of(one, where), field(one, "until_ns", int, where)) for one in field(fields, "before", list, where, [])]
        more = {name: field(fields, name, str, where, "") for name in ("at", "write")}
        more.update((name, fields.get(name) is True) for name in ("done", "ended", "in_order"))
        restored = field(fields, "restored_ns", int, where, 0)
        return cls(field(fields, "attempt", int, where, 0), entries, pending, incomplete, before=before, restored=restored, **more)


def to_json(path, entry):
    """Return a path's entry, ready for JSON."""
    since = {"since_ns": entry.since} if entry.since else {}
    if entry.kind == LINK:
        return {"path": path, "link": entry.target, **since}
    fields = {"path": path, "mode": entry.mode, "mtime_ns": entry.mtime, **since}
    if entry.kind == FOLDER:
        return dict(fields, directory=True)
    return dict(fields, size=entry.size, sha256=entry.sha256, **({"object": entry.object} if entry.object else {}))


def entry_of(fields, where):
    """Return a path and its entry after the checks."""
    fields = fields if isinstance(fields, dict) else {}
    path = field(fields, "path", str, where)
    if not is_path(path):
        raise RunnerError(f"{where}: {path!r:.200} is not a path below a directory")
    since = field(fields, "since_ns", int, where, 0)
    if "link" in fields:
        return path, Entry(LINK, 0, "", 0o777, 0, field(fields, "link", str, where), "", since)
    mode, mtime = field(fields, "mode", int, where, 0) & 0o777, field(fields, "mtime_ns", int, where, 0)
    mtime = max(-LATEST, min(mtime, LATEST))
    if fields.get("directory") is True:
        return path, Entry(FOLDER, 0, "", mode, mtime, None, "", since)
    sha256 = field(fields, "sha256", str, where)
    if not SHA256.fullmatch(sha256):
        raise RunnerError(f"{where}: {path!r:.200} has no SHA-256")
    name = field(fields, "object", str, where, "")
    if name and not (name.startswith(SYNC) and can_be_file(name)):
        raise RunnerError(f"{where}: {name!r:.200} is not an object below {SYNC}")
    return path, Entry(FILE, field(fields, "size", int, where, 0), sha256, mode, mtime, None, name, since)


def read_index(store, name):
    """Return the document of an index and its generation. An index of an earlier release gives None instead of the document.

    Raise NotFound if there is none.
    """
    while True:
        try:
            return _read_index(store, name)
        except Replaced:
            pass  # its attempt still runs, and has just written another one


def _read_index(store, name):
    where, blocks, size = store.url(name), [], 0
    with store.open(name) as file:
        unzip = None
        while block := file.read(BLOCK):
            if unzip is None:
                unzip = zlib.decompressobj(31).decompress if block[:2] == GZIP else lambda data, limit: data
            blocks.append(unzip(block, LIMIT))
            size += len(blocks[-1])
            if size >= LIMIT:
                raise RunnerError(f"{where} has more than {readable(LIMIT)}")
        generation = file.generation
    data = b"".join(blocks)
    try:
        version = json.loads(data).get("version")
    except (ValueError, AttributeError, RecursionError):
        raise RunnerError(f"{where} is not a JSON object") from None
    if version == 1:
        return None, generation
    return Document.from_json(parse_document(data, where, VERSION), where), generation


class Index:
    """The index that an attempt writes, and what it says.

    others returns the moments of the indexes of the other hosts; None: no other host writes to the same place.
    grace is that of the runner.
    """

    def __init__(self, store, name, attempt, others=None, grace=0.0):
        self._store, self._name, self._attempt, self.others, self._grace = store, name, attempt, others, grace
        self._generation = 0
        self.document = Document()

    @property
    def exists(self):
        """Whether there is an index in the store."""
        return self._generation != 0

    def read(self):
        """Read the index, if there is one, and take it for this attempt's own."""
        try:
            found, generation = read_index(self._store, self._name)
        except NotFound:
            return
        found = found or Document()
        if found.done and self._attempt == 1:  # of an earlier job of this ID
            found = Document()
        self._check(found)
        self.document, self._generation = found, generation

    def write(self, **parts):
        """Replace some parts of the index, after all that they name is in the store.

        Raise Superseded if a later attempt has written it.
        """
        document = dataclasses.replace(self.document, attempt=self._attempt, grace=self._grace, **parts)
        if self.others:
            document.before = self._still_needed(document)
        while True:
            try:
                return self._write(document)
            except Conflict:
                pass  # now that attempt is told that it was replaced

    def write_again(self):
        """Write the index as it is, in the name of this attempt. Raise Conflict if an earlier attempt has written it meanwhile."""
        self._write(dataclasses.replace(self.document, attempt=self._attempt, grace=self._grace))

    def _still_needed(self, document):
        """Return what was there until a moment of which not all other hosts have told yet."""
        gone = {path: entry for path, entry in self.document.entries.items() if document.entries.get(path) != entry}
        until = {path: document.entries[path].since if path in document.entries else document.moment for path in gone}
        before = document.before + [Past(path, entry, until[path]) for path, entry in gone.items()]
        before = [past for past in before if past.entry.since < past.until and (past.entry.object or past.entry.kind != FILE)]
        told = min(self.others(), default=LATEST) if before else 0
        return [past for past in before if past.until > told]

    def _write(self, document):
        document.write = os.urandom(16).hex()
        data = encode_json(document.to_json())
        if len(data) >= LIMIT:  # nobody could read it
            raise BadData("too many outputs to save: put them into archives")
        data = compress(data)
        try:
            metadata = {MOMENT: str(document.moment), ATTEMPT: str(document.attempt)}
            self._generation = self._store.upload(self._name, lambda: [data], metadata, self._generation)["generation"]
        except AlreadyExists:
            theirs, generation = read_index(self._store, self._name)
            lost_answer = theirs is not None and theirs.write == document.write
            if not lost_answer:
                self._check(theirs or Document())
                if theirs and theirs.attempt == self._attempt and theirs.done:
                    raise Superseded("the job has ended and its outputs were tidied up: what this host wrote later is not saved")
            self._generation = generation  # only now: one that was replaced must never find it
            if not lost_answer:
                raise Conflict(f"an earlier attempt still writes {self._store.url(self._name)}") from None
        self.document = document

    def _check(self, theirs):
        if theirs.attempt > self._attempt:
            raise Superseded(f"attempt {theirs.attempt} has started in the meantime, and saves its own outputs")


def at_once(entries):
    """Return entries that count whatever the other hosts have saved: the program has asked for it."""
    return {path: entry._replace(since=0) for path, entry in entries.items()}


def text_of_moment(moment):
    """Return nanoseconds since 1970 as a time in RFC 3339, to the microsecond."""
    seconds, micros = divmod(moment // 1000, 10**6)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{micros:06}Z"


def compress(data):
    """Return data as gzip, quickly."""
    zipper = zlib.compressobj(1, zlib.DEFLATED, 31)
    return zipper.compress(data) + zipper.flush()
