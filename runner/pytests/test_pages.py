# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The pages of the documentation do what they say: their blocks of code are run in order, as a reader would, or say why not."""

from __future__ import annotations

import pathlib
import subprocess

import pages
import pytest
from conftest import BINARIES, REPOSITORY, Project

DOCS = REPOSITORY / "docs"

# Pages whose blocks other tests run.
ELSEWHERE = {
    "python.md": "test_docs.py",
    "python-reference.md": "test_reference.py",
    "reference.md": "written by a test of the commands",
    "automation.md": "pkg/cmd/testdata/script/automation.txtar",
    "recipes.md": "pkg/submit/render",
    "notebooks.md": "test_notebook.py",
}

ALL = [REPOSITORY / "README.md", *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("*/*.md"))]
PAGES = [page for page in ALL if page.name not in ELSEWHERE and pages.blocks(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_blocks(local: Project, page: pathlib.Path) -> None:
    machine = pages.Machine(local, page)
    for block in pages.blocks(page.read_text(encoding="utf-8")):
        machine.do(block)


@pytest.mark.parametrize("page", ALL, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_commands_exist(local: Project, page: pathlib.Path) -> None:
    """Commands and flags that a page shows are known, also where they can't be run: their help is printed."""
    for words in pages.own_commands(page.read_text(encoding="utf-8")):
        if words[1] in ("help", "completion") or words[1].isupper():
            continue
        before = words[1 : words.index("--")] if "--" in words else words[1:]
        command = [str(BINARIES / "kubectl-kinetic"), *before, "--help"]
        done = subprocess.run(command, env=local.environment(), capture_output=True, text=True, timeout=60, check=False)
        shown = " ".join(["kubectl", *words])
        assert done.returncode == 0, f"{page.name}: {shown}: {done.stderr}"
        if before[0] in ("jobs", "pool", "profile") and len(before) > 1 and before[1].islower():
            assert f"kubectl kinetic {before[0]} {before[1]}" in done.stdout, f"{page.name}: {shown}: no such command"


def test_comments_mean_something() -> None:
    for page in PAGES:
        for block in pages.blocks(page.read_text(encoding="utf-8")):
            assert block.explained, f"{page.name}:{block.line}: {block.comment}"


def test_what_varies_is_not_compared() -> None:
    shown = ["succeeded   cpu-train-20261125-203812-916afd1 (1.0s)", "packaged    1 file, 420 B, 0 B new (0.1s)", "loss … 3"]
    printed = "packaged    1 file, 4 KiB, 17 B new (12.3s)\nsucceeded   cpu-train-20270101-000000-0123456 (0.2s)\nloss 1 2 3\n"
    assert pages.missing_lines(shown, printed) == []
    assert pages.missing_lines(["failed      cpu-train-20261125-203812-916afd1 (1.0s)"], printed)
    assert pages.missing_lines(["loss 1 2 4"], printed)
