# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Several hosts that are warm together: all of them run a call, or none does.

The holder of host 0 leads: clients give calls to it, and it gives each call to the holders of the others, which are connected to
it. It begins the call itself when they all have. A host that loses another one takes no further call.
"""

import errno
import json
import math
import os
import socket
import time

from ..outcome import EXIT_TERMINATED
from ..hosts.peers import SPARE_CONNECTIONS, allow_open_files
from . import frames
from .connections import Peer
from .frames import Frames
from .keeper import PROCESS

REASON_SECONDS = 1.0  # from the loss of a host to the end of the call
SILENT_SECONDS = 17.0  # if the host was silent: the connection of the runner has a clock of its own
END_SECONDS, FAILED_SECONDS = 10.0, 1.0  # for a call to end after it has ended, or failed, on host 0
LABEL = "hosts"  # in place of a pod's UID
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 2.0  # seconds between tries to connect


class Alone:
    """A host without others."""

    number = 0  # of this host
    several = False  # whether there are others
    follows = False  # whether host 0 decides which calls run, and when this host ends
    repeats = True  # whether another pod, or others, run a call again if a pod is lost
    complete = True  # whether all hosts are there
    next_at = math.inf  # the time.monotonic() of the next attend()

    def open(self, holder):
        """Connect the hosts."""

    def attend(self):
        """Do what is due."""

    def give(self, order, kept):
        """Give a call to the other hosts; return whether they all have begun it. kept says whether the process of the last call is kept here."""
        return True

    def has(self, order):
        """Report whether the other hosts have got a call that has not begun here."""
        return False

    def began(self, job):
        """Note that a call has begun here."""

    def cancel(self, job):
        """End a call on the other hosts."""

    def over(self, end, kept):
        """Note how a call has ended here, and whether its process is kept. Return whether its end shows that the hosts were started again."""
        return False

    def offer(self, own):
        """Return what the next call finds on all hosts, given that of this one: KeptProcess.offer."""
        return own

    def announce_loss(self):
        """Tell the other hosts that a pod is about to be lost."""

    def close(self):
        """Tell the other hosts that no call follows."""


class Leading(Alone):
    """Host 0 of several."""

    several = True

    def __init__(self, hosts, secret, port, repeats):
        self._hosts, self._secret, self._port, self.repeats = hosts, secret, port, repeats
        self._others = {}  # connections, by host
        self._given, self._begun, self._is_first = None, set(), True
        self._kept = {}  # whether the process of the call that was given last is kept, by host

    @property
    def complete(self):
        return len(self._others) == self._hosts - 1

    def open(self, holder):
        allow_open_files(self._hosts)
        both = socket.has_dualstack_ipv6()
        family = socket.AF_INET6 if both else socket.AF_INET
        listener = socket.create_server(("", self._port), family=family, backlog=self._hosts + SPARE_CONNECTIONS, dualstack_ipv6=both)
        holder.listen(listener, lambda connection: Follower(self, holder, connection), self._hosts + SPARE_CONNECTIONS)

    def secured(self):
        """Return the frames of a connection."""
        return Frames(self._secret, LABEL, True)

    def join(self, host, connection):
        """Note the connection of a host, and answer. Raise ValueError if it can't be one of them."""
        if type(host) is not int or not 0 < host < self._hosts or host in self._others:
            raise ValueError(f"host {host}")
        self._others[host] = connection
        connection.say(frames.JOIN, {})

    def note(self, connection, job):
        """Note that a host has begun a call."""
        if job == self._given:
            self._begun.update(host for host, other in self._others.items() if other is connection)

    def lost(self, connection):
        """Forget a connection; return the host, None if it was none."""
        host = next((host for host, other in self._others.items() if other is connection), None)
        self._others.pop(host, None)
        return host

    def note_end(self, connection, job, kept):
        """Note that a call has ended on a host, and whether its process is kept there."""
        if job == self._given:
            self._kept.update({host: kept for host, other in self._others.items() if other is connection})

    def give(self, order, kept):
        if self._given != order["id"]:
            if self._given is not None and len(self._kept) < self._hosts - 1:
                return False  # the last call is still ending on a host
            if len({kept, *self._kept.values()}) > 1:
                order["anew"] = True  # in processes that have met each other, one alone can't begin again
            self._given, self._begun, self._kept = order["id"], set(), {}
            self._tell(frames.CALL, order)
        return len(self._begun) == self._hosts - 1

    def has(self, order):
        return self._given == order["id"]

    def cancel(self, job):
        self._tell(frames.CANCEL, {"id": job})

    def over(self, end, kept):
        self._tell(frames.END, {"id": end["id"], "code": end["code"]})
        is_first, self._is_first = self._is_first, False
        return is_first and not self.repeats and was_not_new(end)

    def offer(self, own):
        all_kept = len(self._kept) == self._hosts - 1 and all(self._kept.values())
        return "" if own == PROCESS and not all_kept else own

    def announce_loss(self):
        self._tell(frames.END, {"id": None, "code": EXIT_TERMINATED})

    def close(self):
        self._tell(frames.END, {"id": None, "code": 0})

    def _tell(self, kind, message):
        for other in list(self._others.values()):
            other.say(kind, message)
            other.flush()  # this host may be about to end


