# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tells the user what happens while a job is waited for."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable
from typing import Any, Optional

from ..job_status import JobStatus
from . import process

Event = process.Event

# Control characters but tabs and colours: what a job prints must not change the terminal's title or clipboard.
CONTROL = re.compile(r"(\x1b\[[0-9;]*m)|[\x00-\x08\x0a-\x1f\x7f-\x9f]")

WARNS = "kinetic: warning: "  # before each warning of a runner, in its log; the number of its host may come before it
OUTPUTS = re.compile(r"kubectl kinetic jobs outputs \S+ cp (\S+)[^;]*")
RESUME = re.compile(r"--resume-from (\S+)$")
ROUTINE = ("packaged", "payload", "succeeded")  # phases of every job
STEPS = 10  # of the progress of a map
LEVELS = {"warning": logging.WARNING, "error": logging.ERROR}


class Reporter:
    """Is told the events of a binary, and prints or logs them.

    Args:
        where: "stderr", "logging" or "none".
        on_status: is called with each new state of the job, as text.
        on_submitted: is called when the job exists.
        hosts: how many the job has, until it is submitted here.
        brief: leave out what is said of every job that has no trouble.
        said: the lines that are not printed again; new lines are added. None prints every line.

    Attributes:
        job: the handle of the submitted job, as the binary prints it; empty before.
        result: the result event, or None.
        warned: the runner's warnings that lines of the log have shown.
    """

    def __init__(
        self,
        where: str = "stderr",
        on_status: Optional[Callable[[str], None]] = None,
        on_submitted: Optional[Callable[[], None]] = None,
        hosts: int = 1,
        brief: bool = False,
        said: Optional[set[tuple[str, str]]] = None,
    ) -> None:
        self._say = speaker(where) if said is None else once(speaker(where), said)
        self._on_status = on_status
        self._on_submitted = on_submitted
        self._hosts = hosts
        self._brief = brief
        self._state = ""
        self._waits = ""
        self._tenth = 0
        self.job: dict[str, Any] = {}
        self.result: Optional[Event] = None
        self.warned: set[str] = set()

    def __call__(self, event: Event) -> None:
        kind = event["event"]
        if kind == "submitted":
            self.job = event["job"]
            self._hosts = self.job.get("hosts", 1)
            if self._on_submitted is not None:
                self._on_submitted()
            self._say("phase", f"submitted {self.job['job_id']}")
        elif kind == "result":
            self.result = event
            self._change(event)
            for warning in event.get("warnings") or ():
                if warning not in self.warned:
                    self._say("warning", in_python(warning, self.job))
        elif kind == "state":
            self._change(event)
        elif kind == "log":
            if WARNS in event["line"]:
                self.warned.add(event["line"].partition(WARNS)[2])
            self._say("log", origin(event, self._hosts) + event["line"])
        elif kind == "phase" and not (self._brief and event["name"] in ROUTINE):
            self._say("phase", f"{event['name']} {event.get('detail') or ''}".rstrip())
        elif kind == "progress" and event["name"] == "map":
            self._count(event["done"], event["total"])
        elif kind in ("note", "warning"):
            self._say(kind, in_python(event["message"], self.job))

    def _change(self, event: Event) -> None:
        state, message = event["state"], event.get("message") or ""
        if state != self._state and self._on_status is not None:
            self._on_status(state)
        routine = self._brief and state == "RUNNING" and message == "attempt 1"
        if message and message != self._waits and not routine:
            self._say("state", f"running: {message}" if state == "RUNNING" else message)
        self._state, self._waits = state, message

    def _count(self, done: int, total: int) -> None:
        """Tell how much of a map is done, ten times at most. Its end is a phase."""
        tenth = STEPS * done // max(total, 1)
        if self._tenth < tenth < STEPS:
            self._tenth = tenth
            self._say("phase", f"map {done:,}/{total:,} done")


def in_python(message: str, job: Event) -> str:
    """Return what is said about the outputs of a job with the code for them, instead of a command."""
    message = OUTPUTS.sub(lambda found: f"{process.handle(job)}.outputs(to={found[1]!r})", message) if job else message
    return RESUME.sub(lambda found: f"resume_from={found[1]!r}", message)


def origin(event: Event, hosts: int) -> str:
    """Return what tells the lines of several pods apart."""
    if "chunk" in event:
        return f"[chunk {event['chunk']}] "
    return f"[host {event['host']}] " if "host" in event and hosts > 1 else ""


def speaker(where: str) -> Callable[[str, str], None]:
    """Return what prints or logs a text of a kind, such as "note", where the parameter logs says."""
    return {"stderr": print_line, "logging": log_line, "none": ignore}[where]


def once(say: Callable[[str, str], None], said: set[tuple[str, str]]) -> Callable[[str, str], None]:
    """Return a function like say that skips the lines in said, and adds new ones to it."""

    def new(kind: str, text: str) -> None:
        if (kind, text) not in said:
            said.add((kind, text))
            say(kind, text)

    return new


def print_line(kind: str, text: str) -> None:
    """Print a line of a job as it is, and what the package says about the job with its name."""
    if sys.stderr is None:  # a program without a console
        return
    if kind == "log":
        prefix = ""
    else:
        prefix = "kinetic: warning: " if kind == "warning" else "kinetic: "
    text = prefix + text
    sys.stderr.write((clean(text) if sys.stderr.isatty() else text) + "\n")
    if kind != "log":  # a notebook takes half a millisecond for each flush, and shows all after a moment
        sys.stderr.flush()


def clean(text: str) -> str:
    """Return a line for a terminal: control sequences are escaped, colours stay."""
    return CONTROL.sub(lambda found: found[1] or f"\\x{ord(found[0]):02x}", text)


def log_line(kind: str, text: str) -> None:
    logger = logging.getLogger("kinetic.job" if kind == "log" else "kinetic")
    logger.log(LEVELS.get(kind, logging.INFO), "%s", text)


def ignore(kind: str, text: str) -> None:
    """Say nothing."""


def guarded(tell: Callable[[JobStatus], None]) -> Callable[[str], None]:
    """Return what tells a program of a state, and logs what that raises."""

    def changed(state: str) -> None:
        try:
            tell(JobStatus(state))
        except Exception:
            logging.getLogger("kinetic").exception("on_status_change raised for the state %s; the waiting goes on", state)

    return changed
