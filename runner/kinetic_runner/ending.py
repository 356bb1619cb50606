# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What follows the end of a call, up to its publication: the one place that keeps its outcome."""

import math
import os
import time

from . import losses, mounts
from .errors import Unreachable

# Kubernetes kills the runner at least three seconds after the end of --grace.
PUBLISH_GRACE = 2.5


def after_call(attempt, outcome, supervisor, place, errands):
    """Save and report what a call that has ended left.

    A finished call is never run again and never reported as anything else. So whatever
    fails here is a warning in its outcome, and publish() treats it in the same way: all
    but a result that cannot be stored, which makes the call run again. A stored result
    tells the next attempt how the job has ended, if this one could not.
    """
    try_to(attempt, outcome, "explain errors of files", lambda: explain_file_error(attempt))
    try_to(attempt, outcome, "save the outputs", lambda: save_outputs(attempt, outcome, supervisor))
    if attempt.cache:
        attempt.cache.ended(supervisor is None or os.WIFEXITED(supervisor.status))
    try_to(attempt, outcome, "look for lost files", lambda: tell_losses(attempt, outcome, place, errands))
    attempt.outage.say = attempt.say


def try_to(attempt, outcome, what, step):
    """Return what a step after the end of a call returns. A failure is a warning in the outcome of the call, and gives None."""
    try:
        return step()
    except Exception as exc:
        attempt.warn(outcome, f"cannot {what}: {attempt.explain(exc)}")
        if isinstance(exc, Unreachable):
            attempt.store.hurry(time.monotonic() + PUBLISH_GRACE)  # it has had its time
    return None


def explain_file_error(attempt):
    """Print what the call's last error of a file means for a mounted bucket."""
    if attempt.log.file_error:
        mounts.explain(attempt.log.file_error.decode("utf-8", "replace"), attempt.say)


def save_outputs(attempt, outcome, supervisor):
    """Save the outputs that the call has left, and note in its outcome what cannot be saved."""
    in_order = supervisor is None or left_in_order(outcome, supervisor, attempt.options.processes)
    outcome.unsaved = attempt.outputs.save(in_order)
    outcome.warnings += attempt.outputs.refusals


def left_in_order(outcome, supervisor, processes):
    """Return whether all files of a call are finished: it returned, or chose to end with exit code 0 or SystemExit, and was not cut off then.

    If one of several processes fails, also by SystemExit, the others are told to end.
    """
    exited, told = os.WIFEXITED(supervisor.status), supervisor.stopped_at < math.inf
    if supervisor.killed or told and not exited:
        return False
    by_itself = not told and not processes and (outcome.error or {}).get("type") == "SystemExit"
    return outcome.returned or exited and (by_itself or os.WEXITSTATUS(supervisor.status) == 0)


def tell_losses(attempt, outcome, place, errands):
    """Report lost output and files in the log and in the result."""
    for loss in losses.found(place, attempt.log, errands, attempt.in_pod) + losses.unsaved(outcome.unsaved):
        attempt.warn(outcome, loss)
    forgotten = losses.not_kept(place)
    if forgotten:
        attempt.say(forgotten)
