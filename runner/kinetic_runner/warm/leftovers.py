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
USERS = {"shm": (4,), "msg": (5, 6), "sem": ()}  # columns of /proc/sysvipc with the processes that have made an object, or used it last
REMOVE, LAST_USER, SUBREAPER = 0, 11, 36  # commands of semctl and the like, and of prctl
EMPTY_DIR = "/kubernetes.io~empty-dir/"  # in the path of such a volume on its node


class Leftovers:
    """Remembers what is in the places of temporary files before any call, and the System V objects, and removes what has come since.

    A place that an overlay has put on a volume stays as it is: other pods may use it.
    """

    def __init__(self, places=PLACES):
        mounts = mounted()
        self._before = {place: names_in(place) for place in places if is_own(place, mounts)}
        self._objects = set(system_objects())

    def remove(self):
        """Remove what calls have left. What can't be removed stays."""
        for place, before in self._before.items():
            for name in names_in(place) - before:
                path = os.path.join(place, name)
                with suppress(OSError, RecursionError):  # of directories within each other, Python removes about a thousand
                    if os.path.isdir(path) and not os.path.islink(path):
                        remove(path)
                    else:
                        os.unlink(path)
        for (kind, number), words in system_objects().items():
            if (kind, number) not in self._objects:
                remove_own(kind, number, [int(words[column]) for column in USERS[kind]])


def mounted():
    """Return what is mounted: where, the directory of its file system that is there, and the type of that; nothing if it is not known."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            return [(words[4], words[3], words[words.index("-") + 1]) for words in map(str.split, file)]
    except (OSError, IndexError, ValueError):
        return []


def is_own(place, mounts):
    """Report whether a place is in the container itself, in memory, or in an emptyDir, rather than in a volume that pods may share."""
    path = os.path.realpath(place) + "/"
    above = [mount for mount in mounts if path.startswith(mount[0].rstrip("/") + "/")]
    if not above:
        return True
    point, folder, kind = max(reversed(above), key=lambda mount: len(mount[0]))  # of two at one place, the last one hides the other
    return point == "/" or kind == "tmpfs" or EMPTY_DIR in folder


def names_in(place):
    """Return the names in a directory, none if it can't be read."""
    try:
        return set(os.listdir(place))
    except OSError:
        return set()


def system_objects():
    """Return what the system says of shared memory, queues and semaphores of System V: words, by kind and ID."""
    found = {}
    for kind in USERS:
        with suppress(OSError), open(f"/proc/sysvipc/{kind}", encoding="ascii") as file:
            found.update({(kind, int(words[1])): words for words in map(str.split, file.readlines()[1:])})
    return found


def remove_own(kind, number, users):
    """Remove a System V object that processes of this container have made, or used last: 0 is one elsewhere, such as in another pod."""
    import ctypes

    control = getattr(ctypes.CDLL(None), kind + "ctl")
    if max(users or [control(number, 0, LAST_USER)]) > 0:
        control(number, *((0, REMOVE) if kind == "sem" else (REMOVE, None)))


def adopt_orphans():
    """Become the parent of descendants whose parents end, which PID 1 is in any case. Return whether that is possible."""
    import ctypes

    return not ctypes.CDLL(None).prctl(SUBREAPER, *map(ctypes.c_ulong, (1, 0, 0, 0)))


def end_others(keeps):
    """Kill the descendants of this process, which adopts orphans, except for processes for which keeps(pid, running) is true.

    A shell from outside, and what it runs, stays.
    """
    until = time.monotonic() + END_SECONDS
    while time.monotonic() < until:
        running = processes()
        left = [pid for pid in running if descends(pid, running, os.getpid()) and not keeps(pid, running)]
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
