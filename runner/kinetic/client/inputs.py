# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The inputs of a map, each with what can be asked about it."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union, overload

from ..errors import JobNotFound, JobTimeout, RemoteError, UntrustedResult, UsageError
from ..job_status import JobStatus
from . import binaries, checks, process
from .joblog import LogLines
from .parameters import Duration

if TYPE_CHECKING:
    from .handle import JobHandle


class Input:
    """What can be asked about an input of a map, whether its outcome is here or not.

    Attributes:
        index: its number, from 0.
        job: the handle of the map's job, which computes all inputs.
    """

    index: int
    job: JobHandle[Any]

    @property
    def job_id(self) -> str:
        """The id of the map's job."""
        return self.job.job_id

    @property
    def group_id(self) -> str:
        """The id of the map, which is that of its job."""
        return self.job.job_id

    @property
    def group_index(self) -> int:
        """The number of the input."""
        return self.index

    @property
    def group_kind(self) -> str:
        """ "map"."""
        return "map"

    @property
    def func_name(self) -> str:
        """The name of the map's function."""
        return self.job.func_name

    def status(self) -> JobStatus:
        """Return its state now; NOT_FOUND also if nothing is left of the map."""
        try:
            status = process.ask(binaries.JOBS, self.job._words("status", *self._only(), "--output=json"), self.job.named())
        except JobNotFound:
            return JobStatus.NOT_FOUND
        return JobStatus(status["state"])

    def logs(self, follow: bool = False) -> Union[str, LogLines]:
        """Return the log of the pod that has the input, and others; with follow, as JobHandle.logs does."""
        if not follow:
            return self.job._lines("logs", *self._only())
        return LogLines(self.job._words("logs", *self._only(), "--follow"), self.job.hosts, self.job.named())

    def tail(self, n: int = 100) -> str:
        """Return the last n lines of that log."""
        checks.whole(-1)("n", n)
        return self.job._lines("tail", *self._only(), f"--tail={n}")

    def cancel(self, **ignored: Any) -> None:
        """Raise UsageError: the inputs of a map are one job."""
        raise UsageError(f"input {self.index} of {self.job_id} can't be cancelled alone: BatchHandle.cancel() ends the map")

    def cleanup(self, k8s: bool = True, gcs: bool = True, **ignored: Any) -> None:
        """Do nothing: the inputs of a map are one job, which BatchHandle.cleanup() deletes."""

    def _only(self) -> list[str]:
        return [f"--index={self.index}"]


@dataclasses.dataclass(frozen=True)
class Outcome(Input):
    """What came of an input: its number, and either a value or an exception.

    It has the methods of InputHandle, too.
    """

    index: int
    value: Any
    exception: Optional[BaseException]
    job: JobHandle[Any] = dataclasses.field(compare=False, repr=False)

    def status(self) -> JobStatus:
        """Return SUCCEEDED or FAILED, without asking anybody."""
        return JobStatus.SUCCEEDED if self.exception is None else JobStatus.FAILED

    def result(self, *ignored: Any, **also_ignored: Any) -> Any:
        """Return the value, or raise the exception. There is nothing to wait for or to delete, so parameters have no effect."""
        if self.exception is not None:
            raise self.exception
        return self.value


def is_final(outcome: Outcome) -> bool:
    """Report whether reading again would bring the same. It might bring a value if that was not trusted, or if a module was missing."""
    exc = outcome.exception
    unloadable = isinstance(exc, RemoteError) and str(exc).startswith(f"{outcome.job_id}: input {outcome.index} can't be loaded here ")
    return not unloadable and not isinstance(exc, UntrustedResult)


