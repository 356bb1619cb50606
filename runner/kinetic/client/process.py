# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs a binary and reads what it says: events on standard error, an answer on standard output, which may be events, too."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from typing import IO, Any, NamedTuple, Optional

from .. import errors
from . import binaries, flags
from .interrupts import Interrupts, Stop

Event = dict[str, Any]

PLACES = {"project": "project", "zone": "zone", "cluster_name": "cluster", "namespace": "namespace"}  # of a handle

CALLER_PIPE = "KINETIC_CALLER_PIPE"  # tells a binary what its standard input is
CALLER_FILES = "KINETIC_CALLER_FILES"  # descriptors of files that this process prints to, which are not packaged
CONFIRM = "confirm"  # it ends with the caller, which confirms that it has the result: before that, the binary deletes none

MOST_WAITING = 1000  # events that were read and not handled; a binary that is faster waits
LOOK_SECONDS = 0.2 if os.name == "nt" else None  # Python for Windows sees an interrupt only when it has waited


class Answer(NamedTuple):
    """What a binary that has ended said.

    Attributes:
        code: its exit code.
        output: its standard output.
        error: its error event, or None.
        job: the job that it was about or had submitted, None if it named none.
    """

    code: int
    output: bytes
    error: Optional[Event]
    job: Optional[Event] = None


def ask(name: str, words: Sequence[str], job: Optional[Event] = None) -> Any:
    """Run a binary that prints one JSON document, and return that.

    Args:
        name: the binary.
        words: its command line.
        job: the job that it is asked about, as for run.

    Raises:
        KineticError: it failed.
    """
    answer = require(name, words, job=job)
    return json.loads(answer.output)


def ignore(event: Event) -> None:
    """Do nothing with an event."""


def require(
    name: str,
    words: Sequence[str],
    on_event: Callable[[Event], None] = ignore,
    *,
    events_on_output: bool = False,
    lines_on_output: bool = False,
    job: Optional[Event] = None,
) -> Answer:
    """Run a binary that must succeed, as run does.

    Raises:
        KineticError: it failed.
    """
    answer = run(name, words, on_event, events_on_output=events_on_output, lines_on_output=lines_on_output, job=job)
    if answer.code:
        raise failure(name, answer)
    return answer


def failure(name: str, answer: Answer) -> errors.KineticError:
    """Return the exception for a binary that failed."""
    if answer.error is None and answer.code < 0:
        return errors.KineticError(killed(name, -answer.code, answer.job))
    if answer.error is None:
        return binaries.explain_silence(binaries.find(name), answer.code)
    kind, message = answer.error.get("kind", ""), answer.error.get("message", "")
    if kind == errors.UsageError.kind:
        message = flags.explained(message)
    return errors.of_kind(kind, answer.error.get("code", answer.code), message, answer.error.get("next"))


def killed(name: str, number: int, job: Optional[Event]) -> str:
    """Return the message for a binary that a signal has ended before it could say anything."""
    try:
        by = signal.Signals(number).name
    except ValueError:
        by = f"signal {number}"
    why = " (this machine may be short of memory)" if by == "SIGKILL" else ""
    said = f"{name} was killed by {by}{why}, and gave no answer"
    if job:
        return with_handle(f"{said}: {job['job_id']} may run on", job)
    return f"{said}: {'kinetic.list_jobs() has what it submitted' if name == binaries.RUN else 'try again'}"


def run(
    name: str,
    words: Sequence[str],
    on_event: Callable[[Event], None],
    *,
    events_on_output: bool = False,
    lines_on_output: bool = False,
    stop: Optional[Stop] = None,
    job: Optional[Event] = None,
) -> Answer:
    """Run a binary to its end.

    Ctrl-C is passed on to it, so that it can say what becomes of the job. After a second one it waits for nothing; a third
    one kills it, and so does the first one while on_event handles a result. The binary deletes a result after that.

    Args:
        name: the binary.
        words: its command line, without --events.
        on_event: is called with each event, in this thread.
        events_on_output: read events from standard output, too.
        lines_on_output: make each line of standard output an event of the kind output.
        stop: can end it from another thread.
        job: the job that it is about, as JobHandle.named returns it; none for a binary that submits one.

    Raises:
        NotInstalled: the binary is missing.
        Interrupted: Ctrl-C was pressed.
    """
    with Interrupts() as interrupts:
        running = Running(name, words, events_on_output=events_on_output, lines_on_output=lines_on_output, job=job)
        interrupts.pass_to(running.process)
        if stop is not None:
            stop.started(running.process)
        try:
            for event in running:
                interrupts.raises = event["event"] == "result"
                on_event(event)
                if interrupts.raises:
                    interrupts.raises = False
                    running.confirm()
        except BaseException as exc:
            running.kill()
            if isinstance(exc, KeyboardInterrupt):
                raise errors.Interrupted(running.last_words(), running.job_id) from None
            raise
    if interrupts.count:
        raise errors.Interrupted(running.last_words(), running.job_id)
    return running.answer()


def stream(name: str, words: Sequence[str], *, output: str, job: Optional[Event] = None) -> Generator[Event, None, Answer]:
    """Run a binary about a job, as run does, and yield its events, and the lines of its standard output as events of the kind output.

    Ctrl-C is handled as by run, while the next event is waited for. A generator that is closed kills the binary.

    Raises:
        NotInstalled: the binary is missing.
        Interrupted: Ctrl-C was pressed.
    """
    interrupts = Interrupts()
    with interrupts:
        running = Running(name, words, events_on_output=True, kind=output, job=job)
        interrupts.pass_to(running.process)
    try:
        while True:
            with interrupts:
                event = next(running, None)
            if event is None:
                break
            yield event
    except BaseException:
        running.kill()
        raise
    if interrupts.count:
        raise errors.Interrupted(running.last_words(), running.job_id)
    return running.answer()


