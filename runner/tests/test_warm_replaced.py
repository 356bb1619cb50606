"""A pod that replaces a lost one of a warm host: it runs again what that has not ended, and nothing else."""

import hmac
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from fixture import RUNNER, TIMEOUT, function
from hosting import SECRET, UID, Hosting, Ring
from kinetic_runner.store import open_store
from kinetic_runner.warm import frames
from kinetic_runner.warm.ends import LABEL, unended

POD = """
import json, sys; sys.path.insert(0, %r)
from kinetic_runner.warm.ends import store_of, unended
from kinetic_runner.warm.holder import Holder
work, first = json.loads(sys.argv[1])
def here(order):
    return dict(order, argv=[*order["argv"], "--work", work]) if "argv" in order else order
holder = Holder(%r, %r, work, 0, 1000.0, 1000.0, unended=lambda: [here(order) for order in unended(store_of("host", first["argv"]), "host", b"secret")])
print(holder.port, flush=True)
holder.expect(first)
holder.take(None, first)
holder.serve()
sys.exit(143 if holder.left_unended else 0)
"""
# It ends by itself in its second attempt.
TWICE = """import os, time
def f():
  print("begun", flush=True)
  while os.environ["KINETIC_ATTEMPT"] == "1": time.sleep(0.01)
  return os.environ["KINETIC_ATTEMPT"]
"""


class Replaced(Hosting):
    pods = 0

    def pod(self, first):
        """A new pod of the host, and its port."""
        self.pods += 1
        work = os.path.join(self.root, f"pod-{self.pods}")
        environ = {name: value for name, value in os.environ.items() if not name.startswith("KINETIC_")}
        order = dict(first, argv=[*first["argv"], "--work", work])
        argv = [sys.executable, "-c", POD % (RUNNER, SECRET, UID), json.dumps([work, order])]
        process = subprocess.Popen(argv, env=dict(environ, KINETIC_POD_UID=f"uid-{self.pods}"), stdout=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self._kill, process)
        return process, int(process.stdout.readline())

    def given(self, job, source):
        """A call that was given to the host: in its records, too."""
        order = self.order(job, function(), {"train.py": source})
        at = order["argv"].index("--work")
        del order["argv"][at : at + 2]  # each pod has its own
        self.put(f"warm/host/{job}", self.record(order))
        return order

    def record(self, order, key=SECRET):
        """What a client with the host's key writes of a call."""
        text = json.dumps(order)
        return json.dumps({"call": text, "mac": hmac.digest(key, f"{LABEL}host\0{text}".encode(), "sha256").hex()}).encode()

    def ended(self, job):
        """How a call ended, None if it has not."""
        path = os.path.join(self.store, job, "end.json")
        if not os.path.exists(path):
            return None
        with open(path) as file:
            return json.load(file)

    def follow(self, port, job):
        ring = Ring(self, port)
        ring.send(frames.ATTACH, {"id": job, "lines": -1, "follow": True})
        return ring.follow()

    def lose(self, process, port, job):
        """The pod is lost while a call runs: its node ends it."""
        ring = Ring(self, port)
        ring.send(frames.ATTACH, {"id": job, "lines": -1, "follow": True})
        ring.await_output()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(TIMEOUT), 143)
        self.assertIsNone(self.ended(job))

    def test_the_first_call_runs_again(self):
        first = self.given("first", TWICE)
        self.lose(*self.pod(first), "first")
        process, port = self.pod(first)
        self.assertEqual(self.follow(port, "first"), ("begun\n", 0))
        self.assertEqual((self.result("first")["value"], self.ended("first")["attempt"]), ("2", 2))
        logs = os.path.join(self.store, "first", "logs", "0")
        self.assertLessEqual({"1-1.log", "2-1.log"}, set(os.listdir(logs)))
        self.assertIsNone(process.poll())  # it takes further calls

    def lose_later(self):
        """The first call of a pod that was lost while the call later ran."""
        first, later = self.given("first", "def f(): return 1"), self.given("later", TWICE)
        process, port = self.pod(first)
        self.assertEqual(self.follow(port, "first")[1], 0)
        ring = Ring(self, port)
        ring.send(frames.CALL, dict(later, argv=[*later["argv"], "--work", os.path.join(self.root, "pod-1")]))
        self.lose(process, port, "later")
        return first

    def test_a_later_call_runs_again(self):
        first = self.lose_later()
        shutil.rmtree(os.path.join(self.root, "pod-1"))
        _, port = self.pod(first)
        self.assertEqual(self.follow(port, "later"), ("begun\n", 0))
        self.assertEqual((self.result("later")["value"], self.result("first")["attempt"]), ("2", 1))

    def test_a_later_call_runs_again_although_the_first_one_was_removed(self):
        first = self.lose_later()
        shutil.rmtree(os.path.join(self.store, "first"))  # as jobs cleanup does
        os.unlink(os.path.join(self.store, "warm", "host", "first"))
        process, port = self.pod(first)
        self.assertEqual(self.follow(port, "later"), ("begun\n", 0))
        self.assertEqual(self.result("later")["value"], "2")
        self.assertFalse(os.path.exists(os.path.join(self.store, "first")))
        self.assertIsNone(process.poll())  # it takes further calls

    def test_nothing_was_lost(self):
        first = self.given("first", "def f(): return 1")
        self.put("warm/host/other", b"{}\n")  # its variables are not in the store, so nobody can run it again
        process, port = self.pod(first)
        self.assertEqual(self.follow(port, "first")[1], 0)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(TIMEOUT), 0)
        process, port = self.pod(first)
        ring = Ring(self, port)
        ring.send(frames.ATTACH, {"id": "other", "lines": -1, "follow": True})
        self.assertEqual(ring.receive()[1]["state"], "unknown")
        self.assertEqual(process.wait(TIMEOUT), 0)

    def test_records_of_strangers(self):
        """Whoever can write to the store, but has not the host's key, has nothing run."""
        first = self.given("first", "def f(): return 1")
        process, port = self.pod(first)
        self.assertEqual(self.follow(port, "first")[1], 0)
        process.kill()
        later = self.given("later", TWICE)
        for job, record in (("evil", self.record(dict(later, id="evil"), b"a guess")), ("moved", self.record(later)), ("list", b"[]"), ("none", b"")):
            self.put(f"{job}/attempts/1.json", b"{}")
            self.put(f"warm/host/{job}", record)
        process, port = self.pod(first)
        self.assertEqual(process.wait(TIMEOUT), 0)
        self.assertEqual([self.ended(job) for job in ("evil", "moved", "list", "none", "later")], [None] * 5)  # later has not begun

    def test_a_call_that_has_another_host(self):
        """Its first submit was interrupted, and has left a record here."""
        self.given("moved", TWICE)
        self.put("moved/attempts/1.json", b"{}")
        store = open_store(self.store_url, "", "", "")
        self.assertEqual([order["id"] for order in unended(store, "host", SECRET)], ["moved"])
        for host, found in (("host", 1), ("other", 0)):
            self.put("moved/handle.json", json.dumps({"host": host}).encode())
            self.assertEqual(len(unended(store, "host", SECRET)), found, host)

    def test_a_call_that_waits_is_refused_by_a_pod_that_ends(self):
        first, later = self.given("first", TWICE), self.given("later", "def f(): return 5")
        process, port = self.pod(first)
        ring = Ring(self, port)
        ring.send(frames.CALL, dict(later, wait=True))
        self.assertEqual(ring.receive()[1]["state"], "queued")
        self.lose(process, port, "first")
        self.assertEqual(ring.receive()[1]["state"], "refused")

    def test_a_pod_that_was_wrongly_taken_for_lost(self):
        """Its attempt leaves the end of the call to the next one."""
        source = """import os, time
def f():
  print("begun", flush=True)
  while not os.path.exists(%r + os.environ["KINETIC_ATTEMPT"]): time.sleep(0.01)
  return os.environ["KINETIC_ATTEMPT"]"""
        go = os.path.join(self.root, "go-")
        first, rings = self.given("first", source % go), []
        for _ in range(2):
            _, port = self.pod(first)
            rings.append(Ring(self, port))
            rings[-1].send(frames.ATTACH, {"id": "first", "lines": -1, "follow": True})
            rings[-1].await_output()
        for number, ring in enumerate(rings, 1):
            open(f"{go}{number}", "w").close()
            self.end(ring)
        self.assertEqual((self.ended("first")["state"], self.ended("first")["attempt"], self.result("first")["value"]), ("SUCCEEDED", 2, "2"))


