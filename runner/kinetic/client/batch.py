# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Maps: one job that calls a function with each of many inputs."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import keyword
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, Optional, TypeVar

from ..errors import Interrupted, JobNotFound, JobTimeout, UsageError, brief
from ..job_status import JobStatus
from . import binaries, checks, flags, outcomes, process, scratch
from .finding import OF_ONE, by_name, describe, place
from .handle import JobHandle
from .inputs import Input, InputHandle, Inputs, Outcome, OutcomeReader, is_final
from .parameters import Duration
from .report import Reporter

R = TypeVar("R")

SOON = 0.001  # seconds; a timeout of 0 would mean another thing

check_mode = checks.one_of("auto", "single", "args", "kwargs")

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
    check_mode("input_mode", mode)
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


@dataclasses.dataclass(frozen=True, repr=False)
class BatchHandle(Generic[R]):
    """A map that was submitted. Two handles of the same job are equal.

    Attributes:
        job: the handle of its job, with its log, its outputs and its state.
        fail_fast: whether the first failure that is seen cancels the map.
        group_id: the id of the job, by which attach_batch finds the map again.
        name: the name in that id: that of the map, or else of the function.
        tags: the labels and annotations of the job that it was submitted with; attach_batch knows the labels.
        jobs: the inputs in their order, each with methods of a job's handle, such as result and tail.
        submission_failures: empty, as unavailable_children is: a map is one job. keras-kinetic has both.
        unavailable_children: empty.
    """

    job: JobHandle[Any]
    fail_fast: bool = dataclasses.field(default=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_outcomes", [])
        object.__setattr__(self, "_arguments", [])
        object.__setattr__(self, "_said", set())
        object.__setattr__(self, "_turn", (os.getpid(), threading.RLock()))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_reading", "_turn")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _turn=(os.getpid(), threading.RLock()))

    @property
    def _reader(self) -> OutcomeReader:
        """What waits for the outcomes of single inputs."""
        if "_reading" not in vars(self):
            object.__setattr__(self, "_reading", OutcomeReader(self.job, self.as_completed))
        reader: OutcomeReader = vars(self)["_reading"]
        reader.keep(self._kept)
        return reader

    @property
    def _kept(self) -> list[Outcome]:
        """The outcomes, once they are here: the store may no longer have them."""
        kept: list[Outcome] = self.__dict__["_outcomes"]
        return kept

    @property
    def _args(self) -> list[dict[str, Any]]:
        """The arguments of the first inputs, as JobHandle.args has them, if this handle is the one that submitted the map."""
        args: list[dict[str, Any]] = self.__dict__["_arguments"]
        return args

    @property
    def group_id(self) -> str:
        """The id of the job, by which attach_batch finds the map again."""
        return self.job.job_id

    @property
    def name(self) -> str:
        """The name in the id of the job."""
        return self.job.func_name

    @property
    def tags(self) -> dict[str, str]:
        """The labels and annotations that are known."""
        return dict(self.job.about.get("labels") or {})

    @property
    def jobs(self) -> Sequence[InputHandle]:
        """The inputs, in their order.

        Raises:
            JobNotFound: the map was cleaned up, and the handle doesn't know how many they are.
        """
        count = self.job.about.get("inputs") or len(self._kept) or sum(count for _, count in self._runs())
        return Inputs(count, self._reader)

    @property
    def submission_failures(self) -> dict[int, Exception]:
        """Empty: a map is one job, which is submitted or not."""
        return {}

    @property
    def unavailable_children(self) -> dict[int, str]:
        """Empty: a map is one job."""
        return {}

    @brief
    def statuses(self) -> list[tuple[int, JobStatus]]:
        """Return the number and the state of each input, in their order: `for index, state in batch.statuses()`.

        An input is RUNNING once its pod has begun. Without a result it is FAILED when the map has ended, and NOT_FOUND when it was cancelled.

        Raises:
            JobNotFound: the map was cleaned up.
        """
        states = (state for state, count in self._runs() for _ in range(count))
        return list(enumerate(states))

    @brief
    def status_counts(self) -> dict[JobStatus, int]:
        """Return how many inputs are in which state. A key can be a word: `counts.get("FAILED", 0)`.

        Raises:
            JobNotFound: the map was cleaned up.
        """
        counts: dict[JobStatus, int] = {}
        for state, count in self._runs():
            counts[state] = counts.get(state, 0) + count
        return counts

    def _runs(self) -> list[tuple[JobStatus, int]]:
        """Return the states in the order of the inputs, with one item for neighbours in the same state."""
        inputs = self.job._describe_status().get("inputs")
        if not inputs:
            raise JobNotFound(f"the values of {self.group_id} were deleted, and with them the outcome of each input")
        return [(JobStatus(run["state"]), run["count"]) for run in inputs["states"]]

    @brief
    def wait(self, timeout: Optional[Duration] = None) -> JobStatus:
        """Wait until all inputs are done, and return the job's state, as JobHandle.wait does. SUCCEEDED doesn't mean that no input failed.

        Raises:
            JobTimeout: timeout has expired; the map keeps running.
            JobNotFound: there is no such map, or it was cleaned up.
        """
        return self.job.wait(timeout)

    def as_completed(
        self, timeout: Optional[Duration] = None, *, cleanup: bool = False, trust_store: bool = False, poll_interval: Optional[float] = None
    ) -> Iterator[Outcome]:
        """Yield the outcome of each input as it arrives. The results of the inputs that share a pod come together.

        If the map was submitted on the command line, they come in the order of the inputs. An outcome has index, value, exception, job_id and result(), which returns the value or raises the exception.

        Args:
            timeout: how long to wait for all, as for JobHandle.result.
            cleanup: delete the job after the last value, as cleanup() does. A map with a failed input stays.
            trust_store: as for JobHandle.result.
            poll_interval: has no effect: nothing is polled.

        Raises:
            JobTimeout: timeout has expired; the map keeps running.
        """
        words = self.job._timeout(timeout)
        words += ["--trust-store"] if trust_store else []
        came = self._follow([*words, "--cleanup=false"])  # the binary is ahead of who reads the values
        came = outcomes.stopping(came, self.cancel) if self.fail_fast else came
        yield from outcomes.deleting(came, self.job, Reporter(self.job.logs_to())) if cleanup else came

    def _follow(self, words: list[str]) -> outcomes.Outcomes:
        """Yield the outcomes as they arrive: as JSON if the map was submitted on the command line, else as pickles."""
        report = Reporter(self.job.logs_to(), said=vars(self)["_said"])
        if not self._args:  # else this handle has submitted it
            with contextlib.suppress(UsageError):  # it has pickles
                yield from outcomes.follow(
                    binaries.JOBS, self.job._words("result", *words, "--output=inputs"), None, lambda: self.job, report, self.job.named()
                )
                return
        with scratch.directory() as directory:
            file = os.path.join(directory, "values.pkl")
            words = self.job._words("result", *words, f"--output-file={file}")
            yield from outcomes.follow(binaries.JOBS, words, file, lambda: self.job, report, self.job.named())

    @brief
    def results(
        self,
        timeout: Optional[Duration] = None,
        *,
        ordered: bool = True,
        cleanup: bool = True,
        return_exceptions: bool = False,
        trust_store: bool = False,
    ) -> list[Any]:
        """Wait for all inputs, and return their values. With cleanup, the handle keeps them, unless one can't be loaded here or is not trusted.

        One thread reads at a time. Others wait for it, and find what the handle has kept.

        Args:
            timeout: how long to wait for all, as for JobHandle.result.
            ordered: in the order of the inputs, else as they came.
            cleanup: delete the job when all values are here, as cleanup() does. A map with a failed input stays.
            return_exceptions: return the exception of an input that failed in the place of its value.
            trust_store: as for JobHandle.result.

        Raises:
            BatchError: an input failed, or its value can't be loaded here or is not trusted, which only the exception tells.
            JobTimeout: timeout has expired; the map keeps running.
        """
        with self._alone(timeout) as rest:
            came = self._kept or self.as_completed(rest, trust_store=trust_store)
            if cleanup and not self._kept:
                came = self._collect(came)
            return outcomes.values(lambda: self.group_id, came, ordered=ordered, return_exceptions=return_exceptions)

    def _collect(self, coming: Iterable[Outcome]) -> list[Outcome]:
        """Return all outcomes, and keep them if they are final. The job is deleted if they are values."""
        came: list[Outcome] = []
        try:
            outcomes.collected(coming, came, lambda: self.job, Reporter(self.job.logs_to()))
        finally:
            if all(map(is_final, came)):
                self._kept[:] = came
            self._reader.keep(came)  # for inputs that somebody has taken before
        return came

    @contextlib.contextmanager
    def _alone(self, timeout: Optional[Duration]) -> Iterator[Optional[Duration]]:
        """Let one thread at a time read all outcomes. Yield what is left of the time to wait.

        Raises:
            JobTimeout: timeout has expired, and another thread still reads.
        """
        owner, turn = vars(self)["_turn"]
        if owner != os.getpid():  # the thread that holds it is not in this process, which was forked
            turn = threading.RLock()
            object.__setattr__(self, "_turn", (os.getpid(), turn))
        if not turn.acquire(blocking=False):
            timeout = self._wait_for_turn(turn, timeout)
        try:
            yield timeout
        finally:
            turn.release()

    def _wait_for_turn(self, turn: threading.RLock, timeout: Optional[Duration]) -> Optional[Duration]:
        limit = flags.seconds(timeout) if timeout is not None and self.job._timeout(timeout) else None  # none for 0, if the job has ended
        begun = time.monotonic()
        try:
            ours = turn.acquire(timeout=-1 if limit is None else min(limit, threading.TIMEOUT_MAX))
        except KeyboardInterrupt:
            raise Interrupted(process.with_handle("interrupted", self.job.named()), self.group_id) from None
        if not ours:
            raise JobTimeout(f"{self.group_id}: another thread is still reading its results after {limit:.9g} s")
        return timeout if limit is None else max(limit - (time.monotonic() - begun), SOON)

    def failures(self) -> list[Input]:
        """Return the inputs that have failed so far, in their order: each has index, exception and tail().

        Raises:
            JobNotFound: the map was cleaned up, and results() has not kept its outcomes.
        """
        if self._kept:
            return sorted((outcome for outcome in self._kept if outcome.exception is not None), key=lambda outcome: outcome.index)
        return [InputHandle(index, self._reader) for index, state in self.statuses() if state is JobStatus.FAILED]

    def cancel(self) -> None:
        """End the map. The values that were computed stay."""
        self.job.cancel()

    def cleanup(self, k8s: bool = True, gcs: bool = True) -> None:
        """Delete the map, as JobHandle.cleanup does."""
        self.job.cleanup(k8s, gcs)

    def to_json(self) -> str:
        """Return the handle as text. It has no credentials."""
        return json.dumps({**json.loads(self.job.to_json()), "map": {"fail_fast": self.fail_fast}})

    @classmethod
    def from_json(cls, text: str) -> BatchHandle[Any]:
        """Return the handle that to_json made.

        Raises:
            ValueError: the text is not a handle, or is the handle of a job that is not a map, or of a newer version.
        """
        job = JobHandle.from_json(text)
        about = json.loads(text).get("map")
        if about is None:
            raise UsageError(f"{job.job_id} is not a map: JobHandle.from_json returns its handle")
        return BatchHandle[Any](job, fail_fast=about.get("fail_fast", False))

    def __repr__(self) -> str:
        return repr(self.job).replace("JobHandle", "BatchHandle", 1)

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        return self.job._repr_html_().replace("<th>job</th>", "<th>map</th>", 1)


@brief
def attach_batch(
    group_id: str, *positional: Any, poll_interval: Optional[float] = None, poll_timeout: Optional[float] = None, **target: Any
) -> BatchHandle[Any]:
    """Return the handle of a map that was submitted before, from here or from another machine.

    Args:
        group_id: the id of its job, or the beginning of it.
        poll_interval: has no effect, nor has poll_timeout: all inputs of a map are submitted at once. keras-kinetic has both.
        poll_timeout: see poll_interval.
        **target: as for attach.

    Raises:
        JobNotFound: there is no such map.
    """
    by_name(f"attach_batch({group_id!r}, ", OF_ONE, positional)
    checks.text("group_id", group_id)
    where = place(target)
    job = describe(group_id, where)
    handle: JobHandle[Any] = JobHandle.of(job, where)
    if not job.get("map"):
        raise JobNotFound(f"{handle.job_id} is not a map: kinetic.attach({handle.job_id!r}) returns its handle")
    return BatchHandle(handle)
