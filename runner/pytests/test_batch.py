# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Maps: one job for many inputs."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Project
from kinetic.client.batch import arguments

INPUTS: list[tuple[str, Any, Any]] = [
    ("auto", {"x": 1}, ((), {"x": 1})),
    ("auto", {}, ((), {})),
    ("auto", {"x y": 1}, (({"x y": 1},), {})),
    ("auto", {"class": 1}, (({"class": 1},), {})),
    ("auto", [1, 2], ((1, 2), {})),
    ("auto", (1, 2), ((1, 2), {})),
    ("auto", "text", (("text",), {})),
    ("single", [1, 2], (([1, 2],), {})),
    ("args", [1, 2], ((1, 2), {})),
    ("kwargs", {"x": 1}, ((), {"x": 1})),
]


@pytest.mark.parametrize("mode, value, expected", INPUTS)
def test_arguments(mode: str, value: Any, expected: Any) -> None:
    assert arguments(value, mode) == expected


@pytest.mark.parametrize("mode, value, message", [("args", 1, "is not a list or tuple"), ("kwargs", [1], "is not a dict"), ("all", 1, "expected one of auto")])
def test_arguments_that_are_refused(mode: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        arguments(value, mode)


SCORE = """
import kinetic
kinetic.configure(local=True, logs="none")

class Odd(Exception):
    pass

class Model:
    def __init__(self, scale): self.scale = scale

    @kinetic.run()
    def score(self, x): return self.scale * x

@kinetic.run()
def square(x, y=0):
    if x == 3: raise Odd(x)
    return {x * x + y}

@kinetic.run()
def size(path): return path.rsplit("/", 1)[1]

def caught(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except Exception as exc:
        return exc
    raise AssertionError("nothing was raised")

if __name__ == "__main__":
"""

PROGRAMS = {
    "values, in order": ("print(square.map([1, (2, 10), {'x': 4}]))", "[{1}, {14}, {16}]"),
    "a method": ("print(Model(3).score.map(range(4)))", "[0, 3, 6, 9]"),
    "data": (
        "open('1.csv', 'w').close(), open('2.csv', 'w').close()\n    print(size.map([kinetic.Data('1.csv'), kinetic.Data('2.csv')]))",
        "['1.csv', '2.csv']",
    ),
    "a failure": (
        "error = caught(square.map, [1, 3, 2])\n"
        "    print(type(error).__name__, {k: type(v) is Odd for k, v in error.failures.items()}, error.partial_results)",
        "BatchError {1: True} {0: {1}, 2: {4}}",
    ),
    "exceptions in place": ("print(square.run_async_map([1, 3]).results(return_exceptions=True))", "[{1}, Odd(3)]"),
    "as they come": ("print(sorted(each.index for each in square.run_async_map([1, 3, 5]).as_completed()))", "[0, 1, 2]"),
    "counts": (
        "batch = square.run_async_map([1, 3, 5])\n    batch.wait()\n    print({state.value: count for state, count in batch.status_counts().items()})",
        "{'SUCCEEDED': 2, 'FAILED': 1}",
    ),
    "attached": (
        "batch = kinetic.attach_batch(square.run_async_map([1, 3]).group_id, local=True)\n    print(batch.failures(), repr(batch)[:13])",
        "{1: Odd(3)} <BatchHandle",
    ),
    "no map": ("job = square.run_async(1)\n    print(type(caught(kinetic.attach_batch, job.job_id, local=True)).__name__)", "JobNotFound"),
    "a method's input that can't be pickled": (
        "print(str(caught(Model(1).score.map, [(n for n in [])])).partition(',')[0])",
        "cannot send score(): argument 'x' is of type builtins.generator",
    ),
    "no inputs": ("print(caught(square.map, []))", "there are no inputs for square"),
    "an input that doesn't fit": ("print(caught(square.map, [1, (1, 2, 3)]))", "square() too many positional arguments"),
    "an input that can't be pickled": ("print(str(caught(square.map, [1, (n for n in [])])).partition(',')[0])", "cannot send square(): argument 'x' is of type builtins.generator"),
}


@pytest.mark.parametrize("program, text", PROGRAMS.values(), ids=PROGRAMS)
def test_map(local: Project, program: str, text: str) -> None:
    assert local.run(SCORE + "    " + program).stdout.strip() == text
