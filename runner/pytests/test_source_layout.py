# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Calls of projects whose modules are not beside the script: in src, as after an installation with -e."""

from __future__ import annotations

import pytest
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


TWO_CLASSES = """
import json, pickle, sys
import site; site.addsitedir("pth")
import kinetic, mypkg

@kinetic.run(local=True, logs="none")
def train(model):
    import mypkg.part
    return [isinstance(model, mypkg.part.Model), mypkg.Model is sys.modules["mypkg"].Model, mypkg.__file__.split("workspace/")[-1]]

print(json.dumps(train(mypkg.Model())))
"""


def install(local: Project) -> None:
    """Do what `pip install -e .` does, in a directory of its own."""
    source(local)
    local.write("src/mypkg/part.py", "from mypkg import Model\n")
    local.write("pth/own.pth", str(local.directory / "src") + "\n")


def test_a_job_has_each_class_once(local: Project) -> None:
    """A module that travelled by value would be there twice."""
    install(local)
    assert local.run(TWO_CLASSES).stdout == '[true, true, "src/mypkg/__init__.py"]\n'


def test_so_has_a_job_of_a_notebook(local: Project) -> None:
    install(local)
    cell = "import kinetic.client.project as p; here = p.current(); p.current = lambda: p.Project(None, here.entry)\n"
    assert local.run(cell + TWO_CLASSES).stdout == '[true, true, "src/mypkg/__init__.py"]\n'


def test_a_module_that_was_not_there_at_the_first_call(local: Project) -> None:
    """What is packaged is asked for again."""
    install(local)
    text = """
import site; site.addsitedir("pth")
import kinetic, pathlib, mypkg

@kinetic.run(local=True, logs="none")
def where(object): return object.__module__, __import__("sys").modules[object.__module__].__file__.split("workspace/")[-1]

print(where(mypkg.Model)[1])
pathlib.Path("src/mypkg/late.py").write_text("class Late: pass")
import mypkg.late
print(where(mypkg.late.Late)[1])
"""
    assert local.run(text).stdout == "src/mypkg/__init__.py\nsrc/mypkg/late.py\n"


# Tells whether the job has imported the module.
BY_NAME = """
import site, sys; site.addsitedir("pth")
import kinetic
from mypkg import Model

@kinetic.run(local=True, logs="none"{parameters})
def train(): return Model.__name__, "mypkg" in sys.modules

print(train())
"""


@pytest.mark.parametrize(
    "parameters, by_name",
    [("", True), (", requirements='more.txt'", False), (", flags=['--requirements', 'more.txt']", False)],
)
def test_requirements_that_do_not_name_the_project(local: Project, parameters: str, by_name: bool) -> None:
    """Its modules travel by value then."""
    install(local)
    local.write("requirements.txt", "six\n-e .\n")
    local.write("more.txt", "six\n")
    assert local.run(BY_NAME.format(parameters=parameters)).stdout == f"('Model', {by_name})\n"


@pytest.mark.parametrize("ignored", ["src/mypkg/", "src/mypkg/eval.py"])
def test_what_is_not_packaged_as_a_whole_travels_by_value(local: Project, ignored: str) -> None:
    install(local)
    local.write(".kineticignore", ignored + "\n")
    local.write("src/mypkg/__init__.py", "import mypkg.eval\nclass Model: pass\n")
    assert local.run(BY_NAME.format(parameters="")).stdout == "evaluated\n('Model', False)\n"


def test_modules_whose_packages_are_not_loaded(local: Project) -> None:
    """Plugins that a program loads by path, and tests of pytest --import-mode=importlib."""
    source(local)
    local.write("src/plugins/models/resnet.py", "class Net: pass\n")
    text = """
import sys, importlib.util, kinetic
spec = importlib.util.spec_from_file_location("plugins.models.resnet", "src/plugins/models/resnet.py")
resnet = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(resnet)

@kinetic.run(local=True, logs="none")
def train(): return resnet.Net.__name__

print(train())
"""
    assert local.run(text).stdout == "Net\n"


def test_what_a_file_before_it_hides_travels_by_value(local: Project) -> None:
    """The program imported another mypkg than the job would."""
    install(local)
    local.write("mypkg.py", "class Model: name = 'the other'\n")
    text = """
import sys; sys.path.insert(0, "src")
import kinetic, mypkg

@kinetic.run(local=True, logs="none")
def train(): return getattr(mypkg.Model, "name", "this one")

print(train())
"""
    assert local.run(text).stdout == "this one\n"
