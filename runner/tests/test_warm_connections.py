"""Many, slow and silent clients of a warm host."""

import os
import socket
import unittest

from fixture import TIMEOUT, function
from hosting import Hosting, Ring
from kinetic_runner.warm import frames
from kinetic_runner.warm.connections import CONNECTIONS
from kinetic_runner.warm.frames import MAGIC, NONCE

PRINTED = 64 << 20  # bytes
GROWTH = 8 << 20  # bytes, far more than what waits for a slow client
MANY = 100


class Connecting(Hosting):
    def silent(self, port):
        """A connection that sends nothing, once it was taken."""
        connection = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
        self.addCleanup(connection.close)
        return connection

    def heard(self, connection):
        """All that the host sends on a connection, up to its end."""
        heard = b""
        while data := connection.recv(4096):
            heard += data
        return heard

    def running(self, port):
        """A call that runs until a file exists: the connection that has started it, and the file."""
        go = os.path.join(self.root, "go")
        _, ring = self.begun(port, f"import os, time\ndef f():\n  print('begun', flush=True)\n  while not os.path.exists({go!r}): time.sleep(0.01)")
        return ring, go

    def peak(self, process):
        """The most memory that the host has had."""
        with open(f"/proc/{process.pid}/status") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))

    def test_a_client_that_does_not_read_takes_little_memory(self):
        process, port = self.host()
        ring = Ring(self, port)
        self.assertEqual(self.run_there(port, "before", function(), {"train.py": "def f(): print('x' * 100)"})[1], 0)
        before = self.peak(process)
        source = f"def f():\n  for _ in range({PRINTED >> 20}): print(('x' * 1023 + '\\n') * 1024, end='')"
        ring.send(frames.CALL, self.order("call", function(), {"train.py": source}))
        other = Ring(self, port)
        other.send(frames.ATTACH, {"id": "call", "lines": 0, "follow": True})
        self.assertEqual(self.end(other), 0)  # all is printed
        self.assertLess(self.peak(process) - before, GROWTH)
        self.assertEqual(self.end(ring), 0)  # it gets all, late

    def test_who_does_not_prove_himself_in_time_is_left(self):
        _, port = self.host(change="import kinetic_runner.warm.connections as module; module.GREETING_SECONDS = 0.2")
        silent, greets = self.silent(port), self.silent(port)
        greets.sendall(MAGIC + bytes(NONCE))  # anybody can
        for connection in (silent, greets):
            self.assertEqual(len(self.heard(connection)), len(MAGIC) + NONCE)

    def test_many_silent_connections(self):
        _, port = self.host(change="import kinetic_runner.warm.connections as module; module.GREETING_SECONDS = 1000.0")
        proven = Ring(self, port)
        proven.send(frames.STAT, {})
        self.assertIsNone(proven.receive()[1]["current"])
        connections = [self.silent(port) for _ in range(MANY)]
        self.assertEqual(self.run_there(port, "call", function(), {"train.py": "def f(): print('runs')"}), ("runs\n", 0))
        for connection in connections[: MANY - CONNECTIONS]:
            self.heard(connection)  # it was closed
        proven.send(frames.STAT, {})
        self.assertEqual(proven.receive()[1]["calls"], 1)

    def test_many_followers_do_not_keep_a_call_out(self):
        _, port = self.host()
        first, go = self.running(port)
        followers = [Ring(self, port) for _ in range(16)]
        for ring in followers:
            ring.send(frames.ATTACH, {"id": "call-0", "lines": -1, "follow": True})
            ring.await_output()
        new = Ring(self, port)
        new.send(frames.CALL, self.order("new", function(), {"train.py": "def f(): print('new')"}, wait=True))
        self.assertEqual(new.receive()[1]["state"], "queued")
        open(go, "w").close()
        for ring in (first, *followers):
            self.assertEqual(self.end(ring), 0)
        self.assertEqual(new.receive()[1]["state"], "started")
        self.assertEqual(new.follow(), ("new\n", 0))

    def test_many_followers_do_not_keep_a_cancellation_out(self):
        _, port = self.host()
        first, _ = self.running(port)
        followers, heard = [Ring(self, port) for _ in range(CONNECTIONS - 1)], []
        for ring in followers:
            ring.send(frames.ATTACH, {"id": "call-0", "lines": -1, "follow": True})
            heard.append(ring.receive())
        more = CONNECTIONS - CONNECTIONS // 4 - 1
        self.assertEqual([kind for kind, _ in heard], [frames.OUT] * more + [frames.STATE] * (len(heard) - more))
        self.assertEqual(heard[-1][1], {"id": "call-0", "state": "unknown"})  # it reads the store
        other = Ring(self, port)
        other.send(frames.CANCEL, {"id": "call-0"})
        other.send(frames.ATTACH, {"id": "call-0", "lines": 0, "follow": True})
        for ring in (first, other, *followers[:more]):
            self.assertEqual(self.end(ring), 143)

    def test_who_awaits_nothing_makes_room(self):
        _, port = self.host(change="import kinetic_runner.warm.holder as module; module.CONNECTIONS = 3")
        first, go = self.running(port)
        idle, reserving = Ring(self, port), Ring(self, port)
        reserving.send(frames.STAT, {"reserve": True})
        reserving.receive()
        idle.send(frames.STAT, {})
        idle.receive()
        new = Ring(self, port)
        self.assertIsNone(idle.receive())
        new.send(frames.ATTACH, {"id": "call-0", "lines": -1, "follow": True})
        new.await_output()
        self.assertEqual(self.heard(self.silent(port)), b"")  # all others are needed
        open(go, "w").close()
        self.assertEqual([self.end(ring) for ring in (first, new)], [0, 0])


if __name__ == "__main__":
    unittest.main()
