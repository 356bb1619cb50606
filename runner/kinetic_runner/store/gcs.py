# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A store in a bucket, through the JSON API of Google Cloud Storage or an emulator."""

import base64
import calendar
import copy
import hashlib
import json
import math
import os
import re
import time
import urllib.parse

from ..contract import OBJECTS
from ..errors import AlreadyExists, NotFound, RunnerError, StartOver, Transient, Unreachable
from ..text import encode_json, shorten
from . import RESUBMIT, Replaced
from .account import open_account
from .http import REQUEST_SECONDS, RETRY_STATUS, Endpoint, Request, server_time

GCS_URL = r"gs://(?P<bucket>[a-z0-9][a-z0-9._-]{1,220}[a-z0-9])(?:/(?P<prefix>[^?#]*))?"
GCS_ENDPOINT = "https://storage.googleapis.com"
STORAGE_ROLE = "roles/storage.objectUser"
PARALLEL_READS = 6
LIST_PAGE = 1000  # names
RETRY_SECONDS = 600.0  # from the first to the last of consecutive failures; SIGTERM cuts it short
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
CONTENT_TYPES = {".json": "application/json", ".log": "text/plain; charset=utf-8"}
RENEW_AGE = 20 * 86_400  # seconds; a bucket may have a rule that deletes objects after 30 days


