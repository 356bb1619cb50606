# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The store: objects by name, in a bucket or in a directory."""

import hashlib
import io
import os

from ..errors import RunnerError
from ..text import BLOCK

# What to do next, said by more than one message.
RESUBMIT = "delete it, then submit the job again to upload it"


def open_store(url, emulator="", metadata_host="", credentials=""):
    """The store of a URL. Pods have buckets, local jobs directories too."""
    if url.startswith("gs://"):
        from .gcs import GCSStore

        return GCSStore(url, emulator, metadata_host, credentials)
    from .files import FileStore

    return FileStore(url)


def directory_of(url, what):
    """The path of a file:// URL or of an absolute path."""
    path = url[len("file://") :] if url.startswith("file://") else url
    if not os.path.isabs(path):
        raise RunnerError(f"{what} {url}: expected gs://BUCKET, file:///DIR or /DIR")
    return os.path.normpath(path)


def in_parallel(action, items, count):
    """Calls action with each item, in up to count threads; raises the first failure when they have ended."""
    from ..threads import start_threads  # which a job with one blob does not need

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
    """Copies an object of at most limit bytes to sink, checks its SHA-256 and returns its size.

    sink must forget the bytes if this raises.
    """
    digest, size = hashlib.sha256(), 0
    with store.open(name) as source:
        while block := source.read(BLOCK):
            size += len(block)
            if size > limit:
                raise RunnerError(f"{store.url(name)} is larger than {limit} bytes: it was changed; {RESUBMIT}")
            digest.update(block)
            sink(block)
    if digest.hexdigest() != sha256:
        raise RunnerError(
            f"{store.url(name)} has SHA-256 {digest.hexdigest()}, expected {sha256}: it was changed or truncated; {RESUBMIT}"
        )
    return size


def read_verified(store, name, sha256, limit):
    """The bytes of a small object whose SHA-256 was checked."""
    buffer = io.BytesIO()
    copy_verified(store, name, sha256, limit, buffer.write)
    return buffer.getvalue()
