# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a user is told before a call is submitted."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from kinetic import UsageError
from kinetic.client import advice

TOLD = "kinetic: no accelerator is given, so this runs on cpu; choose one with accelerator=, such as @kinetic.run(accelerator='l4')\n"


@pytest.fixture(autouse=True)
def first() -> Iterator[None]:
    """Each test is the first in its program."""
    advice.say_default.cache_clear()
    yield
    advice.say_default.cache_clear()


def test_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        advice.default_accelerator({"spot": True, "flags": ["--annotation=a=b"]})
    assert capsys.readouterr().err == TOLD


def test_cell_is_told_its_flag(capsys: pytest.CaptureFixture[str]) -> None:
    advice.default_accelerator({}, is_cell=True)
    assert capsys.readouterr().err.endswith("choose one with -a, such as %%kinetic -a l4\n")


NOT_TOLD: dict[str, dict[str, Any]] = {
    "chosen": {"accelerator": "cpu"},
    "refused": {"accelerator": ""},
    "local": {"local": True},
    "local backend": {"backend": "local"},
    "chosen by a flag": {"flags": ["-al4"]},
    "local by a flag": {"flags": ["--local"]},
    "silent": {"logs": "none"},
}


@pytest.mark.parametrize("given", NOT_TOLD.values(), ids=NOT_TOLD)
def test_not_told(given: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    advice.default_accelerator(given)
    assert capsys.readouterr().err == ""


def test_not_told_in_a_job(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("KINETIC_JOB_ID", "cpu-train")
    advice.default_accelerator({})
    assert capsys.readouterr().err == ""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_debugging_needs_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)  # as in a program without a console
    with pytest.raises(UsageError, match=r"no terminal: submit it with run_async\(\).*kubectl kinetic jobs debug ID; KINETIC_NO_TTY_DEBUG=1") as caught:
        advice.require_terminal()
    assert isinstance(caught.value, RuntimeError)
    monkeypatch.setattr(sys, "stdin", Terminal())
    advice.require_terminal()
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setenv("KINETIC_NO_TTY_DEBUG", "1")
    advice.require_terminal()
