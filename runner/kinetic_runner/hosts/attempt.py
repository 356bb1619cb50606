# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The parts of an attempt that all hosts of a job share."""

import math
import os
import time

from .. import publish
from ..attempt import Attempt, NoCall
from ..ending import try_to
from ..errors import RunnerError, explain
from ..outcome import EXIT_TERMINATED, KILLED, STOPPED, TERMINATED, Outcome
from ..spool import LogParts, Spool
from ..text import timestamp
from .channel import KEY_VARIABLE, Greeting
from .peers import RESTART_SECONDS
from .rendezvous import rendezvous, tpu_environment

POLL_SECONDS = 0.2


class Restarted(NoCall):
    """This pod's container was restarted. No call runs, because all hosts are about to be restarted."""


class HostAttempt(Attempt):
    """One attempt on one of several hosts. link is its connection to the others.

    child is an interpreter that waits for the function, or None.
    """

    link = None

    def __init__(self, options, signals, group, child=None):
        super().__init__(options, signals, group.host, group.hosts)
        self.group, self._child = group, child
        self.repeats = bool(options.release)  # whether the cluster restarts all hosts when one is lost
        self.restarts = self.repeats and not options.warm  # whether it does when one ends
        self.final = options.final or not self.repeats
        self._mark = os.path.join(options.work, "attempt")  # outlives the container, not the pod
        if os.path.exists(self._mark):
            signals.never_raise()  # first save what a crash left, even if all hosts are about to be restarted
        os.environ.pop("KINETIC_LEADER", None)  # otherwise a job run by the call would take itself for one of the hosts
        self.greeting = Greeting(options, os.environ.pop(KEY_VARIABLE, ""))

    def attend(self):
        self.link.attend()

    def wait(self, done, until=math.inf):
        """Serve the other hosts until done(), the time until, or the end of the grace after SIGTERM."""
        while not done() and time.monotonic() < min(until, self.signals.came_at + self.options.grace):
            self.link.attend(POLL_SECONDS)

    def refuse_restart(self):
        """In a restarted container, save what the crash left and raise Restarted. One of a warm host takes no call."""
        if self.options.warm:
            return
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
        """Note in the pod which attempt runs, if any."""
        if self.options.warm:
            return
        with open(self._mark, "w", encoding="ascii") as file:
            file.write(f"{number} {boot_id()}" if number else "")

    def _save_crash(self):
        """Record that the container was killed, as when memory runs out, or that its node was lost, and save the rest of its log."""
        with open(self._mark, encoding="ascii") as file:
            number, _, boot = file.read().partition(" ")
        if not number:
            return
        number = int(number)
        message, reason = "killed, probably out of memory", KILLED
        if boot_id() not in (boot, ""):
            message, reason = "its node was restarted", None
        self.records.end(number, f"host {self.host}: {message}", timestamp(), reason)
        spool = Spool(os.path.join(self.scratch, "log"), keep=True)
        spool.recover()
        LogParts(self.store, self.options.job, self.host, number).publish_all(spool)
        self.leave_mark("")  # another restart has nothing to save

    def run_call(self, call):
        """Return the outcome of this host's call."""
        found = rendezvous(self.group, self.options.chips)
        variables = {name: value for name, value in found.items() if name not in os.environ}  # keep what the user has set
        variables.update(tpu_environment(self.group, self.options.chips, os.environ))
        outcome, supervisor = self.supervise(call, self.place(call, variables), self.link, self._child)
        if not supervisor.was_killed and supervisor.stopped and not outcome.ok and outcome.reason != TERMINATED and outcome.at > supervisor.stopped_at:
            outcome = Outcome(STOPPED, EXIT_TERMINATED, f"{call.title} was stopped because another host failed")
        self.announce(outcome)
        return outcome

    def stopped_early(self):
        """Return the outcome of a call that did not start, because the job has ended or failed on another host."""
        outcome = Outcome(STOPPED, EXIT_TERMINATED, "the job ended or failed before the call started on this host")
        self.say(outcome.message)
        return outcome

    def save_log(self, outcome):
        """Publish the log: the job may run long after this host has ended."""
        try_to(self, outcome, "store the end of the log", lambda: publish.publish_log(self))


def boot_id():
    """Return the id of the machine since its start, "" if that is not known."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""
