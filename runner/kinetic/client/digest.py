# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The hash of files of this machine."""

from __future__ import annotations

import hashlib
import os

BLOCK = 1 << 20  # bytes that are read at a time


def digest(path: str) -> str:
    """Return the SHA-256 of the names and contents of a file, or of all files below a directory.

    Raises:
        OSError: a file can't be read.
    """
    if not os.path.isdir(path):
        return hashlib.sha256(b"file:" + of_file(path, os.path.basename(path))).hexdigest()
    whole = hashlib.sha256(b"dir:")
    for directory, below, files in os.walk(path, onerror=refuse):
        below.sort()
        for name in sorted(files):
            file = os.path.join(directory, name)
            whole.update(of_file(file, os.path.relpath(file, path).replace(os.sep, "/")))
    return whole.hexdigest()


def of_file(path: str, name: str) -> bytes:
    """Return the hash of a file's name and content."""
    hashed = hashlib.sha256(os.fsencode(name) + b"\0")
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            hashed.update(block)
    return hashed.digest()


def refuse(error: OSError) -> None:
    """Raise what os.walk would pass over."""
    raise error
