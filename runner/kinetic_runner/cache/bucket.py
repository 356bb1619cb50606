# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The cache of a pod: restored beside the start of its call, and saved while the call runs and after it."""

import hashlib
import os
import threading
import time

from ..bundle.tree import Blob, File
from ..bundle.unpack import Tree, empty_directory
from ..environment import CACHE
from ..errors import AlreadyExists, Mismatch, NotFound, RunnerError, text_of, why_of
from ..store import Replaced, in_parallel
from ..store.names import blob_name
from ..text import file_blocks, readable
from ..threads import start_threads
from . import index_of
from .index import USED_SECONDS, CacheIndex, Pack

PACK_BYTES, SMALL_BYTES = 8 << 20, 4 << 20  # larger files have blobs of their own; smaller packs are packed again with what is new
LOOK_SECONDS, LONGEST_LOOK = 10.0, 600.0  # to the first look for new files; each pause is twice as long as the one before
QUIET_SECONDS = 5.0  # for which a file must not have changed
SAVE_SECONDS = 60.0  # for what is left after the call
LAST_SECONDS = 1.0  # of the grace, for the end of the runner
POLL_SECONDS = 0.02
INDEX_SECONDS = 1.0  # for which a call waits for the index, which tells what to wait for
COMPILED_SECONDS, FILE_SECONDS = 1.0, 0.01  # that a file has saved at least: of JAX, which keeps no other, and any other


