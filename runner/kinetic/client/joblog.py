# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The log of a job that runs."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from ..errors import Interrupted
from . import binaries, process
from .interrupts import Interrupts, Stop
from .report import Reporter, origin


class LogLines(Iterator[str]):
    """The lines of a job's log, without their ends: those so far, and new ones until the job ends.

    The log is read while it is iterated. One that nobody has iterated warns about it, since it has shown nothing.

    Args:
        words: the command line that follows the log.
        hosts: how many hosts the job has.
        job: the job, as for process.run.
    """

    def __init__(self, words: Sequence[str], hosts: int, job: process.Event) -> None:
        self._job_id = str(job["job_id"])
        self._begun = False
        self._lines = lines(words, hosts, job)

    def __next__(self) -> str:
        self._begun = True
        return next(self._lines)

    def close(self) -> None:
        """Read no more."""
        self._begun = True
        self._lines.close()

    def __del__(self) -> None:
        if not self.__dict__.get("_begun", True):
            message = f"the lines of logs(follow=True) of {self._job_id} were not read: iterate over them, or print them with result(stream_logs=True)"
            warnings.warn(message, RuntimeWarning, stacklevel=2)


def lines(words: Sequence[str], hosts: int, job: process.Event) -> Generator[str, None, None]:
    """Yield the lines that a command of jobs prints.

    Raises:
        KineticError: the command failed otherwise than because the job did.
    """
    events = process.stream(binaries.JOBS, words, output="", job=job)
    with contextlib.closing(events):
        while True:
            try:
                event = next(events)
            except StopIteration as end:
                answer: process.Answer = end.value
                break
            if event["event"] == "log":
                yield origin(event, hosts) + event["line"]
    if answer.code and (answer.error or {}).get("kind") != "job_failed":
        raise process.failure(binaries.JOBS, answer)


@contextlib.contextmanager
def printed(words: Sequence[str], hosts: int, job: process.Event, warned: set[str]) -> Iterator[Callable[[], None]]:
    """Print a log to standard error in another thread, for as long as the context lasts.

    Args:
        words: the command line that follows the log.
        hosts: how many hosts the job has.
        job: the job, as for process.run.
        warned: gets the warnings that the log shows, as those of a Reporter.

    Yields:
        What waits until all lines are printed.

    Raises:
        Interrupted: Ctrl-C was pressed while the thread began.
    """
    report, stop = Reporter(hosts=hosts), Stop()
    report.warned = warned

    def show(event: dict[str, Any]) -> None:
        if event["event"] == "log":
            report(event)

    def follow() -> None:
        with contextlib.suppress(Exception):  # who waits for the job says what is wrong
            process.run(binaries.JOBS, words, show, events_on_output=True, stop=stop)

    thread = threading.Thread(target=follow, daemon=True)
    with Interrupts() as interrupts:
        thread.start()
    try:
        if interrupts.count:
            raise Interrupted(process.with_handle("interrupted", job), job["job_id"])
        yield thread.join
    finally:
        stop.ask()
        thread.join()
