# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The runner's command commit: kinetic.commit() for programs in other languages."""

import sys


def main(argv, _):
    """Save all finished outputs of the job now. Print what is left out; return the exit code."""
    from kinetic.pod import commit

    try:
        timeout = float(argv[2]) if argv[2:] else None
    except ValueError:
        print("usage: remote_runner.py commit [SECONDS]", file=sys.stderr)
        return 2
    try:
        for path in commit(timeout):
            print(f"kinetic: {path} is open, and not saved", file=sys.stderr)
    except OSError as exc:
        print(f"kinetic: {exc}", file=sys.stderr)
        return 1
    return 0
