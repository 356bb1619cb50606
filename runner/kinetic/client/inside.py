# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reaches into a running job: its debugger, its ports, and the stacks of its threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Optional

from ..errors import Interrupted
from . import binaries, checks, process
from .interrupts import Interrupts, interrupt
from .parameters import one
from .report import Reporter


def debug(words: Sequence[str], job: process.Event, logs: str) -> None:
    """Print how to attach a debugger, and forward its port until the job ends, or Ctrl-C.

    Args:
        words: the command line that does so.
        job: the job, as for process.run.
        logs: where all else goes, as for a Reporter.
    """
    _each_line(words, job, logs, lambda line: print(line, flush=True))


def of_host(host: Optional[int]) -> list[str]:
    """Return the words of a command line that choose one host, none for all of them."""
    if host is None:
        return []
    checks.whole(0)("host", host)
    return one("--host", host)


def stacks(words: Sequence[str], job: process.Event, logs: str) -> str:
    """Return where the threads of a job are, as a command prints it. Reasons for missing answers go where logs names."""
    lines: list[str] = []
    _each_line(words, job, logs, lambda line: lines.append(line + "\n"))
    return "".join(lines)


def _each_line(words: Sequence[str], job: process.Event, logs: str, do: Callable[[str], None]) -> None:
    """Run a command of jobs, and do something with each line of its output."""
    report = Reporter(logs)

    def take(event: process.Event) -> None:
        if event["event"] == "output":
            do(event["line"])
        else:
            report(event)

    process.require(binaries.JOBS, words, take, lines_on_output=True, job=job)


def forwarding(port: int, local_port: Optional[int], host: int) -> list[str]:
    """Return the words of a command line that forwards a port.

    Raises:
        ValueError: one of them is no such number.
    """
    checks.whole(1)("port", port)
    local_port = port if local_port is None else local_port
    checks.whole(0)("local_port", local_port)
    checks.whole(0)("host", host)
    return [f"{local_port}:{port}", *one("--host", host)]


class Forwarded:
    """A port of this machine that leads to one of a job until it is closed: a context manager.

    Attributes:
        port: the port.
        url: the same as http://127.0.0.1:PORT.
    """

    def __init__(self, words: Sequence[str], job: process.Event, logs: str) -> None:
        report = Reporter(logs)
        address = ""
        with Interrupts() as interrupts:
            self._running = process.Running(binaries.JOBS, words, lines_on_output=True, job=job)
            interrupts.pass_to(self._running.process)
            for event in self._running:
                if event["event"] == "output":
                    address = event["line"]
                    break
                report(event)
        if interrupts.count:
            raise Interrupted(self._running.last_words(), self._running.job_id)
        if not address:
            raise process.failure(binaries.JOBS, self._running.answer())
        self.port = int(address.rpartition(":")[2])
        self.url = f"http://{address}"
        self._reader = threading.Thread(target=self._tell, args=[report], daemon=True)
        self._reader.start()

    def _tell(self, report: Reporter) -> None:
        for event in self._running:
            report(event)

    def close(self) -> None:
        """Close the port. The job goes on."""
        interrupt(self._running.process)
        self._reader.join()

    def __enter__(self) -> Forwarded:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{self.url}>"
