# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Maps: one job that calls a function with each of many inputs."""

from __future__ import annotations

import contextlib
import dataclasses
import keyword
import os
import pickle
import shutil
import tempfile
from collections.abc import Generator, Iterator
from typing import Any, Generic, Optional, TypeVar

from ..errors import BatchError, JobNotFound, RemoteError, RemoteTraceback, UsageError
from ..job_status import JobStatus
from ..options import Duration, span
from . import binaries, process
from .handle import JobHandle, attach

R = TypeVar("R")

INPUT_MODES = ("auto", "single", "args", "kwargs")

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def arguments(value: Any, mode: str) -> Arguments:
    """Return the arguments of the call for an input.

    Args:
        value: the input.
        mode: "single": the only argument; "args": a list or tuple of all; "kwargs": a dict of all, by name; "auto": a
            dict whose keys could be names is as kwargs, a list or tuple as args, anything else as single.

    Raises:
        ValueError: there is no such mode, or the input doesn't fit it.
    """
    if mode not in INPUT_MODES:
        raise UsageError(f"input_mode={mode!r}: expected one of {', '.join(INPUT_MODES)}")
    named = isinstance(value, dict) and all(isinstance(key, str) and key.isidentifier() and not keyword.iskeyword(key) for key in value)
    if mode == "kwargs" or mode == "auto" and named:
        if not named:
            raise UsageError(f"the input {value!r:.60} is not a dict of arguments, as input_mode='kwargs' needs")
        return (), dict(value)
    if mode == "args" or mode == "auto" and isinstance(value, (list, tuple)):
        if not isinstance(value, (list, tuple)):
            raise UsageError(f"the input {value!r:.60} is not a list or tuple of arguments, as input_mode='args' needs")
        return tuple(value), {}
    return (value,), {}


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of an input: its number, and either a value or an exception."""

    index: int
    value: Any
    exception: Optional[BaseException]


class BatchHandle(Generic[R]):
    """A map that was submitted.

    Attributes:
        job: the handle of its job, with its log, its outputs and its state.
    """

    def __init__(self, job: JobHandle[Any], *, fail_fast: bool = False) -> None:
        self.job = job
        self._fail_fast = fail_fast

    @property
    def group_id(self) -> str:
        """The id of the job, by which attach_batch finds the map again."""
        return self.job.job_id

    def status_counts(self) -> dict[JobStatus, int]:
        """Return how many inputs are in which state. An input without a result is PENDING, whether it is being computed or not."""
        counts = self.job._describe_status().get("inputs") or {}
        done, failed = counts.get("done", 0), counts.get("failed", 0)
        states = {JobStatus.PENDING: counts.get("total", 0) - done, JobStatus.SUCCEEDED: done - failed, JobStatus.FAILED: failed}
        return {state: count for state, count in states.items() if count}

    def wait(self, timeout: Optional[Duration] = None) -> JobStatus:
        """Wait until all inputs are done, and return the job's state. SUCCEEDED doesn't say that none has failed.

        Raises:
            JobTimeout: timeout is over; the map goes on.
        """
        return self.job.wait(timeout)

    def as_completed(self, timeout: Optional[Duration] = None, *, cleanup: bool = False, trust_store: bool = False) -> Iterator[Outcome]:
        """Yield what comes of each input, as it comes. The results of the inputs that share a pod come together.

        Args:
            timeout: how long to wait for all.
            cleanup: delete the job and what is stored of it when all values are here. A map with a failed input stays.
            trust_store: as for JobHandle.result.

        Raises:
            JobTimeout: timeout is over; the map goes on.
        """
        words = [] if timeout is None else span("--timeout", timeout)
        words += ["--trust-store"] if trust_store else []
        directory = tempfile.mkdtemp(prefix="kinetic-")
        try:
            file = os.path.join(directory, "values.pkl")
            words += [f"--output-file={file}", f"--cleanup={'delete' if cleanup else 'false'}"]
            events = process.stream(binaries.JOBS, self.job._words("result", *words), output="input")
            with contextlib.closing(events):
                answer = yield from self._outcomes(events, file)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
        if answer.code and (answer.error or {}).get("kind") != "job_failed":
            raise process.failure(binaries.JOBS, answer)

    def _outcomes(self, events: Generator[process.Event, None, process.Answer], file: str) -> Generator[Outcome, None, process.Answer]:
        """Yield the outcomes that events tell of, and return the binary's answer."""
        cancelled = False
        while True:
            try:
                event = next(events)
            except StopIteration as end:
                answer: process.Answer = end.value
                return answer
            if event["event"] != "input":
                continue
            outcome = outcome_of(event, file, self.group_id)
            if outcome.exception is not None and self._fail_fast and not cancelled:
                cancelled = True
                self.cancel()
            yield outcome

    def results(
        self,
        timeout: Optional[Duration] = None,
        *,
        ordered: bool = True,
        cleanup: bool = True,
        return_exceptions: bool = False,
        trust_store: bool = False,
    ) -> list[Any]:
        """Wait for all inputs, and return their values.

        Args:
            timeout: how long to wait for all.
            ordered: in the order of the inputs, else as they came.
            cleanup: delete the job and what is stored of it when all values are here. A map with a failed input stays.
            return_exceptions: return the exception of an input that failed in the place of its value.
            trust_store: as for JobHandle.result.

        Raises:
            BatchError: an input failed.
            JobTimeout: timeout is over; the map goes on.
        """
        outcomes = list(self.as_completed(timeout, cleanup=cleanup, trust_store=trust_store))
        failures = {outcome.index: outcome.exception for outcome in outcomes if outcome.exception is not None}
        if failures and not return_exceptions:
            raise BatchError(self.group_id, failures, {outcome.index: outcome.value for outcome in outcomes if outcome.exception is None})
        if ordered:
            outcomes.sort(key=lambda outcome: outcome.index)
        return [outcome.value if outcome.exception is None else outcome.exception for outcome in outcomes]

    def failures(self) -> dict[int, BaseException]:
        """Wait for all inputs, and return the exceptions of those that failed, by the number of the input."""
        return {outcome.index: outcome.exception for outcome in self.as_completed() if outcome.exception is not None}

    def cancel(self) -> None:
        """End the map. The values that were computed stay."""
        self.job.cancel()

    def cleanup(self, k8s: bool = True, gcs: bool = True) -> None:
        """Delete the map, as JobHandle.cleanup does."""
        self.job.cleanup(k8s, gcs)

    def __repr__(self) -> str:
        return repr(self.job).replace("JobHandle", "BatchHandle", 1)


