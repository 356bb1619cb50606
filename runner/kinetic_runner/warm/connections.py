# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The connections of a holder: to clients, and to the holders of other hosts."""

import json
import math
import selectors
import socket
import struct
import time

from ..hosts.channel import keep_alive
from . import frames
from .frames import BadFrame

GREETING_SECONDS = 15.0  # for the other side to prove itself, maybe through the store
ASKED_SECONDS = 60.0  # for a client to pack its call
CONNECTIONS = 32  # at a port for clients: many may follow the call that runs
PIECE = 64 << 10  # bytes of output in a frame
UNSENT = 256 << 10  # bytes that may wait for a slow client
OFFSET = struct.Struct("!Q")


class Entrance:
    """A port of a holder, with the connections that came there: most at a time."""

    def __init__(self, holder, listener, made_of, most):
        self._holder, self._listener, self._made_of, self._most = holder, listener, made_of, most
        self._peers = []  # the oldest first
        listener.setblocking(False)

    def accept(self):
        """Take a connection. If there are too many, close an old one that nobody needs, or else the new one."""
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # the other side has left
        self._peers = [peer for peer in self._peers if not peer.closed]
        if len(self._peers) >= self._most and not self._make_room():
            return connection.close()
        peer = self._made_of(connection)
        peer.entrance = self
        self._holder.adopt(peer)
        self._peers.append(peer)

    def is_full(self):
        """Report whether so many follow calls, or await them, that another one would leave too little room for other requests."""
        return sum(peer.followed is not None or peer.awaited is not None for peer in self._peers if not peer.closed) >= self._most * 3 // 4

    def _make_room(self):
        """Close the oldest connection whose other side has not proved itself, or else one that awaits nothing; return whether there was one."""
        for spare in (lambda peer: peer.greet_by < math.inf, lambda peer: peer.idle):
            for peer in filter(spare, self._peers):
                peer.close()
                self._peers.remove(peer)
                return True
        return False


class Peer:
    """A connection of a holder. It never blocks."""

    closed = False
    entrance = None  # where it came
    idle = False  # whether the other side awaits nothing
    silent = False  # whether the other side was not heard for so long that the system gave up
    hungry = False  # whether feed() has to be called often
    asked_at = -math.inf  # the time.monotonic() at which a client has said that it is about to give a call
    awaited = None  # the ID of a call that has not begun, and what to do with the call when it has
    followed = None  # the call whose output is sent

    def __init__(self, holder, connection, channel):
        self._holder, self._connection, self._frames = holder, connection, channel
        self.greet_by = time.monotonic() + GREETING_SECONDS
        self._out = bytearray(channel.greeting)
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        keep_alive(connection)
        self._watch()

    def say(self, kind, message):
        """Send an object."""
        self._out += self._frames.send(kind, frames.encode(message))
        self._watch()

    def feed(self):
        """Send what there is to send now."""

    def flush(self):
        """Send what has not been sent, as far as the other side takes it at once."""
        try:
            del self._out[: self._connection.send(self._out)]
        except OSError:
            pass  # it is told by ready()

    def note(self, call):
        """Note that a call has begun."""
        if self.awaited is not None and self.awaited[0] == call.job:
            action, self.awaited = self.awaited[1], None
            action(call)

    def answer(self, kind, message):
        """Act on an object that the other side has sent."""
        raise ValueError(f"frames of type {kind} are not for this host")

    def ready(self, events):
        """Do what the connection can do."""
        try:
            if events & selectors.EVENT_WRITE:
                del self._out[: self._connection.send(self._out)]
                self.feed()
                self._watch()
            if events & selectors.EVENT_READ:
                data = self._connection.recv(PIECE)
                if not data:
                    return self.close()
                for kind, payload in self._frames.receive(data):
                    self.greet_by = math.inf
                    self.answer(kind, json.loads(payload))
        except BlockingIOError:
            pass
        except TimeoutError:
            self.silent = True
            self.close()
        except (AttributeError, BadFrame, OSError, KeyError, TypeError, ValueError):
            self.close()

    def close(self):
        """Close the connection."""
        self.closed = True
        self._holder.unwatch(self._connection)
        self._connection.close()
        self._holder.drop(self)

    def _watch(self):
        self._holder.watch(self, self._connection, bool(self._out))


class Client(Peer):
    """A connection of a client: what it asks for, and the output that it follows."""

    def __init__(self, holder, connection, channel):
        self._offset, self._stays, self._told = 0, True, False
        super().__init__(holder, connection, channel)

    @property
    def hungry(self):
        """Whether it follows a call and can take more."""
        return self.followed is not None and len(self._out) < UNSENT

    @property
    def idle(self):
        """Whether it follows and awaits no call, and is not about to give one."""
        return self.followed is None and self.awaited is None and time.monotonic() >= self.asked_at + ASKED_SECONDS

    def follow(self, call, offset=0, stays=True):
        """Send the output of a call from an offset on, then its value and how it ended, or, unless the client stays, that it runs."""
        self.followed, self._offset, self._stays, self._told = call, offset, stays, False
        self.feed()

    def feed(self):
        """Send what the call has printed since, and its end."""
        while self.hungry:
            code, value = self.followed.code, None if self._told else self.followed.value  # before what was printed until then
            data = self.followed.output(self._offset, PIECE)
            if data:
                self._out += self._frames.send(frames.OUT, OFFSET.pack(self._offset) + data)
                self._offset += len(data)
            elif value is not None:
                self._told = True
                self.say(frames.VALUE, {"value": value})
            elif code is not None and self._holder.leaves(self.followed):
                break  # it has not ended
            elif code is not None:
                self.say(frames.END, self.followed.end)
                self.followed = None
            elif not self._stays:
                self.say(frames.STATE, {"id": self.followed.job, "state": "running"})
                self.followed = None
            else:
                break
        self._watch()

    def begin(self, call):
        """Tell that a call has begun which this client has given, and follow it. One that was over long ago is not known: the store has it."""
        if call.is_dropped:
            return self.say(frames.STATE, {"id": call.job, "state": "unknown"})
        self.say(frames.STATE, {"id": call.job, "state": "started"})
        self.follow(call)

    def attach(self, call, message):
        """Follow a call from where a client asks."""
        offset = message.get("offset")
        self.follow(call, call.start_of(message["lines"]) if offset is None else int(offset), message["follow"])

    def answer(self, kind, message):
        """Do what the client asks for."""
        if kind == frames.STAT:
            if message.get("reserve"):
                self.asked_at = time.monotonic()
            return self.say(frames.STATE, self._holder.state())
        if kind == frames.CALL:
            return self._holder.take(self, message)
        if kind not in (frames.ATTACH, frames.CANCEL):
            return super().answer(kind, message)
        if kind == frames.CANCEL and self._holder.cancel(message["id"]) or kind == frames.ATTACH and self._can_attach(message):
            return None
        return self.say(frames.STATE, {"id": message["id"], "state": "unknown"})

    def _can_attach(self, message):
        """Follow a call, or await its beginning; return whether that is possible. Who can't follow it reads the store."""
        call = self._holder.find(message["id"])
        if wants_output(message) and (call is not None and call.is_dropped or message["follow"] and self.entrance.is_full()):
            return False
        if call is not None:
            self.attach(call, message)
        elif message["follow"] and self._holder.may_begin(message["id"]):
            self.awaited = message["id"], lambda call: self.attach(call, message)
        else:
            return False
        return True


def wants_output(message):
    """Report whether a client that follows a call asks for what was printed before, rather than only for how the call ends."""
    return message["lines"] != 0 or message.get("offset") is not None
