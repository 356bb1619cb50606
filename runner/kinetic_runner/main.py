# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Choose what kind of job this process runs."""

import functools
import os

from .environment import NETRC_VARIABLE
from .errors import RunnerError, Stopped
from .options import parse_options, usage
from .outcome import EXIT_RUNNER, EXIT_TERMINATED
from .signals import Signals
from .text import tell


def main(argv, early_signals=(), child=None, swept=None):
    """Run one attempt; return the exit code.

    early_signals are those that arrived before this call. child is an interpreter that waits for a function, or None.
    swept is a Swept of warm/swept.py, or None.
    """
    if "--help" in argv:
        print(usage())
        return 0
    signals = Signals()
    try:
        signals.install(early_signals)
        options = parse_options(argv[1:])
        if options.caller:
            signals.follow(options.caller)
        options.swept = swept
        options.netrc = os.environ.pop(NETRC_VARIABLE, "")
        return runner(options, child)(options, signals)
    except Stopped:
        return EXIT_TERMINATED  # nothing has started that could be published
    except (RunnerError, OSError) as exc:
        tell(f"kinetic: {exc}\n")
    except Exception:
        import traceback  # slower to import than everything above

        tell(f"kinetic: the runner itself failed: {traceback.format_exc()}")
    return EXIT_RUNNER


def runner(options, child):
    """Return the function that runs an attempt at this kind of job."""
    several = options.release or "KINETIC_LEADER" in os.environ
    if options.function and options.map:
        raise RunnerError("--function supports one call only")
    if options.map and not several:
        from .maps.runner import run

        return run
    if several:
        from .hosts.runner import run
    else:
        from .single import run
    return functools.partial(run, child=child)
