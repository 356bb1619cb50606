# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The runner of one of several hosts."""

import os

from ..errors import RunnerError
from . import leader, member
from .rendezvous import Group, PlaceUnknown, find_group


def run(options, signals, child=None):
    """Run one attempt on this host; return the exit code. child is an interpreter that waits for the function, or None."""
    in_set = bool(options.release)
    if options.pathways:
        from .pathways import PathwaysAttempt

        return leader.run(PathwaysAttempt(options, signals))
    try:
        group = find_group(os.environ, in_set)
    except PlaceUnknown as exc:
        problem = RunnerError(str(exc))
        if not in_set or options.warm:
            raise problem from None
        # The set would restart this host for ever, so it ends the job as if it were the leader.
        return leader.run(leader.LeaderAttempt(options, signals, Group(0, 1, "", 1, in_set)), problem)
    if group.host:
        return member.run(options, signals, group, child)
    return leader.run(leader.LeaderAttempt(options, signals, group, child))
