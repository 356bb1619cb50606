# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tells the user what happens while a job is waited for."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any, Optional

from . import process

Event = process.Event

LEVELS = {"warning": logging.WARNING, "error": logging.ERROR}


class Reporter:
    """Is told the events of a binary, and prints or logs them.

    Args:
        where: "stderr", "logging" or "none".
        on_status: is called with each new state of the job, as text.

    Attributes:
        job: the handle of the submitted job, as the binary prints it; empty before.
        result: the result event, or None.
    """

    def __init__(self, where: str = "stderr", on_status: Optional[Callable[[str], None]] = None) -> None:
        self._say = {"stderr": print_line, "logging": log_line, "none": ignore}[where]
        self._on_status = on_status
        self._state = ""
        self._waits = ""
        self.job: dict[str, Any] = {}
        self.result: Optional[Event] = None

    def __call__(self, event: Event) -> None:
        kind = event["event"]
        if kind == "submitted":
            self.job = event["job"]
            self._say("phase", f"submitted {self.job['job_id']}")
        elif kind == "result":
            self.result = event
            self._change(event)
        elif kind == "state":
            self._change(event)
        elif kind == "log":
            self._say("log", self._prefix(event) + event["line"])
        elif kind == "phase":
            self._say("phase", f"{event['name']} {event.get('detail') or ''}".rstrip())
        elif kind in ("note", "warning"):
            self._say(kind, event["message"])

    def _change(self, event: Event) -> None:
        state, message = event["state"], event.get("message") or ""
        if state != self._state and self._on_status is not None:
            self._on_status(state)
        if message and message != self._waits:
            self._say("state", f"running: {message}" if state == "RUNNING" else message)
        self._state, self._waits = state, message

    def _prefix(self, event: Event) -> str:
        """Return what tells the lines of several pods apart."""
        if "chunk" in event:
            return f"[chunk {event['chunk']}] "
        return f"[host {event['host']}] " if "host" in event and self.job.get("hosts", 1) > 1 else ""


def print_line(kind: str, text: str) -> None:
    """Print a line of a job as it is, and what the package says about the job with its name."""
    if kind == "log":
        prefix = ""
    else:
        prefix = "kinetic: warning: " if kind == "warning" else "kinetic: "
    print(prefix + text, file=sys.stderr, flush=True)


def log_line(kind: str, text: str) -> None:
    logger = logging.getLogger("kinetic.job" if kind == "log" else "kinetic")
    logger.log(LEVELS.get(kind, logging.INFO), "%s", text)


def ignore(kind: str, text: str) -> None:
    """Say nothing."""
