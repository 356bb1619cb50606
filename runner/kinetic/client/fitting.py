# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks that arguments fit a function before they are sent."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..decorator import RemoteCallable
from ..errors import on_purpose
from .parameters import did_you_mean


def binder(function: RemoteCallable[Any, Any]) -> Callable[[Sequence[Any], Mapping[str, Any]], None]:
    """Return what raises TypeError for the arguments of a call that don't fit, as a call in this process would."""
    try:
        signature = inspect.signature(function.__wrapped__)
    except (TypeError, ValueError):
        return lambda args, kwargs: None  # a built-in function that does not tell

    def check(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as exc:
            raise on_purpose(TypeError(f"{function.__name__}() {complaint(signature, args, kwargs) or exc}")) from None

    return check


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
