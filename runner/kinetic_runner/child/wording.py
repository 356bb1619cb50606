# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""How messages show values, types and exceptions of the user's code, whose methods may raise anything."""

import json

from ..text import shorten

REPR_LIMIT = 20_000  # characters

# What a user's handler of SIGTERM or SIGINT raises must propagate. Everything else is caught,
# including panics of Rust extensions, which do not derive from Exception.
INTERRUPTIONS = (KeyboardInterrupt, SystemExit)


def repr_of(value):
    """Return the shortened repr of a value, or the name of its type if repr raises."""
    if isinstance(value, (bytes, bytearray)):
        value = value[:REPR_LIMIT]  # its repr takes up to four times its memory
    try:
        return repr(value)[:REPR_LIMIT]
    except INTERRUPTIONS:
        raise
    except BaseException:
        return f"<{type_name(type(value))} object>"


def message_of(exc):
    """Return an exception's type and message on one line, even if str(exc) raises."""
    try:
        message = " ".join(str(exc).split())
    except Exception:
        message = ""
    name = type_name(type(exc))
    return shorten(f"{name}: {message}" if message else name, 200)


def type_name(kind):
    """Return the qualified name of a type as a traceback shows it."""
    module = kind.__module__
    return kind.__qualname__ if module in (None, "builtins", "__main__") else f"{module}.{kind.__qualname__}"


def listing(texts, more):
    """Return the texts as a list in words, and how many more there are."""
    return ", ".join(texts) + (f" and {more} more" if more else "")


def quoted(text):
    """Return the text as a JSON string."""
    return json.dumps(text, ensure_ascii=False)
