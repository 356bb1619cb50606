# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Which binaries run, and what they are told of this Python."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import cloudpickle
import pytest
from conftest import RUNNER, Project
from kinetic import NotInstalled
from kinetic.client import binaries

WHICH = """
import kinetic, os, sys
@kinetic.run(local=True, logs="none")
def which(): return os.path.basename(sys.executable), os.environ.get("KINETIC_CALLER_PYTHON")
print(which())
"""


def test_python_of_another_name(local: Project) -> None:
    """A local job runs in the Python that runs the program, though the python3 beside it is another."""
    python = local.home / "python-of-mine"
    python.symlink_to(sys.executable)
    other = local.home / "python3"
    other.write_text("#!/bin/sh\necho 'this is another' >&2\nexit 1\n")
    other.chmod(0o755)
    library = os.path.dirname(os.path.dirname(cloudpickle.__file__))  # if the tests run in a virtual environment, the link is not in it
    env = local.environment({"PYTHONPATH": f"{RUNNER}:{library}", "PATH": f"{local.home}:{os.environ['PATH']}"})
    local.write("main.py", WHICH)
    done = subprocess.run([str(python), "main.py"], cwd=local.directory, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "('python-of-mine', None)\n", done.stderr


def test_program_that_embeds_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no interpreter, and PATH decides."""
    for executable in ("/opt/blender/blender", "", None):
        monkeypatch.setattr(sys, "executable", executable)
        assert binaries.PYTHON not in binaries.environment()
    monkeypatch.setattr(sys, "executable", "/opt/mypyapp")
    monkeypatch.setattr(sys, "frozen", True, raising=False)  # PyInstaller
    assert binaries.PYTHON not in binaries.environment()


def test_binary_in_the_working_directory(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not run unless PATH names the directory, not on Windows either."""
    binary = tmp_path / binaries.RUN
    binary.touch(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("KINETIC_BIN", "")
    for path in ("/nowhere", "", os.pathsep):
        monkeypatch.setenv("PATH", path)
        with pytest.raises(NotInstalled):
            binaries.find(binaries.RUN)
    monkeypatch.setenv("PATH", f"/nowhere{os.pathsep}{tmp_path}")
    assert binaries.find(binaries.RUN) == str(binary)


CTRL_C = """
import os, subprocess, sys
import kinetic.client.binaries
from kinetic.__main__ import main
os.name = "nt"
sys.exit(main())
"""


def test_ctrl_c_on_windows(project: Project) -> None:
    """The console sends it to both processes; the exit code is the binary's."""
    binary = project.home / "kubectl-kinetic.exe"
    binary.write_text("#!/bin/sh\nkill -INT $PPID\nexit 130\n")
    binary.chmod(0o755)
    done = project.run(CTRL_C, code=130, env={"KINETIC_BIN": str(project.home)})
    assert done.stderr == ""
