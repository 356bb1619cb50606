# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""How the runners of a job on several hosts communicate.

The runner of every other host, a member, connects to the runner of host 0, the
leader. The leader sends a challenge. The member answers who it is, signed with the
job's key, and the leader replies with the number of the attempt. When all hosts have
come, the leader tells them, and the calls start. The member tells at once when its
call fails. When its log is in the store, it reports how its call ended. The leader
tells the members when to stop because another call failed, and when the job has
ended. There are no threads.

A connection may break while both runners live. The member connects again and sends
the random number of its start once more, by which the leader knows it from a
restarted container. It repeats its report after each greeting.
"""

import errno
import math
import os
import selectors
import socket
import time

from ..errors import RunnerError
from ..outcome import TERMINATED
from .channel import PEER_SECONDS, Channel
from .verdict import report, reported

# Connections that wait while the leader fetches the package: from all hosts and the readiness probe.
BACKLOG = 4096
REPORT_SECONDS = 30.0  # for all hosts to end after one of them has failed, but for others that have failed by themselves
BACK_SECONDS = 30.0  # for a host to connect again
RESTART_SECONDS = 300.0  # for the cluster to restart a broken group
SPARE_CONNECTIONS = 64  # that have not greeted, in addition to one for each host
ACCEPT_SECONDS = 0.5  # before the next try after too many open files
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0  # seconds between a member's tries to connect


class Seat:
    """A host's place in the attempt. It stays the host's when the connection breaks."""

    def __init__(self, start):
        self.start = start  # the random number of its runner
        self.channel = None
        self.back_by = math.inf  # time.monotonic() by which the host must be back, if it has no channel

    def take(self, channel):
        """Use a new connection."""
        self.channel, self.back_by = channel, math.inf

    def leave(self, seconds):
        """Note that the host has no connection, and how long it may take to return."""
        self.channel, self.back_by = None, min(self.back_by, time.monotonic() + seconds)


class Leader:
    """The leader's end of the connections."""

    def __init__(self, hosts, greeting, say):
        self._hosts, self._greeting, self._say = hosts, greeting, say
        self._selector = selectors.DefaultSelector()
        self._listener = None
        self.next_at = math.inf  # of time.monotonic: when to listen again
        self._strangers = {}  # the connections that have not greeted, the oldest first
        self._told = set()  # what was said, and need not be said again
        self._seats = {}  # by host
        self._end_by = math.inf  # of time.monotonic
        self.attempt, self.ran = 0, 0.0  # its number, and for how many seconds the earlier ones ran
        self.stopping = False  # no call needs to continue
        self.outcomes = {}  # by host
        self._failed = set()  # the hosts whose calls have failed by themselves, and are still being saved

    def listen(self):
        """Open the port. attend() accepts the connections."""
        both = socket.has_dualstack_ipv6()
        family = socket.AF_INET6 if both else socket.AF_INET
        port = self._greeting.port
        allow_open_files(self._hosts)
        try:
            self._listener = socket.create_server(("", port), family=family, backlog=BACKLOG, dualstack_ipv6=both)
        except OSError as exc:
            raise RunnerError(f"cannot listen on port {port}, which the job's hosts connect to: {exc}") from None
        self._watch(self._listener, self._accept)

    def fileno(self):
        """Return a descriptor that becomes readable when something has arrived."""
        return self._selector.fileno()

    def attend(self, patience=0.0):
        """Handle what has arrived, or arrives within patience seconds."""
        if time.monotonic() >= self.next_at:
            self.next_at = math.inf
            self._watch(self._listener, self._accept)
        for key, _ in self._selector.select(patience):
            key.data()

    @property
    def complete(self):
        """Whether all other hosts have come, and none is lost."""
        return len(self._seats) == self._hosts - 1 and not self.missing

    @property
    def missing(self):
        """The hosts that have no connection or were terminated, before their calls ended. Some may come back."""
        return self._absent(math.inf)

    @property
    def gone(self):
        """The hosts that were lost or terminated before their calls ended."""
        return self._absent(time.monotonic())

    def _absent(self, now):
        lost = {host for host, seat in self._seats.items() if seat.channel is None and now >= seat.back_by and host not in self.outcomes}
        return lost | {host for host, outcome in self.outcomes.items() if outcome.reason == TERMINATED}

    def report(self, outcome):
        """Note how a host's call ended."""
        self.outcomes[outcome.host] = outcome
        if outcome.failed:
            self.stop()

    def stop(self):
        """Tell all hosts to end their calls."""
        if not self.stopping:
            self.stopping, self._end_by = True, time.monotonic() + REPORT_SECONDS
            self._send_all({"end": True})

    def give_time(self):
        """Let the hosts whose calls were ended have as long from now on as right after the failure: only now does this host wait."""
        if self.stopping:
            self._end_by = time.monotonic() + REPORT_SECONDS

    def settled(self, terminated):
        """Return whether no outstanding report could change the verdict."""
        # If a host is away and this one, too, is terminated after a failure, the cluster is restarting them all.
        absent = self.missing if self.stopping and terminated else self.gone
        busy = set(self._seats) - absent - set(self.outcomes)
        if self.stopping or terminated:
            return not busy or time.monotonic() >= self._end_by and (terminated or busy.isdisjoint(self._failed))
        return len(self.outcomes) == self._hosts

    def dismiss(self):
        """Tell the members that the job has ended: they need not connect again."""
        self._send_all({"over": True})

    def _send_all(self, message):
        for seat in self._seats.values():
            if seat.channel is not None:
                seat.channel.send(message)

    def close(self):
        """Close the port and all connections."""
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()
        self._selector.close()
        if self._listener is not None:
            self._listener.close()

    def _watch(self, source, action):
        self._selector.register(source, selectors.EVENT_READ, action)

    def _accept(self):
        try:
            channel = Channel(self._listener.accept()[0])
        except OSError as exc:
            if exc.errno in (errno.EMFILE, errno.ENFILE):  # it would stay readable
                self._selector.unregister(self._listener)
                self.next_at = time.monotonic() + ACCEPT_SECONDS
            return
        if len(self._strangers) >= self._hosts + SPARE_CONNECTIONS:
            self._say_once("strangers", f"connections to port {self._greeting.port} did not send a greeting: closing the oldest ones")
            self._drop(next(iter(self._strangers)))
        challenge = os.urandom(16).hex()
        channel.send({"challenge": challenge})
        self._strangers[channel] = challenge
        self._watch(channel.connection, lambda: self._hear(channel, challenge))

    def _drop(self, channel):
        """Close a connection."""
        self._strangers.pop(channel, None)
        self._selector.unregister(channel.connection)
        channel.connection.close()

    def _say_once(self, what, text):
        if what not in self._told:
            self._told.add(what)
            self._say(text)

    def _hear(self, channel, challenge):
        if channel.connection.fileno() < 0:
            return  # it was closed a moment ago
        host = next((host for host, seat in self._seats.items() if seat.channel is channel), None)
        messages = channel.receive()
        try:
            for message in messages or ():
                if host is None:
                    host = self._greet(channel, message, challenge)
                elif "failed" in message:
                    self._failed.add(host)
                else:
                    self.report(reported(host, message))
        except Stranger as exc:
            self._say_once("refused", str(exc))
            messages = None
        except (RunnerError, ValueError, TypeError) as exc:
            self._say(str(exc))
            messages = None
        if messages is None:
            self._drop(channel)
            if host is not None:
                self._seats[host].leave(BACK_SECONDS)
                if host not in self.outcomes and not self.stopping:
                    self._say(f"lost the connection to host {host}")

    def _greet(self, channel, message, challenge):
        host = self._greeting.host(message, self._hosts, challenge)
        if host is None:
            channel.send({"refused": True})
            shown = dict(message, signature="…") if "signature" in message else message
            raise Stranger(f"refused a connection to port {self._greeting.port}: {shown!r:.200} is not from a host of this job")
        seat = self._seats.get(host)
        if seat is None and self.stopping:
            channel.send({"end": True})
            raise RunnerError(f"host {host} connected after the job had failed, so it takes no part in this attempt")
        if seat is not None and seat.start != message["start"]:
            channel.send({"end": True})
            if seat.channel is not None:
                self._drop(seat.channel)
            seat.leave(0.0)  # its earlier runner does not come back
            if host in self.missing:  # LeaderWorkerSet does not always notice that it was replaced
                self.stop()
            raise RunnerError(f"host {host} was restarted, so it takes no part in this attempt")
        self._seat(host, seat, channel, message["start"])
        channel.send({"attempt": self.attempt, "ran": self.ran, "now": time.time()})
        if self.complete:
            self._send_all({"complete": True})
        if self.stopping:
            channel.send({"end": True})
        return host

    def _seat(self, host, seat, channel, start):
        """Give a host its place, or the one that it had."""
        if seat is None:
            seat = self._seats[host] = Seat(start)
        elif seat.channel is not None:
            self._drop(seat.channel)  # broken, but only the host has noticed
        elif host not in self.outcomes:
            self._say(f"host {host} has connected again")
        self._strangers.pop(channel, None)
        seat.take(channel)


