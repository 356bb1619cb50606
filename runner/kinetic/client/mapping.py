# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Submits maps: one job that calls a function with each of many inputs."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import types
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, Optional, TypeVar

from ..decorator import RemoteCallable
from ..errors import UsageError, on_purpose
from . import binaries, checks, facts, fitting, outcomes, payload, process, project
from .batch import BatchHandle, arguments, check_mode
from .handle import JobHandle
from .inputs import Outcome
from .submission import prepared, reporter
from .tags import tagged as tagged

R = TypeVar("R")

FEW = 64  # inputs that one pod gets in any case; more of them are divided so that some come before others
TURNS = 4  # how many pods do the inputs beyond that one after the other
MOST_IN_CHUNK = 1000
MOST_KNOWN = 10_000  # inputs whose arguments the handle keeps
MOST_LINE, MOST_LINES = 16 << 20, 256 << 20  # bytes that the binaries take of an input, and of all: a third more than their pickles have


@dataclasses.dataclass(frozen=True)
class Plan:
    """How a map is to be computed.

    Attributes:
        inputs: what to call the function with.
        input_mode: how an input becomes arguments, as for arguments.
        max_concurrent: how many pods run at a time at most; None for as many as there are chunks.
        chunk: how many inputs a pod gets; None to choose.
        fail_fast: cancel the map at the first failure that is seen.
        cancel_running_on_fail: whether that may end the pods that are running, too: with False nothing is cancelled. None to leave it open.

    Raises:
        TypeError: a parameter has the wrong type.
        ValueError: a parameter is wrong.
    """

    inputs: Iterable[Any]
    input_mode: str
    max_concurrent: Optional[int]
    chunk: Optional[int]
    fail_fast: bool
    cancel_running_on_fail: Optional[bool] = None

    def __post_init__(self) -> None:
        check_mode("input_mode", self.input_mode)
        if not isinstance(self.inputs, Iterable) and not hasattr(type(self.inputs), "__getitem__"):
            raise checks.wrong_type("inputs", self.inputs, "an iterable, such as a list")
        if isinstance(self.inputs, (str, bytes, Mapping)):  # would be letters or keys
            raise checks.wrong_type("inputs", self.inputs, "a list of inputs")
        if not callable(getattr(type(self.inputs), "columns", len)):  # a table, whose inputs would be the names of its columns
            raise checks.wrong_type("inputs", self.inputs, "a list of inputs, such as table.to_dict('records')")
        if self.max_concurrent is not None:
            checks.whole(1, ", or None for as many as there are chunks")("max_concurrent", self.max_concurrent)
        if self.chunk is not None:
            checks.whole(1, ", or None to choose it")("chunk", self.chunk)
        checks.switch("fail_fast", self.fail_fast)
        if self.cancel_running_on_fail is not None:
            checks.switch("cancel_running_on_fail", self.cancel_running_on_fail)
        if self.fail_fast and self.cancel_running_on_fail is False:
            message = "cancel_running_on_fail=False: a map is one job, so all its inputs go on after a failure, and fail_fast has no effect"
            warnings.warn(message, UserWarning, stacklevel=5)

    @property
    def cancels(self) -> bool:
        """Whether the first failure cancels the map."""
        return self.fail_fast and self.cancel_running_on_fail is not False

    def flags(self, count: int) -> list[str]:
        """The words of the command line for so many inputs."""
        most = min(self.max_concurrent or count, count)
        return [f"--parallelism={most}", f"--chunk={self.chunk or chunk_for(count, most)}"]


