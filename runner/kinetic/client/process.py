# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs a binary and reads what it says: events on standard error, an answer on standard output."""

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


def require(name: str, words: Sequence[str], on_event: Callable[[Event], None] = lambda event: None) -> Answer:
    """Run a binary that must succeed, as run does.

    Raises:
        KineticError: it failed.
    """
    answer = run(name, words, on_event)
    if answer.code:
        raise failure(name, answer)
    return answer


def failure(name: str, answer: Answer) -> errors.KineticError:
    """Return the exception for a binary that failed."""
    if answer.error is None:
        return binaries.explain_silence(binaries.find(name), answer.code)
    error = answer.error
    return errors.of_kind(error.get("kind", ""), error.get("code", answer.code), error.get("message", ""), error.get("next"))


def run(name: str, words: Sequence[str], on_event: Callable[[Event], None]) -> Answer:
    """Run a binary to its end.

    Ctrl-C is passed on to it once, so that it can say what becomes of the job. A second one ends it at once.

    Args:
        name: the binary.
        words: its command line, without --events.
        on_event: is called with each event, in this thread.

    Raises:
        VersionMismatch: the binary is missing.
        Interrupted: Ctrl-C was pressed.
    """
    process = subprocess.Popen(
        [binaries.find(name), *words, "--events=json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=binaries.environment(),
        start_new_session=True,  # so that a terminal's Ctrl-C reaches it through this process alone, once
    )
    events: queue.Queue[Optional[Event]] = queue.Queue(MOST_WAITING)
    output: list[bytes] = []
    threads = (
        threading.Thread(target=read_events, args=(process.stderr, events), daemon=True),
        threading.Thread(target=read_output, args=(process.stdout, output), daemon=True),
    )
    for thread in threads:
        thread.start()
    handler = Handler(on_event)
    interrupted = finished = False
    try:
        try:
            handler.drain(events)
        except KeyboardInterrupt:
            interrupted = True
            interrupt(process)
            handler.drain(events)
        finished = True
    finally:
        if not finished:
            abandon(process, events)
        process.wait()
    threads[1].join()
    if interrupted:
        raise errors.Interrupted(handler.last_words(), handler.job_id)
    return Answer(process.returncode, b"".join(output), handler.error)


class Handler:
    """Handles the events of one run of a binary."""

    def __init__(self, on_event: Callable[[Event], None]) -> None:
        self._on_event = on_event
        self.error: Optional[Event] = None
        self.job_id: Optional[str] = None

    def drain(self, events: queue.Queue[Optional[Event]]) -> None:
        """Handle events until there are no more."""
        while True:
            event = events.get()
            if event is None:
                return
            if event.get("event") == "error":
                self.error = event
            elif event.get("event") == "submitted":
                self.job_id = event["job"]["job_id"]
            self._on_event(event)

    def last_words(self) -> str:
        """What an interrupted binary said about the job."""
        if self.error is not None:
            return " ".join(filter(None, (self.error.get("message", ""), self.error.get("next"))))
        return f"the job {self.job_id} goes on: kinetic.attach({self.job_id!r})" if self.job_id else "interrupted"


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Send a process what Ctrl-C sends. Windows has no such signal for a process without a console."""
    if os.name == "nt":
        process.terminate()
    else:
        process.send_signal(signal.SIGINT)


def abandon(process: subprocess.Popen[bytes], events: queue.Queue[Optional[Event]]) -> None:
    """End a process at once, and let the thread that reads its events end, too."""
    process.kill()
    while events.get() is not None:
        pass


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


def read_output(stream: Optional[IO[bytes]], output: list[bytes]) -> None:
    assert stream is not None
    with stream:
        output.append(stream.read())
