# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks that arguments fit a function before they are sent."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

from ..decorator import RemoteCallable, lookup
from ..errors import on_purpose
from .facts import signature_of
from .parameters import did_you_mean


LOST = (  # Python 3.13 looks up no more than the attributes of what a class method wraps
    "{name} has lost its class: since Python 3.13, a class method under @classmethod can only be called. "
    "For run_async and the like, write @kinetic.run above @classmethod"
)


def binder(function: RemoteCallable[Any, Any]) -> Callable[[Sequence[Any], Mapping[str, Any]], None]:
    """Return what raises TypeError for the arguments of a call that don't fit, as a call in this process would.

    A decorator below can supply arguments, or take some, behind the signature of what it wraps: then only its own signature tells what fits.
    But that can be a copy of another's. So arguments don't fit if both signatures refuse them. If the decorator passes on all that it gets, it
    may supply what is missing, but not take what the function doesn't.
    """
    try:
        own = innermost = signature_of(function.__wrapped__)
    except (TypeError, ValueError):
        return lambda args, kwargs: None  # a built-in function that does not tell
    with contextlib.suppress(TypeError, ValueError):
        own = signature_of(function.__wrapped__, follow_wrapped=False)
    passes_on = all(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in own.parameters.values())
    owner, first = owner_of(function), next(iter(own.parameters), "")

    def check(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        if owner is not None and owner not in getattr(args[0] if args else kwargs.get(first), "__mro__", ()):
            raise on_purpose(TypeError(LOST.format(name=function.__qualname__)))
        if refusal(innermost.bind, args, kwargs) is None:
            return
        shown, exc = own, refusal(own.bind, args, kwargs)
        if exc is None and passes_on:
            shown, exc = innermost, refusal(innermost.bind_partial, args, kwargs)
        if exc is not None:
            raise on_purpose(TypeError(f"{function.__name__}() {complaint(shown, args, kwargs) or exc}"))

    return check


def owner_of(function: RemoteCallable[Any, Any]) -> Optional[type]:
    """Return the class that has a function under @classmethod, None if the function is bound or that is not known."""
    above, _, name = function.__qualname__.rpartition(".")
    owner = lookup(sys.modules.get(function.__module__), above)
    method = inspect.getattr_static(owner, name, None)
    if function.bound or not isinstance(owner, type) or not isinstance(method, classmethod):
        return None
    return owner if getattr(method.__func__, "__wrapped__", None) is function.__wrapped__ else None


def refusal(bind: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Optional[TypeError]:
    """Return why arguments don't fit a signature, by its method bind, or None."""
    try:
        bind(*args, **kwargs)
    except TypeError as exc:
        return exc
    return None


def complaint(signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """Return what Python says of a name that is not a parameter, or of too many arguments; "" for other mistakes.

    Signature.bind tells first what is missing, which a misspelt name always leaves behind.
    """
    parameters = list(signature.parameters.values())
    kinds = {parameter.kind for parameter in parameters}
    unknown = [] if inspect.Parameter.VAR_KEYWORD in kinds else [name for name in kwargs if name not in signature.parameters]
    if unknown:
        return f"got an unexpected keyword argument {unknown[0]!r}{did_you_mean(unknown[0], signature.parameters)}"
    places = [p for p in parameters if p.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    most, least = len(places), len([p for p in places if p.default is p.empty])
    if len(args) <= most or inspect.Parameter.VAR_POSITIONAL in kinds:
        return ""
    takes = f"from {least} to {most}" if least < most else str(most)
    return f"takes {takes} positional argument{'s' * (takes != '1')} but {len(args)} {'was' if len(args) == 1 else 'were'} given"
