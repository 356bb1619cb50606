# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds jobs that were submitted before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from ..errors import brief, on_purpose
from ..job_status import JobStatus
from ..options import Options
from . import binaries, checks, process
from .facts import CANCELLED
from .handle import JobHandle
from .parameters import PLACES, check, flags

# The order of such parameters in keras-kinetic.
OF_ONE = ("project", "cluster")
OF_ALL = ("project", "zone", "cluster", "namespace")


@brief
def attach(job_id: str, *positional: Any, **target: Any) -> JobHandle[Any]:
    """Return the handle of a job that was submitted before, from here or from another machine.

    Args:
        job_id: its id, or the beginning of it.
        **target: parameters of kinetic.run that say where it is, such as project, cluster, namespace, store, local.

    Raises:
        JobNotFound: there is no such job.
    """
    by_name(f"attach({job_id!r}, ", OF_ONE, positional)
    checks.text("job_id", job_id)
    where = place(target)
    return JobHandle.of(describe(job_id, where), where)


def describe(job_id: str, where: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that is known about a job, as `jobs describe ID -o json` prints it."""
    job: dict[str, Any] = process.ask(binaries.JOBS, ["describe", job_id, "--output=json", *flags(where)])
    return job


@brief
def list_jobs(
    *positional: Any,
    status: Union[JobStatus, str, None] = None,
    labels: Optional[Mapping[str, str]] = None,
    all: bool = False,
    mine: bool = False,
    **target: Any,
) -> list[JobHandle[Any]]:
    """Return the handles of jobs, newest first.

    Args:
        status: only jobs in this state, or "CANCELLED".
        labels: only jobs on a cluster that have all these labels, as kinetic.run(labels=) or the tags of a map set them.
        all: also those that only the store still knows.
        mine: only those that this user submitted.
        **target: as for attach.

    Raises:
        TypeError: positional arguments: where the jobs are is given by name.
        ValueError: there is no such state, or what is given can't be a label.
    """
    by_name("list_jobs(", OF_ALL, positional)
    if "tags" in target:
        raise on_purpose(TypeError("'tags' are the labels of a map: write labels="))
    where = place(target)
    words = ["list", "--output=json", *(["--all"] if all else []), *(["--mine"] if mine else [])]
    if status is not None:
        state = status.value if isinstance(status, JobStatus) else status
        checks.one_of(*(known.value for known in JobStatus), CANCELLED)("status", state)
        words.append(f"--status={state}")
    if labels:
        checks.labels("labels", labels)
        words.append("--selector=" + ",".join(f"{name}={value}" for name, value in labels.items()))
    return [JobHandle.of(job, where) for job in process.ask(binaries.JOBS, [*words, *flags(where)])["items"]]


def by_name(call: str, order: Sequence[str], positional: Sequence[Any]) -> None:
    """Raise TypeError for positional arguments; it says what to write.

    Args:
        call: the call up to them.
        order: which parameters they may be meant for.
        positional: the arguments.
    """
    if positional:
        written = ", ".join(f"{name}={value!r}" for name, value in zip(order, positional))
        raise on_purpose(TypeError(f"where jobs are is given by name: write kinetic.{call}{written})"))


def place(target: Mapping[str, Any]) -> dict[str, Any]:
    """Return what says where jobs are: these parameters, and those of configure."""
    check(target)
    for name in target:
        if name not in PLACES:
            raise on_purpose(TypeError(f"{name!r} does not say where a job is"))
    return Options(target).target()