class Cache:
    """The directory path, and its copy in the store. A thread does everything, so that nothing waits for it but wait()."""

    def __init__(self, attempt):
        options = attempt.options
        self._attempt, self.path, self._stage = attempt, os.path.join(options.work, CACHE), os.path.join(options.work, CACHE + ".new")
        self._store = attempt.store.at(attempt.store.url(""))
        self._store.outage = None
        attempt.signals.listen(lambda: self._store.hurry(attempt.leave_by - LAST_SECONDS))
        self._saves = not options.map or not attempt.host  # the pods of a map make the same
        self._name = self._index = None
        self._missing, self._damaged, self._told = {}, set(), []
        self._seen = set()  # what was saved once, or is too much, is not saved again
        self._began = self._fetched = 0
        self._looked, self._over, self._done = threading.Event(), threading.Event(), threading.Event()
        self._runs = self._called = False

    # Before the call

    def begin(self, installed):
        """Start to restore. installed are names of wheels that are yet to be installed."""
        empty_directory(self._stage)
        if self._attempt.options.warm:  # a warm host has what its calls have made
            from .folder import Folder

            os.makedirs(self.path, exist_ok=True)
            Folder(self.path, self._attempt.options.cache_size).finish()
        else:
            empty_directory(self.path)
        self._name = index_of(self._attempt.options.cache, installed)
        self._runs = bool(start_threads(1, self._work))

    def wait(self):
        """Wait for files that the last jobs have used: for as long as they have saved at least, if they come by then."""
        until = None
        if self._runs:
            self._looked.wait(INDEX_SECONDS)
        while needed := self._needed():
            now = time.monotonic()
            if until is None:
                until = now + sum(worth(file.path) for pack in needed for file in pack.files)
            left = sum(pack.size for pack in needed)
            if now + self._seconds_for(left) > until:
                self._told.append(f"{readable(left)} of KINETIC_CACHE_DIR are still to come: the call does not wait for them")
                break
            time.sleep(POLL_SECONDS)
        self._tell()

    def _needed(self):
        """Return the packs that are missing, of those that the last jobs have used."""
        return [pack for pack in self._index.in_use if pack.blob.sha256 in self._missing] if self._missing and self._index else []

    def _seconds_for(self, size):
        """Return how long this many bytes take, at the rate until now; 0 if that is not known."""
        return size * (time.monotonic() - self._began) / self._fetched if self._fetched else 0.0

    def _tell(self):
        while self._told:
            self._attempt.say(self._told.pop(0))

    def _work(self):
        pause = 0.0 if self._attempt.options.warm else LOOK_SECONDS  # the last call on a warm host may have left something
        try:
            self._guarded("restored", self._restore)
            self._looked.set()
            self._missing = {}
            while not self._over.wait(pause):
                self._guarded("saved", lambda: self._save(QUIET_SECONDS))
                pause = min(max(LOOK_SECONDS, 2 * pause), LONGEST_LOOK)
            self._guarded("saved", lambda: self._save(0.0))
        finally:
            self._done.set()

    def _guarded(self, what, action):
        """A cache that fails costs time, and nothing else."""
        try:
            action()
        except Exception as exc:
            why = f"warning: KINETIC_CACHE_DIR is not {what}: {why_of(exc)}"
            if why not in self._told:
                self._told.append(why)

    def _restore(self):
        began, index = time.monotonic(), CacheIndex(self._store, self._name)
        missing = {pack.blob.sha256: pack for pack in index.newest if not all(os.path.lexists(self._place(file.path)) for file in pack.files)}
        if index.problem:
            self._told.append(f"warning: KINETIC_CACHE_DIR begins empty: {index.problem}")
        self._missing, self._began = missing, began
        self._index = index  # last, for those who look at all three
        self._looked.set()
        if not missing:
            return
        from ..data.disk import room_for  # not needed by a job without a cache, nor is what saves it before its call

        size = sum(pack.size for pack in missing.values())
        room = room_for(self.path, size, self._attempt.in_pod)
        if size > room:
            raise RunnerError(f"it takes {readable(size)}, and {readable(room)} of the disk can be used: submit the job with a larger --disk, or with --no-cache")
        try:
            in_parallel(self._fetch, list(missing.values()), self._store.parallel)
        finally:
            empty_directory(self._stage)
        if self._fetched:
            self._told.append(f"restored KINETIC_CACHE_DIR ({self._attempt.options.cache}): {readable(self._fetched)} in {time.monotonic() - began:.1f} s")

    def _fetch(self, pack):
        """Bring the files of a pack, each at once: the call may run already."""
        if self._over.is_set():
            return
        stage = os.path.join(self._stage, pack.blob.sha256)
        empty_directory(stage)
        try:
            Tree(self._store, stage, self._count).write_files(pack.index, 1)
        except (Mismatch, NotFound, Replaced) as exc:
            if not self._damaged:
                self._told.append(f"warning: a part of KINETIC_CACHE_DIR is lost and is made again: {text_of(exc).partition(';')[0]}")
            self._damaged.add(pack.blob.sha256)
        else:
            for file in pack.files:
                source, target = os.path.join(stage, file.path), self._place(file.path)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                os.utime(source, (0, time.time()))  # whoever reads it changes the first
                os.rename(source, target)
        empty_directory(stage)
        self._missing.pop(pack.blob.sha256)

    def _count(self, size):
        self._fetched += size

    def _place(self, path):
        return os.path.join(self.path, path)

    # While the call runs, and after it

    def ended(self, in_order):
        """Note that the call has ended. If it was cut off, what it may not have finished is removed."""
        if not in_order:
            from .folder import drop_unfinished

            drop_unfinished(self.path, time.time())
        self._called = True
        self._tell()

    def finish(self):
        """Save what is new, as long as there is time. The next call on a warm host does it, so that nobody waits for it."""
        if not self._called or not self._runs or self._attempt.options.warm:
            return
        self._over.set()
        until = time.monotonic() + SAVE_SECONDS
        self._store.hurry(until)
        while not self._done.wait(POLL_SECONDS) and time.monotonic() < min(until, self._attempt.leave_by - LAST_SECONDS):
            pass

    def _save(self, quiet):
        """Save the new files that have not changed for this many seconds. Others may do the same: the index names what all have saved."""
        from .folder import files_in

        now = time.time()
        local = {path: status for path, status in files_in(self.path).items() if now - status.st_mtime >= quiet}
        index, sent = self._index or CacheIndex(self._store, self._name), {}
        self._index = None  # if this fails, the store has something else
        while self._saves and self._change(index, local, now, sent):
            try:
                index.write()
                self._damaged.clear()
                break
            except AlreadyExists:
                index = CacheIndex(self._store, self._name)
        self._index = index
        self._seen.update(file.path for pack in sent.values() for file in pack.files)

    def _change(self, index, local, now, sent):
        """Put what is new into an index. Return whether it must be written."""
        lost = [index.packs.pop(sha256) for sha256 in self._damaged if sha256 in index.packs]
        used = [pack for pack in index.packs.values() if any(file.path in local and local[file.path].st_atime > 1 for file in pack.files)]
        stale = any(pack.used < now - USED_SECONDS for pack in used)
        for pack in used:
            pack.used = int(now)
        known = index.paths
        new = [path for path in local if path not in known and path not in self._seen]
        for pack in index.newest if new else ():
            if pack.size < SMALL_BYTES and all(file.path in local and local[file.path].st_size == file.size for file in pack.files):
                del index.packs[pack.blob.sha256]
                new += [file.path for file in pack.files]
        limit = self._attempt.options.cache_size
        kept = newest(new, local, limit)
        self._seen.update(set(new).difference(kept))
        groups = grouped(kept, local)
        in_parallel(lambda paths: self._send(paths, local, sent), groups, self._store.parallel)
        for paths in groups:
            pack = sent[tuple(paths)]
            if pack.files:
                pack.used = int(now)
                index.packs[pack.blob.sha256] = pack
        index.shrink(limit)
        return bool(lost or groups or stale or index.is_old or index.problem)

    def _send(self, paths, local, sent):
        """Store files as one pack, without those that have changed meanwhile."""
        if tuple(paths) in sent:
            return
        files, body = [], bytearray()
        first = self._place(paths[0])
        if local[paths[0]].st_size >= PACK_BYTES:
            digest, size = hashlib.sha256(), 0
            for block in file_blocks(first):
                digest.update(block)
                size += len(block)
            files.append(File(paths[0], local[paths[0]].st_mode & 0o777, size, 0, 0, ()))
            source = lambda: file_blocks(first)  # noqa: E731
        else:
            for path in paths:
                try:
                    with open(self._place(path), "rb") as file:
                        data = file.read()
                except FileNotFoundError:
                    continue
                if len(data) == local[path].st_size:
                    files.append(File(path, local[path].st_mode & 0o777, len(data), 0, len(body), ()))
                    body += data
            digest, size = hashlib.sha256(body), len(body)
            source = lambda: [body]  # noqa: E731
        sha256 = digest.hexdigest()
        name = blob_name(sha256)
        if files:
            try:
                self._store.create(name, source)
            except AlreadyExists:  # with other bytes: it was damaged
                self._store.write(name, source)
        sent[tuple(paths)] = Pack(Blob(name, sha256, size, False), files, 0)


def worth(path):
    """Return how many seconds a file has saved at least."""
    return COMPILED_SECONDS if path.endswith("-cache") else FILE_SECONDS


def newest(paths, local, limit):
    """Return the files that were written last, of which at most limit bytes are kept."""
    kept = []
    for path in sorted(paths, key=lambda path: -local[path].st_mtime):
        if local[path].st_size <= limit:
            limit -= local[path].st_size
            kept.append(path)
    return kept


def grouped(paths, local):
    """Divide files into packs."""
    groups, room = [], 0
    for path in sorted(paths):
        size = local[path].st_size
        if size > room or not room:
            groups.append([])
            room = max(size, PACK_BYTES)
        room -= size
        groups[-1].append(path)
    return groups
