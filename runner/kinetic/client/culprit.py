# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds what can't be pickled in a call."""

from __future__ import annotations

import functools
import inspect
import io
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

from .facts import signature_of

MOST_STEPS = 50  # into an object, before the search is given up

# What to do about a type, by how its full name begins.
ADVICE = (
    (("_thread.", "threading.", "_queue.", "queue.", "asyncio.", "concurrent.", "multiprocessing."), "create it in the function"),
    (("_io.", "tempfile."), "pass its path, or kinetic.Data(path), and open it in the function"),
    (("builtins.generator", "builtins.async_generator"), "pass a list"),
    (("builtins.coroutine",), "await it before the call"),
    (("_socket.", "socket.", "ssl.", "_ssl.", "sqlite3.", "psycopg", "http.client.", "requests."), "connect in the function"),
)
OTHERWISE = "create it in the function, or leave it out of what {owner} pickles (__getstate__)"


class Sink(io.RawIOBase):
    """A file that forgets what is written to it."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        return memoryview(data).nbytes


def arguments(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return the arguments of a call, each with how messages call it.

    Args:
        function: what is called, or what has its signature.
        args: the positional arguments.
        kwargs: the arguments by name.
    """
    try:
        names = [p.name for p in signature_of(function).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        names = []
    for index, value in enumerate(args):
        yield (f"argument {names[index]!r}" if index < len(names) else f"argument {index}"), value
    for name, value in kwargs.items():
        yield f"argument {name!r}", value


def error(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], cause: Exception, pickler: Callable[[IO[bytes]], Any]
) -> TypeError:
    """Return the error for a call that can't be pickled.

    Args:
        function: the decorated function.
        args: the positional arguments.
        kwargs: the arguments by name.
        cause: what the pickler raised.
        pickler: returns a pickler that writes to a file.
    """
    name = function.__name__
    if isinstance(cause, RecursionError) or isinstance(cause.__context__, RecursionError):
        return TypeError(f"cannot send {name}(): something in it is nested too deeply to be pickled: pass it flat, or raise sys.setrecursionlimit")
    for place, value in (*arguments(function.__wrapped__, args, kwargs), (f"the function {name}", function.__wrapped__)):
        why = failure(value, pickler)
        if why is not None:
            return describe(name, *descend(place, value, why, pickler))
    return TypeError(f"cannot send {name}(): {cause}")


def failure(value: object, pickler: Callable[[IO[bytes]], Any]) -> Any:
    """Return what pickling a value raises, or None."""
    try:
        pickler(Sink()).dump(value)  # type: ignore[arg-type]
    except Exception as exc:
        return exc
    return None


def descend(place: str, value: object, why: Exception, pickler: Callable[[IO[bytes]], Any]) -> tuple[str, object, object, Exception]:
    """Return the innermost part that can't be pickled: its place, what has it, itself, and why."""
    owner: object = None
    seen = {id(value)}
    for _ in range(MOST_STEPS):
        for inner, part in parts(place, value):
            reason = None if id(part) in seen else failure(part, pickler)
            if reason is not None:
                seen.add(id(part))
                owner, place, value, why = value, inner, part, reason
                break
        else:
            break
    return place, owner, value, why


def parts(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Return what a value is made of, each part with its place."""
    if isinstance(value, dict):
        yield from ((f"{place}[{key!r}]", item) for key, item in value.items())
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from ((f"{place}[{index}]", item) for index, item in enumerate(value))
    elif isinstance(value, types.FunctionType):
        yield from function_parts(value)
    elif isinstance(value, types.MethodType):
        yield from ((f"{place}.__self__", value.__self__), (f"{place}.__func__", value.__func__))
    elif isinstance(value, functools.partial):
        yield from ((f"{place}.func", value.func), (f"{place}.args", value.args), (f"{place}.keywords", value.keywords))
    elif isinstance(value, types.ModuleType):
        return
    yield from attributes(place, value)


def function_parts(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Return what a function takes along: variables of enclosing functions, globals, defaults."""
    name = function.__name__
    for variable, value in inspect.getclosurevars(function).nonlocals.items():
        yield f"the variable {variable!r} of {name}", value
    for variable in sorted(global_names(function.__code__)):
        if variable in function.__globals__:
            yield f"the global {variable!r} of {name}", function.__globals__[variable]
    for parameter in signature_of(function).parameters.values():
        if parameter.default is not parameter.empty:
            yield f"the default of {parameter.name!r} of {name}", parameter.default


def global_names(code: types.CodeType) -> set[str]:
    """Return the names that code, and code in it, may look up as globals."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= global_names(constant)
    return names


def attributes(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, type):
        where = f"{value.__name__}."
        yield from ((where + name, item) for name, item in vars(value).items() if not name.startswith("__"))
        return
    if not isinstance(value, types.FunctionType):
        yield from ((f"{place}.{name}", item) for name, item in getattr(value, "__dict__", {}).items())
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name):
                yield f"{place}.{name}", getattr(value, name)


def describe(name: str, place: str, owner: object, value: object, why: Exception) -> TypeError:
    kind = full_name(type(value))
    known = [advice for beginnings, advice in ADVICE if kind.startswith(beginnings)]
    of = "it" if owner is None or isinstance(owner, (dict, list, tuple, set, types.FunctionType)) else full_name(type(owner))
    advice = known[0] if known else OTHERWISE.format(owner=of)
    return TypeError(f"cannot send {name}(): {place} is of type {kind}, which can't be pickled ({why}): {advice}")


def full_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
