# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""How the runners of a job on several hosts talk.

The runner of every other host, a member, connects to that of host 0, the
leader, once. It says who it is, and how its call ended when its log is in the
store; the leader answers with the number of the attempt, and says when the call
need not go on because another failed. There is no thread.
"""

import json
import math
import select
import time

from .remote_runner import (
    FIRST_PAUSE, LONGEST_PAUSE, MIB, Outcome, PIPE_READ, RunnerError, TERMINATED, encode_json, field,
    jittered, late_import, strings,
)

GROUP_PORT = 8482  # of the leader's runner; the manifest's readiness probe has it too
# Connections that wait while the leader fetches its bundle: all hosts', and the readiness probe's.
BACKLOG = 4096
LINE_LIMIT = 1 * MIB
TRACEBACK_LIMIT = 20_000  # characters of another host's error: the last ones
PEER_SECONDS = 2.0  # for another host to take a connection or a word
KEEPALIVE = (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 3))  # seconds of silence, and tries
REPORT_SECONDS = 30.0  # for all hosts to end after one of them has failed


class Channel:
    """A connection between two runners: JSON objects, one a line."""

    def __init__(self, connection):
        self.connection = connection
        self._rest = b""
        connection.settimeout(PEER_SECONDS)
        socket = late_import("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in KEEPALIVE:
            if hasattr(socket, name):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

    def send(self, message):
        """Sends an object. If the other side is gone, or takes only a part of it, receive() will tell."""
        try:
            self.connection.sendall(encode_json(message) + b"\n")
        except OSError:
            try:
                self.connection.shutdown(late_import("socket").SHUT_RDWR)
            except OSError:
                pass  # it is gone

    def receive(self):
        """The objects that have arrived; None if the other side is gone, or is no runner."""
        try:
            data = self.connection.recv(PIPE_READ)
            *lines, self._rest = (self._rest + data).split(b"\n")
            messages = [json.loads(line) for line in lines]
        except (OSError, ValueError, RecursionError):
            return None
        sane = len(self._rest) <= LINE_LIMIT and all(type(message) is dict for message in messages)
        return messages if data and sane else None


def greeting(options, host):
    """The first word of a member."""
    return {"job": options.job, "call": options.call, "host": host}


def verdict(outcomes, gone, hosts):
    """The outcome of an attempt, of those by host; None if it has none.

    The first failure is the cause of the others. While a host is gone, failures
    prove nothing: its loss may have caused them.
    """
    if all(host in outcomes and outcomes[host].ok for host in range(hosts)):
        return outcomes[0]
    failures = [] if gone else [outcome for outcome in outcomes.values() if outcome.failed]
    return min(failures, key=lambda outcome: outcome.at, default=None)


def report(outcome):
    """What a member says of how its call ended. The clocks of two hosts may differ, so it says how long ago."""
    error = outcome.error and {key: text[-TRACEBACK_LIMIT:] for key, text in outcome.error.items()}
    fields = {key: getattr(outcome, key) for key in ("reason", "exit_code", "message", "warnings")}
    return dict(fields, error=error, age=time.time() - outcome.at)


def reported(host, message):
    """The outcome that a member has reported; RunnerError if it is none."""
    where = f"the report of host {host}"
    outcome = Outcome(*(field(message, key, kind, where) for key, kind in (("reason", str), ("exit_code", int), ("message", str))))
    if not outcome.ok:
        error = field(message, "error", dict, where)
        outcome.error = {key: field(error, key, str, f"{where}: error") for key in ("type", "message", "traceback")}
    outcome.warnings = strings(message, "warnings", where)
    outcome.host, outcome.at = host, time.time() - field(message, "age", float, where)
    return outcome


class Leader:
    """The leader's end of the connections."""

    def __init__(self, hosts, greeting, say):
        self._hosts, self._greeting, self._say = hosts, greeting, say
        self._selector = late_import("selectors").DefaultSelector()
        self._listener = None
        self._members = {}  # host: its channel, or None when it is lost
        self._end_by = math.inf  # of time.monotonic
        self.attempt = 0
        self.ending = False  # no call needs to go on
        self.outcomes = {}  # by host

    def listen(self):
        """Opens the port. Who connects is not heard before attend()."""
        socket = late_import("socket")
        both = socket.has_dualstack_ipv6()
        family = socket.AF_INET6 if both else socket.AF_INET
        try:
            self._listener = socket.create_server(("", GROUP_PORT), family=family, backlog=BACKLOG, dualstack_ipv6=both)
        except OSError as exc:
            raise RunnerError(f"cannot listen on port {GROUP_PORT}, by which the hosts of the job talk: {exc}") from None
        self._watch(self._listener, self._accept)

    def sources(self):
        """What becomes readable when something has arrived."""
        return [self._selector]

    def descriptors(self):
        """What a child must not keep open."""
        return (self._selector.fileno(), *self._selector.get_map())

    def attend(self, patience=0.0):
        """Acts on what has arrived, or arrives within so many seconds."""
        for key, _ in self._selector.select(patience):
            key.data()

    @property
    def gone(self):
        """The hosts that were lost or told to end, rather than ended by themselves."""
        lost = {host for host, channel in self._members.items() if channel is None and host not in self.outcomes}
        return lost | {host for host, outcome in self.outcomes.items() if outcome.reason == TERMINATED}

    def report(self, outcome):
        """Takes note of how a host's call ended."""
        self.outcomes[outcome.host] = outcome
        if not outcome.failed or self.ending:
            return
        self.ending, self._end_by = True, time.monotonic() + REPORT_SECONDS
        for channel in filter(None, self._members.values()):
            channel.send({"end": True})

    def settled(self, terminated):
        """Whether no outstanding report could change the verdict."""
        busy = [host for host, channel in self._members.items() if channel and host not in self.outcomes]
        if self.ending or terminated:
            return not busy or time.monotonic() >= self._end_by
        return len(self.outcomes) == self._hosts

    def close(self):
        """Closes the port and all connections."""
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()
        self._selector.close()

    def _watch(self, source, action):
        self._selector.register(source, late_import("selectors").EVENT_READ, action)

    def _accept(self):
        try:
            channel = Channel(self._listener.accept()[0])
        except OSError:
            return  # it is gone already
        self._watch(channel.connection, lambda: self._hear(channel))

    def _hear(self, channel):
        host = next((host for host, member in self._members.items() if member is channel), None)
        messages = channel.receive()
        try:
            for message in messages or ():
                host = self._greet(channel, message) if host is None else self._note(host, message)
        except RunnerError as exc:
            self._say(str(exc))
            messages = None
        if messages is None:
            self._selector.unregister(channel.connection)
            channel.connection.close()
            if host is not None:
                self._members[host] = None
                if host not in self.outcomes and not self.ending:
                    self._say(f"host {host} is lost")

    def _greet(self, channel, message):
        host = message.get("host")
        if message != dict(self._greeting, host=host) or type(host) is not int or not 0 < host < self._hosts:
            raise RunnerError(f"a connection to port {GROUP_PORT} is refused: it sent {message!r:.200}, which is not a greeting from a host of this job")
        if self.ending or host in self._members:
            channel.send({"end": True})
            why = "was started anew" if host in self._members else "came after the job had failed"
            raise RunnerError(f"host {host} {why}, and has no part in this attempt")
        self._members[host] = channel
        channel.send({"attempt": self.attempt})
        return host

    def _note(self, host, message):
        self.report(reported(host, message))
        return host


