# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Objects and folders of any bucket, copied to the disk."""

import base64
import hashlib
import os
import threading

from ..errors import BadData, NotFound, RunnerError, naming
from ..store import in_parallel
from ..store.gcs import GCSReader, GCSStore
from ..store.objects import can_be_file, list_objects, object_of
from ..text import COPY_BLOCK, file_blocks, write_all

THREADS = 8
RANGE_BYTES = 32 << 20  # of a large object, that one thread fetches
KEPT_OBJECTS = 20_000  # that are held in memory; more are listed twice
PAGE = 1000  # objects that are fetched at a time


class Bucket:
    """An object, or all objects in a folder, at the generations that they have when they are listed."""

    def __init__(self, attempt, url):
        self._attempt, self._url = attempt, url
        self._folder = self._open(url)
        self._single = None
        self._kept = []  # the objects of a folder, None if there are too many
        self.size = 0

    def _open(self, url):
        options = self._attempt.options
        emulator = options.emulator or os.environ.get("STORAGE_EMULATOR_HOST", "")
        folder = Folder(url, emulator, options.metadata_host, options.credentials)
        folder.outage = self._attempt.outage
        return folder

    def look(self):
        """Find out what there is, and how large it is."""
        parent, _, name = self._url.rpartition("/")
        if name and parent != "gs:/":
            around = self._open(parent)
            fields = around.attributes(name)
            if fields is not None:
                self._folder, self._single = around, object_of(fields, name)
                self.size = self._single.size
                return
        count = 0
        for item in list_objects(self._folder):
            self.size += item.size
            count += 1
            if count > KEPT_OBJECTS:
                self._kept = None
            elif self._kept is not None:
                self._kept.append(item)
        if not count:
            raise BadData(f"{self._url}: there is neither an object nor a folder of this name: check it, and submit the job again")

    def copy(self, folder, progress):
        """Copy everything. Return the name of the file if it is a single one."""
        writer = Writer(self._folder, folder, progress)
        if self._single is not None:
            writer.copy([self._single])
            return self._single.name
        page = []
        for item in list_objects(self._folder) if self._kept is None else self._kept:
            page.append(item)
            if len(page) == PAGE:
                writer.copy(page)
                page = []
        writer.copy(page)
        return ""


class Folder(GCSStore):
    """A folder of any bucket, that is only read."""

    def attributes(self, name):
        """Return what the API says of an object, None if there is none."""
        try:
            return super().attributes(name)
        except NotFound:
            return None

    def reader(self, item, begin, end):
        """Return a binary file of an object's bytes from begin to end."""
        return GCSReader(self, item.name, item.generation, begin, end)

    def refusal(self, status, data, doing, permission):
        """Return the error for an answer that a retry would not change."""
        if status == 404:
            account = self._account.name() if self._account else "the emulator's user"
            return RunnerError(f"cannot {doing}: there is no bucket {self.bucket} that {account} can see: check its name")
        return super().refusal(status, data, doing, permission)


class Writer:
    """Writes objects to files below a directory that nobody else writes to."""

    def __init__(self, source, folder, progress):
        self._source, self._folder, self._progress = source, folder, progress

    def copy(self, items):
        """Copy objects, large ones in ranges."""
        ranges = []
        for item in items:
            if item.name and not item.name.endswith("/"):  # else a folder, as some tools mark it
                file = File(self._new_path(item), item, self._source.url(item.name))
                ranges += [(file, begin) for begin in range(0, max(item.size, 1), RANGE_BYTES)]
        in_parallel(lambda part: self._copy_range(*part), ranges, THREADS)

    def _new_path(self, item):
        """Create an empty file for an object, whose name may be anything."""
        if not can_be_file(item.name):
            raise BadData(f"the object {item.name!r:.200} has a name that no file can have: rename it, or choose another folder")
        path = os.path.join(self._folder, item.name)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644))
        except (FileExistsError, NotADirectoryError):
            raise BadData(f"the object {item.name!r:.200} and a folder or another object have the same name: rename it, or choose another folder") from None
        return path

    def _copy_range(self, file, begin):
        size, done = file.item.size, begin
        end = min(begin + RANGE_BYTES, size)
        digest = hashlib.md5(usedforsecurity=False)
        with open(file.path, "r+b", buffering=0) as target, naming(file.path):
            target.seek(begin)
            with self._source.reader(file.item, begin, None if end == size else end) as source:
                while block := source.read(COPY_BLOCK):
                    write_all(target.fileno(), block)
                    digest.update(block)
                    done += len(block)
                    self._progress.add(len(block))
        if done != end:
            raise RunnerError(f"{file.url} has {done} bytes, but the bucket says {size}")
        file.finish(end - begin, digest)


class File:
    """A file that is made of ranges of an object."""

    def __init__(self, path, item, url):
        self.path, self.item, self.url = path, item, url
        self._left, self._lock = item.size, threading.Lock()

    def finish(self, size, digest):
        """Note that a range is complete. After the last one, check the file by the object's MD5, which composed objects lack."""
        with self._lock:
            self._left -= size
            if self._left:
                return
        if size != self.item.size:
            digest = hashlib.md5(usedforsecurity=False)
            for block in file_blocks(self.path):
                digest.update(block)
        if self.item.md5 and base64.b64encode(digest.digest()).decode() != self.item.md5:
            raise RunnerError(f"{self.url} was corrupted in transit: its MD5 is not {self.item.md5}: submit the job again")
