# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Source that is in no file, such as that of a notebook's cells, in a job."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any


def show(source: str, filename: str) -> None:
    """Let tracebacks show the lines of source that they call filename."""
    linecache.cache[filename] = (len(source), None, [line + "\n" for line in source.split("\n")], filename)


def code(source: str, filename: str, make: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return the code object that make returns, and let tracebacks show its lines. Pickles of such code call this.

    Args:
        source: the text.
        filename: what tracebacks call it.
        make: makes the code object.
        arguments: those of make.
    """
    show(source, filename)
    return make(*arguments)