def outcome_of(event: process.Event, file: str, job_id: str) -> Outcome:
    """Return what a line about an input says.

    Args:
        event: the line.
        file: has the pickles.
        job_id: the id of the map's job.
    """
    error = event.get("error") or {}
    try:
        value = load(file, event["offset"]) if "offset" in event else None
    except Exception as exc:
        value, unloadable = None, f"input {event['index']} can't be loaded here ({type(exc).__name__}: {exc})"
        return Outcome(event["index"], None, failed(error, job_id, unloadable))
    if event["ok"]:
        return Outcome(event["index"], value, None)
    message = ": ".join(filter(None, (f"input {event['index']} failed", error.get("type"), error.get("message"))))
    exception = value if isinstance(value, BaseException) else failed(error, job_id, message)
    if error.get("traceback"):
        exception.__cause__ = RemoteTraceback(error["traceback"], event.get("host", 0), event.get("attempt", 1))
    return Outcome(event["index"], None, exception)


def failed(error: dict[str, Any], job_id: str, message: str) -> RemoteError:
    return RemoteError(f"{job_id}: {message}", job_id=job_id, type=error.get("type"), traceback=error.get("traceback") or "")


def load(file: str, offset: int) -> Any:
    with open(file, "rb") as stream:
        stream.seek(offset)
        return pickle.load(stream)


def attach_batch(group_id: str, **target: Any) -> BatchHandle[Any]:
    """Return the handle of a map that was submitted before.

    Args:
        group_id: the id of its job, or the beginning of it.
        **target: as for attach.

    Raises:
        JobNotFound: there is no such map.
    """
    job = attach(group_id, **target)
    if not job._describe_status().get("inputs"):
        raise JobNotFound(f"{job.job_id} is not a map: kinetic.attach({job.job_id!r}) returns its handle")
    return BatchHandle(job)
