# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The inputs of a job: files that are there before its call starts."""

import hashlib
import os
from collections import namedtuple

from ..bundle.unpack import empty_directory
from ..documents import SHA256, check_path, field
from ..errors import NO_ROOM, Away, BadData, RunnerError, Unreachable, explain
from .disk import check_room
from .progress import Progress
from .sources import open_source

COPY = "copy"

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


def copy_sources(attempt, sources):
    """Copy each source to the disk. Return the paths, by key: of a directory, or of the single file in it."""
    opened = {key: open_source(attempt, entry) for key, entry in sources.items()}
    for key, source in opened.items():
        named(sources[key], source.look)
    total = sum(source.size for source in opened.values())
    parent = os.path.join(attempt.options.work, "data")
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
