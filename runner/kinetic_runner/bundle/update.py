# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The next bundle in a workspace that still has the last one: only what differs is fetched and written.

A file is kept if the index has it from the same place in the same blob, or with the same content, and nobody has touched it since
it was written. Its ctime tells that: unlike its mtime, nobody can set it back.
"""

import hashlib
import json
import os
import stat
import time
from contextlib import suppress

from .tree import Index
from .unpack import Tree, empty_directory

CACHE = "__pycache__"
DIGEST_BYTES = 16


def update_bundle(store, index, workspace, memory):
    """Make the workspace hold the files of the index and nothing else: all, or none.

    memory is the path of a file beside the workspace that says what was written there.
    """
    known = recall(memory)
    whole = {path for path, (_, mark, _) in known.items() if mark == seal(f"{workspace}/{path}")}  # as it was written
    kept, alike, origins = set(), {}, {}
    for file in index.files:
        origins[file.path] = where = origin(file, index.blobs)
        if file.path in whole:
            last, _, digest = known[file.path]
            if last == where:
                kept.add(file.path)
            elif digest and last.startswith(f"{file.mode:o} {file.size} "):
                alike[file.path] = digest
    with suppress(FileNotFoundError):
        os.unlink(memory)  # until the workspace is whole again
    stay = kept.union(alike)
    clear(workspace, stay, parents_of(stay))
    tree = Changing(store, workspace, alike)
    try:
        tree.write_files(Index(index.blobs, [file for file in index.files if file.path not in kept], index.links, index.dirs), store.parallel)
        tree.write_links(index)
        clear_caches(workspace, stay, tree.written)
        same = stay - tree.written
        seals = {path: known[path][1] if path in same else seal(f"{workspace}/{path}") for path in origins}
        digests = {path: known[path][2] if path in same else tree.digests.get(path, "") for path in origins}
        remember(memory, {path: [where, seals[path], digests[path]] for path, where in origins.items()})
    except Exception:
        empty_directory(workspace)
        raise


class Changing(Tree):
    """A directory in which some files, alike, have the content with this digest already."""

    def __init__(self, store, root, alike):
        super().__init__(store, root)
        self._alike = alike
        self.written = set()  # of those
        self.digests = {}  # of what was written, but for large files

    def _write(self, file, data):
        digest = hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest()
        if file.path in self._alike:
            if digest == self._alike[file.path]:
                return
            os.unlink(f"{self._root}/{file.path}")
            self.written.add(file.path)
        self.digests[file.path] = digest
        super()._write(file, data)


def origin(file, blobs):
    """Return where the content of a file comes from, as text."""
    parts = file.parts or (file.blob,)
    return " ".join([f"{file.mode:o} {file.size} {file.offset}", *(blobs[part].sha256 for part in parts)])


def seal(path):
    """Return what changes whenever a file, its mode or its name does; None if it is no regular file."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return [found.st_ino, found.st_ctime_ns, found.st_size] if stat.S_ISREG(found.st_mode) else None


def parents_of(paths):
    """Return the directories above these paths, up to the root."""
    found = set()
    for path in paths:
        while path:
            path = os.path.dirname(path)
            if path in found:
                break
            found.add(path)
    return found


def clear(root, kept, directories, below=""):
    """Remove everything below root but the kept files, the byte code beside them, and the directories that have any."""
    with os.scandir(os.path.join(root, below)) as entries:
        for entry in list(entries):
            path = os.path.join(below, entry.name)
            if path in kept:
                continue
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
            elif path in directories:
                clear(root, kept, directories, path)
            elif entry.name != CACHE:
                remove(entry.path)


def clear_caches(root, files, written):
    """Remove the byte code beside these files, but that of modules that were not written: Python judges it by the second, and two versions may be of one second."""
    modules = {}
    for path in files:
        folder, _, name = path.rpartition("/")
        same = modules.setdefault(os.path.join(root, folder, CACHE), set())
        if path not in written:
            same.add(name.partition(".")[0])
    for directory, names in modules.items():
        if not os.path.isdir(directory) or os.path.islink(directory):
            continue
        with os.scandir(directory) as entries:
            for entry in list(entries):
                if entry.is_dir(follow_symlinks=False):
                    remove(entry.path)
                elif entry.name.partition(".")[0] not in names:
                    os.unlink(entry.path)


def remove(directory):
    """Remove a directory and what is in it."""
    empty_directory(directory)
    os.rmdir(directory)


def recall(memory):
    """Return what remember() has written, {} if there is nothing of use."""
    try:
        with open(memory, encoding="utf-8", errors="surrogateescape") as file:
            known = json.load(file)
    except (OSError, ValueError):
        return {}
    ours = isinstance(known, dict) and all(isinstance(entry, list) and len(entry) == 3 for entry in known.values())
    return known if ours else {}


def remember(memory, files):
    """Write the origin, the seal and the digest of each file. Return once the clock of the seals shows a later time."""
    latest = max((mark[1] for _, mark, _ in files.values()), default=0)
    with open(memory + ".new", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(json.dumps(files))  # dump() takes ten times as long
        file.flush()
        while os.fstat(file.fileno()).st_ctime_ns <= latest:
            time.sleep(0.001)
            os.utime(file.fileno())
    os.rename(memory + ".new", memory)
