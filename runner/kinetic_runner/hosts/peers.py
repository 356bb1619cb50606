# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""How the runners of a job on several hosts communicate.

The runner of every other host, a member, connects once to the runner of host 0,
the leader. The leader sends a challenge. The member answers who it is, signed with
the job's key, and the leader replies with the number of the attempt. When the
member's log is in the store, it reports how its call ended. The leader tells the
members when to stop because another call failed. There are no threads.
"""

import errno
import math
import os
import selectors
import socket
import time

from ..errors import RunnerError
from ..outcome import TERMINATED
from . import channel as channels
from .channel import PEER_SECONDS, Channel
from .verdict import report, reported

# Connections that wait while the leader fetches the package: from all hosts and the readiness probe.
BACKLOG = 4096
REPORT_SECONDS = 30.0  # for all hosts to end after one of them has failed
SPARE_CONNECTIONS = 64  # in addition to twice the hosts
ACCEPT_SECONDS = 0.5  # before the next try after too many open files
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0  # seconds between a member's tries to connect


class Leader:
    """The leader's end of the connections."""

    def __init__(self, hosts, greeting, say):
        self._hosts, self._greeting, self._say = hosts, greeting, say
        self._selector = selectors.DefaultSelector()
        self._listener = None
        self.next_at = math.inf  # of time.monotonic: when to listen again
        self._members = {}  # by host: its channel, or None if it is lost
        self._end_by = math.inf  # of time.monotonic
        self.attempt = 0
        self.stopping = False  # no call needs to continue
        self.outcomes = {}  # by host

    def listen(self):
        """Open the port. attend() accepts the connections."""
        both = socket.has_dualstack_ipv6()
        family = socket.AF_INET6 if both else socket.AF_INET
        port = channels.GROUP_PORT
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
    def gone(self):
        """The hosts that were lost or terminated before their calls ended."""
        lost = {host for host, channel in self._members.items() if channel is None and host not in self.outcomes}
        return lost | {host for host, outcome in self.outcomes.items() if outcome.reason == TERMINATED}

    def report(self, outcome):
        """Note how a host's call ended."""
        self.outcomes[outcome.host] = outcome
        if not outcome.failed or self.stopping:
            return
        self.stopping, self._end_by = True, time.monotonic() + REPORT_SECONDS
        for channel in filter(None, self._members.values()):
            channel.send({"end": True})

    def settled(self, terminated):
        """Return whether no outstanding report could change the verdict."""
        busy = [host for host, channel in self._members.items() if channel and host not in self.outcomes]
        if self.stopping or terminated:
            return not busy or time.monotonic() >= self._end_by
        return len(self.outcomes) == self._hosts

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
        if len(self._selector.get_map()) > 2 * self._hosts + SPARE_CONNECTIONS:  # from strangers that send nothing
            channel.connection.close()
            return
        challenge = os.urandom(16).hex()
        channel.send({"challenge": challenge})
        self._watch(channel.connection, lambda: self._hear(channel, challenge))

    def _hear(self, channel, challenge):
        host = next((host for host, member in self._members.items() if member is channel), None)
        messages = channel.receive()
        try:
            for message in messages or ():
                if host is None:
                    host = self._greet(channel, message, challenge)
                else:
                    self.report(reported(host, message))
        except (RunnerError, ValueError, TypeError) as exc:
            self._say(str(exc))
            messages = None
        if messages is None:
            self._selector.unregister(channel.connection)
            channel.connection.close()
            if host is not None:
                self._members[host] = None
                if host not in self.outcomes and not self.stopping:
                    self._say(f"lost the connection to host {host}")

    def _greet(self, channel, message, challenge):
        host = self._greeting.host(message, self._hosts, challenge)
        if host is None:
            channel.send({"refused": True})
            shown = dict(message, signature="…") if "signature" in message else message
            raise RunnerError(f"refused a connection to port {channels.GROUP_PORT}: {shown!r:.200} is not from a host of this job")
        if self.stopping or host in self._members:
            channel.send({"end": True})
            why = "was restarted" if host in self._members else "connected after the job had failed"
            raise RunnerError(f"host {host} {why}, so it takes no part in this attempt")
        self._members[host] = channel
        channel.send({"attempt": self.attempt})
        return host


def allow_open_files(hosts):
    """Raise the limit on open files if the hosts need more."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    want = hosts + 256
    if soft != resource.RLIM_INFINITY and soft < want:
        resource.setrlimit(resource.RLIMIT_NOFILE, (want if hard == resource.RLIM_INFINITY else min(want, hard), hard))


class Member:
    """A member's end of the connection."""

    next_at = math.inf

    def __init__(self, leader, greeting, host):
        self._leader, self._greeting, self._host = leader, greeting, host
        self._channel = None
        self._pause, self._connect_at = FIRST_PAUSE, 0.0  # of time.monotonic
        self.attempt = 0
        self.stopping = self.lost = self.refused = False

    def fileno(self):
        """Return the descriptor to poll, or -1 without a connection."""
        return self._channel.connection.fileno() if self._channel else -1

    def attend(self, patience=0.0):
        """Connect if necessary, then handle what arrives within patience seconds."""
        if self._channel is None and not self.lost and time.monotonic() >= self._connect_at:
            self._connect_at = time.monotonic() + self._pause * (0.5 + os.urandom(1)[0] / 512)  # not all at the same moment
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
            if "challenge" in message:
                self._channel.send(self._greeting.of(self._host, str(message["challenge"])))
            self.attempt = message.get("attempt", self.attempt)
            self.stopping = self.stopping or "end" in message
            self.refused = self.refused or "refused" in message
        if messages is None:
            self._channel.connection.close()
            self._channel, self.lost = None, self.attempt > 0 or self.stopping

    def report(self, outcome):
        """Report how the call ended."""
        if self._channel:
            self._channel.send(report(outcome))

    def _connect(self):
        try:
            self._channel = Channel(socket.create_connection((self._leader, channels.GROUP_PORT), PEER_SECONDS))
        except OSError:
            pass  # try again later
