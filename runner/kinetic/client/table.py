# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Jobs side by side: what they were called with, how long they took, what they returned."""

from __future__ import annotations

import datetime
import json
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Optional, Union

from ..errors import JobNotFound
from ..job_status import JobStatus
from . import binaries, process
from .batch import BatchHandle
from .facts import CANCELLED
from .finding import place
from .handle import JobHandle

MOST_BYTES = 1 << 20  # of a value, as JSON
AT_ONCE = 8  # jobs that are asked about
TOO_LARGE = "a value has more than 1 MiB: result() returns it"
TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z")

Row = dict[str, Any]
Handle = Union[JobHandle[Any], BatchHandle[Any]]


def table(jobs: Union[Handle, str, Iterable[Union[Handle, str]]], **target: Any) -> list[Row]:
    """Return a list with a dict for each job, such as pandas.DataFrame takes.

    A dict has id, name, args, state, seconds, value and error; index, too, if it is for an input of a map. args are the arguments by
    name; None if they are unknown. The handle that a call in Python returned has them, and for a map those of the first 10,000
    inputs. For other jobs they are known if all of them are short texts and numbers, and none looks secret. seconds is None
    before the job runs, and for the inputs of a map. value is None unless the job has succeeded and its value is JSON of at
    most 1 MiB; other values are not downloaded. error is the type and the message of an exception, or why there is no value. Nothing is waited for or
    deleted; the values of a map are there once all of it has ended.

    Args:
        jobs: handles, ids, or one of them. A map has a dict for each input.
        **target: as for attach, where ids are to be looked for.
    """
    import concurrent.futures

    where = place(target)
    given = [jobs] if isinstance(jobs, (str, JobHandle, BatchHandle)) else list(jobs)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return [row for some in pool.map(lambda job: rows(job, where), given) for row in some]


def rows(job: Union[Handle, str], where: Mapping[str, Any]) -> list[Row]:
    """Return the dicts for a job."""
    handle: JobHandle[Any] = job.job if isinstance(job, BatchHandle) else JobHandle(job, target=where) if isinstance(job, str) else job
    try:
        about = process.ask(binaries.JOBS, handle._words("describe", "--output=json"), handle.named())
    except JobNotFound as exc:
        if isinstance(job, BatchHandle) and job._kept:
            return list(input_rows(job, {"function": job.name}))
        return [row(handle.job_id, handle.func_name, handle.args, "NOT_FOUND", None, *kept(handle, str(exc)))]
    handle = handle if handle.func_name else JobHandle.of(about, where)
    if about.get("map"):
        return list(input_rows(job if isinstance(job, BatchHandle) else BatchHandle(handle), about))
    end = about.get("end") or about["status"]
    state = CANCELLED if end.get("reason") == "Cancelled" else end["state"]
    value, error = kept(handle, problem(about))
    if state == "SUCCEEDED" and value is None and about.get("hasResult"):
        value, error = value_of(handle)
    args = handle.args if handle.args is not None else about.get("args") or arguments(about.get("call") or "")
    return [row(about["id"], about.get("function") or "", args, state, seconds(about["status"]), value, error)]


def row(job_id: str, name: str, args: Optional[Mapping[str, Any]], state: str, took: Optional[float], value: Any, error: Optional[str]) -> Row:
    return {"id": job_id, "name": name, "args": args, "state": state, "seconds": took, "value": value, "error": error}


def kept(handle: JobHandle[Any], error: Optional[str]) -> tuple[Any, Optional[str]]:
    """Return the value that a handle has kept, and no error; or else none, and the error."""
    return (handle._kept[0], None) if handle._kept else (None, error)


def problem(about: Mapping[str, Any]) -> Optional[str]:
    """Return why a job has no value, None if it has one or still runs."""
    error, end = about.get("error"), about.get("end") or {}
    if error:
        return ": ".join(filter(None, (error.get("type"), error.get("message"))))
    return None if end.get("state") in (None, "SUCCEEDED") else end.get("message") or end.get("reason") or None


