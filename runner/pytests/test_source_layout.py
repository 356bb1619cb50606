# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Calls of projects whose modules are not beside the script: in src, or where the script has added to sys.path."""

from __future__ import annotations

from conftest import Project

INSTALLED = '[project]\nname = "mypkg"\nversion = "1"\n'


def source(local: Project) -> None:
    """Write a project with a package in src."""
    local.write("pyproject.toml", INSTALLED)
    local.write("src/mypkg/__init__.py", "class Model: pass\n")
    local.write("src/mypkg/eval.py", "print('evaluated')\n")


def test_a_function_starts_modules_of_its_project(local: Project) -> None:
    source(local)
    text = """
import subprocess, sys, kinetic
@kinetic.run(local=True, logs="none")
def evaluate(): return subprocess.run([sys.executable, "-m", "mypkg.eval"], capture_output=True, text=True).stdout
print(evaluate())
"""
    assert local.run(text).stdout == "evaluated\n\n"
