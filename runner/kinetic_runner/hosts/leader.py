# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The attempt on host 0, the leader. It counts attempts, publishes and releases for all hosts."""

import math
import time
from contextlib import suppress

from .. import publish
from ..attempt import RAN_SECONDS, JobEnded
from ..errors import RunnerError, Unreachable
from ..outcome import DEADLINE_EXCEEDED, DISRUPTED, EXIT_DEADLINE, EXIT_RUNNER, EXIT_TERMINATED, TERMINATED, Outcome
from ..text import timestamp
from .attempt import HostAttempt, Restarted
from .peers import RESTART_SECONDS, Leader
from .release import release
from .verdict import verdict

MEET_SECONDS = 5.0  # for the other hosts to come, if the call of a warm host has already failed here, or before telling of the wait


def run(attempt, problem=None):
    """Run the attempt on host 0; return the exit code. A problem, if given, ends the job without a call."""
    try:
        outcome = attempt.guarded(lambda: attempt.call(problem))
    except JobEnded as ended:
        attempt.conclude(ended.end)
        publish.tell_host_of_end(attempt)
        return ended.exit_code
    except Restarted:
        return EXIT_RUNNER
    return attempt.finish(outcome)


class LeaderAttempt(HostAttempt):
    """The attempt on host 0."""

    def __init__(self, options, signals, group, child=None):
        super().__init__(options, signals, group, child)
        self.link = Leader(group.hosts, self.greeting, self.say)
        self._lost = set()  # the hosts that were missing before SIGTERM reached this one
        self._complete_at = None  # when all hosts had come, by time.monotonic()
        signals.listen(lambda: self._lost.update(self.link.missing))

    def call(self, problem):
        """Return the outcome of the call on this host."""
        self.open_store()
        self.refuse_if_ended()  # only release a job that has ended, whatever happened to the pod
        self.refuse_restart()
        if problem is not None:
            raise problem
        self.link.listen()
        spent = self.begin()
        self.link.attempt, self.link.ran = self.number, self.ran_before
        self.leave_mark(self.number)
        if spent is not None:
            return spent
        if self.number > 1 and self.options.warm and not self.repeats:
            return self.broken(frozenset())  # the cluster has started the warm hosts again
        if self.crashes:
            self.say(f"starting attempt {self.number} ({self.crashes} of {self.options.retries} retries used)")
        if not self.greeting.has_key and self.hosts > 1:
            self.say("warning: the job has no key for its hosts' port: any pod in the cluster can connect to it")
        call = self.fetch()
        return self.gather() or self.run_call(call)

    def gather(self):
        """Wait for all hosts, for calls give up on hosts that come much later. Return the outcome if the call does not start."""
        link = self.link
        come = lambda: link.complete or link.stopping or link.gone or self.signals.came  # noqa: E731
        self.wait(come, time.monotonic() + MEET_SECONDS)
        if not come():
            self.say(f"waiting for all {self.hosts} hosts to start")
        while not come():
            over = self.limit
            if over and time.monotonic() >= over[0]:
                outcome = Outcome(DEADLINE_EXCEEDED, EXIT_DEADLINE, f"the job {over[1]}")
                self.say(outcome.message)
                return outcome
            self.wait(come, min(time.monotonic() + RAN_SECONDS, over[0] if over else math.inf))
            if self.options.budget and not come():
                with suppress(RunnerError):
                    self.note_ran()
        self._complete_at = time.monotonic()
        if link.complete:
            return None
        link.stop()  # else the hosts that wait would start when the last one comes
        return self.stopped_early()

    @property
    def runtime_from(self):
        return self.began if self.options.warm else self._complete_at

    def finish(self, outcome):
        """Publish the outcome of all hosts and release them; return the exit code."""
        terminated = outcome.reason == TERMINATED
        if not self.number and terminated and self.repeats:
            if self.options.warm:
                publish.write_termination_message(self, outcome, timestamp())
            return EXIT_TERMINATED  # publish nothing: the job may have ended
        self.final = self.final or not self.number  # nothing limits attempts that are not counted
        if self.number and not terminated:
            self.save_log(outcome)
            outcome = self.agree(outcome)
        elif self.number and not self.restarts:
            outcome = self.broken(self._lost)  # lost hosts, if any, are why the Job ends this one
        end = publish.publish(self, outcome)
        if end is not None:
            publish.say_end(self, end)
        self.link.dismiss()
        if end is not None:
            self.settle_outputs()
        publish.flush_log(self)
        self.close_cache()
        self.leave_mark("")  # crashes are recorded by now
        self.conclude(end, outcome)
        return outcome.exit_code

    def agree(self, outcome):
        """Return the outcome of the attempt on all hosts."""
        link = self.link
        if self.options.warm:  # one that is late would wait for this host, which takes the next call
            self.wait(lambda: link.complete, time.monotonic() + MEET_SECONDS)
        link.report(outcome)
        link.give_time()
        gone = {}  # when each host that is gone was first found so

        def over():  # all is settled, or a host has been gone for so long that the cluster does not restart it
            nonlocal gone
            now = time.monotonic()
            gone = {host: gone.get(host, now) for host in link.gone}
            return link.settled(self.signals.came) or any(now >= at + RESTART_SECONDS for at in gone.values())

        self.wait(over)
        agreed = verdict(link.outcomes, link.missing, self.hosts)
        unsaved = [file for told in link.outcomes.values() for file in told.unsaved]
        if agreed is None:
            agreed = self.broken(link.missing)
        elif agreed is not outcome:
            agreed.message = f"host {agreed.host}: {agreed.message}"
        if agreed is not outcome:
            self.say(agreed.message)
        agreed.unsaved = unsaved
        told = [warning for _, other in sorted(link.outcomes.items()) for warning in other.warnings]
        agreed.warnings = list(dict.fromkeys(agreed.warnings + told))  # a member has no result to name its losses in
        return agreed

    def broken(self, gone):
        """Return the outcome of an attempt that lost these hosts or was terminated."""
        if gone:
            lost = gone.difference(self.link.outcomes) or gone  # the others were terminated afterwards
            names, were = ", ".join(f"host {host}" for host in sorted(lost)), "was" if len(lost) == 1 else "were"
            told = "" if lost.isdisjoint(self.link.outcomes) else "cancelled, "  # else it was terminated
            message = f"{names} {were} lost ({told}preempted, drained or crashed)"
        else:
            message = f"{'its hosts were' if self.repeats else 'host 0 was'} terminated (preempted, drained or deleted)"
        if self.restarts:
            return Outcome(TERMINATED, EXIT_TERMINATED, message)
        if not self.options.warm:
            message += "; an Indexed Job does not restart its hosts: use --backend lws"
        if self.signals.came and not self._lost:
            return Outcome(TERMINATED, EXIT_TERMINATED, message)
        return Outcome(DISRUPTED, EXIT_TERMINATED if self.repeats else 1, message)

    def why_it_ended(self, outcome):
        """Return the outcome for the attempt's record, with the reason if the host was terminated."""
        return self.broken(self._lost) if self.signals.came and outcome.reason == TERMINATED else outcome

    def publishing_failed(self, exc):
        """Make this attempt the last one: the store would refuse the next ones too."""
        self.final = self.final or isinstance(exc, RunnerError) and not isinstance(exc, Unreachable)

    def conclude(self, end, outcome=None):
        """Release the hosts of a set whose job has ended, and wait for SIGTERM."""
        if end is None and self.final:  # then only the set's annotation records the end
            end = self.tried_end or publish.end_document(self, outcome, timestamp())
        if end is None or not self.restarts:
            return
        self.signals.never_raise()
        self.link.close()
        release(self.options.release, end, lambda: self.signals.came)
        self.signals.wait()