class Stranger(RunnerError):
    """A connection is not from a host of this job."""


def allow_open_files(hosts):
    """Raise the limit on open files if the hosts need more."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    want = hosts + 256
    if soft != resource.RLIM_INFINITY and soft < want:
        resource.setrlimit(resource.RLIMIT_NOFILE, (want if hard == resource.RLIM_INFINITY else min(want, hard), hard))


class Member:
    """A member's end of the connection."""

    def __init__(self, leader, greeting, host):
        self.leader, self._greeting, self._host = leader, greeting, host
        self.problem = ""  # why the last attempt to connect failed
        self._start, self._ahead = os.urandom(16).hex(), 0.0  # by how many seconds the leader's clock is ahead
        self._channel = self._address = self._outcome = None
        self._pause, self._connect_at = FIRST_PAUSE, 0.0  # of time.monotonic
        self._back_by = math.inf  # of time.monotonic
        self.attempt, self.ran = 0, 0.0
        self.complete = self.stopping = self.lost = self.refused = False

    def fileno(self):
        """Return the descriptor to poll, or -1 without a connection."""
        return self._channel.connection.fileno() if self._channel else -1

    @property
    def next_at(self):
        """The time.monotonic() at which attend() must connect again."""
        return math.inf if self.lost or self._back_by == math.inf or self._connected else self._connect_at

    def attend(self, patience=0.0):
        """Connect if necessary, then handle what arrives within patience seconds."""
        now = time.monotonic()
        self.lost = self.lost or now >= self._back_by
        if not self.lost and now >= self._connect_at and not self._connected:
            self._close()
            self._connect_at = now + self._pause * (0.5 + os.urandom(1)[0] / 512)  # not all at the same moment
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
            self._connect()
        if self._channel is None:
            time.sleep(patience)
            return
        with selectors.DefaultSelector() as selector:
            selector.register(self._channel.connection, selectors.EVENT_READ)
            if not selector.select(patience):
                return
        messages = self._channel.receive()
        for message in messages or ():
            self._note(message)
        if messages is None:
            self._close()
            self.lost = self.lost or self.stopping and not self.attempt
            if self.attempt:
                self._back_by = min(self._back_by, time.monotonic() + RESTART_SECONDS)

    def note_failure(self):
        """Tell the leader at once that the call has failed: the report comes when all is saved."""
        if self._channel:
            self._channel.send({"failed": True})

    def report(self, outcome):
        """Report how the call ended, now and after each new greeting."""
        self._outcome = outcome
        if self._channel:
            self._channel.send(report(outcome, self._ahead))

    def _note(self, message):
        """Act on a message of the leader."""
        if "challenge" in message:
            self._channel.send(self._greeting.of(self._host, self._start, str(message["challenge"])))
        self.complete = self.complete or "complete" in message
        self.stopping = self.stopping or "end" in message
        self.refused = self.refused or "refused" in message
        self.lost = self.lost or "over" in message
        if "attempt" in message:
            self.lost = self.lost or self.attempt not in (0, message["attempt"])  # a new leader
            if not self.attempt:  # later, this host may be too busy to read it at once
                self._ahead, self.ran = message["now"] - time.time(), message["ran"]
            self.attempt = self.attempt or message["attempt"]
            self._address = self._channel.connection.getpeername()
            self._pause, self._back_by = FIRST_PAUSE, math.inf
            if self._outcome is not None:
                self._channel.send(report(self._outcome, self._ahead))

    @property
    def _connected(self):
        """Whether there is a connection, rather than none or one that the leader has not yet taken."""
        try:
            return self._channel is not None and self._channel.connection.getpeername() is not None
        except OSError:
            return False

    def _close(self):
        if self._channel is not None:
            self._channel.connection.close()
            self._channel = None

    def _connect(self):
        try:
            if self._address is None:
                self._channel, self.problem = Channel(socket.create_connection((self.leader, self._greeting.port), PEER_SECONDS)), ""
                return
            # The call runs, so wait neither for a name server nor for the leader.
            connection = socket.socket(socket.AF_INET6 if ":" in self._address[0] else socket.AF_INET)
            self._channel = Channel(connection)
            connection.setblocking(False)
            connection.connect_ex(self._address)
            connection.settimeout(PEER_SECONDS)
        except OSError as exc:
            self.problem = str(exc)  # try again later
