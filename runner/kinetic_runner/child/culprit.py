# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Find the part of a value for which it can't be pickled."""

import time
import types

from .pickles import PICKLERS, pickler
from .wording import INTERRUPTIONS, repr_of, shorten, type_name

MAX_DEPTH = 100
SECONDS = 10.0  # to search


class Nowhere:
    """A file that keeps nothing."""

    def write(self, data):
        """Forget data."""


def find(value):
    """Return the place of the innermost part that can't be pickled, such as value.model.lock, and the name of its type."""
    place, around, until = "value", [], time.monotonic() + SECONDS
    while value is not None and len(around) < MAX_DEPTH:
        around.append(value)
        step, value = bad_part(value, around, until)
        place += step
    return shorten(place, 200), type_name(type(around[-1]))


def bad_part(value, around, until):
    """Return the first part of a value that can't be pickled and is not around it, with its step, or "" and None."""
    for step, part in parts(value):
        if time.monotonic() > until:
            break
        if not any(part is outer for outer in around) and not can_pickle(part):
            return step, part
    return "", None


def can_pickle(value):
    """Return whether a value can be pickled."""
    for name in PICKLERS:
        try:
            pickler(name)(Nowhere(), protocol=5).dump(value)
            return True
        except INTERRUPTIONS:
            raise
        except BaseException:
            pass
    return False


def parts(value):
    """Yield the parts of a value, each with the step that leads to it."""
    try:
        yield from parts_of(value)
    except INTERRUPTIONS:
        raise
    except BaseException:
        return  # it has strange methods, so it is the culprit itself


def parts_of(value):
    if isinstance(value, types.FunctionType):
        yield from variables(value)
        return
    if isinstance(value, types.MethodType):
        yield ".__self__", value.__self__
        return
    if isinstance(value, dict):
        yield from members(value.items())
    elif isinstance(value, (list, tuple)):
        yield from items(value)
    elif isinstance(value, (set, frozenset)):
        yield from ((f" (its member {short(member)})", member) for member in value)
    yield from attributes(value)


def variables(function):
    """Yield the variables of other scopes that a function uses."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        yield f" (its variable {name})", cell.cell_contents
    for name in function.__code__.co_names:
        if name in function.__globals__:
            yield f" (its global variable {name})", function.__globals__[name]


def attributes(value):
    """Yield what an object gives to the pickler beside its items."""
    reduced = value.__reduce_ex__(5)
    if not isinstance(reduced, tuple):
        return
    _, arguments, state, listed, mapped = (*reduced, None, None, None)[:5]
    for state in state if isinstance(state, tuple) else (state,):
        if isinstance(state, dict):
            yield from ((f".{name}", part) for name, part in state.items())
        elif state is not None:
            yield " (its state)", state
    for number, part in enumerate(arguments or ()):
        yield " (its class)" if isinstance(part, type) else f" (its argument {number})", part
    if listed is not None and not isinstance(value, list):
        yield from items(listed)
    if mapped is not None and not isinstance(value, dict):
        yield from members(mapped)


def items(values):
    for number, item in enumerate(values):
        yield f"[{number}]", item


def members(pairs):
    for key, item in pairs:
        yield f"[{short(key)}]", item
        yield f" (its key {short(key)})", key


def short(value):
    """Return the repr of a key or of a member of a set."""
    return shorten(repr_of(value), 60)
