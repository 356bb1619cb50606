# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The inputs of a job: files that are there before its call starts."""

import hashlib
import os
import re
import threading
import time
from collections import namedtuple

from ..bundle.unpack import empty_directory
from ..documents import SHA256, check_path, field
from ..errors import NO_ROOM, Away, BadData, RunnerError, Unreachable, explain
from ..text import readable
from .disk import check_room

COPY = "copy"
KEY = re.compile("[0-9a-f]{16}")
LINE_SECONDS = 10.0  # between two lines about the progress of copies

Input = namedtuple("Input", "name mount source access set url path file")


class Provided:
    """What the call gets: arguments by name, variables, and data sets in the store that must not expire meanwhile."""

    def __init__(self):
        self.arguments, self.variables = {}, {}
        self.copied, self.mounted = set(), set()

    def renew(self, store):
        """Renew the data sets."""
        from .dataset import renew_set
        from .mounted import renew_mounted

        for sha256 in self.copied:
            renew_set(store, sha256)
        for sha256 in self.mounted:
            renew_mounted(store, sha256)


def provide(attempt, call, where):
    """Bring the inputs of the call to their places. Return what the call gets."""
    inputs = [parse_input(entry, where) for entry in call.data]
    sources = {}
    for entry in inputs:
        if entry.access == COPY:
            sources.setdefault(key_of(entry), entry)
    if attempt.options.warm:
        remove_copies(folder_of(attempt.options))
    folders = copy_sources(attempt, sources) if sources else {}
    provided = Provided()
    for entry in inputs:
        path = os.path.join(entry.path, check_path(entry.file, where)) if entry.file else entry.path
        if entry.access == COPY:
            path = folders[key_of(entry)]
            provided.copied |= {entry.set} - {""}
        elif os.path.exists(path):
            provided.mounted |= {entry.set} - {""}
        else:
            raise BadData(f"there is no {path}, the place of {entry.source}: check the name, and submit the job again")
        if entry.name:
            provided.arguments[entry.name] = path
            provided.variables[f"KINETIC_DATA_{entry.name.upper()}"] = path
    return provided


def parse_input(entry, where):
    """Return one input of a call after its checks."""
    entry = entry if isinstance(entry, dict) else {}
    found = Input(*(field(entry, name, str, where, "") for name in Input._fields))
    if found.set and not SHA256.fullmatch(found.set):
        raise RunnerError(f"{where}: data has the malformed SHA-256 {found.set!r:.70}")
    if not (found.set or found.url if found.access == COPY else os.path.isabs(found.path)):
        raise RunnerError(f"{where}: the input {found.source!r:.200} does not say where its files are")
    return found


def key_of(entry):
    """Return the name of the directory of a copy. The client computes the same: a volume is mounted from there."""
    return hashlib.sha256((entry.set + entry.url).encode()).hexdigest()[:16]


def folder_of(options):
    """Return the directory of all copies."""
    return os.path.join(options.work, "data")


def remove_copies(parent):
    """Remove what earlier calls of a warm host have copied. The directories stay: volumes are mounted from there."""
    if os.path.isdir(parent) and not os.path.ismount(parent):  # else it is on a volume of an overlay, which others may use
        for key in filter(KEY.fullmatch, os.listdir(parent)):
            empty_directory(os.path.join(parent, key))


def copy_sources(attempt, sources):
    """Copy each source to the disk. Return the paths, by key: of a directory, or of the single file in it."""
    opened = {key: open_source(attempt, entry) for key, entry in sources.items()}
    for key, source in opened.items():
        named(sources[key], source.look)
    total = sum(source.size for source in opened.values())
    parent = folder_of(attempt.options)
    os.makedirs(parent, exist_ok=True)
    check_room(parent, total, attempt.options)
    progress = Progress(attempt.say, total)
    paths = {}
    for key, source in opened.items():
        folder = os.path.join(parent, key)
        empty_directory(folder)
        name = named(sources[key], lambda source=source, folder=folder: source.copy(folder, progress))
        paths[key] = os.path.join(folder, name) if name else folder
    progress.end(len(opened))
    return paths


def open_source(attempt, entry):
    """Return the source of an input.

    Its look() finds out how large it is, as size in bytes. Its copy(folder, progress) fills an
    empty directory and returns the name of the file in it that is meant, "" for all of them.
    """
    if entry.set:
        from .dataset import DataSet

        return DataSet(attempt.store, entry.set, entry.file)
    if entry.url.startswith("gs://"):
        from .bucket import Bucket

        return Bucket(attempt, entry.url)
    if entry.url.startswith("hf://"):
        from .hub import Hub

        return Hub(attempt, entry.url)
    raise RunnerError(f"{entry.url!r:.200} is neither gs:// nor hf://: submit again with a single version of the client")


def named(entry, action):
    """Return the result of action. Its failure names the input, and is final unless the source may answer later."""
    try:
        return action()
    except (Away, BadData, Unreachable):
        raise
    except RunnerError as exc:
        raise BadData(f"{entry.source}: {exc}") from None
    except OSError as exc:
        if exc.errno not in NO_ROOM:
            raise
        raise BadData(f"{entry.source}: {explain(exc)}") from None


class Progress:
    """Says every few seconds how much has been copied. Several threads may add."""

    def __init__(self, say, total):
        self._say, self._total = say, total
        self._began = self._next = time.monotonic()
        self._next += LINE_SECONDS
        self._done, self._lock = 0, threading.Lock()

    def add(self, size):
        """Note that size more bytes were copied."""
        with self._lock:
            self._done += size
            now = time.monotonic()
            if now < self._next:
                return
            self._next = now + LINE_SECONDS
            done, rate = self._done, self._done / (now - self._began)
        left = f", {max(0, self._total - done) / rate:.0f} s left" if self._total > done and rate else ""
        self._say(f"data: {readable(done)} of {readable(max(done, self._total))}, {readable(int(rate))}/s{left}")

    def end(self, count):
        """Say that all is there."""
        seconds = time.monotonic() - self._began
        self._say(f"data: {count} source{'' if count == 1 else 's'}, {readable(self._done)} in {seconds:.1f} s")
