# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""docs/python.md says what the code does."""

from __future__ import annotations

import re

import kinetic
import pytest
from conftest import REPOSITORY, Project
from kinetic import BatchHandle, JobHandle
from kinetic.client import parameters

PAGE = (REPOSITORY / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_table_of_parameters() -> None:
    rows = [line for line in PAGE.split("## Parameters")[1].split("\n## ")[0].splitlines() if line.startswith("| `")]
    flags = {parameter.name: f"`{parameter.flag}`" if parameter.flag else "" for parameter in parameters.PARAMETERS}
    assert rows == [f"| `{parameter.name}` | {flags[parameter.name]} | {parameter.summary} |" for parameter in parameters.PARAMETERS]


def test_errors() -> None:
    named = set(re.findall(r"^\| `(\w+)`", PAGE.split("## Errors")[1].split("\n## ")[0], re.MULTILINE))
    assert named - {"TypeError"} == {name for name in kinetic.__all__ if issubclass_of(name, kinetic.KineticError)}


def issubclass_of(name: str, base: type) -> bool:
    value = getattr(kinetic, name)
    return isinstance(value, type) and issubclass(value, base)


@pytest.mark.parametrize("handle", [JobHandle, BatchHandle])
def test_every_method_of_handles_is_named(handle: type) -> None:
    for name in vars(handle):
        if not name.startswith("_") and callable(getattr(handle, name)) and name not in ("named", "of"):
            assert f"{name}(" in PAGE, name


@pytest.mark.parametrize("block", BLOCKS)
def test_blocks_compile(block: str) -> None:
    compile(block, "docs/python.md", "exec")


def test_first_lines_work(local: Project) -> None:
    assert 'accelerator="tpu-v6e-8"' in BLOCKS[0]
    done = local.run(BLOCKS[0].replace('accelerator="tpu-v6e-8"', "local=True") + "\nprint(loss)")
    assert done.stdout == "1.0\n"
