# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The projects in examples/: those that need nothing run, and the others compile."""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import subprocess
import sys

import kinetic
import pytest
from conftest import REPOSITORY, Project
from kinetic.client import parameters

EXAMPLES = REPOSITORY / "examples"
PROGRAMS = sorted(str(file.relative_to(EXAMPLES)) for file in EXAMPLES.glob("*/*.py"))

# The command line after the directory, what it prints, and the module that it needs.
RUNS: dict[str, tuple[str, str, str]] = {
    "checkpoints/train.py": (
        "--local",
        r"\{'resumed_at': 0, 'step': 10, 'weight': 2.67\d+\}\n\{'resumed_at': 10, 'step': 25, 'weight': 2.98\d+\}\n",
        "",
    ),
    "fan_out/search.py": ("--local", "best learning rate: 0.1, loss 1.8e-09\n", ""),
    "fuse_data/count.py": ("../texts --local", r"\[\('a', 2\), \('b', 1\)\]\n", ""),
    "map/primes.py": (
        "--local",
        "4 primes below 10\n25 primes below 100\n168 primes below 1000\n1229 primes below 10000\n9592 primes below 100000\n",
        "",
    ),
    "digits/train.py": ("--local", r"accuracy: 0.9\d+\n", "sklearn"),
}


def test_every_example_is_in_the_readme() -> None:
    listed = re.findall(r"^\| \[\w+\]\((\S+)\)", (EXAMPLES / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == PROGRAMS


@pytest.mark.parametrize("program", PROGRAMS)
def test_compiles_and_knows_the_package(program: str) -> None:
    tree = ast.parse((EXAMPLES / program).read_text(encoding="utf-8"), program)
    compile(tree, program, "exec")
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "kinetic":
            assert hasattr(kinetic, node.attr), node.attr
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith((".run", ".configure", ".with_options")):
            parameters.check({str(keyword.arg): None for keyword in node.keywords})


@pytest.mark.parametrize("program", RUNS)
def test_runs(local: Project, program: str) -> None:
    words, printed, module = RUNS[program]
    if module and importlib.util.find_spec(module) is None:
        pytest.skip(f"there is no {module}; make test-full installs it")
    name, _, file = program.partition("/")
    shutil.copytree(EXAMPLES / name, local.directory / name, ignore=shutil.ignore_patterns("__pycache__"))
    local.write("texts/x.txt", "a b A\n")
    command = [sys.executable, file, *words.split()]
    done = subprocess.run(command, cwd=local.directory / name, env=local.environment(), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(printed, done.stdout), done.stdout


@pytest.mark.parametrize("program", [program for program in PROGRAMS if not program.startswith("iris/")])
def test_help_submits_nothing(project: Project, program: str) -> None:
    """There are no binaries here that could."""
    text = (EXAMPLES / program).read_text(encoding="utf-8")
    if "import sklearn" in text or "from sklearn" in text:
        pytest.importorskip("sklearn")
    command = [sys.executable, str(EXAMPLES / program), "--help"]
    env = project.environment({"KINETIC_BIN": str(project.home)})
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout[:6], done.stderr) == (0, "usage:", "")


def test_iris(local: Project) -> None:
    shutil.copytree(EXAMPLES / "iris", local.directory, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    done = local.run("import kinetic, train\nresult = kinetic.run(local=True)(train.train)(epochs=20)\nprint(result['accuracy'] > 0.8, result['test_flowers'])")
    assert done.stdout == "True 30\n"
