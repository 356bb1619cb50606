# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs a binary and reads what it says: events on standard error, an answer on standard output, which may be events, too."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import IO, Any, NamedTuple, Optional

from .. import errors
from . import binaries

Event = dict[str, Any]

MOST_INTERRUPTS = 2  # that a binary is told of
MOST_WAITING = 1000  # events that were read and not handled; a binary that is faster waits


class Answer(NamedTuple):
    """What a binary that has ended said.

    Attributes:
        code: its exit code.
        output: its standard output.
        error: its error event, or None.
    """

    code: int
    output: bytes
    error: Optional[Event]


def ask(name: str, words: Sequence[str]) -> Any:
    """Run a binary that prints one JSON document, and return that.

    Raises:
        KineticError: it failed.
    """
    answer = require(name, words)
    return json.loads(answer.output)


def ignore(event: Event) -> None:
    """Do nothing with an event."""


def require(name: str, words: Sequence[str], on_event: Callable[[Event], None] = ignore, *, events_on_output: bool = False) -> Answer:
    """Run a binary that must succeed, as run does.

    Raises:
        KineticError: it failed.
    """
    answer = run(name, words, on_event, events_on_output=events_on_output)
    if answer.code:
        raise failure(name, answer)
    return answer


def failure(name: str, answer: Answer) -> errors.KineticError:
    """Return the exception for a binary that failed."""
    if answer.error is None:
        return binaries.explain_silence(binaries.find(name), answer.code)
    error = answer.error
    return errors.of_kind(error.get("kind", ""), error.get("code", answer.code), error.get("message", ""), error.get("next"))


def run(name: str, words: Sequence[str], on_event: Callable[[Event], None], *, events_on_output: bool = False) -> Answer:
    """Run a binary to its end.

    Ctrl-C is passed on to it, so that it can say what becomes of the job. After a second one it waits for nothing; a third
    one kills it.

    Args:
        name: the binary.
        words: its command line, without --events; at least one.
        on_event: is called with each event, in this thread.
        events_on_output: read events from standard output, too.

    Raises:
        VersionMismatch: the binary is missing.
        Interrupted: Ctrl-C was pressed.
    """
    events: queue.Queue[Optional[Event]] = queue.Queue(MOST_WAITING)
    output: list[bytes] = []
    with Interrupts() as interrupts:
        process = start(name, words)
        interrupts.process = process
        readers = [threading.Thread(target=read_events, args=(process.stderr, events), daemon=True)]
        if events_on_output:
            readers.append(threading.Thread(target=read_events, args=(process.stdout, events), daemon=True))
        else:
            readers.append(threading.Thread(target=read_output, args=(process.stdout, output, events), daemon=True))
        for reader in readers:
            reader.start()
        handler = Handler(len(readers))
        try:
            handler.drain(events, on_event)
        except BaseException:
            process.kill()
            handler.drain(events, ignore)
            raise
        finally:
            process.wait()
    if interrupts.count:
        raise errors.Interrupted(handler.last_words(), handler.job_id)
    return Answer(process.returncode, b"".join(output), handler.error)


def start(name: str, words: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a binary that writes events."""
    command, *rest = words
    return subprocess.Popen(
        [binaries.find(name), command, "--events=json", *rest],  # what follows a -- would not be a flag
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=binaries.environment(),
        start_new_session=True,  # so that a terminal's Ctrl-C reaches it through this process alone
    )


class Interrupts:
    """Passes Ctrl-C on to a process instead of raising KeyboardInterrupt, which could come in the middle of anything.

    It does so in the main thread, unless the program handles Ctrl-C in its own way.

    Attributes:
        process: gets them.
        count: how many there were.
    """

    def __init__(self) -> None:
        self.process: Optional[subprocess.Popen[bytes]] = None
        self.count = 0
        self._handles = False

    def __enter__(self) -> Interrupts:
        in_main = threading.current_thread() is threading.main_thread()
        self._handles = in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._handles:
            signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._handles:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _handle(self, number: int, frame: object) -> None:
        self.count += 1
        if self.process is None or self.count > MOST_INTERRUPTS:
            raise KeyboardInterrupt
        if os.name == "nt":
            self.process.terminate()  # Windows has no such signal for one process
        else:
            self.process.send_signal(signal.SIGINT)


class Handler:
    """Handles the events of one run of a binary.

    Args:
        readers: how many threads put events into the queue. Each puts None when it is done.

    Attributes:
        error: the error event, or None.
        job_id: the id of the job that was submitted, or None.
    """

    def __init__(self, readers: int) -> None:
        self._readers = readers
        self.error: Optional[Event] = None
        self.job_id: Optional[str] = None

    def drain(self, events: queue.Queue[Optional[Event]], on_event: Callable[[Event], None]) -> None:
        """Handle events until there are no more."""
        while self._readers:
            event = events.get()
            if event is None:
                self._readers -= 1
                continue
            if event.get("event") == "error":
                self.error = event
            elif event.get("event") == "submitted":
                self.job_id = event["job"]["job_id"]
            on_event(event)

    def last_words(self) -> str:
        """What an interrupted binary said about the job, and how to find that again."""
        error = self.error or {"message": "interrupted"}
        said = errors.text(error.get("message", ""), error.get("next"))
        return f"{said}\n  its handle: kinetic.attach({self.job_id!r})" if self.job_id else said


def read_events(stream: Optional[IO[bytes]], events: queue.Queue[Optional[Event]]) -> None:
    """Put the events of a stream into a queue, then None.

    What is not an event is printed as it stands: credential plugins share the binary's standard error.
    """
    assert stream is not None
    with stream:
        for line in stream:
            event = parse(line)
            if event is not None:
                events.put(event)
            else:
                sys.stderr.write(line.decode("utf-8", "replace"))
    events.put(None)


def parse(line: bytes) -> Optional[Event]:
    """Return the event in a line, or None."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and "event" in event else None


def read_output(stream: Optional[IO[bytes]], output: list[bytes], events: queue.Queue[Optional[Event]]) -> None:
    """Read a stream to its end, then put None into a queue."""
    assert stream is not None
    with stream:
        output.append(stream.read())
    events.put(None)
