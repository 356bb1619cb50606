# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""`import kinetic` and what it leaves for later."""

from __future__ import annotations

import subprocess
import sys
import zipfile

import kinetic
import pytest
from conftest import RUNNER, Project


def modules(project: Project, statement: str) -> set[str]:
    """Return the modules that a statement loads."""
    text = f"""
    import sys
    before = set(sys.modules)
    {statement}
    print(*set(sys.modules) - before)
    """
    return set(project.run(text).stdout.split())


def test_import_loads_nothing_else(project: Project) -> None:
    assert modules(project, "import kinetic") <= {"kinetic", "__future__"}


def test_decorating_loads_no_cloudpickle(project: Project) -> None:
    loaded = modules(project, "import kinetic; kinetic.run(accelerator='cpu')(print)")
    assert "kinetic.decorator" in loaded
    assert not loaded & {"asyncio", "cloudpickle", "json", "logging", "subprocess"}


@pytest.mark.parametrize("name", kinetic.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(kinetic, name) is not None
    assert name in dir(kinetic)


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match="module 'kinetic' has no attribute 'runn'"):
        kinetic.runn


def test_job_status_is_a_module_too(project: Project) -> None:
    done = project.run("import kinetic; print(kinetic.job_status.JobStatus is kinetic.JobStatus, kinetic.JobStatus.RUNNING.value)")
    assert done.stdout == "True RUNNING\n"


def test_without_cloudpickle(project: Project) -> None:
    text = """
    import sys
    sys.modules["cloudpickle"] = None
    import kinetic
    try:
        kinetic.run("cpu")(print)(1)
    except ModuleNotFoundError as exc:
        print(exc.name, exc)
    """
    assert project.run(text).stdout.endswith("cloudpickle, which this Python does not have: pip install cloudpickle\n")


def without_client(project: Project) -> str:
    """Make a zip of the package as a job has it, and return its path."""
    path = project.home / "runner.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in (RUNNER / "kinetic").glob("*.py"):
            archive.write(file, f"kinetic/{file.name}")
    return str(path)


def test_without_the_client(project: Project) -> None:
    """In a job the package comes from the runner's zip."""
    zipped = without_client(project)
    text = """
    import kinetic
    @kinetic.run(accelerator="l4")
    def train(n): return n + 1
    print(train(1), kinetic.JobStatus.FAILED.value)
    try:
        train.run_async(1)
    except kinetic.VersionMismatch as exc:
        print(exc)
    """
    done = project.run(text, env={"PYTHONPATH": zipped, "KINETIC_JOB_ID": "cpu-train"})
    assert done.stdout.splitlines() == [
        "2 FAILED",
        "a job that submits jobs needs the package kubectl-kinetic installed: add it to the project's requirements",
    ]
    words = [sys.executable, "-m", "kinetic", "jobs", "list"]
    env = project.environment({"PYTHONPATH": zipped})
    failed = subprocess.run(words, cwd=project.directory, env=env, capture_output=True, text=True, check=False)
    assert (failed.returncode, failed.stderr[:32]) == (1, "error: a job that submits jobs n")


def test_installed_client_is_found(project: Project) -> None:
    text = """
    import kinetic
    print(kinetic.__file__, kinetic.JobHandle.__module__)
    """
    zipped = without_client(project)
    done = project.run(text, env={"PYTHONPATH": f"{zipped}:{RUNNER}", "KINETIC_JOB_ID": "cpu-train"})
    assert done.stdout == f"{zipped}/kinetic/__init__.py kinetic.client.handle\n"