class Member:
    """The end of another host."""

    def __init__(self, leader, greeting):
        self._address, self._greeting = (leader, GROUP_PORT), greeting
        self._channel = None
        self._pause, self._connect_at = FIRST_PAUSE, 0.0  # of time.monotonic
        self.attempt = 0
        self.ending = self.lost = False

    def sources(self):
        """As the leader's."""
        return [self._channel.connection] if self._channel else []

    def descriptors(self):
        """As the leader's."""
        return tuple(source.fileno() for source in self.sources())

    def attend(self, patience=0.0):
        """As the leader's; connects first."""
        if self._channel is None and not self.lost and time.monotonic() >= self._connect_at:
            self._connect_at = time.monotonic() + jittered(self._pause)
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
            self._connect()
        if not select.select(self.sources(), [], [], patience)[0]:
            return
        messages = self._channel.receive()
        for message in messages or ():
            self.attempt = message.get("attempt", self.attempt)
            self.ending = self.ending or "end" in message
        if messages is None:
            self._channel.connection.close()
            self._channel, self.lost = None, self.attempt > 0 or self.ending

    def report(self, outcome):
        """Tells how the call ended."""
        if self._channel:
            self._channel.send(report(outcome))

    def _connect(self):
        try:
            self._channel = Channel(late_import("socket").create_connection(self._address, PEER_SECONDS))
        except OSError:
            return  # it will be there
        self._channel.send(self._greeting)
