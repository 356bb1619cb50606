# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Notebooks in Jupyter's own kernel, where that is installed."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Project

CELLS = {
    "import helper, kinetic\nkinetic.configure(local=True)\nscale = 3": None,
    "class Net:\n    def __init__(self, weight): self.weight = weight": None,
    "@kinetic.run()\ndef train(n): return Net(scale * n + helper.one())\nnet = train(4)\n(type(net) is Net, net.weight)": "(True, 13)",
    "job = train.run_async(2)\n(await job).weight": "7",
    "%load_ext kinetic": None,
    "%%kinetic --local\nx = scale * 2\nx + helper.one()": "7",
}


def test_notebook(local: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="install nbclient and ipykernel to test notebooks")
    pytest.importorskip("ipykernel")
    formats: Any = pytest.importorskip("nbformat.v4")
    for name, value in local.environment().items():
        monkeypatch.setenv(name, value)
    local.write("helper.py", "def one(): return 1\n")
    notebook = formats.new_notebook(cells=[formats.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(local.directory)}}).execute()
    shown = {cell.source: [output.data["text/plain"] for output in cell.outputs if output.output_type == "execute_result"] for cell in notebook.cells}
    assert shown == {cell: [] if text is None else [text] for cell, text in CELLS.items()}
