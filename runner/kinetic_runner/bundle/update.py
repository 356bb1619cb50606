# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The next bundle in a workspace that still has the last one: only what differs is fetched and written.

A file is kept if the index has it from the same place in the same blob, or with the same content, and nobody has touched it since
it was written. Its ctime tells that: unlike its mtime, nobody can set it back.
"""

import hashlib
import marshal
import os
import stat
import time
from contextlib import suppress

from ..errors import RunnerError
from .tree import Index, parents_of
from .unpack import Tree, empty_directory, is_cut, remove

CACHE = "__pycache__"
DIGEST_BYTES = 16
NEVER = ("", None, "")  # what is known of a file that was never written


def mounted_below(workspace):
    """Return the paths of what is mounted below a directory."""
    prefix = os.path.realpath(workspace) + "/"
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            return [path for path in (line.split(" ", 5)[4] for line in file) if path.startswith(prefix)]
    except OSError:
        return []


def memory_of(workspace):
    """Return the path of the file beside a workspace that records what was written there."""
    return workspace + ".written"


def update_bundle(store, index, workspace, swept=None):
    """Make the workspace hold the files of the index and nothing else: all, or none. swept is a Swept of warm/swept.py, or None."""
    memory = memory_of(workspace)
    if mounts := mounted_below(workspace):
        raise RunnerError(f"{mounts[0]} is mounted in the directory of the code, which is emptied between calls: mount it elsewhere")
    if os.path.islink(workspace) or os.path.lexists(workspace) and not os.path.isdir(workspace):  # a call did that: never touch what a link leads to
        os.unlink(workspace)
    os.makedirs(workspace, exist_ok=True)
    holds = swept is not None and swept.holds(workspace, index)
    known = swept.known if swept else recall(memory)[1]
    files = swept.to_look_at(index) if holds else index.files  # the others are as they should be
    origins = {file.path: origin(file, index.blobs) for file in files}
    seals, alike = {}, {}  # of files that are there, or may be
    for file in files:
        last, mark, digest = known.get(file.path, NEVER)
        if last == origins[file.path]:
            seals[file.path] = mark
        elif digest and last.startswith(f"{file.mode:o} {file.size} ") and is_cut(file, index.blobs):
            seals[file.path], alike[file.path] = mark, digest
    with suppress(FileNotFoundError):
        os.unlink(memory)  # until the workspace is whole again
    if holds:
        found = swept.files & origins.keys()
        for path in found - seals.keys():
            os.unlink(f"{workspace}/{path}")
        found &= seals.keys()
    else:
        found = sweep(workspace, seals, parents_of(seals))
    tree = Changing(store, workspace, {path: digest for path, digest in alike.items() if path in found})
    try:
        missing = [file for file in files if file.path not in found or file.path in alike]
        tree.write_files(Index(index.blobs, missing, index.links, index.dirs), store.parallel)
        tree.write_links(index)
        same = found - tree.written
        drop_byte_code(workspace, [file.path for file in missing if file.path not in same])
        written = {path: [where, seal(f"{workspace}/{path}"), tree.digests.get(path, "")] for path, where in origins.items() if path not in same}
        kept = {path: [origins[path], *known[path][1:]] for path in same}
        remember(memory, index.packed, {**(known if holds else {}), **kept, **written}, written)
        if swept:
            swept.forget()
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
    return f"{file.mode:o} {file.size} {file.offset} " + " ".join([blobs[part].sha256 for part in parts])


def seal(path):
    """Return what changes whenever a file, its mode or its name does; None if it is no regular file."""
    try:
        return seal_of(os.lstat(path))
    except OSError:
        return None


def seal_of(status):
    """Return the seal of a file with this status."""
    return [status.st_ino, status.st_ctime_ns, status.st_size] if stat.S_ISREG(status.st_mode) else None


def sweep(root, seals, directories, below=""):
    """Remove everything below root but the files that are as their seals say, the byte code beside them, and the directories above.

    Return the paths of these files.
    """
    stay, modules, cache = set(), set(), None
    restore_mode(f"{root}/{below}")
    with os.scandir(f"{root}/{below}") as entries:
        for entry in list(entries):
            path = below + entry.name
            if path in seals and seals[path] and seals[path] == seal_of(entry.stat(follow_symlinks=False)):
                stay.add(path)
                if path.endswith(".py"):
                    modules.add(module_of(entry.name))
            elif not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
            elif path in directories:
                stay |= sweep(root, seals, directories, path + "/")
            elif entry.name == CACHE:
                cache = entry.path
            else:
                remove(entry.path)
    if cache is not None:
        restore_mode(cache)
        remove_if(cache, lambda name: module_of(name) not in modules)
    return stay


def drop_byte_code(root, paths):
    """Remove the byte code of these files: Python judges it by the second, and two versions may be of one second."""
    modules, elsewhere = {}, os.environ.get("PYTHONPYCACHEPREFIX")
    for path in paths:
        folder, _, name = path.rpartition("/")
        modules.setdefault(os.path.join(root, folder, CACHE), set()).add(module_of(name))
        if elsewhere:
            modules.setdefault(os.path.join(elsewhere + os.path.abspath(root), folder), set()).add(module_of(name))
    for cache, names in modules.items():
        if os.path.isdir(cache) and not os.path.islink(cache):
            remove_if(cache, lambda name, names=names: module_of(name) in names)


def module_of(name):
    """Return the name of the module of a file, or of its byte code."""
    return name.partition(".")[0]


def remove_if(folder, unwanted):
    """Remove the files of a folder whose names are unwanted, and its directories."""
    with os.scandir(folder) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                remove(entry.path)
            elif unwanted(entry.name):
                os.unlink(entry.path)


def restore_mode(directory):
    """Give a directory the mode of a new one: a call may have changed it."""
    mask = os.umask(0o22)
    os.umask(mask)
    mode = stat.S_IMODE(os.stat(directory).st_mode)
    if mode & 0o777 != 0o777 & ~mask:
        os.chmod(directory, mode & ~0o777 | 0o777 & ~mask)


def recall(memory):
    """Return the index and the files that remember() has written, b"" and {} if there is nothing of use."""
    try:
        with open(memory, "rb") as file:
            packed, known = marshal.loads(file.read())
    except (EOFError, OSError, TypeError, ValueError):
        return b"", {}
    ours = isinstance(known, dict) and all(type(path) is str and type(entry) is list and len(entry) == 3 and type(entry[0]) is str for path, entry in known.items())
    return (packed, known) if ours else (b"", {})


def remember(memory, packed, files, written):
    """Write the index as it is stored, and the origin, the seal and the digest of each file.

    Return once the clock of the seals shows a later time than the seals of what was written.
    """
    latest = max((mark[1] for _, mark, _ in written.values()), default=0)
    with open(memory + ".new", "wb") as file:
        file.write(marshal.dumps((packed, files)))  # json takes ten times as long
        file.flush()
        while os.fstat(file.fileno()).st_ctime_ns <= latest:
            time.sleep(0.001)
            os.utime(file.fileno())
    os.rename(memory + ".new", memory)