def start(name: str, words: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a binary that writes events.

    Raises:
        NotInstalled: it is missing.
        VersionMismatch: it can't be run on this machine.
    """
    path = binaries.find(name)
    files = printed_to()
    try:
        return subprocess.Popen(
            [path, "--events=json", *words],  # first: it would be the value of a flag before it, or an argument after --
            stdin=subprocess.PIPE,  # ends with this process, even if it is killed
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**binaries.environment(), CALLER_PIPE: CONFIRM, CALLER_FILES: ",".join(map(str, files))},
            pass_fds=files,
            start_new_session=True,  # so that a terminal's Ctrl-C reaches it through this process alone
        )
    except OSError as exc:
        raise errors.VersionMismatch(f"cannot run {path}: {exc.strerror}: {binaries.INSTALL}") from exc
    finally:
        for file in files:
            os.close(file)


def printed_to() -> list[int]:
    """Return duplicates of the descriptors of standard output and standard error that are files; none on Windows, which can't pass them on."""
    files = []
    for fd in (1, 2) if os.name == "posix" else ():
        with contextlib.suppress(OSError):  # it is closed
            if stat.S_ISREG(os.fstat(fd).st_mode):
                files.append(os.dup(fd))
    return files


def with_handle(said: str, job: Event) -> str:
    """Return what was said about a job, and how to find that again."""
    return f"{said}\n  its handle: {handle(job)}"


def handle(job: Event) -> str:
    """Return the code for the handle of a job."""
    place = {name: job[key] for key, name in PLACES.items() if job.get(key)}
    if job.get("backend") == "local":
        place = {"local": True}
    target = "".join(f", {name}={value!r}" for name, value in job.get("target", place).items())
    attach = "attach_batch" if job.get("map") else "attach"
    return f"kinetic.{attach}({job['job_id']!r}{target})"


class Running:
    """A binary that runs. Iterating gives its events.

    Args:
        name: the binary.
        words: its command line, without --events.
        events_on_output: read events from standard output, too.
        lines_on_output: make each line of standard output an event, as run does.
        kind: what lines of standard output are that don't say what event they are.
        job: the job that it is about, as for run.

    Attributes:
        process: its process.
        job: the job that it is about or has submitted, the latter as it prints it; empty before.
    """

    def __init__(
        self,
        name: str,
        words: Sequence[str],
        *,
        events_on_output: bool = False,
        lines_on_output: bool = False,
        kind: str = "",
        job: Optional[Event] = None,
    ) -> None:
        self.process = start(name, words)
        self.job: Event = job or {}
        self._error: Optional[Event] = None
        self._output: list[bytes] = []
        self._events: queue.Queue[Optional[Event]] = queue.Queue(MOST_WAITING)
        self._readers = 2  # each puts None when it is done
        answer: Any = (read_output, self.process.stdout, self._events, self._output)
        if events_on_output:
            answer = (read_events, self.process.stdout, self._events, kind)
        elif lines_on_output:
            answer = (read_lines, self.process.stdout, self._events)
        for target, *args in ((read_events, self.process.stderr, self._events, ""), answer):
            threading.Thread(target=target, args=args, daemon=True).start()

    def __iter__(self) -> Running:
        return self

    def __next__(self) -> Event:
        while self._readers:
            try:
                event = self._events.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                continue
            if event is None:
                self._readers -= 1
                continue
            if event["event"] == "error":
                self._error = event
            elif event["event"] == "submitted":
                self.job = event["job"]
            return event
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()
        raise StopIteration

    def confirm(self) -> None:
        """Tell it that its result is here."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # it has ended
            os.write(self.process.stdin.fileno(), b"\n")

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        if sys.is_finalizing():  # then no other thread runs, and so nothing would put the last event
            return
        for _ in self:
            pass

    def answer(self) -> Answer:
        """What it said, after it has ended."""
        return Answer(self.process.returncode, b"".join(self._output), self._error, self.job or None)

    def last_words(self) -> str:
        """What an interrupted binary said about the job, and how to find that again."""
        error = self._error or {"message": "interrupted"}
        said = errors.text(error.get("message", ""), error.get("next"))
        return with_handle(said, self.job) if self.job else said

    @property
    def job_id(self) -> Optional[str]:
        """The id of the job, or None if it has not submitted one yet."""
        return self.job.get("job_id")


def read_events(stream: Optional[IO[bytes]], events: queue.Queue[Optional[Event]], kind: str) -> None:
    """Put the events of a stream into a queue, then None. A line that is no event becomes a note."""
    assert stream is not None
    try:
        with stream:
            for line in stream:
                events.put(parse(line, kind) or {"event": "note", "message": line.decode("utf-8", "replace").rstrip()})
    finally:
        events.put(None)


def parse(line: bytes, kind: str = "") -> Optional[Event]:
    """Return the event in a line, or None. One that doesn't say what it is is of the given kind."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(event, dict):
        return None
    return event if "event" in event else {"event": kind, **event} if kind else None


def read_lines(stream: Optional[IO[bytes]], events: queue.Queue[Optional[Event]]) -> None:
    """Put the lines of a stream into a queue as events, then None."""
    assert stream is not None
    try:
        with stream:
            for line in stream:
                events.put({"event": "output", "line": line.decode("utf-8", "replace").rstrip("\r\n")})
    finally:
        events.put(None)


def read_output(stream: Optional[IO[bytes]], events: queue.Queue[Optional[Event]], output: list[bytes]) -> None:
    """Read a stream to its end, then put None into a queue."""
    assert stream is not None
    try:
        with stream:
            output.append(stream.read())
    finally:
        events.put(None)
