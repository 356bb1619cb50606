# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a process keeps, without a warm host."""

from __future__ import annotations

import functools
import sys
from typing import Any

import kinetic
import pytest


class Model:
    """A class of the project."""


def double(number: int) -> int:
    """A function of the project."""
    return 2 * number


def test_it_is_made_once() -> None:
    made = []

    def make() -> list[int]:
        made.append(1)
        return [7]

    first, second = kinetic.keep("list", make), kinetic.keep("list", make)
    assert first == [7]
    assert first is second
    assert made == [1]


def made_by(source: str, module: str = "train") -> int:
    """Keep what the function make of a source returns."""
    names: dict[str, Any] = {"__name__": module}
    exec(compile(source, "cell", "exec"), names)
    kept: int = kinetic.keep("made", names["make"])
    return kept


def test_it_is_made_again_if_its_code_changes() -> None:
    assert made_by("def make(): return 1") == 1
    assert made_by("\n\ndef make(): return 1  # elsewhere in the file") == 1
    assert made_by("def make(): return 2") == 2
    assert made_by("def make(): return 1") == 1
    assert made_by("def make(): return [n for n in (1, 2)][0]") == 1
    assert made_by("def make(): return [-n for n in (1, 2)][0]") == -1
    assert made_by("base = 5\ndef make(): return base") == 5
    assert made_by("base = 6\ndef make(): return base") == 5
    assert made_by("base = 6\ndef make(): return base", "another") == 6
    assert made_by("import functools\nmake = functools.partial(lambda n: n, 3)") == 3
    assert made_by("import functools\nmake = functools.partial(lambda n: -n, 3)") == -3
    assert made_by("import functools\nmake = functools.partial(lambda n: -n, 4)") == -4
    assert made_by("def make(n=1): return n") == 1
    assert made_by("def make(n=2): return n") == 2
    assert made_by("def make(*, n=2): return n") == 2
    assert made_by("def make(*, n=3): return n") == 3
    decorated = "import functools\ndef plain(f): return functools.wraps(f)(lambda: f())\n@plain\ndef make(): return %d"
    assert made_by(decorated % 1) == 1
    assert made_by(decorated % 2) == 2
    assert made_by("def outer(a, b): return lambda: a\nmake = outer(1, 2)") == 1
    assert made_by("def outer(a, b): return lambda: b\nmake = outer(1, 2)") == 2
    assert made_by("make = int") == 0
    assert isinstance(kinetic.keep("made", dict), dict)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Model(), "Model"),
        (Model, "Model"),
        (double, "double"),
        ([1, Model()], "Model"),
        ((1, double), "double"),
        ({Model}, "Model"),
        (frozenset([double]), "double"),
        ({"model": Model()}, "Model"),
        ({Model(): "key"}, "Model"),
        ({str(i): Model() for i in range(1000)}, "Model"),
        (functools.partial(double, 1), "double"),
        (functools.partial(max, Model()), "Model"),
        (functools.partial(max, key=double), "double"),
        (sys.modules[__name__], "test_kept"),
    ],
)
def test_code_of_the_project(value: Any, name: str) -> None:
    def make() -> object:
        kept: object = value
        return kept

    with pytest.raises(TypeError, match=f"cannot keep 'x': {name} is defined in your project"):
        kinetic.keep("x", make)


def test_a_failure_is_not_kept() -> None:
    with pytest.raises(ZeroDivisionError):
        kinetic.keep("failure", lambda: 1 // 0)
    assert kinetic.keep("failure", lambda: 5) == 5
