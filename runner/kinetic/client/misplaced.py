# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds a Data where it can't be."""

from __future__ import annotations

from ..data import Data


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
    stack = [(value, place, False)]
    while stack:
        value, place, hashed = stack.pop()
        if isinstance(value, Data) and hashed:
            raise ValueError(f"{value!r} is in {place}: put it into a list, or make it a value of a dict")
        if (id(value), hashed) in seen:
            continue
        seen.add((id(value), hashed))
        if isinstance(value, dict):
            stack.extend((key, f"a key of {place}", True) for key in value)
            stack.extend((item, f"{place}[{key!r}]", hashed) for key, item in value.items())
        elif isinstance(value, (set, frozenset)):
            stack.extend((item, f"the set {place}", True) for item in value)
        elif isinstance(value, (list, tuple)):
            stack.extend((item, f"{place}[{index}]", hashed) for index, item in enumerate(value))
