# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""`import kinetic` and what it leaves for later."""

from __future__ import annotations

import kinetic
import pytest
from conftest import Project


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
