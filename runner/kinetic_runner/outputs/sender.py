# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Send single files to the store, each as an object or not at all."""

import base64
import hashlib
import os
import threading

from ..errors import AlreadyExists, RunnerError
from ..store.objects import Upload, copy_as
from ..text import BLOCK
from .index import Entry, Superseded, attempt_of
from .scan import stamp_of, to_stamp

PIECE_BYTES = 16 << 20  # of a file in memory
MARK = "kinetic-sync"  # metadata of objects that a runner has written: JOB/HOST/ATTEMPT


class Changed(Exception):
    """The file was written to after the scan."""


class Interrupted(Exception):
    """Something else is more urgent. The upload continues later where it stopped."""


class Refused(Exception):
    """The object belongs to somebody else."""


class Owner:
    """Who writes: a host of a job, in one of its attempts. last_wins: other hosts' objects are replaced."""

    def __init__(self, job, host, attempt, last_wins=False):
        self.job, self.host, self.attempt, self.last_wins = job, host, attempt, last_wins

    @property
    def metadata(self):
        """The metadata of its objects."""
        return {MARK: f"{self.job}/{self.host}/{self.attempt}"}

    def check(self, metadata, url):
        """Raise an error unless an object with this metadata may be replaced. Return whether another host has written it."""
        job, host, attempt = marked(metadata)
        if job != self.job:
            raise Refused(f"{url} exists, and this job has neither written nor restored it")
        if host == str(self.host) and attempt > self.attempt:
            raise Superseded(f"attempt {attempt} has started in the meantime, and saves its own outputs")
        if host != str(self.host) and not self.last_wins:
            raise Refused(f"host {host} has written {url}, too: each host needs names of its own")
        return host != str(self.host)


def marked(metadata):
    """Return the job, host and attempt that wrote an object, or empty ones."""
    job, host, attempt = (metadata.get(MARK, "").split("/") + ["", "", ""])[:3]
    return job, host, attempt_of(attempt)


class Sender:
    """Sends files below root."""

    def __init__(self, store, root, owner):
        self._store, self._root, self._owner = store, root, owner
        self._unfinished = {}  # uploads by path, with the stamp of their file
        self.interrupt = threading.Event()
        self.sent = 0  # bytes, also those that the server has copied
        self.shared = []  # paths that another host had written, too

    def send(self, path, stamp, generation, beginning=False, earlier=None):
        """Send a file and return its entry, without a unit.

        generation is that of the object to replace, 0 for none. beginning says that
        the file may have grown meanwhile, and that only stamp.size bytes are sent.
        earlier is the last entry of what looks like the same file, under this name or
        another one: then its object is used again.
        """
        if self.interrupt.is_set():
            raise Interrupted
        if stamp.link is not None:
            return Entry(path, 0, 0o777, stamp.mtime_ns, "", "", stamp.link, "")
        fields = self._reuse(path, stamp, generation, earlier) if earlier else None
        try:
            fields = fields or self._try(path, stamp, generation, beginning)
        except AlreadyExists:
            fields = self._try(path, stamp, self._theirs(path), beginning)
        return Entry(path, stamp.size, stamp.mode, stamp.mtime_ns, fields["md5Hash"], str(fields["generation"]), None, "")

    def _theirs(self, path):
        """Return the generation of an object that may be replaced although this attempt does not know it."""
        fields = self._store.attributes(path)
        if fields is None:
            return 0
        if self._owner.check(fields.get("metadata") or {}, self._store.url(path)):
            self.shared.append(path)
        return fields["generation"]

    def _reuse(self, path, stamp, generation, earlier):
        """Return the attributes of an object with the bytes of the file, which the server copies if it has another name.

        Return None if there is none: the file or the object has changed.
        """
        digest = hashlib.md5(usedforsecurity=False)
        with self._open(path, stamp) as file:
            while block := file.read(BLOCK):
                if self.interrupt.is_set():
                    raise Interrupted
                digest.update(block)
        check(os.path.join(self._root, path), stamp)
        if base64.b64encode(digest.digest()).decode() != earlier.md5:
            return None
        if earlier.path == path:  # only its mode or its links have changed
            return {"md5Hash": earlier.md5, "generation": earlier.generation}
        fields = copy_as(self._store, earlier, path, generation, self._owner.metadata)
        if fields is None or fields.get("md5Hash") != earlier.md5:
            return None
        self.sent += stamp.size
        return fields

    def _open(self, path, stamp=None):
        """Open a file. Raise Changed if it does not have the stamp."""
        fd = os.open(os.path.join(self._root, path), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        file = open(fd, "rb", buffering=0)
        if stamp is not None and to_stamp(os.fstat(fd)) != stamp:
            file.close()
            raise Changed
        return file

    def _try(self, path, stamp, generation, beginning):
        with self._open(path, None if beginning else stamp) as file:
            if stamp.size > PIECE_BYTES:
                return self._send_pieces(path, file, stamp, generation, beginning)
            piece = read(file, stamp.size)
        if not beginning:
            check(os.path.join(self._root, path), stamp)
        fields = self._store.upload(path, lambda: [piece], self._owner.metadata, generation)
        self.sent += len(piece)
        return fields

    def _send_pieces(self, path, file, stamp, generation, beginning):
        upload = self._upload(path, stamp, generation)
        file.seek(upload.sent)
        fields = None
        while fields is None:
            if self.interrupt.is_set():
                self._unfinished[path] = stamp, generation, upload
                raise Interrupted
            piece = read(file, min(PIECE_BYTES, stamp.size - upload.sent))
            # Until the last request there is no object, and what is read before this look at the file is what it was.
            if not beginning:
                check(os.path.join(self._root, path), stamp)
            fields = upload.send(piece)
            self.sent += len(piece)
        return fields

    def _upload(self, path, stamp, generation):
        """Return the upload of a file: one that was interrupted, if the file is still the same."""
        *same, upload = self._unfinished.pop(path, (None, None, None))
        if same == [stamp, generation]:
            return upload
        return Upload(self._store, path, stamp.size, self._owner.metadata, generation)


def read(file, size):
    """Return exactly the next bytes of a file."""
    piece = bytearray(size)
    view, done = memoryview(piece), 0
    while done < size:
        count = file.readinto(view[done:])
        if not count:
            raise Changed  # it is shorter than it was
        done += count
    return piece


def check(path, stamp):
    """Raise Changed if a file is not what it was."""
    if stamp_of(path) != stamp:
        raise Changed
