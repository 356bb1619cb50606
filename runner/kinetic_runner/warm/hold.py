# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The program of a pod that is kept warm: its own flags are for the host, all others for the runner of each call."""

import json
import os

from ..contract import NAMES, PORTS
from ..environment import WORK
from ..options import seconds
from ..outcome import EXIT_RUNNER
from ..text import tell
from .holder import Holder
from .keeper import PRELOADED

IDLE, LIMIT, LEVEL, FIRST = FLAGS = "--warm-idle", "--warm-limit", "--warm-level", "--warm-first"


def main(argv, _):
    """Take calls until the host has been idle for long enough; return the exit code."""
    try:
        own, others = divide(argv[1:])
        idle, limit = seconds(own[IDLE]), seconds(own[LIMIT])
        first = json.loads(own[FIRST]) if FIRST in own else None
        secret = bytes.fromhex(os.environ.pop(NAMES["warm_key"]))
    except (KeyError, ValueError) as exc:
        tell(f"kinetic: a warm host needs {IDLE}, {LIMIT} and {NAMES['warm_key']}: {exc}\n")
        return EXIT_RUNNER
    holder = Holder(secret, os.environ.get("KINETIC_POD_UID", ""), WORK, PORTS["warm"], idle, limit, own.get(LEVEL, PRELOADED), others)
    if first is not None:
        holder.take(None, first)
    holder.serve()
    return 0


def divide(words):
    """Return the host's flags with their values, and the words for the runner of each call."""
    own, others, rest = {}, [], iter(words)
    for word in rest:
        if word in FLAGS:
            own[word] = next(rest, "")
        else:
            others.append(word)
    return own, others
