# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Cells of notebooks as jobs: %load_ext kinetic, then %%kinetic -a l4 above the code of a cell."""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import shlex
import types
from typing import Any

from ..decorator import run

NAME = "cell"  # of the function, and so in the job's id


def load_ipython_extension(ipython: Any) -> None:
    """Define the magic %%kinetic. IPython calls this for %load_ext kinetic."""

    def kinetic(line: str, cell: str) -> Any:
        """Run the cell as a job, and return the value of its last line.

        The words after %%kinetic are flags of `kubectl kinetic run`. The cell gets copies of the notebook's variables that it
        uses; what it assigns stays in the job.
        """
        return run(flags=shlex.split(line))(function_of(cell, ipython.user_ns))()

    ipython.register_magic_function(kinetic, "cell", "kinetic")


def function_of(cell: str, namespace: dict[str, Any]) -> Any:
    """Return a function with the code of a cell, which returns the value of its last line.

    Names are global in it, as they are in a cell. It is async if the cell awaits something.

    Raises:
        SyntaxError: the cell is not Python.
    """
    tree = ast.parse(cell, "<cell>")
    code = compile(tree, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    body = tree.body
    if body and isinstance(body[-1], ast.Expr):
        body[-1] = ast.copy_location(ast.Return(body[-1].value), body[-1])
    stored = sorted({step.argval for step in dis.get_instructions(code) if step.opname in ("STORE_NAME", "DELETE_NAME")})
    kind = "async def" if code.co_flags & inspect.CO_COROUTINE else "def"
    module = ast.parse(f"{kind} {NAME}():\n    {'global ' + ', '.join(stored) if stored else 'pass'}", "<cell>")
    function = module.body[0]
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    function.body += body
    compiled = compile(ast.fix_missing_locations(module), "<cell>", "exec", dont_inherit=True)
    (inner,) = (constant for constant in compiled.co_consts if isinstance(constant, types.CodeType))
    return types.FunctionType(inner, {"__builtins__": builtins, **namespace, "__name__": "__main__"}, NAME)
