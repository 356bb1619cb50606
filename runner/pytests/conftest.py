# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the package share: programs in a project of their own, run as a user runs them."""

from __future__ import annotations

import functools
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import types
from collections.abc import Mapping

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
RUNNER = REPOSITORY / "runner"
sys.path.insert(0, str(RUNNER))
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs, and so their programs, ignore Ctrl-C

BINARIES = pathlib.Path(os.environ.get("KINETIC_BIN", REPOSITORY / "bin"))
HIDDEN = ("KUBECONFIG", "KINETIC_", "XDG_", "CLOUDSDK_", "GOOGLE_", "PYTHONPATH")  # settings of the user's that tests must not see


@functools.lru_cache(maxsize=None)
def missing() -> str:
    """Why there are no binaries, or "". Where KINETIC_BIN is set, it raises FileNotFoundError: those tests must not pass by skipping."""
    binary = BINARIES / "kubectl-kinetic_run"
    if binary.exists():
        return ""
    if "KINETIC_BIN" in os.environ:
        raise FileNotFoundError(f"{binary} is missing: make build")
    return f"{binary} is missing: make build"


# Presses Ctrl-C when the binary that a handle waits for has started.
INTERRUPT = """
from kinetic.client import process
following = process.Running.__next__
def interrupted(running):
    process.Running.__next__ = following
    os.kill(os.getpid(), signal.SIGINT)
    return following(running)
process.Running.__next__ = interrupted
"""


class Project:
    """A project directory, and a home of its own for the programs that run in it."""

    def __init__(self, place: pathlib.Path) -> None:
        self.home = place / "home"
        self.directory = place / "project"
        self.home.mkdir()
        self.directory.mkdir()
        self.write("pyproject.toml", "[tool.kinetic]\n")

    def write(self, name: str, text: str) -> pathlib.Path:
        file = self.directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
        return file

    def environment(self, more: Mapping[str, str] = types.MappingProxyType({})) -> dict[str, str]:
        env = {name: value for name, value in os.environ.items() if not name.startswith(HIDDEN)}
        env.update(HOME=str(self.home), PYTHONPATH=str(RUNNER), KINETIC_BIN=str(BINARIES), TMPDIR=str(self.home))
        env.update(more)
        return env

    def run(
        self, text: str, *, code: int = 0, name: str = "main.py", env: Mapping[str, str] = types.MappingProxyType({}), timeout: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the project, whose exit code must be the given one."""
        self.write(name, text)
        words = [sys.executable, name]
        done = subprocess.run(words, cwd=self.directory, env=self.environment(env), capture_output=True, text=True, timeout=timeout, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done


@pytest.fixture
def project(tmp_path: pathlib.Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def local(project: Project) -> Project:
    """A project whose programs can run jobs on this machine."""
    if missing():
        pytest.skip(missing())
    return project
