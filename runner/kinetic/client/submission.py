# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Submits the calls of decorated functions."""

from __future__ import annotations

import contextlib
import os
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Optional, TypeVar

from ..cell import cell
from ..decorator import RemoteCallable
from . import advice, binaries, facts, fitting, payload, process, project, result, scratch
from .flags import words_of
from .handle import JobHandle
from .report import Reporter

R = TypeVar("R")

PAYLOAD = "payload.pkl"
PACKAGE_PARAMETERS = ("--package-root", "--requirements")  # what decides which files are packaged, and where imports search


def call(function: RemoteCallable[Any, R], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> R:
    """Run a call as a job, and return its value."""
    function.options.require()
    if function.options.all().get("debug"):
        advice.require_terminal()
    with prepared(function, args, kwargs) as (words, directory):
        file = os.path.join(directory, "result.pkl")
        words.append(f"--output-file={file}")
        if not function.options.all().get("debug"):
            words.append("--cleanup=delete")
        report = reporter(function, on_submitted=lambda: remove(os.path.join(directory, PAYLOAD)))  # the store has it
        return result.fetch(binaries.RUN, words, file, report, kept=[])  # type: ignore[no-any-return]


def submit(function: RemoteCallable[Any, R], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> JobHandle[R]:
    """Submit a call as a job, and return its handle."""
    function.options.require()
    report = reporter(function)
    with prepared(function, args, kwargs, waiting=False) as (words, _):
        process.require(binaries.RUN, [*words, "--detach"], report)
    handle: JobHandle[R] = JobHandle.of(report.job, function.options.target())
    handle.obey(function.options.all())
    handle.remember(function.__wrapped__, args, kwargs)
    return handle


def remove(file: str) -> None:
    """Remove a file, unless another program holds it open on Windows. Its directory goes at the end."""
    with contextlib.suppress(OSError):
        os.unlink(file)


def reporter(function: RemoteCallable[Any, Any], on_submitted: Optional[Callable[[], None]] = None) -> Reporter:
    return Reporter(function.options.all().get("logs", "stderr"), on_submitted=on_submitted, brief=is_cell(function))


def is_cell(function: RemoteCallable[Any, Any]) -> bool:
    """Report whether a cell of a notebook is called."""
    return function.__wrapped__ is cell


@contextlib.contextmanager
def prepared(
    function: RemoteCallable[Any, Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    waiting: bool = True,
    lines: Optional[Callable[[str, payload.Inputs, Sequence[types.ModuleType]], list[str]]] = None,
) -> Iterator[tuple[list[str], str]]:
    """Write a call into a temporary file, for as long as the context lasts.

    Args:
        function: what is called.
        args: the positional arguments.
        kwargs: the arguments by name.
        waiting: the command line is for a call that waits.
        lines: writes the inputs of a map into the directory, and returns the words for them. It also gets the modules that travel by value.

    Yields:
        The command line, and the file's directory, which only this user can read.
    """
    advice.refuse_starting_process()
    if lines is None:
        fitting.binder(function)(args, kwargs)
    advice.default_accelerator(function.options.all(), is_cell=is_cell(function))
    shown = None if lines is not None or is_cell(function) else facts.shown(function.__wrapped__, args, kwargs, len(function.bound))
    here, flags, inputs = project.current(), function.options.flags(waiting=waiting), payload.Inputs()
    with scratch.directory() as directory:
        file = os.path.join(directory, PAYLOAD)
        modules = project.strangers(here, words_of(flags, PACKAGE_PARAMETERS))
        with project.travelling(modules):
            payload.write(file, function, args, kwargs, inputs, here.main, shown)
        more = lines(directory, inputs, modules) if lines is not None else []
        yield [*([here.target] if here.target else []), *flags, *inputs.flags(), f"--payload={file}", *more], directory
