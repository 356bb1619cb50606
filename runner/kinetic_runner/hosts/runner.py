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
    try:
        group = find_group(os.environ, in_set)
    except PlaceUnknown as exc:
        problem = RunnerError(str(exc))
        if not in_set:
            raise problem from None
        # The set would restart this host for ever, so it ends the job as if it were the leader.
        return leader.run(options, signals, Group(0, 1, "", 1, in_set), problem)
    return (member if group.host else leader).run(options, signals, group)
