# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""SQLite databases: a copy of the file alone lacks what lies in its journal, so SQLite itself makes the copy."""

import os
import urllib.parse

HEADER = b"SQLite format 3\0"
LEAST_BYTES = 512  # of a database with any table


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
    for mode in modes:
        try:
            source = sqlite3.connect(f"file:{urllib.parse.quote(os.fsencode(path))}?{mode}", uri=True, timeout=0)
            copy = sqlite3.connect(target)
            try:
                source.backup(copy)
                return True
            finally:
                source.close()
                copy.close()
        except sqlite3.Error:
            if os.path.exists(target):
                os.unlink(target)
    return False
