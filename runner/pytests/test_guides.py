# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The programs in guides/, which are the Python code of the guides, as jobs on this machine. With ACCELERATOR set, they run on a cluster."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys

import pytest
from conftest import BINARIES, REPOSITORY, Project

GUIDES = REPOSITORY / "runner" / "pytests" / "guides"
ID = r"cpu-train-model-\d{8}-\d{6}-[0-9a-f]{7}"

# The command line of a program, and what it prints.
RUNS = {
    "front_page.py": r"0\.5\n",
    "detached.py": f"Submitted: {ID}\n{{'final_loss': 0.123}}\n",
    "list_jobs.py": "",
    "timeouts.py 0.2": r"\nstill there: True\nNOT_FOUND\n",
    "cleanup.py": r"{'final_loss': 0.123} SUCCEEDED\nNOT_FOUND\n{'final_loss': 0.123}\nNOT_FOUND\n",
    "failed.py": "no rows True\nTrue\nTrue\n",
    "modes.py default bundled prebuilt custom": "default True\nbundled None\nprebuilt None\ncustom None\n",
    "data.py": r"str\n\['copy.py'\]\n",
}


def python(project: Project, line: str, **env: str) -> str:
    """Run a program of the project, which must succeed, and return what it prints."""
    done = subprocess.run(
        [sys.executable, *line.split()], cwd=project.directory, env=project.environment(env), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def guides(local: Project) -> Project:
    shutil.copytree(GUIDES, local.directory, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return local


@pytest.mark.parametrize("line", RUNS)
def test_program(guides: Project, line: str) -> None:
    printed = python(guides, line)
    assert re.fullmatch(RUNS[line], printed), printed


def test_every_program_runs() -> None:
    programs = {line.split()[0] for line in RUNS} | {"reattach.py"}
    assert programs == {file.name for file in GUIDES.glob("*.py")} - {"where.py", "keras.py"}


def test_reattach(guides: Project) -> None:
    job_id = python(guides, "detached.py --leave").split()[-1]
    python(guides, f"-m kinetic jobs wait {job_id} --local")
    assert python(guides, f"reattach.py {job_id}") == "Status: SUCCEEDED\ntraining\n\n"
    assert python(guides, "list_jobs.py") == f"{job_id} train_model SUCCEEDED\n"


MODES = {
    "default": ("bundled", "us-docker.pkg.dev/p/kn-kinetic-cluster/env:"),
    "bundled": ("bundled", "us-docker.pkg.dev/p/kn-kinetic-cluster/env:"),
    "prebuilt": ("prebuilt", "us-docker.pkg.dev/b/r/base-tpu:"),
    "custom": ("custom", "us-docker.pkg.dev/my-project/kinetic/my-image:v1.0"),
}


@pytest.mark.parametrize("function", MODES)
def test_modes_on_a_tpu(guides: Project, function: str) -> None:
    text = f"import json, modes; print(json.dumps(modes.{function}.options.flags()))"
    guides.write("flags.py", text)
    flags = json.loads(python(guides, "flags.py", ACCELERATOR="tpu-v6e-8"))
    command = [BINARIES / "kubectl-kinetic_run", f"modes.py:{function}", *flags, "--explain", "-o", "json", "--project=p", "--zone=us-central1-a"]
    env = guides.environment({"KINETIC_BASE_IMAGE_REPO": "us-docker.pkg.dev/b/r"} if function == "prebuilt" else {})
    explained = json.loads(subprocess.run(command, cwd=guides.directory, env=env, capture_output=True, check=True).stdout)
    mode, ref = MODES[function]
    assert explained["image"]["mode"] == mode
    assert explained["image"]["ref"].startswith(ref)
    assert (explained["accelerator"]["name"], explained["accelerator"]["chips"]) == ("v6e", 8)


def test_accelerator_is_said_in_one_place() -> None:
    for file in GUIDES.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "accelerator":
                assert ast.unparse(node.value) == "ACCELERATOR", file.name
