# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The body of an upload."""

import base64
import hashlib
import os

from ..text import encode_json


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
