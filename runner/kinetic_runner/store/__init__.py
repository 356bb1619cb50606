# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The store: objects by name, in a bucket or in a directory."""

import _thread
import hashlib
import io
import math
import os

from ..errors import Mismatch, RunnerError
from ..text import COPY_BLOCK, readable

# Advice in several messages.
RESUBMIT = "delete it, then submit the job again to upload it"
FIRST_SECONDS, NEXT_SECONDS = 5.0, 30.0  # before the first message about an outage, and at least between two of them


class Replaced(RunnerError):
    """An object was replaced or deleted while it was read."""


def open_store(url, emulator="", metadata_host="", credentials=""):
    """Return the store of a URL. Pods use buckets, local jobs may use directories."""
    if url.startswith("gs://"):
        from .gcs import GCSStore

        return GCSStore(url, emulator, metadata_host, credentials)
    from .files import FileStore

    return FileStore(url)


def directory_of(url, what):
    """Return the path of a file:// URL or of an absolute path."""
    path = url[len("file://") :] if url.startswith("file://") else url
    if not os.path.isabs(path):
        raise RunnerError(f"{what} {url}: expected gs://BUCKET, file:///DIR or /DIR")
    return os.path.normpath(path)


def in_parallel(action, items, count):
    """Call action with each item, in up to count threads. When they have ended, raise the first failure."""
    from ..threads import start_threads  # not needed by a job with one blob

    waiting, failures = list(reversed(items)), []

    def work():
        while not failures:
            try:
                item = waiting.pop()
            except IndexError:
                return
            try:
                action(item)
            except Exception as exc:
                failures.append(exc)

    try:
        threads = start_threads(min(count, len(items)) - 1, work)
        work()
        for thread in threads:
            thread.join()
    finally:
        waiting.clear()
    if failures:
        raise failures[0]


def copy_verified(store, name, sha256, limit, sink):
    """Copy an object of at most limit bytes to sink, check its SHA-256 and return its size.

    If this raises, the caller must discard what sink received.
    """
    digest, size = hashlib.sha256(), 0
    with store.open(name) as source:
        while block := source.read(COPY_BLOCK):
            size += len(block)
            if size > limit:
                raise Mismatch(f"{store.url(name)} is larger than {readable(limit)}: it was changed; {RESUBMIT}")
            digest.update(block)
            sink(block)
    if digest.hexdigest() != sha256:
        raise Mismatch(
            f"{store.url(name)} has SHA-256 {digest.hexdigest()}, expected {sha256}: it was changed or truncated; {RESUBMIT}"
        )
    return size


def read_verified(store, name, sha256, limit):
    """Return the bytes of a small object after checking its SHA-256."""
    buffer = io.BytesIO()
    copy_verified(store, name, sha256, limit, buffer.write)
    return buffer.getvalue()


class Outage:
    """Says that a store does not answer. All threads and stores of an attempt share one, so that only one of them says it."""

    def __init__(self, say):
        self.say = say
        self._told_at, self._lock = -math.inf, _thread.allocate_lock()

    def note(self, bucket, exc, began, now):
        """Note the failure of a request that has failed since began, a time.monotonic() as now is."""
        with self._lock:
            if now < max(began + FIRST_SECONDS, self._told_at + NEXT_SECONDS):
                return
            self._told_at = now
        self.say(f"gs://{bucket} has not answered for {now - began:.0f} seconds ({exc}): trying again")
