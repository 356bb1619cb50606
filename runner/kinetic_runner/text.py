# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Formats of times, documents and messages."""

import os
import time

BLOCK = 1 << 20  # bytes of a file in memory at a time
COPY_BLOCK = 256 << 10  # bytes of an object at a time: few enough to stay in the cache until they are hashed and written


def timestamp():
    """Return the UTC time as RFC 3339 with microseconds, always 27 characters."""
    whole, fraction = divmod(time.time_ns() // 1000, 1_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + ".%06dZ" % fraction


def encode_text(text):
    """Encode any str in UTF-8. A lone surrogate becomes its \\u escape, as in JSON."""
    return text.encode("utf-8", "backslashreplace")


def encode_json(document):
    """Return the document as compact JSON in UTF-8."""
    import json  # not needed in the first moments of a job

    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False)
    return encode_text(text)


def shorten(text, limit):
    """Return the text, shortened with an ellipsis to at most limit characters."""
    return text if len(text) <= limit else text[: limit - 1] + "\u2026"


def text_of(value):
    """Return str(value), or a placeholder if that raises."""
    try:
        return str(value)
    except Exception:
        return f"<unprintable {type(value).__name__} object>"


def times(number):
    """Return "once" or "N times"."""
    return "once" if number == 1 else f"{number} times"


def write_all(fd, data):
    """Write every byte; os.write may stop early."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def file_blocks(path):
    """Yield the bytes of a file, a block at a time."""
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            yield block


def tell(text):
    """Print to stderr, unless it is closed."""
    try:
        write_all(2, encode_text(text))
    except OSError:
        pass


def readable(size):
    """Return a number of bytes for people: 12 B, 1.5 KiB, 3.0 MiB, 2.5 GiB."""
    if size < 1 << 10:
        return f"{size} B"
    if size < 1 << 20:
        return f"{size / (1 << 10):.1f} KiB"
    if size < 1 << 30:
        return f"{size / (1 << 20):.1f} MiB"
    return f"{size / (1 << 30):.1f} GiB"