class InputHandle(Input):
    """An input of a map, with the methods of a JobHandle that make sense for it.

    Args:
        index: its number, from 0.
        reader: waits for the outcomes.
    """

    def __init__(self, index: int, reader: OutcomeReader) -> None:
        self.index = index
        self.job = reader.job
        self._reader = reader

    @property
    def exception(self) -> Optional[BaseException]:
        """What the function raised for it, or None. It waits until the input is done."""
        return self._reader.wait_for(self.index).exception

    def result(self, timeout: Optional[Duration] = None, cleanup: bool = True, **ignored: Any) -> Any:
        """Wait until the input is done, and return its value.

        The outcomes that come before it are kept in memory: as_completed is for many large values.

        Args:
            timeout: how long to wait, as for JobHandle.result.
            cleanup: has no effect, nor have further parameters: the inputs of a map are one job, which BatchHandle.cleanup() deletes.

        Raises:
            Exception: what the function raised, with the traceback in the job as its cause.
            JobTimeout: timeout has expired; the map keeps running.
        """
        if timeout == 0 and not isinstance(timeout, bool):
            state = self.status()
            if not state.ended:
                raise JobTimeout(f"input {self.index} of {self.job_id} is {state.value}: it has not ended yet")
            timeout = None
        return self._reader.wait_for(self.index, timeout).result()

    def __reduce__(self) -> tuple[Any, ...]:
        return input_of, (self.job, self.index)

    def __repr__(self) -> str:
        return f"<InputHandle {self.index} of {self.job_id}>"


class OutcomeReader:
    """Reads the outcomes of a map until the one that is asked for, and keeps them.

    Args:
        job: the map's job.
        read: returns the outcomes as they come, waiting for so long.
    """

    def __init__(self, job: JobHandle[Any], read: Callable[[Optional[Duration]], Iterator[Outcome]]) -> None:
        self.job = job
        self._read = read
        self._lock = threading.Lock()
        self._came: dict[int, Outcome] = {}
        self._coming: Optional[Iterator[Outcome]] = None

    def keep(self, outcomes: Sequence[Outcome]) -> None:
        """Keep outcomes that were read otherwise. One that is not final is read again when somebody asks for it."""
        self._came.update((outcome.index, outcome) for outcome in outcomes if is_final(outcome))
        for outcome in outcomes:
            if not is_final(outcome):
                self._came.pop(outcome.index, None)
                self._coming = None  # it is past that one

    def wait_for(self, index: int, timeout: Optional[Duration] = None) -> Outcome:
        """Return the outcome of an input, once it is there."""
        found = self._came.get(index)
        if found is not None:
            return found
        if timeout is not None:
            return self._until(index, self._read(timeout))
        with self._lock:  # one reads, and the others find what it kept
            coming = self._coming = self._coming or self._read(None)
            try:
                return self._until(index, coming)
            except BaseException:
                self._coming = None  # it has ended
                raise

    def _until(self, index: int, coming: Iterator[Outcome]) -> Outcome:
        """Keep what comes until the outcome of an input is there."""
        found = self._came.get(index)
        while found is None:
            outcome = next(coming, None)
            if outcome is None:
                raise JobNotFound(f"{self.job.job_id} has no outcome of input {index}")
            if is_final(outcome):
                self._came[outcome.index] = outcome
            else:
                self._coming = None  # the next one who waits reads from the beginning
            found = outcome if outcome.index == index else self._came.get(index)  # another thread may have kept it, or forgotten it
        return found


class Inputs(Sequence[InputHandle]):
    """The inputs of a map, in their order.

    Args:
        count: how many they are.
        reader: waits for their outcomes.
    """

    def __init__(self, count: int, reader: OutcomeReader) -> None:
        self._count = count
        self._reader = reader

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> InputHandle: ...

    @overload
    def __getitem__(self, index: slice) -> list[InputHandle]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[InputHandle, list[InputHandle]]:
        numbers = range(self._count)[index]
        if isinstance(numbers, range):
            return [InputHandle(number, self._reader) for number in numbers]
        return InputHandle(numbers, self._reader)

    def __repr__(self) -> str:
        return f"<{self._count} inputs of {self._reader.job.job_id}>"


def input_of(job: JobHandle[Any], index: int) -> InputHandle:
    """Return an input of a map. Pickles of inputs call this."""
    from .batch import BatchHandle

    return InputHandle(index, BatchHandle(job)._reader)
