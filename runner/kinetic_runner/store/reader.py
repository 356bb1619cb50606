# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Read an object in a bucket."""

from ..errors import NotFound, Transient
from . import RESUBMIT, Replaced
from .http import Request


class GCSReader:
    """The bytes of an object, or those from begin to end, as a binary file. An interrupted transfer is resumed."""

    def __init__(self, store, name, generation=None, begin=0, end=None):
        self._store, self._name = store, name
        self._done, self._end = begin, end
        self.generation, self._answer = generation, None
        self._retry(self._connect)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._answer is not None:
            self._answer.close()

    def read(self, size):
        """Return at most size bytes, none at the end."""
        block = self._retry(lambda: self._read(size))
        self._done += len(block)
        return block

    def _retry(self, action):
        return self._store.retry(f"read {self._store.url(self._name)}", action)

    def _read(self, size):
        if self._answer is None:
            self._connect()
        try:
            return self._answer.read(size)
        except Transient:
            self._answer = None
            raise

    def _connect(self):
        # With gzip, the object comes as it is stored, even if that is compressed.
        headers, path = (("Accept-Encoding", "gzip"),), self._store.path(self._name) + "?alt=media"
        path += f"&generation={self.generation}" if self.generation else ""
        part = self._done or self._end is not None
        if part:
            headers += (("Range", f"bytes={self._done}-{'' if self._end is None else self._end - 1}"),)
        answer = self._store.send(Request("GET", path, headers))
        if answer.status != (206 if part else 200):
            self._refuse(answer.status, answer.content())
        self.generation = self.generation or answer.headers["x-goog-generation"]
        self._answer = answer

    def _refuse(self, status, data):
        url = self._store.url(self._name)
        if status == 404 and self.generation:
            raise Replaced(f"{url} was replaced while it was read: {RESUBMIT}")
        if status == 404 and b"bucket does not exist" not in data:
            raise NotFound(f"{url} does not exist")
        raise self._store.refusal(status, data, f"read {url}", "storage.objects.get")