class GCSStore:
    """A store in a bucket, through the JSON API of Google Cloud Storage or an emulator.

    Every request is retried while that may help, so a source is a callable that
    yields the bytes again. Uploads are checked by their MD5.
    """

    parallel = PARALLEL_READS
    outage = None  # an Outage that hears of requests that are tried again

    def __init__(self, url, emulator="", metadata_host="", credentials=""):
        self.bucket, self.prefix = parse_url(url)
        self._server = Endpoint(emulator or GCS_ENDPOINT)
        self._account = None if emulator else open_account(credentials, metadata_host)
        self._until = math.inf  # time.monotonic() after which nothing is tried

    def url(self, name):
        """Return the full name of an object, for messages."""
        return f"gs://{self.bucket}/{self.prefix}{name}"

    def at(self, url):
        """Return the store of another URL, with the same account and connections."""
        other = copy.copy(self)
        other.bucket, other.prefix = parse_url(url)
        return other

    def outputs(self, job):
        """Return the default of KINETIC_OUTPUT_DIR."""
        return self.url(OBJECTS["outputs"] % job)

    def hurry(self, moment):
        """Do not wait for anything after this time.monotonic()."""
        self._until = min(self._until, moment)

    def close(self):
        """Close the connections that nothing uses."""
        self._server.close()

    def open(self, name):
        """Return a binary file of the object's bytes. Raise NotFound if there is none."""
        return GCSReader(self, name)

    def create(self, name, source, metadata=None):
        """Write a new object. Raise AlreadyExists if there is one."""
        self.write(name, source, 0, metadata)

    def write(self, name, source, generation=None, metadata=None):
        """Write or replace an object. Raise AlreadyExists if it is not of the given generation."""
        self.upload(name, source, metadata, generation)

    def renew(self, name, age=RENEW_AGE, first=None):
        """Rewrite an object of this age in place, before a lifecycle rule deletes it. If it is as old, call first before."""
        doing, path = f"renew {self.url(name)}", self.path(name)
        status, headers, data = self.ask(doing, Request("GET", path))
        if status == 404:
            return  # this attempt no longer needs it, and another one will report it
        fields = self.expect(status, data, doing, "get")
        if age_of(fields, headers) < age:
            return
        if first:
            first()
        self.rewrite(doing, path, path, fields["generation"])  # unless another process renewed or removed it

    def rewrite(self, doing, source, target, generation, fields=None, of=None):
        """Copy an object on the server, between paths in the API. Return its new attributes.

        Return None if there is no source, or no target of the given generation. fields are the attributes to set, by default those of the source.
        of is the generation of the source, None for the newest one.
        """
        path = f"{source}/rewriteTo{target[len('/storage/v1') :]}?ifGenerationMatch={generation}"
        path += f"&sourceGeneration={of}" if of else ""
        body = encode_json(fields) if fields else b""
        headers = (("Content-Type", "application/json"), ("Content-Length", str(len(body))))
        more = ""
        while True:
            status, _, data = self.ask(doing, Request("POST", path + more, headers, lambda: [body]))
            if status in (404, 412):
                return None
            answer = self.expect(status, data, doing, "create")
            if answer.get("done", True):
                return answer.get("resource", {})
            more = f"&rewriteToken={quote(answer['rewriteToken'])}"

    def delete(self, name, generation=None):
        """Delete an object, if there is one of the given generation."""
        doing, condition = f"delete {self.url(name)}", "" if generation is None else f"?ifGenerationMatch={generation}"
        status, _, data = self.ask(doing, Request("DELETE", self.path(name) + condition))
        if status not in (200, 204, 404, 412):
            raise self.refusal(status, data, doing, "storage.objects.delete")

    def exists(self, name):
        """Return whether there is such an object."""
        return self.attributes(name) is not None

    def generation(self, name):
        """Return an object's generation, for write(), and its metadata; 0 and {} if there is none."""
        fields = self.attributes(name)
        return (0, {}) if fields is None else (fields["generation"], fields.get("metadata") or {})

    def list(self, folder):
        """Yield the names of the objects right in a folder, relative to it."""
        prefix, doing, more = quote(self.prefix + folder), f"list {self.url(folder)}", ""
        while more is not None:
            path = f"/storage/v1/b/{self.bucket}/o?prefix={prefix}&delimiter=%2F&maxResults={LIST_PAGE}&fields=items(name),nextPageToken"
            status, _, data = self.ask(doing, Request("GET", f"{path}&pageToken={quote(more)}"))
            page = self.expect(status, data, doing, "list")
            yield from (os.path.basename(item["name"]) for item in page.get("items", ()))
            more = page.get("nextPageToken")

    def path(self, name):
        """Return the path of an object in the API."""
        return f"/storage/v1/b/{self.bucket}/o/{quote(self.prefix + name)}"

    def ask(self, doing, request):
        """Return status, headers and content of the answer to a request."""

        def once():
            answer = self.send(request)
            return answer.status, answer.headers, answer.content()

        return self.retry(doing, once)

    def send(self, request):
        """Send a request once, as the pod's account. Raise Transient if a retry may help, else return the answer."""
        for last in (False, True):
            timeout = max(0.1, min(REQUEST_SECONDS, self._until - time.monotonic()))
            token = self._account.token(timeout) if self._account else None
            answer = self._server.send(request, timeout, token)
            if answer.status != 401 or not token or last:
                break
            answer.close()
            self._account.refused(token)
        if answer.status in RETRY_STATUS:
            answer.close()
            raise Transient(f"{self._server.name} answered {answer.status}")
        return answer

    def retry(self, doing, action):
        """Repeat action until it succeeds or fails for good. Raise Unreachable if that takes too long."""
        pause, tries, begin = FIRST_PAUSE, 1, None
        while True:
            try:
                return action()
            except Transient as exc:
                now = time.monotonic()
                begin = now if begin is None else begin
                wait = jittered(pause)
                if now + wait >= min(begin + RETRY_SECONDS, self._until):
                    raise Unreachable(
                        f"cannot {doing}: {exc} ({tries} tries in {now - begin:.0f} seconds): "
                        "check that the pod's node can reach it, then submit again"
                    ) from None
                if self.outage is not None:
                    self.outage.note(self.bucket, exc, begin, now)
            time.sleep(wait)
            pause, tries = min(2 * pause, LONGEST_PAUSE), tries + 1

    def refusal(self, status, data, doing, permission):
        """Return the error for an answer that a retry would not change."""
        said = shorten(" ".join(error_text(data).split()), 300)
        account = self._account.name() if self._account else "the emulator's user"
        if status in (401, 403):
            text = f"{account} needs the permission {permission} on the bucket {self.bucket} ({status}: {said}): grant it {STORAGE_ROLE} there"
        elif status == 404:
            text = (
                f"there is no bucket {self.bucket} that {account} can see ({status}: {said}): "
                f"create it with gcloud storage buckets create gs://{self.bucket}, "
                f"grant {STORAGE_ROLE} on it, or submit with another --store"
            )
        else:
            text = f"{self._server.name} answered {status}: {said}"
        return RunnerError(f"cannot {doing}: {text}")

    def expect(self, status, data, doing, permission):
        """Return the JSON of a successful answer, or raise the error for another one."""
        if status != 200:
            raise self.refusal(status, data, doing, f"storage.objects.{permission}")
        try:
            return json.loads(data)
        except ValueError:
            raise RunnerError(f"cannot {doing}: the answer from {self._server.name} is not JSON: {data!r:.200}") from None

    def upload(self, name, source, metadata, generation):
        """Write or replace an object as write() does. Return its attributes."""
        size, md5 = measure(source)
        headers, body = multipart(dict(self.description(name, metadata), md5Hash=md5), source, size)
        condition = "" if generation is None else f"&ifGenerationMatch={generation}"
        path = f"/upload/storage/v1/b/{self.bucket}/o?uploadType=multipart{condition}"
        doing = f"write {self.url(name)}"
        status, _, data = self.ask(doing, Request("POST", path, headers, body))
        if status == 412 and condition:
            # Our own upload may have arrived, now or earlier, although its answer did not.
            found = self.attributes(name) or {}
            if found.get("md5Hash") == md5:
                return found
            raise AlreadyExists(f"{self.url(name)} already exists")
        permission = "create" if generation == 0 else "create and storage.objects.delete"
        return self.intact(self.expect(status, data, doing, permission), md5, doing)

    @staticmethod
    def intact(attributes, md5, doing):
        """Return the attributes of an object that was written, after comparing its MD5."""
        if attributes.get("md5Hash") != md5:
            raise StartOver(f"cannot {doing}: it was corrupted in transit (its MD5 is not {md5}): submit the job again")
        return attributes

    def description(self, name, metadata=None):
        """Return the attributes of an object to write."""
        kind = CONTENT_TYPES.get(os.path.splitext(name)[1], "application/octet-stream")
        return dict({"metadata": metadata} if metadata else {}, name=self.prefix + name, contentType=kind)

    def attributes(self, name):
        """Return the attributes of an object, or None if there is none."""
        doing = f"read {self.url(name)}"
        status, _, data = self.ask(doing, Request("GET", self.path(name)))
        return None if status == 404 else self.expect(status, data, doing, "get")


