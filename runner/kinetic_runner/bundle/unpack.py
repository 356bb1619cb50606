# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Write the files of an index below a directory, with no copy on the way and bounded memory."""

import _thread
import os
import stat
import zlib

from ..contract import LIMITS
from ..errors import RunnerError, naming
from ..store import copy_verified, in_parallel, read_verified
from ..text import readable, write_all

PACK_LIMIT = LIMITS["part"]  # bytes of a blob that holds several files, as stored and decoded: each thread may hold one
COPIES = 16  # files that are written at once from one blob
REMEMBERED = 10_000  # directories that are known to exist


def fetch_bundle(store, index, workspace):
    """Write the files of the index to the new workspace: all, or none."""
    tree = Tree(store, workspace)
    try:
        tree.write_files(index, store.parallel)
        tree.write_links(index)
    except Exception:
        empty_directory(workspace)
        raise


class Tree:
    """A directory that was empty, to which only this process writes."""

    def __init__(self, store, root, progress=None):
        self._store, self._root = store, root
        self._made = {""}
        self._progress = progress or (lambda size: None)  # called in several threads, with the bytes written since

    def write_files(self, index, threads):
        """Write the files and the empty directories of an index. The links come last: see write_links."""
        for path in index.dirs:
            self._make(path)
        in_parallel(lambda task: task[0](*task[1:]), self._tasks(index), threads)

    def write_links(self, index):
        """Write the links of an index after all files, so that no file is written through a link."""
        for link in index.links:
            target = self._new_path(link.path)
            try:
                os.symlink(link.target, target)
            except FileExistsError:
                raise collision(link.path) from None

    def _tasks(self, index):
        """Return what to do for each blob: write whole files or parts from it, or cut it into files."""
        whole, cut = [[] for _ in index.blobs], [[] for _ in index.blobs]
        for file in index.files:
            if file.parts:
                large, offset = Arriving(self, file, len(file.parts)), 0
                for part in file.parts:
                    whole[part].append((large, offset))
                    offset += index.blobs[part].size
            elif is_cut(file, index.blobs):
                cut[file.blob].append(file)
            else:
                whole[file.blob].append((Arriving(self, file, 1), 0))
        tasks = []
        for number, blob in enumerate(index.blobs):
            tasks += [(self._copy, blob, whole[number][i : i + COPIES]) for i in range(0, len(whole[number]), COPIES)]
            if cut[number]:
                tasks.append((self._cut, blob, cut[number]))
        return tasks

    def _copy(self, blob, places):
        """Write a blob to a place in each of these files, while it is received."""
        files = []
        try:
            for file, offset in places:
                files.append((file, file.open(), offset))
            done = 0

            def write(block):
                nonlocal done
                for file, fd, offset in files:
                    with naming(file.target):
                        write_at(fd, block, offset + done)
                done += len(block)
                self._progress(len(block) * len(files))

            size = copy_verified(self._store, blob.name, blob.sha256, blob.size, write)
        finally:
            for _, fd, _ in files:
                os.close(fd)
        self._check_size(blob, size)
        for file, _ in places:
            file.arrived()

    def _cut(self, blob, files):
        """Cut a blob, which is verified first, into files."""
        where = self._store.url(blob.name)
        need = max(file.offset + file.size for file in files)
        if max(need, blob.size) > PACK_LIMIT:
            raise RunnerError(f"{where} holds several files and more than {readable(PACK_LIMIT)}: submit again with a single version of the client")
        data = read_verified(self._store, blob.name, blob.sha256, blob.size)
        self._check_size(blob, len(data))
        problem = None
        if blob.gzipped and need:
            try:
                data = zlib.decompressobj(31).decompress(data, need)  # which is at most this much
            except zlib.error as exc:
                data, problem = b"", exc
        data = memoryview(data)
        for file in files:
            end = file.offset + file.size
            if end > len(data):
                raise RunnerError(f"{where} does not contain {file.path}: {problem or f'it ends {end - len(data)} bytes early'}")
            self._write(file, data[file.offset : end])
        self._progress(sum(file.size for file in files))

    def _check_size(self, blob, size):
        if size != blob.size:
            raise RunnerError(f"{self._store.url(blob.name)} has {size} bytes, but the package index says {blob.size}")

    def _write(self, file, data):
        """Write a new file."""
        target = self._new_path(file.path)
        fd = create(target, file.path)
        try:
            with naming(target):
                write_all(fd, data)
                os.fchmod(fd, file.mode)
        finally:
            os.close(fd)

    def _new_path(self, path):
        """Return the full path of a new file or link, after creating its directory."""
        self._make(os.path.dirname(path))
        return f"{self._root}/{path}"

    def _make(self, path):
        """Make a directory and those above it, none of which may be a link."""
        if path in self._made:
            return
        end = 0
        while end < len(path):
            end = (path + "/").index("/", end + 1)
            self._make_one(path[:end])

    def _make_one(self, path):
        if path in self._made:
            return
        full = f"{self._root}/{path}"
        try:
            os.mkdir(full)
        except FileExistsError:
            if not stat.S_ISDIR(os.lstat(full).st_mode):
                raise collision(path) from None
        if len(self._made) >= REMEMBERED:
            self._made = {""}
        self._made.add(path)


