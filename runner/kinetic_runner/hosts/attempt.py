# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the attempts on all hosts of a job have in common."""

import math
import os
import signal
import time

from ..attempt import Attempt, NoCall
from ..errors import RunnerError, Unreachable, explain, text_of
from ..outcome import EXIT_RUNNER, EXIT_TERMINATED, KILLED, STOPPED, TERMINATED, Outcome
from ..publish import publish_log
from ..spool import LogParts, Spool
from ..text import timestamp
from .channel import KEY_VARIABLE, Greeting
from .rendezvous import rendezvous, tpu_environment

POLL_SECONDS = 0.2
CRASH_LEAD = 2.0  # seconds by which others may notice first that a call was killed, for they lost a peer
RESTART_SECONDS = 300.0  # for the cluster to start a broken group again


class Restarted(NoCall):
    """The container of this pod was started again: no call runs, because all hosts are about to start again."""


class HostAttempt(Attempt):
    """One attempt on one of several hosts. link is its connection to the others."""

    link = None

    def __init__(self, options, signals, group):
        super().__init__(options, signals, group.host, group.hosts)
        self.group = group
        self.final = options.final or not options.release
        self._mark = os.path.join(options.work, "attempt")  # outlives the container, not the pod
        if os.path.exists(self._mark):
            signals.never_raise()  # what a crash left is saved first, even if all hosts are about to start again
        os.environ.pop("KINETIC_LEADER", None)  # or a job that the call runs here would be taken for one of its hosts
        self.greeting = Greeting(options, os.environ.pop(KEY_VARIABLE, ""))

    def wait(self, done, until=math.inf):
        """Serves the other hosts until done(), but not longer than until, or than SIGTERM allows."""
        while not done() and time.monotonic() < min(until, self.signals.came_at + self.options.grace):
            self.link.attend(POLL_SECONDS)

    def refuse_restart(self):
        """Raises Restarted in a container that was started again, when what its crash left is saved."""
        if not os.path.exists(self._mark):
            self.leave_mark("")
            return
        self.say("this container was restarted: waiting for the cluster to restart all hosts")
        try:
            self._save_crash()
        except (RunnerError, OSError) as exc:
            self.say(f"warning: cannot record the crash: {explain(exc)}")
        self.wait(lambda: self.signals.came, time.monotonic() + RESTART_SECONDS)
        raise Restarted

    def leave_mark(self, number):
        """Notes in the pod the attempt that runs, or that none does."""
        with open(self._mark, "w", encoding="ascii") as file:
            file.write(str(number))

    def _save_crash(self):
        """Records that the runner crashed with its container, as happens when memory runs out, and saves what it had printed."""
        with open(self._mark, encoding="ascii") as file:
            number = file.read()
        if not number:
            return
        message = f"host {self.host}: killed, probably out of memory"
        self.records.end(number, message, timestamp(), KILLED)
        spool = Spool(os.path.join(self.scratch, "log"), keep=True)
        spool.recover()
        LogParts(self.store, self.options.job, self.host, number).publish_all(spool)

    def run_call(self, call):
        """The outcome of this host's call."""
        found = rendezvous(self.group, self.options.chips)
        variables = {name: value for name, value in found.items() if name not in os.environ}  # what the user has set stays
        variables.update(tpu_environment(self.group, self.options.chips, os.environ))
        outcome, supervisor = self.supervise(call, self.place(variables), self.link)
        if was_killed(supervisor):
            outcome.at -= CRASH_LEAD
        elif supervisor.stopped and not outcome.ok and outcome.reason != TERMINATED and outcome.at > supervisor.stopped_at:
            outcome = Outcome(STOPPED, EXIT_TERMINATED, f"{call.title} was stopped because another host failed")
        self.announce(outcome)
        return outcome

    def save_log(self, outcome):
        """Publishes what there is of the log: the job may run for long after this host has ended."""
        try:
            publish_log(self, outcome)
        except Unreachable as exc:
            self.say(f"warning: {text_of(exc)}")


def was_killed(supervisor):
    """Reports whether the call was killed by something else than the runner: it is likely that memory ran out."""
    return os.WIFSIGNALED(supervisor.status) and os.WTERMSIG(supervisor.status) == signal.SIGKILL and not supervisor.killed