def value_of(handle: JobHandle[Any]) -> tuple[Any, Optional[str]]:
    """Return the JSON value of a job that has succeeded, and None; or None, and why there is none."""
    said: list[bytes] = []
    ((value, error),) = values(handle, 1, said)
    if value is None and error is None:  # the function returned None, or what is too large for JSON
        events = (process.parse(line) or {} for line in b"".join(said).splitlines())
        error = "; ".join(warning for event in events for warning in event.get("warnings") or ()) or None
    return value, error


def values(handle: JobHandle[Any], count: int, said: list[bytes]) -> Iterator[tuple[Any, Optional[str]]]:
    """Yield the JSON values of a job that has ended, or of the inputs of a map, each with None; or None with why there is none.

    It reads no more once a value is too large.

    Args:
        handle: the job.
        count: how many values there are.
        said: gets the events, after the last value.
    """
    running = process.start(binaries.JOBS, handle._words("result", "--output=json", "--cleanup=false"))
    assert running.stdout is not None
    assert running.stderr is not None
    listening = threading.Thread(target=lambda: said.append(running.stderr.read()), daemon=True)  # type: ignore[union-attr]
    listening.start()
    try:
        missing = "its value can't be read"
        for _ in range(count):
            line = b"" if missing == TOO_LARGE else running.stdout.readline(MOST_BYTES)
            if len(line) == MOST_BYTES:
                missing, line = TOO_LARGE, b""
                running.kill()  # it would bring all of it
            yield (json.loads(line), None) if line.endswith(b"\n") else (None, missing)
        listening.join()
    finally:
        running.kill()
        running.wait()
        listening.join()
        for pipe in (running.stdin, running.stdout, running.stderr):
            if pipe is not None:
                pipe.close()


def input_rows(batch: BatchHandle[Any], about: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the dicts for the inputs of a map."""
    came = {outcome.index: outcome for outcome in batch._kept}
    try:
        states = batch.statuses()
    except JobNotFound:  # results() has kept what it deleted
        states = [(index, JobStatus.SUCCEEDED if came[index].exception is None else JobStatus.FAILED) for index in sorted(came)]
    read = values(batch.job, len(states), []) if not came and JobStatus(about["status"]["state"]).ended else None
    for index, state in states:
        value, error = next(read, (None, None)) if read is not None else (None, None)
        if index in came:
            exc = came[index].exception
            value, error = came[index].value, None if exc is None else f"{type(exc).__name__}: {exc}"
        elif state is JobStatus.FAILED:
            status = process.ask(binaries.JOBS, batch.job._words("status", f"--index={index}", "--output=json"), batch.job.named())
            error = status.get("message") or error
        args = batch._args[index] if index < len(batch._args) else None
        yield {**row(batch.group_id, about.get("function") or "", args, state.value, None, value, error), "index": index}


def arguments(call: str) -> Optional[dict[str, Any]]:
    """Return the arguments in the text of a call, such as train.py:train(lr=0.1, name="x") or train(lr=0.1); None if it doesn't have them all."""
    found = re.fullmatch(r"(?:[^ ('\"]+:)?[^ ('\":]+\((.*)\)", call)
    if not found:
        return None
    rest, args = found[1], {}
    while rest:
        name, equals, rest = rest.partition("=")
        try:
            value, end = json.JSONDecoder().raw_decode(rest)
        except ValueError:
            return None
        if not equals or not name.isidentifier() or rest[end : end + 2] not in ("", ", "):
            return None
        args[name], rest = value, rest[end + 2 :]
    return args


def seconds(status: Mapping[str, Any]) -> Optional[float]:
    """Return how long a job has run, by its status; None if it has not begun."""
    begun, ended = moment(status.get("started")), moment(status.get("finished"))
    return None if begun is None else round(max((time.time() if ended is None else ended) - begun, 0.0), 3)


def moment(text: Optional[str]) -> Optional[float]:
    """Return a time of the binaries in seconds; they have more digits than Python reads."""
    found = TIME.fullmatch(text or "")
    if not found:
        return None
    whole = datetime.datetime.strptime(found[1], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=datetime.timezone.utc)
    return whole.timestamp() + float(found[2] or 0)
