# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a call has left running, and its temporary files, which the next one must not find."""

import os
import signal
import time
from contextlib import suppress

from ..bundle.unpack import remove
from ..process import reap

END_SECONDS, POLL_SECONDS = 5.0, 0.005
PLACES = ("/tmp", "/var/tmp", "/dev/shm")


class Leftovers:
    """Remembers what is in the places of temporary files before any call, and removes what has come since."""

    def __init__(self, places=PLACES):
        self._before = {place: names_in(place) for place in places}

    def remove(self):
        """Remove what calls have left. What can't be removed stays."""
        for place, before in self._before.items():
            for name in names_in(place) - before:
                path = os.path.join(place, name)
                with suppress(OSError):
                    if os.path.isdir(path) and not os.path.islink(path):
                        remove(path)
                    else:
                        os.unlink(path)


def names_in(place):
    """Return the names in a directory, none if it can't be read."""
    try:
        return set(os.listdir(place))
    except OSError:
        return set()


def end_others(keeps):
    """As PID 1 of a container, kill its descendants, except for processes for which keeps(pid, running) is true.

    A shell from outside, and what it runs, stays.
    """
    until = time.monotonic() + END_SECONDS
    while time.monotonic() < until:
        running = processes()
        left = [pid for pid in running if descends(pid, running) and not keeps(pid, running)]
        if not left:
            return
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for _ in reap():
            pass
        time.sleep(POLL_SECONDS)


def descends(pid, running, ancestor=1):
    """Report whether a process descends from another one. That is PID 1, unless it is one outside of the container."""
    while pid in running:
        pid = running[pid]
        if pid == ancestor:
            return True
    return False


def processes():
    """Return the parent's pid of each running process but PID 1, 0 if that is outside of the container."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and name != "1":
            with suppress(OSError, IndexError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
                if state != b"Z":  # which has ended, though its parent does not know
                    found[int(name)] = int(parent)
    return found
