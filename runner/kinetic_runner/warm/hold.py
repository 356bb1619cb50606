# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The program of a pod that is kept warm: its own flags are for the host, all others for the runner of each call."""

import json
import os
from contextlib import suppress

from ..contract import NAMES, OBJECTS, PORTS
from ..environment import WORK
from ..errors import RunnerError
from ..hosts.release import release
from ..hosts.rendezvous import PlaceUnknown, find_group
from ..options import seconds
from ..outcome import COMPLETED, DISRUPTED, EXIT_RUNNER, EXIT_TERMINATED
from ..signals import Signals
from ..text import tell, timestamp
from .group import Alone, Following, Leading
from .holder import Holder
from .keeper import PRELOADED
from .ends import store_of, unended

IDLE, LIMIT, LEVEL, ID, FIRST, INBOX, SET = FLAGS = (
    "--warm-idle", "--warm-limit", "--warm-level", "--warm-id", "--warm-first", "--warm-inbox", "--release",
)  # fmt: skip
ARG_START = 45  # where the command line begins in memory: its place in /proc/self/stat, after the name of the program


def main(argv, _):
    """Take calls until the host has been idle for long enough; return the exit code."""
    try:
        own, others = divide(argv[1:])
        idle, limit = seconds(own[IDLE]), seconds(own[LIMIT])
        first = json.loads("".join(own[FIRST])) if FIRST in own else None
        for word in own.get(FIRST, ()):
            overwrite(word)
        secret = bytes.fromhex(os.environ.pop(NAMES["warm_key"]))
    except (KeyError, ValueError) as exc:
        tell(f"kinetic: a warm host needs {IDLE}, {LIMIT} and {NAMES['warm_key']}: {exc}\n")
        return EXIT_RUNNER
    try:
        group, flags = place_of(os.environ, own.get(SET, ""), secret)
    except PlaceUnknown as exc:
        tell(f"kinetic: {exc}\n")
        return leave_set(own[SET], Alone(), str(exc)) if SET in own else EXIT_RUNNER
    if group.several and was_started_before(WORK):
        tell("kinetic: this container was started again: it takes no call\n")
        return leave_set(own[SET], group, "the hosts were started again", os.path.exists(left_file(WORK))) if SET in own else 1
    pod_uid, level = os.environ.get("KINETIC_POD_UID", ""), own.get(LEVEL, PRELOADED)
    host, argv = own.get(ID, ""), others + (first or {"argv": []})["argv"]
    holder = Holder(secret, pod_uid, WORK, PORTS["warm"], idle, limit, level, others + flags, group, lambda: unended(store_of(host, argv), host, secret))
    if first is not None:
        holder.expect(first)
        if not group.follows:
            holder.take(None, first)
    inbox = None
    if INBOX in own and first is not None:
        inbox = open_inbox(host, argv, group.number, holder.port)
    holder.serve()
    if inbox is not None:
        inbox.close()
    if holder.left_unended and not holder.terminated:
        open(left_file(WORK), "w").close()
    elif SET in own and not holder.terminated:
        return leave_set(own[SET], group, holder.lost)
    if holder.left_unended or holder.terminated and group.several:
        return EXIT_TERMINATED  # so that the Job ends the other hosts or starts another pod, or the set starts all of them
    return 1 if holder.lost else 0


def place_of(environ, leader_worker_set, secret):
    """Return the place of this host among several, and the flags about it for the runner of each call. Raise PlaceUnknown if the environment does not say it."""
    if not leader_worker_set and "KINETIC_LEADER" not in environ:
        return Alone(), []
    place, port = find_group(environ, bool(leader_worker_set)), PORTS["group"]
    repeats = bool(leader_worker_set)
    group = Following(place.host, place.leader, secret, port, repeats) if place.host else Leading(place.hosts, secret, port, repeats)
    return group, ["--group-port", str(PORTS["warm_group"])] + ["--release", leader_worker_set] * bool(leader_worker_set)


def open_inbox(host, argv, number, port):
    """Return the inbox of a pod of a host, by its number, in the store that the flags of a call name. Return None if it can't be opened."""
    from .inbox import Inbox  # only for clients without permission to forward ports

    try:
        return Inbox(store_of(host, argv), OBJECTS["warm_inbox"] % (host, number), port)
    except (OSError, RunnerError) as exc:
        tell(f"kinetic: this host takes calls only through its port: {exc}\n")
        return None


def left_file(work):
    """Return the file that exists once the pods of the set are to be replaced."""
    return os.path.join(work, "left")


def leave_set(leader_worker_set, group, lost, replaced=False):
    """End the set, which would start its pods again, unless that is wanted, and wait for SIGTERM; return the exit code."""
    signals = Signals()
    signals.never_raise()
    signals.install()
    if not (group.follows or replaced):
        finished, message = timestamp(), lost or "no further call came in time"
        end = {"version": 1, "state": "FAILED" if lost else "SUCCEEDED", "reason": DISRUPTED if lost else COMPLETED, "message": message}
        end.update(exit_code=1 if lost else 0, host=0, attempt=1, finished=finished, by="runner")
        release(leader_worker_set, end, lambda: signals.came)
    signals.wait()
    return EXIT_TERMINATED


def was_started_before(work):
    """Report whether this pod has had a holder before: the directory outlives the container."""
    try:
        os.makedirs(work, exist_ok=True)
        os.close(os.open(os.path.join(work, "held"), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return True
    return False


def overwrite(word):
    """Overwrite a word of this process's command line, where all calls could read the variables of the first one."""
    data = os.fsencode(word)
    with suppress(OSError, ValueError, IndexError), open("/proc/self/stat", "rb") as status, open("/proc/self/cmdline", "rb") as line:
        start, at = int(status.read().rpartition(b")")[2].split()[ARG_START]), line.read().find(b"\0" + data + b"\0")
        if data and at >= 0:
            with open("/proc/self/mem", "r+b", buffering=0) as memory:
                memory.seek(start + at + 1)
                memory.write(b"-" * len(data))


def divide(words):
    """Return the host's flags with their values, and the words for the runner of each call. A long first call comes in pieces."""
    own, others, rest = {}, [], iter(words)
    for word in rest:
        if word == FIRST:
            own.setdefault(word, []).append(next(rest, ""))
        elif word in FLAGS:
            own[word] = next(rest, "")
        else:
            others.append(word)
    return own, others
