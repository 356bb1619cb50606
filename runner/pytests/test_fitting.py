# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is said of arguments that don't fit, which is what Python says."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from kinetic.client.fitting import complaint


def plain(steps: int) -> None: ...
def optional(steps: int, rate: float = 0.1) -> None: ...
def nothing() -> None: ...
def named(steps: int, *, rate: float = 0.1) -> None: ...
def any_of(steps: int, *more: int) -> None: ...
def any_name(steps: int, **more: int) -> None: ...


CALLS: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any], str]] = {
    "a misspelt name": (plain, (), {"step": 1}, "got an unexpected keyword argument 'step': did you mean 'steps'?"),
    "another name": (plain, (1,), {"colour": 1}, "got an unexpected keyword argument 'colour'"),
    "too many": (plain, (1, 2, 3), {}, "takes 1 positional argument but 3 were given"),
    "too many of some that have defaults": (optional, (1, 2, 3), {}, "takes from 1 to 2 positional arguments but 3 were given"),
    "one too many": (nothing, (1,), {}, "takes 0 positional arguments but 1 was given"),
    "by position what has only a name": (named, (1, 2), {}, "takes 1 positional argument but 2 were given"),
    "a missing one": (plain, (), {}, ""),
    "any number": (any_of, (1, 2, 3), {}, ""),
    "any name": (any_name, (), {"steps": 1, "step": 1}, ""),
}


@pytest.mark.parametrize("function, args, kwargs, want", CALLS.values(), ids=CALLS)
def test_complaint(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], want: str) -> None:
    assert complaint(inspect.signature(function), args, kwargs) == want
    if want:
        with pytest.raises(TypeError) as raised:
            function(*args, **kwargs)
        assert want.partition(":")[0] in str(raised.value)
