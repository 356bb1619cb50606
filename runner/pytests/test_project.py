# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is packaged, if the binary can't be asked."""

from __future__ import annotations

import json
import pathlib
from typing import Optional

import kinetic
import pytest
from conftest import BINARIES, RUNNER, Project
from kinetic import NotInstalled, UsageError, VersionMismatch
from kinetic.client import binaries, project

BEFORE_IT_IS_INSTALLED = """
import os, kinetic, mylib
kinetic.configure(local=True, logs="none")
@kinetic.run()
def train(n): return mylib.double(n)
try:
    train(3)
except kinetic.NotInstalled as exc:
    print("kubectl-kinetic_run is not in" in str(exc))
os.environ["KINETIC_BIN"] = {bin!r}
print(train(4))
"""


def test_call_before_the_binary_is_installed(local: Project) -> None:
    library = local.write("lib/mylib.py", "import threading\nlock = threading.Lock()\ndef double(n):\n    with lock: return 2 * n\n").parent
    env = {"KINETIC_BIN": str(local.home), "PYTHONPATH": f"{RUNNER}:{library}"}
    done = local.run(BEFORE_IT_IS_INSTALLED.format(bin=str(BINARIES)), name="scripts/main.py", env=env)
    assert done.stdout.splitlines() == ["True", "8"]


SCRIPT = "/p/scripts/main.py"
LOADED = frozenset({"/p/own.py"})
FAILING: dict[str, tuple[Optional[str], tuple[str, ...], Optional[str], Optional[type[Exception]]]] = {
    "missing": (SCRIPT, (), None, NotInstalled),
    "missing, without a script": (None, (), None, NotInstalled),
    "old": (SCRIPT, (), "exit 2", VersionMismatch),
    "a mistake of the user's": (SCRIPT, (), "fails usage 2", UsageError),
    "a root that is not there": (None, ("--package-root=/no/such",), "fails usage 2", UsageError),
    "a home, without a script": (None, (), "fails usage 2", None),
    "a home, with requirements": (None, ("--requirements=more.txt",), "fails usage 2", None),
    "otherwise": (SCRIPT, (), "fails failed 1", None),
    "killed": (SCRIPT, (), "kill -KILL $$", None),
}


@pytest.mark.parametrize("target, flags, command, error", FAILING.values(), ids=FAILING)
def test_failures_are_not_kept(
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    target: Optional[str],
    flags: tuple[str, ...],
    command: Optional[str],
    error: Optional[type[Exception]],
) -> None:
    monkeypatch.setenv("KINETIC_BIN", str(tmp_path))
    here = project.Project(target, "/p/scripts")
    if command is not None:
        fails = """fails() { echo "{\\"event\\":\\"error\\",\\"kind\\":\\"$1\\",\\"code\\":$2,\\"message\\":\\"no\\"}" >&2; exit $2; }"""
        write(tmp_path, f"{fails}\n{command}")
    if error is None:
        assert project.packaged(here, flags, LOADED) is None
    else:
        with pytest.raises(kinetic.KineticError) as caught:
            project.packaged(here, flags, LOADED)
        assert type(caught.value) is error
    bundle = {"root": "/p", "sysPath": ["scripts", ".", "src"], "files": [{"path": "scripts/main.py"}, {"path": "README"}]}
    write(tmp_path, f"echo '{json.dumps({'bundle': bundle})}'")
    found = project.Package("/p", ["/p/scripts", "/p", "/p/src"], {"/p/scripts/main.py"})
    assert project.packaged(here, flags, LOADED) == found
    write(tmp_path, "exit 1")
    assert project.packaged(here, flags, LOADED) == found  # it is asked once


@pytest.fixture(autouse=True)
def nothing_known() -> None:
    project._ask.cache_clear()


def write(directory: pathlib.Path, script: str) -> None:
    """Write a binary that is a script."""
    new = directory / "new"
    new.write_text(f"#!/bin/sh\n{script}\n")
    new.chmod(0o755)
    new.replace(directory / binaries.RUN)
