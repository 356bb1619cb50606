# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""%%kinetic: cells of notebooks as functions."""

from __future__ import annotations

import asyncio
from typing import Any

import kinetic
import pytest
from conftest import Project
from kinetic.client.notebook import function_of

CELLS: dict[str, tuple[str, Any]] = {
    "an expression": ("x + 1", 4),
    "statements": ("y = x * 2\ny + 1", 7),
    "no value": ("y = x", None),
    "nothing": ("", None),
    "a variable of the notebook that it changes": ("x += 1\nx", 4),
    "a loop, an import, a function, a class": (
        "import math\nfor i in range(x): pass\ndef f(): return i\nclass C: k = math.floor(2.5)\n(f(), C.k)",
        (2, 2),
    ),
    "a comprehension": ("[x * i for i in range(2)]", [0, 3]),
}


@pytest.mark.parametrize("cell, value", CELLS.values(), ids=CELLS)
def test_function_of_a_cell(cell: str, value: Any) -> None:
    namespace = {"x": 3}
    assert function_of(cell, namespace)() == value
    assert namespace == {"x": 3}


def test_cell_that_awaits() -> None:
    assert asyncio.run(function_of("import asyncio\nawait asyncio.sleep(0, x)", {"x": 3})()) == 3


def test_cell_that_is_not_python() -> None:
    with pytest.raises(SyntaxError):
        function_of("!ls", {})


class IPython:
    """The part of IPython's shell that extensions use."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {"x": 3}
        self.magics: dict[tuple[str, str], Any] = {}

    def register_magic_function(self, function: Any, kind: str, name: str) -> None:
        self.magics[kind, name] = function


def test_extension() -> None:
    shell = IPython()
    kinetic.load_ipython_extension(shell)
    assert ("cell", "kinetic") in shell.magics


def test_cell_as_a_job(local: Project) -> None:
    text = """
    import sys
    sys.path.append({tests!r})
    import kinetic
    from test_notebook import IPython
    shell = IPython()
    shell.user_ns["double"] = lambda x: 2 * x
    kinetic.load_ipython_extension(shell)
    print(shell.magics["cell", "kinetic"]("--local --env A=b", "import os\\nx = double(x)\\n(x, os.environ['A'])"))
    """
    assert local.run(text.format(tests=__file__.rpartition("/")[0])).stdout == "(6, 'b')\n"
