# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Chooses what this process does: run a job, or be a child of the process that does."""

import os
import traceback
import sys

from .errors import RunnerError, Stopped
from .options import parse_options, usage
from .outcome import EXIT_RUNNER, EXIT_TERMINATED
from .signals import Signals
from .text import tell


def main(argv, early_signals=()):
    """Runs one attempt; returns the exit code. early_signals are those that came before this."""
    if "--help" in argv:
        print(usage())
        return 0
    signals = Signals()
    try:
        signals.install(early_signals)
        options = parse_options(argv[1:])
        return runner(options)(options, signals)
    except Stopped:
        return EXIT_TERMINATED  # nothing has begun that could be published
    except (RunnerError, OSError) as exc:
        tell(f"kinetic: {exc}\n")
    except Exception:
        tell(f"kinetic: the runner itself failed: {traceback.format_exc()}")
    return EXIT_RUNNER


def runner(options):
    """The function that runs an attempt of this kind of job."""
    if options.release or "KINETIC_LEADER" in os.environ:
        from .hosts.runner import run
    elif options.map:
        from .maps.runner import run
    else:
        from .single import run
    return run
