# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fetches the results of jobs."""

from __future__ import annotations

import builtins
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from typing import Any, NoReturn, Optional

from ..errors import Interrupted, KineticError, RemoteError, RemoteTraceback
from . import flags, loading, process
from .interrupts import Stop
from .report import Reporter

Event = process.Event


def fetch(
    binary: str,
    words: Sequence[str],
    file: str,
    report: Reporter,
    stop: Optional[Stop] = None,
    job: Optional[Event] = None,
    kept: Optional[list[Any]] = None,
) -> Any:
    """Run a binary that waits for a job and writes its pickled result into a file. Return the value.

    The binary writes only bytes whose hash it trusts. What it deletes of the job it deletes once the value is loaded.

    Args:
        binary: its name.
        words: its command line.
        file: where it is told to write.
        report: is told the events.
        stop: can end the waiting from another thread.
        job: the job, as for process.run; none if the binary submits it.
        kept: gets the value before it is deleted: Ctrl-C may end that, and others who wait for the value find it here from then on.

    Raises:
        Exception: what the function raised, with the traceback in the job as its cause.
        KineticError: there is no result; RemoteError if that is because the job failed.
        Interrupted: the waiting was ended, here or by stop. If kept has the value by then, the message names a file that has it, too.
    """
    values: list[Any] = []
    seen: list[Any] = [] if kept is None else kept

    def on_event(event: Event) -> None:
        report(event)
        if event["event"] == "result" and event["ok"]:
            values[:] = [value_of(file, event)]
            seen[:] = values if event.get("state") != "FAILED" else []

    try:
        answer = process.run(binary, words, on_event, stop=stop, job=job)
        if stop is not None and stop.asked and values and kept:
            raise KeyboardInterrupt
    except KeyboardInterrupt as exc:
        if values and kept and report.result is not None:
            raise interrupted(file, exc, report.result["job"]) from None
        raise
    event = report.result
    failed = answer.code != 0
    if event is None or event["ok"] and failed and (answer.error or {}).get("kind") == "job_failed":
        if values:
            seen.clear()
        raise process.failure(binary, answer) if failed else KineticError(f"{binary} reported no result")
    if event["ok"]:
        return values[0]
    raise_failure(file, event, process.failure(binary, answer))


def value_of(file: str, event: Event) -> Any:
    """Return the value in a file. If it can't be loaded, keep the file, so that another program can load it."""
    if event.get("pickle") is None:  # the command line has submitted the job
        with open(file, encoding="utf-8") as stream:
            return json.load(stream)
    try:
        return load(file)
    except Exception as exc:
        kept = keep(file, event["job"])
        advice = f"load it with pickle where its modules are; it is kept in {kept}"
        raise KineticError(f"the value of {event['job']} can't be loaded here ({type(exc).__name__}: {exc}): {advice}") from exc


def keep(file: str, job_id: str) -> str:
    """Move a file to where it stays, readable by this user alone, and return its path."""
    kept = os.path.join(tempfile.mkdtemp(prefix=f"{job_id}-"), "result.pkl")
    shutil.move(file, kept)
    return kept


def interrupted(file: str, exc: KeyboardInterrupt, job_id: str) -> Interrupted:
    """Return what to raise instead of an exception that came once the value was here, and the store may have lost it. Keep the file."""
    return Interrupted(f"{str(exc) or 'interrupted'}\n  its value is kept in {keep(file, job_id)}: load it with pickle", job_id)


def load(file: str) -> Any:
    with open(file, "rb") as stream:
        return loading.load(stream)


def raise_failure(file: str, event: Event, killed: KineticError) -> NoReturn:
    """Raise the exception of a failed job: its own, or a RemoteError.

    Args:
        file: where its pickle is, if it has one.
        event: the result event.
        killed: the error for a job that was ended before it could say why.
    """
    error = event.get("error") or {}
    text = error.get("traceback") or ""
    cause = RemoteTraceback(text, event.get("host") or 0, event.get("attempt") or 1) if text else None
    kind, message = described(event, killed)
    message = flags.explained(message) if kind is None else message  # one of the function's own has no flags of ours
    try:
        own = load(file) if os.path.exists(file) else None
    except Exception as exc:
        message = f"{message}\n  (its exception can't be loaded here: {type(exc).__name__}: {exc})"
    else:
        if isinstance(own, BaseException):
            raise own from cause
        if event.get("reason") == "Exception":
            message = f"{message}\n  ({why_remote(kind)})"
    raise RemoteError(
        message, job_id=event["job"], reason=event.get("reason") or "", type=kind, traceback=text, repr=error.get("repr")
    ) from cause


def why_remote(kind: Optional[str]) -> str:
    """Return why an exception without a pickle is raised as a RemoteError."""
    known = getattr(builtins, kind or "", None)
    if isinstance(known, type) and not issubclass(known, Exception):
        return f"a {kind} is not raised as itself: here it would mean that this program is to end"
    why = "the job was submitted on the command line, or it can't be pickled and loaded again, or does not derive from Exception"
    return f"it is not raised as {kind}: {why}"


def described(event: Event, killed: KineticError) -> tuple[Optional[str], str]:
    """Return the name of the type of a job's exception, None if it raised none, and the message for a RemoteError."""
    error = event.get("error")
    if not error:
        return None, str(killed)
    if event.get("reason") == "Cancelled":
        return None, f"{event['job']} was cancelled"
    if error["type"] == event.get("reason"):  # such as ExitCode
        return None, f"{event['job']} failed: {error['message']}"
    return error["type"], f"{event['job']} failed: {error['type']}: {error['message']}"
