# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The runner of one of several hosts."""

import os

from ..errors import RunnerError
from . import leader, member
from .rendezvous import Group, PlaceUnknown, find_group


def run(options, signals):
    """Run one attempt on this host; return the exit code."""
    in_set = bool(options.release)
    if options.pathways:
        from .pathways import PathwaysAttempt

        return leader.run(PathwaysAttempt(options, signals))
    try:
        group = find_group(os.environ, in_set)
    except PlaceUnknown as exc:
        problem = RunnerError(str(exc))
        if not in_set:
            raise problem from None
        # The set would restart this host for ever, so it ends the job as if it were the leader.
        return leader.run(leader.LeaderAttempt(options, signals, Group(0, 1, "", 1, in_set)), problem)
    return member.run(options, signals, group) if group.host else leader.run(leader.LeaderAttempt(options, signals, group))
