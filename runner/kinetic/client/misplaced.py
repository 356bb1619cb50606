# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds a Data where it can't be."""

from __future__ import annotations

from typing import Any, Optional

from ..data import Data

PLAIN = frozenset((int, float, complex, str, bytes, bool, type(None)))  # what large lists consist of: none of these is a Data or contains one
A_KEY, IN_A_SET = object(), object()  # in place of an index

Way = Optional[tuple[Any, Any]]  # the way to where a container is, and the index there; None for the argument itself


def refuse_misplaced(value: object, place: str) -> None:
    """Refuse a Data in a set or in a key of a dict: a path there would have another order, or be another key.

    Lists, tuples, dicts, sets and their subclasses are searched, at any depth.

    Args:
        value: an argument of the call.
        place: how messages call it, such as "argument 'cfg'".

    Raises:
        ValueError: it has one; the message says where.
    """
    seen: set[tuple[int, bool]] = set()
    stack: list[tuple[Any, Way, bool]] = [(value, None, False)]
    while stack:
        value, way, hashed = stack.pop()
        if isinstance(value, Data) and hashed:
            raise ValueError(f"{value!r} is in {described(way, place)}: put it into a list, or make it a value of a dict")
        if (id(value), hashed) in seen:
            continue
        seen.add((id(value), hashed))
        if isinstance(value, dict):
            stack.extend((key, (way, A_KEY), True) for key in value if type(key) not in PLAIN)
            stack.extend((item, (way, key), hashed) for key, item in value.items() if type(item) not in PLAIN)
        elif isinstance(value, (set, frozenset)):
            stack.extend((item, (way, IN_A_SET), True) for item in value if type(item) not in PLAIN)
        elif isinstance(value, (list, tuple)):
            stack.extend((item, (way, index), hashed) for index, item in enumerate(value) if type(item) not in PLAIN)


def described(way: Way, place: str) -> str:
    """Return how messages call what is at the end of a way that begins at a place."""
    steps = []
    while way is not None:
        way, step = way
        steps.append(step)
    for step in reversed(steps):
        place = f"a key of {place}" if step is A_KEY else f"the set {place}" if step is IN_A_SET else f"{place}[{step!r}]"
    return place
