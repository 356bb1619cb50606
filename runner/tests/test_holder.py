"""A warm host: calls over its port, one after the other."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from fixture import JOB, RUNNER, TIMEOUT, RunnerCase, function, pack, script
from kinetic_runner.warm import frames
from kinetic_runner.warm.frames import Frames
from kinetic_runner.warm.holder import OFFSET
from kinetic_runner.warm.leftovers import Leftovers

SECRET, UID = b"secret", "uid-1"
PROGRAM = """
import sys; sys.path.insert(0, %r)
from kinetic_runner.warm.holder import Holder
holder = Holder(%r, %r, %r, 0, %r, %r)
print(holder.port, flush=True)
holder.serve()
"""


class Leaving(unittest.TestCase):
    def test_what_calls_leave_is_removed(self):
        with tempfile.TemporaryDirectory() as place:
            open(os.path.join(place, "before"), "w").close()
            left = Leftovers([place, os.path.join(place, "missing")])
            os.makedirs(os.path.join(place, "tree", "deep"))
            os.symlink("/", os.path.join(place, "link"))
            open(os.path.join(place, "file"), "w").close()
            left.remove()
            self.assertEqual(os.listdir(place), ["before"])


class Ring:
    """A client of a host."""

    def __init__(self, case, port, secret=SECRET):
        self._connection = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
        case.addCleanup(self._connection.close)
        self._frames, self._got = Frames(secret, UID, False), []
        self._connection.sendall(self._frames.greeting)
        while not self._frames.greeted:
            self._got += self._frames.receive(self._connection.recv(4096))

    def send(self, kind, message):
        self._connection.sendall(self._frames.send(kind, json.dumps(message).encode()))

    def receive(self):
        """The next frame, None at the end of the connection."""
        while not self._got:
            data = self._connection.recv(1 << 16)
            if not data:
                return None
            self._got += self._frames.receive(data)
        kind, payload = self._got.pop(0)
        return kind, (payload if kind == frames.OUT else json.loads(payload))

    def follow(self):
        """The output of the call, and its exit code."""
        output = b""
        while True:
            kind, message = self.receive()
            if kind == frames.OUT:
                assert OFFSET.unpack_from(message)[0] == len(output)
                output += message[OFFSET.size :]
            elif kind == frames.END:
                return re.sub(r"(?m)^\S+Z ", "", output.decode()), message["code"]

    def close(self):
        self._connection.close()


class Holding(RunnerCase):
    def host(self, idle=1000.0, limit=1000.0, **more):
        code = PROGRAM % (RUNNER, SECRET, UID, self.work, idle, limit)
        environ = {name: value for name, value in os.environ.items() if not name.startswith("KINETIC_")}
        process = subprocess.Popen([sys.executable, "-c", code], env=dict(environ, **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self._kill, process)
        return process, int(process.stdout.readline())

    def order(self, job, call, files, **more):
        """A call in the store, and what is said of it to the host."""
        bundle, data = self.put_index(*pack(files)), json.dumps(call).encode()
        self.put(f"{job}/call.json", data)
        argv = self.argv(call, bundle)
        argv = ["--store", self.store_url, "--call", argv[argv.index("--call") + 1], "--bundle", bundle, "--work", self.work]
        return dict(id=job, argv=argv + ["--function"] * (call["kind"] == "function"), environ=more.pop("environ", {}), **more)

    def run_there(self, port, *args, **more):
        ring = Ring(self, port)
        ring.send(frames.CALL, self.order(*args, **more))
        kind, state = ring.receive()
        self.assertEqual((kind, state["state"]), (frames.STATE, "started"), state)
        return ring.follow()

    def result(self, job):
        with open(os.path.join(self.store, job, "result.json")) as file:
            return json.load(file)

    def test_calls_are_whole_jobs(self):
        _, port = self.host()
        for number in (1, 2, 3):
            job, source = f"call-{number}", f"import os\ndef f():\n  print('printed', os.environ['WORD'])\n  return {number}"
            output, code = self.run_there(port, job, function(), {"train.py": source}, environ={"WORD": f"word {number}"})
            self.assertEqual((output, code), (f"printed word {number}\n", 0))
            self.assertEqual(self.result(job)["value"], number)
            with open(os.path.join(self.store, job, "end.json")) as file:
                self.assertEqual(json.load(file)["state"], "SUCCEEDED")
        output, code = self.run_there(port, "call-4", script(), {"train.py": "import sys; sys.exit(7)"})
        self.assertEqual(code, 7, output)

    def test_packages_are_imported_before_the_next_call(self):
        site = os.path.join(self.root, "site-packages")
        os.mkdir(site)
        with open(os.path.join(site, "heavy.py"), "w") as file:
            file.write("import os, time\nWORD, AT = os.environ.get('WORD'), time.monotonic()\n")
        _, port = self.host(PYTHONPATH=site)
        source = "import time\nSTARTED = time.monotonic()\nimport heavy, helper\ndef f(): return [heavy.WORD, heavy.AT < STARTED, helper.N]"
        got = []
        for number, word in enumerate(("a", "a", "b", "b")):
            files = {"train.py": source, "helper.py": f"N = {number}"}
            self.assertEqual(self.run_there(port, f"call-{number}", function(), files, environ={"WORD": word})[1], 0)
            got.append(self.result(f"call-{number}")["value"])
        self.assertEqual(got, [["a", False, 0], ["a", True, 1], ["b", False, 2], ["b", True, 3]])

    def test_a_call_goes_on_without_its_client_and_can_be_followed_again(self):
        _, port = self.host()
        go = os.path.join(self.root, "go")
        source = f"import os\ndef f():\n  print('begun', flush=True)\n  while not os.path.exists({go!r}): os.sched_yield()\n  print('done')"
        ring = Ring(self, port)
        ring.send(frames.CALL, self.order("call-1", function(), {"train.py": source}))
        while ring.receive()[0] != frames.OUT:
            pass
        ring.close()
        again, other = Ring(self, port), Ring(self, port)
        other.send(frames.CALL, self.order("call-2", function(), {"train.py": "def f(): pass"}))
        kind, message = other.receive()
        self.assertEqual((kind, message["id"]), (frames.BUSY, "call-1"))
        other.send(frames.CALL, self.order("call-2", function(), {"train.py": "def f(): print('second')"}, wait=True))
        self.assertEqual(other.receive()[1]["state"], "queued")
        again.send(frames.ATTACH, {"id": "call-1", "lines": -1, "follow": True})
        open(go, "w").close()
        self.assertEqual(again.follow(), ("begun\ndone\n", 0))
        self.assertEqual(other.receive()[1]["state"], "started")
        self.assertEqual(other.follow(), ("second\n", 0))
        again.send(frames.ATTACH, {"id": "call-9", "lines": -1, "follow": True})
        self.assertEqual(again.receive(), (frames.STATE, {"id": "call-9", "state": "unknown"}))

    def test_a_call_rung_twice_runs_once(self):
        _, port = self.host()
        order = self.order("call-1", function(), {"train.py": "def f(): print('once')"})
        rings = [Ring(self, port), Ring(self, port)]
        for ring in rings:
            ring.send(frames.CALL, order)
        self.assertEqual([ring.follow() for ring in rings], [("once\n", 0)] * 2)

    def test_cancel(self):
        _, port = self.host()
        ring = Ring(self, port)
        ring.send(frames.CALL, self.order("call-1", function(), {"train.py": "import signal\ndef f():\n  print('begun', flush=True)\n  signal.pause()"}))
        while ring.receive()[0] != frames.OUT:
            pass
        ring.send(frames.CANCEL, {"id": "call-1"})
        while (frame := ring.receive())[0] != frames.END:
            pass
        self.assertEqual(frame[1]["code"], 143)
        self.assertEqual(self.run_there(port, "call-2", function(), {"train.py": "def f(): print('next')"}), ("next\n", 0))

    def test_end_of_the_host(self):
        process, port = self.host(idle=0.5)
        self.assertEqual(self.run_there(port, "call-1", function(), {"train.py": "def f(): pass"})[1], 0)
        self.assertEqual(process.wait(TIMEOUT), 0)
        process, port = self.host(limit=0.5)
        self.assertEqual(process.wait(TIMEOUT), 0)
        process, port = self.host()
        ring = Ring(self, port)
        ring.send(frames.STAT, None)
        self.assertEqual(ring.receive()[1]["calls"], 0)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(TIMEOUT), 0)

    def test_strangers(self):
        process, port = self.host()
        stranger = Ring(self, port, b"guess")
        stranger.send(frames.STAT, None)
        self.assertIsNone(stranger.receive())
        for text in ("{", '"x"', "{}", '{"id": "a1", "argv": [], "environ": null}', '{"id": "a1", "argv": [1], "environ": {}}'):
            ring = Ring(self, port)
            ring._connection.sendall(ring._frames.send(frames.CALL, text.encode()))
            self.assertIsNone(ring.receive())
        self.assertIsNone(process.poll())
        self.assertEqual(self.run_there(port, "call-1", function(), {"train.py": "def f(): pass"})[1], 0)


if __name__ == "__main__":
    unittest.main()
