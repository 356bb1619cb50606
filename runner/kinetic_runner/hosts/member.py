# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The attempt on a host other than the leader. It keeps its own log and reports how its call ended."""

import time

from .. import publish
from ..attempt import NoCall
from ..outcome import EXIT_RUNNER, STOPPED, TERMINATED
from ..text import timestamp
from .attempt import HostAttempt, Restarted
from .peers import Member

UNREACHABLE_SECONDS = 60.0  # before telling why host 0 is not there


def run(options, signals, group, child=None):
    """Run the attempt; return the exit code."""
    attempt = MemberAttempt(options, signals, group, child)
    try:
        return attempt.finish(attempt.guarded(attempt.call))
    except Restarted:
        return EXIT_RUNNER
    except Refused:
        attempt.say("the leader refused this host: was the job's Secret created after this pod?" + " The hosts will restart" * attempt.restarts)
        return EXIT_RUNNER


class Refused(NoCall):
    """The leader refused this host's greeting: its key is missing or wrong. A new pod may have the right one."""


class MemberAttempt(HostAttempt):
    """The attempt on a host other than 0."""

    def __init__(self, options, signals, group, child=None):
        super().__init__(options, signals, group, child)
        self.link = Member(group.leader, self.greeting, group.host)

    def call(self):
        """Return the outcome of the call on this host."""
        self.open_store()
        self.refuse_restart()
        self.open_log()
        call = self.fetch()
        return self.run_call(call) if self.meet() and self.gather() else self.stopped_early()

    def note_failure(self):
        self.link.note_failure()

    def meet(self):
        """Wait for the leader and join its attempt; return whether to run the call."""
        link = self.link
        met = lambda: self.signals.came or link.attempt or link.stopping or link.refused  # noqa: E731
        self.wait(met, time.monotonic() + UNREACHABLE_SECONDS)
        if not met() and link.problem:
            self.say(f"waiting for host 0, {link.leader}: {link.problem}: it is still starting, or a NetworkPolicy is in the way")
        self.wait(met)
        if link.refused:
            raise Refused
        if link.stopping or not link.attempt:
            return False
        self.ran_before = link.ran
        self.join(link.attempt)
        self.leave_mark(self.number)
        return True

    def gather(self):
        """Wait for the other hosts; return whether to run the call."""
        link = self.link
        self.wait(lambda: self.signals.came or link.complete or link.stopping or link.lost)
        self.began = time.monotonic()
        return not (link.stopping or link.lost)

    def finish(self, outcome):
        """Publish this host's log and report to the leader; return the exit code."""
        if not self.number and outcome.reason not in (STOPPED, TERMINATED):
            self.meet()  # otherwise the failure would stay unknown
        self.save_log(outcome)
        publish.write_termination_message(self, outcome, timestamp())
        publish.flush_log(self)
        self.link.report(outcome)
        # Exiting would restart all hosts, or fail the job before the leader has published why.
        self.wait(lambda: self.signals.came or self.link.lost)
        if self.restarts or not self.number and not self.options.warm:
            self.signals.wait()
        self.close_cache()
        return outcome.exit_code
