# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The program of a warm host: it takes one call after the other until it has been idle for long enough."""

import json
import math
import os
import selectors
import signal
import socket
import struct
import time

from ..text import tell
from . import frames
from .calls import HostedCall, ReadyRunner
from .frames import BadFrame, Frames
from .keeper import PRELOADED, KeptProcess
from .leftovers import Leftovers, end_others

CONNECTIONS = 8
GREETING_SECONDS = 5.0  # for a client to prove itself
TAIL_SECONDS = 0.01  # between looks for output of a call that somebody follows
PIECE = 64 << 10  # bytes of output in a frame
UNSENT = 256 << 10  # bytes that may wait for a slow client
KEPT_CALLS = 50  # whose output can be read again
OFFSET = struct.Struct("!Q")


class Holder:
    """A warm host. idle and limit are seconds: without a call, and after which none begins any more.

    level is one of keeper.py. flags are for the runner of each call.
    """

    def __init__(self, secret, pod_uid, work, port, idle, limit, level=PRELOADED, flags=()):
        self._secret, self._uid, self._work = secret, pod_uid, work
        self._idle, self._limit, self._flags = idle, limit, list(flags)
        self._folder = os.path.join(work, "calls")
        os.makedirs(self._folder, exist_ok=True)
        self._began = self._free_since = time.monotonic()
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", port), backlog=CONNECTIONS)
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self.port = self._listener.getsockname()[1]
        self._leftovers = Leftovers()
        self._clients, self._waiting = set(), []  # those whose call waits its turn, with the call
        self._calls, self._current = {}, None
        self._keeper = KeptProcess(work, level)
        self._ready = self._stopping = None

    def serve(self):
        """Serve until the host is idle for too long, or SIGTERM. Then nothing runs any more."""
        wake, woken = os.pipe()
        for fd in (wake, woken):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)
        self._selector.register(wake, selectors.EVENT_READ)
        self._keeper.renew()
        self._ready = self._runner()
        self._tick()  # the first call has no client
        while not self._over():
            for key, events in self._selector.select(self._pause()):
                if key.fileobj is self._listener:
                    self._accept()
                elif key.fileobj == wake:
                    self._handle(os.read(wake, 4096))
                elif key.data in self._clients:
                    key.data.ready(events)
            self._tick()
        self._ready.dismiss()
        self._keeper.end()

    def _runner(self):
        return ReadyRunner(self._work, self._keeper.last, self._keeper.socket)

    def _over(self):
        if self._current is not None:
            return False
        now = time.monotonic()
        return bool(self._stopping) or not self._waiting and now >= min(self._free_since + self._idle, self._began + self._limit)

    def _pause(self):
        """Return for how long to wait for events."""
        if any(client.hungry for client in self._clients):
            return TAIL_SECONDS
        moments = [client.greet_by for client in self._clients]
        if self._current is None:
            moments += [self._free_since + self._idle, self._began + self._limit]
        next_at = min(moments, default=math.inf)
        return None if next_at == math.inf else max(0.0, next_at - time.monotonic())

    def _accept(self):
        connection, _ = self._listener.accept()
        if len(self._clients) >= CONNECTIONS:
            connection.close()
            return
        self._clients.add(Client(self, connection, Frames(self._secret, self._uid, True)))

    def _handle(self, numbers):
        if signal.SIGTERM in numbers or signal.SIGINT in numbers:
            self.end()
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if self._current is not None and pid == self._current.pid:
                self._current.code = os.waitstatus_to_exitcode(status)
            elif self._ready is not None and pid == self._ready.pid:
                self._ready.dismiss()
                self._ready = self._runner()
            else:
                self._keeper.note_end(pid, self._current is None)

    def _tick(self):
        now = time.monotonic()
        for client in list(self._clients):
            if now >= client.greet_by:
                client.close()
            else:
                client.feed()
        if self._current is not None and self._current.code is not None:
            self._finish()
        if self._current is None and self._waiting and not self._stopping:
            self._begin(*self._waiting.pop(0))

    def _finish(self):
        if os.getpid() == 1:  # else others use this machine, too
            end_others(self._keeper.keeps)  # what the call has left running
            self._leftovers.remove()
        tell(f"kinetic: call {self._current.job} ended with exit code {self._current.code}\n")
        self._current = None
        for client in list(self._clients):
            client.feed()
        self._free_since = time.monotonic()
        while len(self._calls) > KEPT_CALLS:
            self._calls.pop(next(iter(self._calls))).forget()
        if not self._stopping:
            self._keeper.renew()
            self._ready = self._runner()

    def take(self, client, order):
        """Start a call, or let it wait for its turn. A call that is here already is followed. The first call of a host has no client."""
        job = order["id"]
        if not all(isinstance(word, str) for word in (job, *order["argv"], *order["environ"].values())):
            raise ValueError("a call consists of texts")
        if client is None:
            self._keeper.note_call(order)
            self._waiting.append((client, order))
        elif job in self._calls:
            client.say(frames.STATE, {"id": job, "state": "started"})
            client.follow(self._calls[job], 0)
        elif self._current is None and not self._waiting:
            self._begin(client, order)
        elif order.get("wait"):
            self._waiting.append((client, order))
            client.say(frames.STATE, {"id": job, "state": "queued", "place": len(self._waiting)})
        else:
            client.say(frames.BUSY, {"id": self._current.job, "seconds": round(self._current.seconds, 1)})

    def _begin(self, client, order):
        call = HostedCall(order["id"], self._folder)
        argv = self._flags + order["argv"]
        self._keeper.note_call(order)
        if self._keeper.lasting:
            self._leftovers = Leftovers()  # what was kept has files there
        try:
            call.start(self._ready, argv, order["environ"])
        except BrokenPipeError:  # it has just died
            call.start(self._runner(), argv, order["environ"])
        self._ready, self._current, self._calls[call.job] = None, call, call
        tell(f"kinetic: call {call.job} started\n")
        if client is not None:
            client.say(frames.STATE, {"id": call.job, "state": "started"})
            client.follow(call, 0)

    def find(self, job):
        """Return a call of this host, or None."""
        return self._calls.get(job)

    def end(self):
        """End the host: the call that runs is told to end, and none begins."""
        self._stopping = True
        if self._current is not None:
            self._current.stop()

    def drop(self, client):
        """Forget a client. Its call goes on, if it has begun."""
        self._clients.discard(client)
        self._waiting = [entry for entry in self._waiting if entry[0] is not client]

    def watch(self, client, connection, writing):
        """Wait for what a connection can do."""
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if writing else 0)
        try:
            self._selector.modify(connection, events, client)
        except KeyError:
            self._selector.register(connection, events, client)

    def unwatch(self, connection):
        """Stop waiting for a connection."""
        self._selector.unregister(connection)

    def state(self):
        """Return what the host does, as an object for JSON."""
        current = self._current
        now = time.monotonic()
        return {
            "calls": len(self._calls), "current": current.job if current else None, "seconds": round(current.seconds, 1) if current else None,
            "idle": None if current else round(now - self._free_since, 1), "ends": round(self._ends_in(now), 1),
        }  # fmt: skip

    def _ends_in(self, now):
        left = self._began + self._limit - now
        return left if self._current is not None else min(left, self._free_since + self._idle - now)


