# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The outcome of a call, from its wait status, its own report, what the runner did to it, and whether memory ran out."""

import json
import os

from .outcome import (
    DEADLINE_EXCEEDED, EXIT_CODE, EXIT_DEADLINE, EXIT_KILLED, EXIT_RUNNER, EXIT_TERMINATED, KILLED, NO_PROGRAM, RUNNER_FAILURE, TERMINATED,
    Outcome, outcome_of_exit, outcome_of_signal, signal_name,
)

CONTROL_GROUP = "/sys/fs/cgroup"
# The files of a container's control group that count the processes that the kernel has killed for want of memory, and that have the limit:
# of version 2, and of version 1.
FILES = ("memory.events", "memory.max"), ("memory/memory.oom_control", "memory/memory.limit_in_bytes")
UNLIMITED = 1 << 62  # bytes: version 1 has a number that is about twice this
MACHINE = "/proc/vmstat"  # counts those of the whole machine, in the same form; only Linux has it


class Told:
    """Collects what the child reports, and whether memory has run out meanwhile."""

    def __init__(self, scratch, in_pod):
        self.memory = Memory(in_pod)
        self._spare = os.path.join(scratch, "report.jsonl")  # used if the call has closed the pipe
        self.outcome = self.broken = self.no_program = self.exit_code = None
        self.on_failure = lambda: None  # called when the call has failed, before the process ends
        self.on_value = lambda value: None  # called with its JSON when the call has returned, before the process ends

    def note(self, report):
        """Process one report."""
        if "outcome" in report:
            self.outcome = Outcome.from_json(report["outcome"])
            if not self.outcome.ok:
                self.on_failure()
            elif self.outcome.returned and self.outcome.value is not None:
                self.on_value(self.outcome.value)
        elif "failed" in report:  # one of several processes has failed
            self.on_failure()
        self.broken = report.get("broken", self.broken)
        self.no_program = report.get("no_program", self.no_program)
        self.exit_code = report.get("exit_code", self.exit_code)

    def read_spare(self, note=None):
        """Process the reports that did not go through the pipe, once. A line that the call did not finish is none."""
        try:
            with open(self._spare, "rb") as file:
                for line in file:
                    try:
                        (note or self.note)(json.loads(line))
                    except (AttributeError, KeyError, TypeError, ValueError):
                        pass
            os.unlink(self._spare)
        except OSError:
            pass  # there are none


def judge(title, kind, supervisor, told, limit):
    """Return the outcome of a call that has ended. limit is the attempt's."""
    told.read_spare()
    outcome = told.outcome
    if outcome is not None and outcome.at <= supervisor.stopped_at:  # before SIGTERM, if any
        outcome.returned = outcome.returned or kind not in ("function", "pickle")  # sys.exit(0) of a program
        return with_warnings(title, outcome, supervisor) if outcome.returned else outcome
    if supervisor.hung:
        return Outcome(KILLED, EXIT_KILLED, f"{title} hung, and was ended (--hang-action restart); its log shows where it was")
    if supervisor.timed_out:
        return Outcome(DEADLINE_EXCEEDED, EXIT_DEADLINE, f"{title} {limit[1]}")
    if supervisor.terminated and not (outcome is not None and outcome.returned):
        # A call that saves its work and exits with code 0 has not finished: it starts again elsewhere.
        why = ": the program that waited for it has ended" if supervisor.abandoned else ""
        return Outcome(TERMINATED, EXIT_TERMINATED, f"{title} was terminated{why}", outcome and outcome.error)
    if outcome is None:
        outcome = outcome_of_status(title, kind, supervisor.status, told)
        outcome.at = supervisor.ended_at
    return outcome


def with_warnings(title, outcome, supervisor):
    """Return the outcome of a function that returned, with warnings about the end of its process."""
    if supervisor.killed or supervisor.timed_out or supervisor.terminated and os.WIFSIGNALED(supervisor.status):
        outcome.warnings.append(f"{title} returned, but its threads or exit handlers did not finish in time and were stopped")
    elif os.WIFSIGNALED(supervisor.status):
        outcome.warnings.append(f"{title} returned, but its process was killed by {signal_name(os.WTERMSIG(supervisor.status))} while exiting")
    return outcome


def outcome_of_status(title, kind, status, told):
    """Return the outcome of a process that reported none."""
    if told.no_program:
        return Outcome(NO_PROGRAM, 1, told.no_program)
    if told.broken:
        return Outcome(RUNNER_FAILURE, EXIT_RUNNER, f"the runner itself failed: {told.broken}")
    if os.WIFSIGNALED(status):
        if isinstance(told.exit_code, int):  # it had failed, and crashed while exiting
            return outcome_of_exit(title, told.exit_code)
        return outcome_of_signal(title, os.WTERMSIG(status), told.memory.ran_out())
    code = os.WEXITSTATUS(status)
    if kind in ("function", "pickle") and code == 0:
        return ended_early(title)
    return outcome_of_exit(title, code)


def ended_early(title):
    """Return the outcome of a function whose process has ended with code 0, but reported none."""
    return Outcome(EXIT_CODE, 1, f"{title} ended its process before returning")


class Memory:
    """Tells whether memory has run out since this was made."""

    def __init__(self, in_pod):
        # Without a container of its own, a job has no group that counts for it alone.
        self._in_pod = in_pod
        self._before = self._counted()

    def _counted(self):
        return counted(os.path.join(CONTROL_GROUP, events) for events, _ in FILES) if self._in_pod else counted([MACHINE])

    def ran_out(self):
        """Return a sentence if the kernel has killed a process for want of memory, "" if it has not, and None if nobody knows."""
        now = self._counted()
        if self._before is None or now is None:
            return None
        if now <= self._before:
            return ""
        if not self._in_pod:
            return "killed while this machine, or a limit on it, was out of memory"
        size = limit()
        return f"out of memory: {f'it used all of its {quantity(size)}' if size else 'its node had none left'}; request more with --memory"


def counted(paths):
    """Return how many processes the kernel has killed for want of memory, by the first of these files that says so; None if none does."""
    for path in paths:
        try:
            with open(path, encoding="ascii") as file:
                return int(dict(line.split() for line in file)["oom_kill"])
        except (OSError, KeyError, ValueError):
            pass
    return None


def limit():
    """Return the container's limit in bytes, 0 if it has none or that is not known."""
    for _, limit_file in FILES:
        try:
            with open(os.path.join(CONTROL_GROUP, limit_file), encoding="ascii") as file:
                size = int(file.read())
                return size if size < UNLIMITED else 0
        except (OSError, ValueError):
            pass
    return 0


def quantity(size):
    """Return a number of bytes as --memory takes it."""
    for unit, factor in ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10):
        if size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)
