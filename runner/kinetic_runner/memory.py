# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the control group of a container tells of memory that ran out."""

import os

CONTROL_GROUP = "/sys/fs/cgroup"
MACHINE = "/proc/vmstat"  # counts those of the whole machine, in the same form; only Linux has it
# The files that count the processes that the kernel has killed for want of memory, and that have the limit: of version 2, and of version 1.
FILES = ("memory.events", "memory.max"), ("memory/memory.oom_control", "memory/memory.limit_in_bytes")
UNLIMITED = 1 << 62  # bytes: version 1 has a number that is about twice this


class Memory:
    """Tells whether memory has run out since this was made."""

    def __init__(self, in_pod):
        # Without a container of its own, a job has no group that counts for it alone.
        self._in_pod = in_pod
        self._before = self._counted()

    def _counted(self):
        return counted(os.path.join(CONTROL_GROUP, events) for events, _ in FILES) if self._in_pod else counted([MACHINE])

    def ran_out(self):
        """Return a sentence if the kernel has killed a process for want of memory, "" if it has not, and None if nobody knows."""
        now = self._counted()
        if self._before is None or now is None:
            return None
        if now <= self._before:
            return ""
        if not self._in_pod:
            return "killed while this machine, or a limit on it, was out of memory"
        size = limit()
        return f"out of memory: {f'it used all of its {quantity(size)}' if size else 'its node had none left'}; request more with --memory"


def counted(paths):
    """Return how many processes the kernel has killed for want of memory, by the first of these files that says so; None if none does."""
    for path in paths:
        try:
            with open(path, encoding="ascii") as file:
                return int(dict(line.split() for line in file)["oom_kill"])
        except (OSError, KeyError, ValueError):
            pass
    return None


def limit():
    """Return the container's limit in bytes, 0 if it has none or that is not known."""
    for _, limit_file in FILES:
        try:
            with open(os.path.join(CONTROL_GROUP, limit_file), encoding="ascii") as file:
                size = int(file.read())
                return size if size < UNLIMITED else 0
        except (OSError, ValueError):
            pass
    return 0


def quantity(size):
    """Return a number of bytes as --memory takes it."""
    for unit, factor in ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10):
        if size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)
