# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""SQLite databases: a copy of the file alone lacks what lies in its journal, so SQLite itself makes the copy."""

import os
import time
import urllib.parse

HEADER = b"SQLite format 3\0"
LEAST_BYTES = 512  # of a database with any table
BUSY, LOCKED = 5, 6  # SQLITE_BUSY, SQLITE_LOCKED
BUSY_SECONDS, RETRY_SECONDS = 0.2, 0.02  # for which a lock is waited for, as a transaction takes it, and between two tries


class Locked(Exception):
    """A program keeps the database locked."""


def is_database(path):
    """Return whether a file is an SQLite database."""
    try:
        with open(path, "rb") as file:
            return file.read(len(HEADER)) == HEADER
    except OSError:
        return False


def copy_database(path, target):
    """Copy a database as of its last transaction. Return whether that was possible."""
    try:
        import sqlite3
    except ImportError:
        return False
    modes = ["mode=ro"]
    if not any(os.path.exists(path + end) for end in ("-wal", "-journal")):
        modes.append("immutable=1")  # for a directory in which SQLite can't make its files
    until = time.monotonic() + BUSY_SECONDS

    def look(status, *_):  # without it, backup() tries for ever
        if status in (BUSY, LOCKED) and time.monotonic() >= until:
            raise Locked

    for mode in modes:
        try:
            source = sqlite3.connect(f"file:{urllib.parse.quote(os.fsencode(path))}?{mode}", uri=True, timeout=0)
            copy = sqlite3.connect(target)
            try:
                source.backup(copy, progress=look, sleep=RETRY_SECONDS)
                return True
            finally:
                source.close()
                copy.close()
        except (sqlite3.Error, Locked) as exc:
            if os.path.exists(target):
                os.unlink(target)
            if isinstance(exc, Locked):
                break  # immutable=1 would ignore the lock
    return False
