# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The pages of the documentation do what they say: their blocks of code are run in order, as a reader would, or say why not."""

from __future__ import annotations

import pathlib

import pages
import pytest
from conftest import REPOSITORY, Project

DOCS = REPOSITORY / "docs"

# Pages whose blocks other tests run.
ELSEWHERE = {
    "python.md": "test_docs.py",
    "python-reference.md": "test_reference.py",
    "reference.md": "written by a test of the commands",
    "automation.md": "pkg/cmd/testdata/script/automation.txtar",
    "recipes.md": "pkg/submit/render",
    "overlays.md": "pkg/submit/render",
    "notebooks.md": "test_notebook.py",
    "map.md": "pkg/cmd/testdata/script/localmap.txtar",
}

PAGES = [
    page
    for page in [REPOSITORY / "README.md", *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("*/*.md"))]
    if page.name not in ELSEWHERE and "node_modules" not in page.parts and pages.blocks(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_blocks(local: Project, page: pathlib.Path) -> None:
    machine = pages.Machine(local, page)
    for block in pages.blocks(page.read_text(encoding="utf-8")):
        machine.do(block)


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