def is_cut(file, blobs):
    """Report whether a file is a part of a blob, or a compressed one: such blobs are read before a file is written."""
    return not file.parts and (blobs[file.blob].gzipped or file.size != blobs[file.blob].size)


class Arriving:
    """A file that is made of whole blobs. It gets its name when all of them have arrived."""

    def __init__(self, tree, file, missing):
        self.path = file.path
        self._tree, self._file, self._missing = tree, file, missing
        self._temporary = self.target = None
        self._lock = _thread.allocate_lock()

    def open(self):
        """Return a new descriptor of the file under its temporary name."""
        with self._lock:
            if self._temporary is not None:
                return os.open(self._temporary, os.O_WRONLY | os.O_NOFOLLOW)
            self.target = self._tree._new_path(self.path)
            temporary = os.path.join(os.path.dirname(self.target), f".kinetic-{os.urandom(8).hex()}")
            fd = create(temporary, self.path)
            self._temporary = temporary
            return fd

    def arrived(self):
        """Note that one more blob is in the file and verified."""
        with self._lock:
            self._missing -= 1
            if self._missing:
                return
        os.close(create(self.target, self.path))  # so that the name is ours
        os.chmod(self._temporary, self._file.mode)
        os.rename(self._temporary, self.target)


def create(target, path):
    """Create a file that must not exist yet, and return its descriptor."""
    try:
        return os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        raise collision(path) from None


def collision(path):
    return RunnerError(f"{path}: another file in the package has the same name on this file system")


def write_at(fd, data, offset):
    """Write every byte at a place in a file; os.pwrite may stop early."""
    view = memoryview(data)
    while view:
        size = os.pwrite(fd, view, offset)
        view, offset = view[size:], offset + size


def empty_directory(path):
    """Make path an empty directory, whatever an earlier attempt left there. Do not follow a link."""
    if os.path.islink(path):
        os.unlink(path)
    os.makedirs(path, exist_ok=True)
    unlocked(_empty, path)


def _empty(path):
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                import shutil  # not needed in a new pod

                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)


def remove(directory):
    """Remove a directory and what is in it."""
    empty_directory(directory)
    os.rmdir(directory)


def unlocked(empty, directory):
    """Call empty(directory). A call may have left directories there to which nobody may write, except for root."""
    try:
        empty(directory)
    except PermissionError:
        unlock(directory)
        empty(directory)


def unlock(directory):
    """Let this process empty a directory, and those in it, whatever their modes are."""
    mode = stat.S_IMODE(os.stat(directory).st_mode)
    if mode & 0o700 != 0o700:  # else it may be of somebody else, who lets others write
        os.chmod(directory, mode | 0o700)
    with os.scandir(directory) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                unlock(entry.path)
