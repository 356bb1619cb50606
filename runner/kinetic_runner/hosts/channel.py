# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A connection between the runners of two hosts, and their authentication."""

import hashlib
import hmac
import json
import re
import socket

from ..contract import NAMES
from ..documents import SHA256
from ..text import encode_json

KEY_VARIABLE = NAMES["group_key"]  # a secret shared by the hosts of a job
START = re.compile("[0-9a-f]{32}")
PIPE_READ = 64 << 10
LINE_LIMIT = 4 << 20  # bytes of a message: more than report() in verdict.py makes
PEER_SECONDS = 2.0  # for another host to take a connection or a message
# Seconds of silence, tries, and milliseconds for what was sent to be acknowledged: meanwhile there is no try.
KEEPALIVE = (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 60_000))


def keep_alive(connection):
    """Let the system notice when the other side is gone without closing the connection."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEPALIVE:
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class Channel:
    """A connection between two runners: JSON objects, one a line."""

    def __init__(self, connection):
        self.connection = connection
        self._rest = b""
        connection.settimeout(PEER_SECONDS)
        keep_alive(connection)

    def send(self, message):
        """Send an object. If the other side is gone or takes only part of it, receive() reports that."""
        try:
            self.connection.sendall(encode_json(message) + b"\n")
        except OSError:
            try:
                self.connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is already gone

    def receive(self):
        """Return the objects that have arrived, or None if the other side is gone or is not a runner."""
        try:
            data = self.connection.recv(PIPE_READ)
            *lines, self._rest = (self._rest + data).split(b"\n")
            messages = [json.loads(line) for line in lines]
        except (OSError, ValueError, RecursionError):
            return None
        sane = len(self._rest) <= LINE_LIMIT and all(type(message) is dict for message in messages)
        return messages if data and sane else None


class Greeting:
    """The first message of a member: its job, its call, its host and its start, signed with the job's key.

    The start is a random number of its runner.
    """

    def __init__(self, options, key):
        self.port = options.group_port  # at which host 0 takes it
        self._fields = {"job": options.job, "call": options.call}
        self._key = key.encode()

    @property
    def has_key(self):
        return bool(self._key)

    def of(self, host, start, challenge):
        """Return the greeting with which a host answers a leader's challenge."""
        fields = dict(self._fields, host=host, start=start)
        return dict(fields, signature=self._sign(fields, challenge))

    def host(self, message, hosts, challenge):
        """Return the host that sent a greeting, or None if it is not a host of this job."""
        host, start = message.get("host"), message.get("start")
        if type(host) is not int or not 0 < host < hosts or type(start) is not str or not START.fullmatch(start):
            return None
        want = self.of(host, start, challenge)
        signature = message.get("signature")
        if dict(message, signature=want["signature"]) != want or type(signature) is not str:
            return None
        if not SHA256.fullmatch(signature):
            return None
        if self._key and not hmac.compare_digest(signature, want["signature"]):
            return None
        return host

    def _sign(self, fields, challenge):
        return hmac.new(self._key, challenge.encode() + encode_json(fields), hashlib.sha256).hexdigest()
