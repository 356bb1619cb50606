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
from kinetic import collections


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


MODULES = {
    "jobs": "from kinetic.jobs import JobHandle, JobStatus, attach, list_jobs",
    "collections": "from kinetic.collections import BatchError, BatchHandle, attach_batch, map",
    "debug": "from kinetic.debug import DEBUGPY_PORT, cleanup_port_forward, start_port_forward",
}


@pytest.mark.parametrize("name, statement", MODULES.items())
def test_modules_of_keras_kinetic(project: Project, name: str, statement: str) -> None:
    text = f"import kinetic\n{statement}\nimport kinetic.{name}\nprint(all(getattr(kinetic.{name}, each) is not None for each in kinetic.{name}.__all__))"
    assert project.run(text).stdout == "True\n"
    assert not modules(project, f"import kinetic.{name}") & {"subprocess", "json", f"kinetic.client.{name}", "kinetic.decorator"}


def test_unknown_names_of_modules() -> None:
    with pytest.raises(AttributeError, match="module 'kinetic.jobs' has no attribute 'atach'"):
        kinetic.jobs.atach  # noqa: B018


def test_map_of_the_module() -> None:
    with pytest.raises(TypeError, match=r"map\(\) takes a function with @kinetic.run\(\) or its run_async, not <built-in function len>"):
        collections.map(len, [1])
    with pytest.raises(kinetic.UsageError, match="there are no inputs for len"):
        collections.map(kinetic.run(local=True)(len).run_async, [])


def test_a_port_is_forwarded(project: Project) -> None:
    kubectl = project.write("kubectl", "#!/bin/sh\n[ $5 = here ] || { echo no such namespace >&2; exit 1; }\necho Forwarding: $*\nexec sleep 600\n")
    kubectl.chmod(0o755)
    text = """
    from kinetic.debug import *
    process = start_port_forward("pod-0", "here", 5000, DEBUGPY_PORT)
    print(process.poll())
    cleanup_port_forward(process)
    print(process.poll())
    try:
        start_port_forward("pod-0", "there", 5000, 5678)
    except RuntimeError as exc:
        print(exc)
    """
    done = project.run(text, env={"PATH": f"{kubectl.parent}:/usr/bin:/bin"})
    assert done.stdout.splitlines() == ["None", "-15", "forwarding port 5000 to pod-0 in namespace there: no such namespace"]


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
    kinetic.configure(namespace=5)
    @kinetic.run(accelerator="l4", hosts="x", spot=True, debug=True, of_a_newer_version=True)
    def train(n): return n + 1
    print(train(1), kinetic.JobStatus.FAILED.value)
    try:
        train.run_async(1)
    except kinetic.NotInstalled as exc:
        print(exc)
    from typing import Optional
    from kinetic import BatchHandle, JobHandle, attach
    from kinetic.jobs import list_jobs
    def annotated(job: JobHandle[int], other: Optional[BatchHandle] = None): pass
    print(isinstance(train, JobHandle), JobHandle.__name__)
    for use in (lambda: attach("x"), lambda: JobHandle("x"), lambda: JobHandle.from_json("{}"), lambda: list_jobs()):
        try: use()
        except kinetic.NotInstalled as exc: print(type(exc).__name__)
    """
    done = project.run(text, env={"PYTHONPATH": zipped, "KINETIC_JOB_ID": "cpu-train"})
    assert done.stdout.splitlines() == [
        "2 FAILED",
        "a job that submits jobs needs the package kubectl-kinetic installed: add it to the project's requirements",
        "False JobHandle",
        *["NotInstalled"] * 4,
    ]
    assert done.stderr == ""
    bare = project.run("import kinetic; print(kinetic.run(hosts='x')(len))", env={"PYTHONPATH": zipped})
    assert bare.stdout == "<kinetic.run of len>\n"  # such as a process of the job that got another environment
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
