# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""How times, documents and messages are written."""

import os
import time

BLOCK = 1 << 20  # bytes of a file that are in memory at a time


def timestamp():
    """UTC as RFC 3339 with microseconds, always 27 characters long."""
    whole, fraction = divmod(time.time_ns() // 1000, 1_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + ".%06dZ" % fraction


def encode_text(text):
    """UTF-8 bytes of any str; a lone surrogate becomes its \\u escape, as JSON writes it."""
    return text.encode("utf-8", "backslashreplace")


def encode_json(document):
    """The document as compact JSON in UTF-8."""
    import json  # which the first moments of a job do without

    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False)
    return encode_text(text)


def shorten(text, limit):
    """The text, cut to that many characters with a mark."""
    return text if len(text) <= limit else text[: limit - 1] + "\u2026"


def times(number):
    """How often, in words."""
    return "once" if number == 1 else f"{number} times"


def write_all(fd, data):
    """Writes every byte; os.write may stop early."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def file_blocks(path):
    """Yields the bytes of a file, a block at a time."""
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            yield block


def tell(text):
    """Prints to stderr; a stderr that is closed is passed over."""
    try:
        write_all(2, encode_text(text))
    except OSError:
        pass
