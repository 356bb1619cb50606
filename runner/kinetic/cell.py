# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The cell of a notebook, in its job."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Callable

from .source import show

_VALUE = "_kinetic_value"  # the variable for the value of the last expression


def cell(notebook: Callable[[], object], source: str, filename: str, silent: bool) -> object:
    """Run a cell where the names of its notebook are, as the notebook would. Return the value of its last expression.

    Args:
        notebook: a function whose globals are those names. What the cell assigns is added to them.
        source: the cell's text.
        filename: what tracebacks call it.
        silent: whether the value is not wanted.
    """
    show(source, filename)
    tree = ast.parse(source, filename)
    last = tree.body[-1]
    if isinstance(last, ast.Expr) and not silent:
        tree.body[-1] = ast.copy_location(ast.Assign(targets=[ast.Name(_VALUE, ast.Store())], value=last.value), last)
    code = compile(ast.fix_missing_locations(tree), filename, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    names = notebook.__globals__
    coroutine = eval(code, names)
    if coroutine is not None:  # the cell has an await
        asyncio.run(coroutine)
    value: object = names.pop(_VALUE, None)
    return value
