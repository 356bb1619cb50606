# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What comes of the inputs of a map, one by one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import IO, TYPE_CHECKING, Any, Optional

from ..errors import BatchError, Interrupted, KineticError, RemoteError, RemoteTraceback, UntrustedResult
from . import flags, loading, process, result, scratch
from .inputs import Outcome
from .report import Reporter

if TYPE_CHECKING:
    from .handle import JobHandle


Outcomes = Generator[Outcome, None, None]


def follow(
    binary: str,
    words: Sequence[str],
    file: Optional[str],
    of_job: Callable[[], JobHandle[Any]],
    on_event: Callable[[process.Event], None] = process.ignore,
    job: Optional[process.Event] = None,
) -> Outcomes:
    """Run a binary that writes what comes of a map, and yield the outcome of each input as it arrives.

    Only one outcome is in memory at a time.

    Args:
        binary: its name.
        words: its command line.
        file: where it is told to write pickles, None if its lines have JSON values.
        of_job: returns the handle of the map's job, once that exists.
        on_event: is called with each other event.
        job: the map's job, as for process.run; none if the binary submits it.

    Raises:
        KineticError: the binary failed otherwise than because inputs have no value, or the map ended before it began with any.
    """
    came = False
    events = process.stream(binary, words, output="input", job=job)
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.closing(events))
        pickles: Optional[IO[bytes]] = None
        while True:
            try:
                event = next(events)
            except StopIteration as end:
                answer: process.Answer = end.value
                break
            if event["event"] != "input":
                on_event(event)
                continue
            if pickles is None and file is not None and "offset" in event:
                pickles = stack.enter_context(open(file, "rb"))
            came = True
            yield outcome_of(event, pickles, of_job())
    if answer.code and not (came and (answer.error or {}).get("kind") == "job_failed"):
        raise process.failure(binary, answer)


def outcome_of(event: process.Event, pickles: Optional[IO[bytes]], job: JobHandle[Any]) -> Outcome:
    """Return what a line about an input says.

    Args:
        event: the line.
        pickles: the file that has its pickle, if there is one.
        job: the map's job.
    """
    index, error, job_id = event["index"], event.get("error") or {}, job.job_id
    try:
        value = load(pickles, event["offset"]) if pickles is not None and "offset" in event else event.get("value")
    except Exception as exc:
        unloadable = f"input {index} can't be loaded here ({type(exc).__name__}: {exc})"
        return Outcome(index, None, failed(error, job_id, unloadable), job)
    if event.get("ok", not error):
        return Outcome(index, value, None, job)
    if error.get("type") == "UntrustedResult":
        return Outcome(index, None, UntrustedResult(f"{job_id}: input {index}: {error.get('message')}"), job)
    message = ": ".join(filter(None, (f"input {index} failed", error.get("type"), error.get("message"))))
    message = flags.explained(message) if error.get("type") == "Killed" else message  # not one of the function's own
    exception = value if isinstance(value, BaseException) else failed(error, job_id, message)
    if error.get("traceback"):
        exception.__cause__ = RemoteTraceback(error["traceback"], event.get("host", 0), event.get("attempt", 1))
    return Outcome(index, None, exception, job)


def failed(error: dict[str, Any], job_id: str, message: str) -> RemoteError:
    return RemoteError(f"{job_id}: {message}", job_id=job_id, type=error.get("type"), traceback=error.get("traceback") or "")


def load(pickles: IO[bytes], offset: int) -> Any:
    pickles.seek(offset)
    return loading.load(pickles)


def values(job_id: Callable[[], str], outcomes: Iterable[Outcome], *, ordered: bool = True, return_exceptions: bool = False) -> list[Any]:
    """Return the values of all inputs, once all outcomes are there.

    Args:
        job_id: returns the id of the map's job.
        outcomes: what came of each input.
        ordered: in the order of the inputs, else as they came.
        return_exceptions: return the exception of an input that failed in the place of its value.

    Raises:
        BatchError: an input failed.
    """
    everything = list(outcomes)
    in_order = sorted(everything, key=lambda outcome: outcome.index)
    failures = [outcome for outcome in in_order if outcome.exception is not None]
    if failures and not return_exceptions:
        raise BatchError(job_id(), failures, [outcome.value for outcome in in_order])
    return [outcome.value if outcome.exception is None else outcome.exception for outcome in (in_order if ordered else everything)]


def collected(outcomes: Iterable[Outcome], into: list[Outcome], job: Callable[[], JobHandle[Any]], report: Reporter) -> None:
    """Put all outcomes into a list, and then delete the job if all inputs have a value. If it can't be deleted, warn: the values are here.

    Raises:
        Interrupted: Ctrl-C. If all outcomes were there, the list has them, and the message names a file that has the values.
    """
    into[:] = list(outcomes)
    if into and all(outcome.exception is None for outcome in into):
        try:
            _delete(job(), report)
        except KeyboardInterrupt as exc:
            raise interrupted(into, exc, job().job_id) from None


def interrupted(came: Sequence[Outcome], exc: KeyboardInterrupt, job_id: str) -> Interrupted:
    """Return what to raise instead of an exception that came once all values were here, as result.interrupted does."""
    import cloudpickle  # a handle needs none otherwise

    with scratch.directory() as directory:
        file = os.path.join(directory, "result.pkl")
        with open(file, "wb") as stream:
            cloudpickle.dump(values(lambda: job_id, came), stream)
        return result.interrupted(file, exc, job_id)


def _delete(job: JobHandle[Any], report: Reporter) -> None:
    try:
        job.cleanup()
    except KineticError as exc:
        report({"event": "warning", "message": f"{job.job_id} was not deleted: {exc}"})


def deleting(outcomes: Outcomes, job: JobHandle[Any], report: Reporter) -> Outcomes:
    """Yield outcomes, and delete the job after the last one if all inputs have a value. If it can't be deleted, warn."""
    came, complete = False, True
    with contextlib.closing(outcomes):
        for outcome in outcomes:
            came, complete = True, complete and outcome.exception is None
            yield outcome
    if came and complete:
        _delete(job, report)


def stopping(outcomes: Outcomes, cancel: Callable[[], None]) -> Outcomes:
    """Yield outcomes, and cancel the map before the first failure is."""
    cancelled = False
    with contextlib.closing(outcomes):
        for outcome in outcomes:
            if outcome.exception is not None and not cancelled:
                cancelled = True
                cancel()
            yield outcome