def chunk_for(count: int, most: int) -> int:
    """Return how many inputs a pod gets.

    The results of a chunk come when its pod ends, and a pod takes about a second to start. So each pod gets all that falls to
    it if that is little, and else a part of it.

    Args:
        count: how many inputs there are.
        most: how many pods run at a time.
    """
    share = -(-count // most)
    return min(max(min(share, FEW), -(-share // TURNS)), MOST_IN_CHUNK)


def submit(function: RemoteCallable[Any, R], plan: Plan) -> BatchHandle[R]:
    """Submit a map, and return its handle."""
    report = reporter(function)
    args: list[dict[str, Any]] = []
    with mapped(function, plan, waiting=False, known=args) as (words, _):
        process.require(binaries.RUN, [*words, "--detach"], report)
    options = function.options.all()
    labels = {name: str(value) for name, value in {**options.get("labels", {}), **options.get("annotations", {})}.items()}
    batch: BatchHandle[R] = BatchHandle(JobHandle.of({**report.job, "labels": labels}, function.options.target()), fail_fast=plan.cancels)
    batch.job.obey(options)
    batch._args[:] = args
    return batch


def call(function: RemoteCallable[Any, R], plan: Plan) -> list[R]:
    """Run a map, and return the values in the order of the inputs."""
    report = reporter(function)

    def job() -> JobHandle[Any]:
        return JobHandle.of(report.job, function.options.target())

    with mapped(function, plan) as (words, directory):
        file = os.path.join(directory, "values.pkl")
        came = outcomes.follow(binaries.RUN, [*words, f"--output-file={file}", "--cleanup=false"], file, job, report)
        came = outcomes.stopping(came, lambda: job().cancel()) if plan.cancels else came
        everything: list[Outcome] = []
        outcomes.collected(came, everything, job, report)
        return outcomes.values(lambda: job().job_id, everything)


@contextlib.contextmanager
def mapped(
    function: RemoteCallable[Any, Any], plan: Plan, *, waiting: bool = True, known: Optional[list[dict[str, Any]]] = None
) -> Iterator[tuple[list[str], str]]:
    """Write a map into temporary files, as prepared does for a call. known gets the arguments of the first inputs, if it is given."""
    count = 0

    def lines(directory: str, data: payload.Inputs, modules: Sequence[types.ModuleType]) -> list[str]:
        nonlocal count
        path = os.path.join(directory, "inputs.jsonl")
        count = write(path, function, plan, data, modules, known)
        return [f"--map={path}"]

    with prepared(function, function.bound, {}, waiting=waiting, lines=lines) as (words, directory):
        local = function.options.target().get("local")  # where one process does everything
        yield [*words, *([] if local else plan.flags(count))], directory


def write(
    path: str,
    function: RemoteCallable[Any, Any],
    plan: Plan,
    data: payload.Inputs,
    modules: Sequence[types.ModuleType],
    known: Optional[list[dict[str, Any]]],
) -> int:
    """Write the inputs of a map into a new file, one by one, and return how many they are. Making an input can take long, and make calls.

    Args:
        path: the file.
        function: what is called.
        plan: has the inputs.
        data: gets the Data that the inputs have.
        modules: those that travel by value.
        known: gets the arguments of the first inputs, if it is given.

    Raises:
        UsageError: there are none, or they are too large.
        TypeError, ValueError: an input can't be pickled, or doesn't fit the function; the message says which.
    """
    check = fitting.binder(function)
    count = size = 0
    with payload.create(path) as file:
        for count, value in enumerate(plan.inputs, 1):
            try:
                args, kwargs = arguments(value, plan.input_mode)
                check((*function.bound, *args), kwargs)
                with project.travelling(modules):
                    line = payload.encode(function, function.bound, args, kwargs, data)
                size += len(line)
                check_size(len(line), size)
            except (TypeError, ValueError) as exc:
                refuse(count - 1, exc)
            file.write(line.encode())
            if known is not None and count <= MOST_KNOWN:
                known.append(facts.brief(facts.arguments(function.__wrapped__, (*function.bound, *args), kwargs)))
    if not count:
        raise UsageError(f"there are no inputs for {function.__name__}")
    return count


def check_size(line: int, lines: int) -> None:
    """Raise UsageError if an input is too large, or makes all of them too large."""
    instead = "pass large data as kinetic.Data"
    if line > MOST_LINE:
        raise UsageError(f"its pickle takes more than {MOST_LINE * 3 // 4 >> 20} MiB: {instead}")
    if lines > MOST_LINES:
        raise UsageError(f"with it, the pickles of the inputs take more than {MOST_LINES * 3 // 4 >> 20} MiB: {instead}")


def refuse(index: int, exc: Exception) -> NoReturn:
    """Raise an error about an input again, with its number."""
    kind = next(kind for kind in (UsageError, TypeError, ValueError) if isinstance(exc, kind))
    raise on_purpose(kind(f"input {index}: {exc}")) from exc.__cause__
