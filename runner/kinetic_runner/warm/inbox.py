# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Connections to a host through the store, for clients without permission to forward ports of pods.

A connection is a name. What the client sends are the objects NAME.0.in, NAME.1.in and so on, the first one empty; what the host sends
are NAME.0.out, NAME.1.out and so on. Each side deletes what it has read. An empty .in shows that the client still runs. An empty .out
ends the connection, and so does NAME.end, which the client writes. The host trusts these connections as little as those to its port.
"""

import math
import re
import select
import socket
import threading
import time
from contextlib import suppress

from ..errors import AlreadyExists, RunnerError
from .connections import CONNECTIONS

LOOK_SECONDS, BUSY_SECONDS = 2.0, 0.1  # between two looks: the longest, and after something has come
SILENT_SECONDS = 90.0  # a client writes more often than that
CLOSE_SECONDS = 5.0  # for the last words of a host that ends
WINDOW = 4  # objects that wait for a client
PIECE = 1 << 20  # bytes in an object
NAME = re.compile(r"([0-9a-f]{32})\.(?:(?:0|[1-9][0-9]{0,8})\.(?:in|out)|end)")


class Inbox:
    """The connections in a folder of the store, each passed on to a port of this machine."""

    def __init__(self, store, folder, port):
        self._store, self._folder, self._port = store, folder, port
        self._connections, self._closing = {}, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def close(self):
        """Pass on what the host has said up to its end."""
        self._closing.set()
        self._thread.join(CLOSE_SECONDS)

    def _watch(self):
        pause = LOOK_SECONDS
        while True:
            last = self._closing.is_set()
            try:
                busy = self._look()
                pause = BUSY_SECONDS if busy else min(2 * pause, LOOK_SECONDS)
            except (RunnerError, OSError):
                busy, pause = False, LOOK_SECONDS  # the store is away; what it has is read later
            if last and not busy and not any(connection.unread for connection in self._connections.values()):
                return
            self._closing.wait(pause)

    def _look(self):
        """Pass on what there is; return whether there was something."""
        names = {}
        for name in self._store.list(self._folder):
            if match := NAME.fullmatch(name):
                names.setdefault(match[1], set()).add(name)
        for name, objects in names.items():
            if name in self._connections or len(self._connections) >= CONNECTIONS:
                continue
            if f"{name}.end" in objects:  # of an earlier host
                self._delete(objects)
            elif f"{name}.0.in" in objects:
                with suppress(OSError):  # the host is ending
                    self._connections[name] = Connection(self._store, self._folder + name, self._port)
        busy = False
        for name, connection in list(self._connections.items()):
            objects = names.get(name, set())
            with suppress(RunnerError, OSError):  # the others go on
                busy |= connection.exchange({object[len(name) :] for object in objects})
            if f"{name}.end" in objects or connection.is_silent:
                connection.close()
                del self._connections[name]
                self._delete(objects | {f"{name}.{number}.out" for number in connection.unread})
        return busy

    def _delete(self, objects):
        for name in objects:
            self._store.delete(self._folder + name)


class Connection:
    """One connection: to the port, and to the objects whose names begin with a prefix."""

    def __init__(self, store, prefix, port):
        self._store, self._prefix = store, prefix
        self._socket = socket.create_connection(("127.0.0.1", port), SILENT_SECONDS)
        self._received = self._sent = 0  # objects
        self._ended, self._heard = False, time.monotonic()
        self._outgoing = None  # what is not stored yet
        self.unread = []  # numbers of the objects that the client has not read

    @property
    def is_silent(self):
        """Whether the client seems to be gone."""
        return time.monotonic() - self._heard > SILENT_SECONDS

    def close(self):
        """Close the connection to the port."""
        self._socket.close()

    def exchange(self, objects):
        """Pass on what both sides have sent, given the ends of the names of the objects that are there; return whether there was something."""
        before = self._received, self._sent
        while not self.is_silent and (end := f".{self._received}.in") in objects:
            self._receive(self._prefix + end)
        unread = [number for number in self.unread if f".{number}.out" in objects]
        if unread != self.unread:
            self.unread, self._heard = unread, time.monotonic()
        while not self._ended and len(self.unread) < WINDOW and (self._outgoing is not None or self._has_more):
            self._send()
        return before != (self._received, self._sent)

    @property
    def _has_more(self):
        return bool(select.select([self._socket], (), (), 0)[0])

    def _receive(self, name):
        data = b""
        with self._store.open(name) as file:
            while len(data) <= PIECE and (block := file.read(PIECE)):
                data += block
        if len(data) > PIECE:
            self._ended, self._heard = True, -math.inf  # no client writes that much at once
            return
        with suppress(OSError):  # the host has closed it: _send() tells the client
            self._socket.sendall(data)
        self._received, self._heard = self._received + 1, time.monotonic()
        self._store.delete(name)

    def _send(self):
        if self._outgoing is None:
            self._outgoing = self._read()
        with suppress(AlreadyExists):  # the answer to the first try was lost
            self._store.create(f"{self._prefix}.{self._sent}.out", lambda: [self._outgoing])
        self._ended, self._outgoing = not self._outgoing, None
        self.unread, self._sent = [*self.unread, self._sent], self._sent + 1

    def _read(self):
        """Return what the host has sent, b"" at the end."""
        data = b""
        with suppress(OSError):
            while len(data) < PIECE and self._has_more:
                piece = self._socket.recv(PIECE - len(data))
                if not piece:
                    break
                data += piece
        return data
