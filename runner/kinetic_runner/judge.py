# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The outcome of a call, from its wait status, its own report and what the runner did to it."""

import json
import os

from .memory import Memory
from .outcome import (
    COMPLETED, DEADLINE_EXCEEDED, EXIT_CODE, EXIT_DEADLINE, EXIT_KILLED, EXIT_RUNNER, EXIT_TERMINATED, KILLED, NO_PROGRAM, RUNNER_FAILURE, TERMINATED,
    Outcome, outcome_of_exit, outcome_of_signal, signal_name,
)


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
        return Outcome(EXIT_CODE, 1, f"{title} ended its process before returning")
    return outcome_of_exit(title, code)
