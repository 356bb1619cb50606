# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Send files to the store, each as an object of its own or not at all."""

import hashlib
import os
import threading
from collections import namedtuple

from ..errors import StartOver
from ..store.objects import Upload

PIECE_BYTES = 16 << 20  # of a file in memory
TRIES = 3  # of an upload that may have to start over

# An object with the bytes of a file. grown tells that the file only got longer; at first, it is the hash of its first bytes.
Sent = namedtuple("Sent", "object size sha256 grown")


class Changed(Exception):
    """The file is not what it was when it was frozen."""


class Unwanted(Exception):
    """Nobody needs the file any more."""


class Sender:
    """Sends files to store under names that nothing else has, below a folder."""

    def __init__(self, store, folder):
        self._store, self._folder = store, folder
        self._count, self._counting = 0, threading.Lock()
        self.sent = 0  # bytes

    def send(self, path, size=None, mark=0, wanted=lambda: True):
        """Send the first size bytes of a file, or all of it. Return what was sent, with the hash of its first mark bytes.

        Between pieces, wanted() is asked whether somebody still needs it.
        """
        return start_over(lambda: self._send(self._next_name(), path, size, mark, wanted, 0))

    def send_as(self, name, path):
        """Send a file under another name, which may exist."""
        return self._send(name, path, None, 0, lambda: True, None)

    def _next_name(self):
        with self._counting:
            self._count += 1
            return f"{self._folder}/{self._count}"

    def _send(self, name, path, size, mark, wanted, generation):
        digest, start, done = hashlib.sha256(), "", 0
        with open(path, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size if size is None else size
            upload = Upload(self._store, name, size, None, generation) if size > PIECE_BYTES else None
            while True:
                piece = read(file, min(PIECE_BYTES, size - done))
                if done < mark <= done + len(piece):
                    first = digest.copy()
                    first.update(memoryview(piece)[: mark - done])
                    start = first.hexdigest()
                digest.update(piece)
                if upload is None:
                    self._store.upload(name, lambda data=piece: [data], None, generation)
                else:
                    upload.send(piece)
                done += len(piece)
                self.sent += len(piece)
                if done == size:
                    return Sent(name, size, digest.hexdigest(), start)
                if not wanted():
                    raise Unwanted


def start_over(send):
    """Send a file; try again, from its beginning, if the upload has to start over."""
    for _ in range(1, TRIES):
        try:
            return send()
        except StartOver:
            pass
    return send()


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