class Ends(Hosting):
    def test_the_end_of_a_killed_call_is_recorded_before_the_host_ends(self):
        process, port = self.host(limit=4.0)
        job, ring = self.begun(port, "import os, time\ndef f():\n  print('begun', flush=True)\n  time.sleep(4)\n  os.kill(os.getppid(), 9)\n  time.sleep(99)")
        self.assertEqual(self.end(ring), -signal.SIGKILL)
        self.assertEqual(process.wait(TIMEOUT), 0)
        with open(os.path.join(self.store, job, "end.json")) as file:
            self.assertEqual(json.load(file)["reason"], "Killed")

    def test_a_call_that_is_cancelled_while_its_runner_starts(self):
        _, port = self.host(change="import kinetic_runner.warm.calls as module; start = module.HostedCall.start; module.HostedCall.start = lambda call, *args: (start(call, *args), call.stop())", level="clean")
        for job in ("one", "two", "three"):
            output, code = self.run_there(port, job, function(), {"train.py": "def f(): pass"})
            self.assertIn(code, (-signal.SIGTERM, 143), output)
            end = os.path.join(self.store, job, "end.json")
            self.eventually(lambda end=end: os.path.exists(end))
            with open(end) as file:
                end = json.load(file)
            self.assertEqual((end["reason"], end["exit_code"]), ("Terminated", 143), end["message"])

    def test_a_host_waits_for_the_call_of_a_client_that_has_asked(self):
        process, port = self.host()
        ring = Ring(self, port)
        ring.send(frames.STAT, {"reserve": True})
        ring.receive()
        self.assertEqual(self.run_there(port, "before", function(), {"train.py": "def f(): pass"}, idle=0.0)[1], 0)
        ring.send(frames.CALL, self.order("call", function(), {"train.py": "def f(): return 1"}, idle=0.0))
        self.assertEqual(ring.receive()[1]["state"], "started")
        self.assertEqual(self.end(ring), 0)
        self.assertEqual(process.wait(TIMEOUT), 0)

    def test_a_client_that_has_asked_before_the_limit_comes_too_late(self):
        process, port = self.host(change="import threading; threading.Timer(0.2, lambda: setattr(holder, '_limit', 0.0)).start()")
        ring, ends = Ring(self, port), 1000.0
        while ends > 100:
            ring.send(frames.STAT, {"reserve": True})
            ends = ring.receive()[1]["ends"]
        ring.send(frames.CALL, self.order("call", function(), {"train.py": "def f(): return 1"}))
        self.assertEqual(ring.receive()[1], {"id": "call", "state": "refused", "why": "its --warm-limit is over"})
        ring.close()
        self.assertEqual(process.wait(TIMEOUT), 0)


if __name__ == "__main__":
    unittest.main()
