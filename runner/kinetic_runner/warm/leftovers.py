# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a call has left running, and its temporary files, which the next one must not find."""

import os
import signal
import time
from contextlib import suppress

from ..bundle.unpack import empty_directory

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
                        empty_directory(path)
                        os.rmdir(path)
                    else:
                        os.unlink(path)


def names_in(place):
    """Return the names in a directory, none if it can't be read."""
    try:
        return set(os.listdir(place))
    except OSError:
        return set()


def end_others(keeps):
    """As PID 1 of a container, kill the processes in it, but for those that keeps(pid, parent) reports and those that came from outside, such as a shell."""
    until = time.monotonic() + END_SECONDS
    while time.monotonic() < until:
        left = [pid for pid, parent in processes() if parent and not keeps(pid, parent)]
        if not left:
            return
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                os.waitpid(-1, os.WNOHANG)
        time.sleep(POLL_SECONDS)


def processes():
    """Yield the pid and the parent's pid of each process but PID 1. The parent is 0 if that is outside of the container."""
    for name in os.listdir("/proc"):
        if name.isdigit() and name != "1":
            with suppress(OSError, IndexError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
                yield int(name), int(file.read().rpartition(b")")[2].split()[1])