class Client:
    """A connection of a client: what it asks for, and the output that it follows."""

    def __init__(self, holder, connection, channel):
        self._holder, self._connection, self._frames = holder, connection, channel
        self.greet_by = time.monotonic() + GREETING_SECONDS
        self._out = bytearray(channel.greeting)
        self._call, self._offset, self._stays = None, 0, True
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._watch()

    @property
    def hungry(self):
        """Whether it follows a call and can take more."""
        return self._call is not None and len(self._out) < UNSENT

    def follow(self, call, offset, stays=True):
        """Send the output of a call from an offset on, and then how it ended, or, unless the client stays, that it runs."""
        self._call, self._offset, self._stays = call, offset, stays
        self.feed()

    def say(self, kind, message):
        """Send an object."""
        self._out += self._frames.send(kind, json.dumps(message).encode())
        self._watch()

    def feed(self):
        """Send what the call has printed since, and its end."""
        while self.hungry:
            code = self._call.code  # before what was printed until then
            data = self._call.output(self._offset, PIECE)
            if data:
                self._out += self._frames.send(frames.OUT, OFFSET.pack(self._offset) + data)
                self._offset += len(data)
            elif code is not None:
                self.say(frames.END, self._call.end)
                self._call = None
            elif not self._stays:
                self.say(frames.STATE, {"id": self._call.job, "state": "running"})
                self._call = None
            else:
                break
        self._watch()

    def ready(self, events):
        """Do what the connection can do."""
        try:
            if events & selectors.EVENT_WRITE:
                del self._out[: self._connection.send(self._out)]
                self.feed()
            if events & selectors.EVENT_READ:
                data = self._connection.recv(PIECE)
                if not data:
                    return self.close()
                for kind, payload in self._frames.receive(data):
                    self.greet_by = math.inf
                    self._answer(kind, payload)
        except BlockingIOError:
            pass
        except (AttributeError, BadFrame, OSError, KeyError, TypeError, ValueError):
            self.close()

    def _answer(self, kind, payload):
        message = json.loads(payload)
        if kind == frames.STAT:
            self.say(frames.STATE, self._holder.state())
        elif kind == frames.CALL:
            self._holder.take(self, message)
        elif kind in (frames.ATTACH, frames.CANCEL):
            call = self._holder.find(message["id"])
            if call is None:
                self.say(frames.STATE, {"id": message["id"], "state": "unknown"})
            elif kind == frames.ATTACH:
                offset = message.get("offset")
                self.follow(call, call.start_of(message["lines"]) if offset is None else int(offset), message["follow"])
            else:
                call.stop()

    def close(self):
        """Close the connection."""
        self._holder.unwatch(self._connection)
        self._connection.close()
        self._holder.drop(self)

    def _watch(self):
        self._holder.watch(self, self._connection, bool(self._out))
