# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A job on one host: in a pod, or as a process on this machine."""

from . import publish
from .attempt import Attempt, JobEnded


def run(options, signals, child=None):
    """Run one attempt; return the exit code. child is an interpreter that waits for the function, or None."""
    attempt = Attempt(options, signals)
    try:
        outcome = attempt.guarded(lambda: call(attempt, child))
    except JobEnded as ended:
        publish.tell_host_of_end(attempt)
        return ended.exit_code
    end = publish.publish(attempt, outcome)
    if end is not None:
        publish.say_end(attempt, end)
        attempt.settle_outputs()
    publish.flush_log(attempt)
    attempt.close_cache()
    return outcome.exit_code


def call(attempt, child):
    """Return the outcome of the call."""
    attempt.open_store()
    attempt.refuse_if_ended()
    spent = attempt.begin()
    if spent is not None:
        return spent
    call = attempt.fetch()
    outcome, _ = attempt.supervise(call, attempt.place(call), child=child)
    attempt.announce(outcome)
    return outcome