def parse_url(url):
    """Return the bucket and the prefix of a URL."""
    match = re.fullmatch(GCS_URL, url.rstrip("/"))
    if not match:
        raise RunnerError(f"store {url}: expected gs://BUCKET or gs://BUCKET/PREFIX")
    return match["bucket"], match["prefix"] + "/" if match["prefix"] else ""


def quote(name):
    """Quote a name for use as one segment of a path or a value of a query."""
    return urllib.parse.quote(name, safe="")


def jittered(pause):
    """Return pause reduced by up to a half, so that many pods do not retry at the same moment."""
    return pause * (1 - os.urandom(1)[0] / 512)


def age_of(fields, headers):
    """Return the age of an object in seconds. Both times are the server's."""
    created = time.strptime(fields["timeCreated"][:19], "%Y-%m-%dT%H:%M:%S")
    return server_time(headers) - calendar.timegm(created)


def error_text(data):
    try:
        return json.loads(data)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return data.decode("utf-8", "replace")


def measure(source):
    """Return the size of what a source yields, and its MD5 in base64."""
    size, digest = 0, hashlib.md5(usedforsecurity=False)
    for block in source():
        size += len(block)
        digest.update(block)
    return size, base64.b64encode(digest.digest()).decode()


def multipart(fields, source, size):
    """Return headers and body of an upload, without holding it in memory."""
    boundary = os.urandom(16).hex()
    head = (
        f"--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n".encode()
        + encode_json(fields)
        + f"\r\n--{boundary}\r\nContent-Type: {fields['contentType']}\r\n\r\n".encode()
    )
    tail = f"\r\n--{boundary}--\r\n".encode()

    def body():
        yield head
        yield from source()
        yield tail

    length = len(head) + size + len(tail)
    return (("Content-Type", f"multipart/related; boundary={boundary}"), ("Content-Length", str(length))), body


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
