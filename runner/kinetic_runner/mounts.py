# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What file errors of the call mean for the buckets that Cloud Storage FUSE mounts in its pod."""

import errno
import os
import re

from .log import FILE_ERRORS

TABLE = "/proc/self/mountinfo"
FUSE = ("fuse", "fuse.gcsfuse")  # types of file systems
NOT_CONNECTED, ABORTED, IO_ERROR = (error.decode() for error in FILE_ERRORS)  # errno 107, 103 and 5


def explain(text, say, table=TABLE):
    """Say what the call's standard error means for a mounted bucket, if anything."""
    if hint := meaning(text, table):
        say(hint)


def meaning(text, table):
    """Return what a program's standard error means for a mounted bucket, or None."""
    buckets = mounts_of_buckets(table)
    for line in reversed(text.splitlines() if buckets else ()):
        for path, bucket in buckets:
            ended = any(error in line for error in (NOT_CONNECTED, ABORTED))
            if ended and names(line, path) or line.endswith((NOT_CONNECTED, ABORTED)) and is_dead(path):
                return (
                    f"Cloud Storage FUSE no longer serves {path}, where gs://{bucket} was mounted: its sidecar has ended, most often because it "
                    "ran out of memory: raise its limit, as with --annotation gke-gcsfuse/memory-limit=4Gi"
                )
            if IO_ERROR in line and names(line, path):
                return (
                    f"Cloud Storage FUSE cannot use {path}: check that there is a bucket gs://{bucket}, and that the job's service account has "
                    "access to it; the log of the container gke-gcsfuse-sidecar says more"
                )
    return None


def names(line, path):
    """Return whether a line has a path, or one below it."""
    return re.search(re.escape(path) + r"(?![\w.-])", line) is not None


def is_dead(path):
    """Return whether nobody serves a mount any more: errors of open files have no name."""
    try:
        os.scandir(path).close()
    except OSError as exc:
        return exc.errno in (errno.ENOTCONN, errno.ECONNABORTED)
    return False


def mounts_of_buckets(table):
    """Return path and bucket of each mount, the longest path first."""
    found = [(path, source) for path, kind, source in mounts(table) if kind in FUSE and path != "/"]
    return sorted(found, key=lambda mount: -len(mount[0]))


def mounts(table=TABLE):
    """Yield path, type and source of each mount. None of them is touched: a dead one would never answer."""
    try:
        with open(table, encoding="utf-8", errors="replace") as file:
            for line in file:
                before, _, after = line.partition(" - ")
                kind, source = after.split(" ")[:2]
                yield re.sub(r"\\(\d{3})", lambda match: chr(int(match[1], 8)), before.split(" ")[4]), kind, source
    except OSError:
        pass  # not Linux


def mount_of(path, mounted):
    """Return which of the mounted directories an absolute path is in."""
    while path not in mounted and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return path
