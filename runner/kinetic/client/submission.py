# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Submits the calls of decorated functions."""

from __future__ import annotations

import contextlib
import inspect
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Optional, TypeVar

from ..decorator import RemoteCallable
from ..errors import UsageError
from . import binaries, payload, process, project, result
from .batch import Arguments, BatchHandle, arguments
from .handle import JobHandle
from .report import Reporter

R = TypeVar("R")

PAYLOAD = "payload.pkl"
ROOT_PARAMETERS = ("--package-root",)  # what decides which directory is packaged


def call(function: RemoteCallable[Any, R], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> R:
    """Run a call as a job, and return its value."""
    with prepared(function, args, kwargs) as (words, directory):
        file = os.path.join(directory, "result.pkl")
        words.append(f"--output-file={file}")
        if not function.options.all().get("debug"):
            words.append("--cleanup=delete")
        report = reporter(function, on_submitted=lambda: os.unlink(os.path.join(directory, PAYLOAD)))  # the store has it
        return result.fetch(binaries.RUN, words, file, report)  # type: ignore[no-any-return]


def submit(function: RemoteCallable[Any, R], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> JobHandle[R]:
    """Submit a call as a job, and return its handle."""
    report = reporter(function)
    with prepared(function, args, kwargs, waiting=False) as (words, _):
        process.require(binaries.RUN, [*words, "--detach"], report)
    return JobHandle.of(report.job, function.options.target())


def submit_map(
    function: RemoteCallable[Any, R],
    bound: tuple[Any, ...],
    inputs: Iterable[Any],
    *,
    input_mode: str,
    max_concurrent: Optional[int],
    fail_fast: bool,
    chunk: Optional[int],
) -> BatchHandle[R]:
    """Submit a map, and return its handle."""
    calls = [arguments(value, input_mode) for value in inputs]
    if not calls:
        raise UsageError(f"there are no inputs for {function.__name__}")
    if max_concurrent is not None and max_concurrent < 1:
        raise UsageError(f"max_concurrent={max_concurrent}: expected at least 1, or None for as many as there are chunks")
    for args, kwargs in calls:
        check_arguments(function, (*bound, *args), kwargs)
    report = reporter(function)
    with prepared(function, bound, {}, calls=calls) as (words, _):
        words.append(f"--parallelism={min(max_concurrent or len(calls), len(calls))}")
        words += [] if chunk is None else [f"--chunk={chunk}"]
        process.require(binaries.RUN, [*words, "--detach"], report)
    return BatchHandle(JobHandle.of(report.job, function.options.target()), fail_fast=fail_fast)


def reporter(function: RemoteCallable[Any, Any], on_submitted: Optional[Callable[[], None]] = None) -> Reporter:
    return Reporter(function.options.all().get("logs", "stderr"), on_submitted=on_submitted)


@contextlib.contextmanager
def prepared(
    function: RemoteCallable[Any, Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], *, waiting: bool = True, calls: Sequence[Arguments] = ()
) -> Iterator[tuple[list[str], str]]:
    """Write a call into a temporary file, for as long as the context lasts.

    Args:
        function: what is called.
        args: the positional arguments.
        kwargs: the arguments by name.
        waiting: the command line is for a call that waits.
        calls: the arguments of each call of a map, beside args.

    Yields:
        The command line, and the file's directory, which only this user can read.
    """
    if not calls:
        check_arguments(function, args, kwargs)
    here, flags, inputs = project.current(), function.options.flags(waiting=waiting and not calls), payload.Inputs()
    directory = tempfile.mkdtemp(prefix="kinetic-")
    try:
        file = os.path.join(directory, PAYLOAD)
        root_flags = [flag for flag in flags if flag.startswith(ROOT_PARAMETERS)]
        with project.travelling(here, root_flags):
            payload.write(file, function, args, kwargs, inputs, here.main)
            lines = write_inputs(directory, function, args, calls, inputs)
        yield [*([here.target] if here.target else []), *flags, *inputs.flags(), f"--payload={file}", *lines], directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def write_inputs(
    directory: str, function: RemoteCallable[Any, Any], shared: tuple[Any, ...], calls: Sequence[Arguments], inputs: payload.Inputs
) -> list[str]:
    """Write the inputs of a map, and return the words of the command line for them."""
    if not calls:
        return []
    path = os.path.join(directory, "inputs.jsonl")
    with payload.create(path) as file:
        file.writelines(payload.encode(function, shared, args, kwargs, inputs).encode() for args, kwargs in calls)
    return [f"--map={path}"]


def check_arguments(function: RemoteCallable[Any, Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise the TypeError that a call in this process would raise if the arguments don't fit."""
    try:
        signature = inspect.signature(function.__wrapped__)
    except (TypeError, ValueError):
        return  # a built-in function that does not tell
    try:
        signature.bind(*args, **kwargs)
    except TypeError as exc:
        raise TypeError(f"{function.__name__}() {exc}") from None
