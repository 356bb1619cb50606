# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Objects of a bucket with their attributes: list them, copy them, and upload large ones. Only outputs need this."""

import base64
import calendar
import hashlib
import os
import re
import time
import urllib.parse
from collections import namedtuple

from ..errors import AlreadyExists, RunnerError, StartOver
from ..text import encode_json
from .gcs import LIST_PAGE, quote
from .http import Request

# md5 is in base64, "" if the object has none. created is in seconds since 1970.
Object = namedtuple("Object", "name size md5 generation created metadata")

PART_BYTES = 255  # of a part of a file's name, on all file systems

ATTRIBUTES = "name,size,md5Hash,generation,timeCreated,metadata"


def object_of(fields, name):
    """Return the object with the attributes that the API sent."""
    created = calendar.timegm(time.strptime(fields["timeCreated"][:19], "%Y-%m-%dT%H:%M:%S"))
    return Object(name, int(fields["size"]), fields.get("md5Hash", ""), str(fields["generation"]), created, fields.get("metadata") or {})


def can_be_file(name):
    """Return whether an object can be a file below a directory, by its name."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return is_path(name)


def is_path(path):
    """Return whether there can be something with this path below a directory. It need not be UTF-8."""
    try:
        parts = os.fsencode(path).split(b"/")
    except UnicodeEncodeError:
        return False
    return not any(part in (b"", b".", b"..") or len(part) > PART_BYTES or b"\0" in part for part in parts)


def list_objects(store, folder="", nested=True):
    """Yield all objects in a folder of a store, by their names relative to the store's URL; with nested, also those in folders below."""
    doing, more = f"list {store.url(folder)}", ""
    path = f"/storage/v1/b/{store.bucket}/o?prefix={quote(store.prefix + folder)}&maxResults={LIST_PAGE}&fields=items({ATTRIBUTES}),nextPageToken"
    path += "" if nested else "&delimiter=%2F"
    while more is not None:
        status, _, data = store.ask(doing, Request("GET", f"{path}&pageToken={quote(more)}"))
        page = store.expect(status, data, doing, "list")
        for item in page.get("items", ()):
            yield object_of(item, item["name"][len(store.prefix) :])
        more = page.get("nextPageToken")


def rewrite_object(source, name, target, new, generation, metadata, of=None):
    """Copy an object to a name in another store of the same server, without its bytes passing through here.

    of is the generation of the object, None for the newest one. Return the attributes of the copy, or None if there is no such
    object, or no target of the given generation.
    """
    doing = f"copy {source.url(name)} to {target.url(new)}"
    return target.rewrite(doing, source.path(name), target.path(new), generation, target.description(new, metadata), of)


class Upload:
    """An upload in pieces, which continues after a failure where the server stopped reading."""

    def __init__(self, store, name, size, metadata, generation):
        self._store, self._name, self._size = store, name, size
        self._doing = f"write {store.url(name)}"
        self._fields = store.description(name, metadata)
        self._generation = generation
        self._session = None  # its path, once the server has opened it
        self._md5 = hashlib.md5(usedforsecurity=False)
        self.sent = 0  # bytes of pieces that the server has
        self._unsure = False  # how much the server has of the piece that is sent

    def send(self, piece):
        """Send the next bytes. Return the object's attributes after the last ones, else None.

        All pieces but the last must have a multiple of 256 KiB. Raise AlreadyExists if
        the object is not of the given generation.
        """
        digest = self._md5.copy()
        digest.update(piece)
        fields = self._store.retry(self._doing, lambda: self._send(memoryview(piece)))
        self._md5 = digest
        self.sent += len(piece)
        if fields is None:
            return None
        return self._store.intact(fields, base64.b64encode(digest.digest()).decode(), self._doing)

    def _send(self, piece):
        if self._session is None:
            self._open()
        end = self.sent + len(piece)
        have = None if self._unsure else self.sent  # bytes that the server has
        while have != end:
            if have is None:
                status, headers, data = self._put(b"", f"bytes */{self._size}")
            else:
                status, headers, data = self._put(piece[have - self.sent :], f"bytes {have}-{end - 1}/{self._size}")
            if status != 308:
                return self._finish(status, data)
            have = received(headers)
            if not self.sent <= have <= end:
                raise RunnerError(f"cannot {self._doing}: the server has {have} bytes of it, after {self.sent} were sent")
        return None

    def _open(self):
        condition = "" if self._generation is None else f"&ifGenerationMatch={self._generation}"
        path = f"/upload/storage/v1/b/{self._store.bucket}/o?uploadType=resumable&name={quote(self._fields['name'])}{condition}"
        body = encode_json(self._fields)
        headers = (("Content-Type", "application/json"), ("Content-Length", str(len(body))), ("X-Upload-Content-Length", str(self._size)))
        answer = self._store.send(Request("POST", path, headers, lambda: [body]))
        data = answer.content()
        if answer.status not in (200, 201):
            self._finish(answer.status, data)
        place = urllib.parse.urlsplit(answer.headers["Location"])
        self._session = f"{place.path}?{place.query}"

    def _put(self, data, part):
        headers = (("Content-Length", str(len(data))), ("Content-Range", part))
        self._unsure = True
        answer = self._store.send(Request("PUT", self._session, headers, lambda: [data]))
        status, headers, data = answer.status, answer.headers, answer.content()
        self._unsure = False
        return status, headers, data

    def _finish(self, status, data):
        if status == 412:
            raise AlreadyExists(f"{self._store.url(self._name)} already exists")
        if status in (404, 410) and self._session is not None:
            raise StartOver(f"cannot {self._doing}: the server has forgotten the upload")
        return self._store.expect(200 if status == 201 else status, data, self._doing, "create and storage.objects.delete")


def received(headers):
    """Return how many bytes of an upload the server has."""
    match = re.fullmatch(r"bytes=0-(\d+)", headers.get("Range", ""))
    return int(match[1]) + 1 if match else 0