def reason_seconds(silent):
    """Return for how long the runner of a call may look for the reason after a host was lost, which was silent before or not."""
    return SILENT_SECONDS if silent else REASON_SECONDS


def was_not_new(end):
    """Report whether the first call of hosts had run before, in pods that these have replaced."""
    try:
        report = json.loads(end["report"])
        return report.get("had_ended", False) or report["attempt"] > 1
    except (KeyError, TypeError, ValueError):
        return False  # the runner was killed, or failed


class Follower(Peer):
    """The connection of another host, at host 0."""

    def __init__(self, group, holder, connection):
        self._group, self._terminated = group, False
        super().__init__(holder, connection, group.secured())

    def answer(self, kind, message):
        if kind == frames.JOIN:
            self._group.join(message["host"], self)
        elif kind == frames.STATE:
            self._group.note(self, message["id"])
        elif kind == frames.END and message["id"] is None:
            self._terminated = True
            self._holder.lose("the pod of another host is being terminated", math.inf, replaced=True)
        elif kind == frames.END:
            self._group.note_end(self, message["id"], message["kept"])
            if message["code"]:
                self._holder.end_soon(message["id"])  # a runner that has met the one of host 0 ends after it
        else:
            super().answer(kind, message)

    def close(self):
        super().close()
        host = self._group.lost(self)
        if host is not None:
            self._holder.lose(f"host {host} was lost", reason_seconds(self.silent), self._terminated or self.silent)


class Following(Alone):
    """A host other than 0."""

    several = follows = True

    def __init__(self, host, leader, secret, port, repeats):
        self.number, self._address, self._secret, self.repeats = host, (leader, port), secret, repeats
        self._leader, self._holder = None, None
        self.joined, self._pause = False, FIRST_PAUSE
        self._connect_at, self._end_at, self._ending = 0.0, math.inf, None

    @property
    def next_at(self):
        return min(self._connect_at, self._end_at)

    def open(self, holder):
        self._holder = holder

    def attend(self):
        now = time.monotonic()
        if now >= self._end_at:
            self._end_at = math.inf
            self._holder.cancel(self._ending)
        if now >= self._connect_at:
            self._connect()

    def end(self, job, code):
        """Note that a call has ended on host 0, so that it must end here, at once if it has failed: it may wait for host 0."""
        self._ending, self._end_at = job, time.monotonic() + (FAILED_SECONDS if code else END_SECONDS)

    def over(self, end, kept):
        if end["id"] == self._ending:
            self._end_at = math.inf
        if self._leader is not None:
            self._leader.say(frames.END, {"id": end["id"], "code": end["code"], "kept": kept})
        return False

    def announce_loss(self):
        if self._leader is not None and self.joined:
            self._leader.say(frames.END, {"id": None, "code": EXIT_TERMINATED})
            self._leader.flush()

    def _connect(self):
        self._connect_at = time.monotonic() + self._pause * (0.5 + os.urandom(1)[0] / 512)  # not all at the same moment
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        try:
            family, _, _, _, address = socket.getaddrinfo(*self._address, type=socket.SOCK_STREAM)[0]
            connection = socket.socket(family)
            connection.setblocking(False)
            if connection.connect_ex(address) in (0, errno.EINPROGRESS):
                self._connect_at, self._leader = math.inf, Upstream(self, self._holder, connection, Frames(self._secret, LABEL, False))
                self._holder.adopt(self._leader)
            else:
                connection.close()
        except OSError:
            pass  # it has no address yet: try again later

    def join(self):
        """Ask host 0 for a place."""
        self._leader.say(frames.JOIN, {"host": self.number})

    def began(self, job):
        if self._leader is not None:
            self._leader.say(frames.STATE, {"id": job})

    def left(self):
        """Note that the connection is gone; return whether this host had joined."""
        self._leader = None
        if not self.joined:
            self._connect_at = time.monotonic() + self._pause
        return self.joined


class Upstream(Peer):
    """The connection to host 0, at another host."""

    def __init__(self, group, holder, connection, channel):
        self._group, self._asked, self._ended = group, False, False
        super().__init__(holder, connection, channel)

    def ready(self, events):
        super().ready(events)
        if self._frames.greeted and not self._asked and self._connection.fileno() >= 0:
            self._asked = True
            self._group.join()

    def answer(self, kind, message):
        if kind == frames.JOIN:
            self._group.joined = True
        elif kind == frames.CALL:
            self._holder.take(None, message)
        elif kind == frames.CANCEL:
            self._holder.cancel(message["id"])
        elif kind == frames.END and message["id"] is not None:
            self._group.end(message["id"], message["code"])
        elif kind == frames.END and message["code"]:
            self._holder.lose("the pod of another host is being terminated", math.inf, replaced=True)
        elif kind == frames.END:
            self._ended = True
            self._holder.end()
        else:
            super().answer(kind, message)

    def close(self):
        super().close()
        if self._group.left() and not self._ended:
            self._holder.lose("host 0 was lost", reason_seconds(self.silent), replaced=True)
