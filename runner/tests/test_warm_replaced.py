"""A pod that replaces a lost one of a warm host: it runs again what that has not ended, and nothing else."""

import json
import os
import shutil
import signal
import subprocess
import sys
import unittest

from fixture import RUNNER, TIMEOUT, function
from hosting import SECRET, UID, Hosting, Ring
from kinetic_runner.warm import frames

POD = """
import json, sys; sys.path.insert(0, %r)
from kinetic_runner.warm.ends import store_of, unended
from kinetic_runner.warm.holder import Holder
work, first = json.loads(sys.argv[1])
holder = Holder(%r, %r, work, 0, 1000.0, 1000.0, unended=lambda: unended(store_of("host", first["argv"]), "host"))
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
        self.put(f"warm/host/{job}", json.dumps(order).encode())
        return order

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
        while ring.receive()[0] != frames.OUT:
            pass
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

    def test_a_later_call_runs_again(self):
        first, later = self.given("first", "def f(): return 1"), self.given("later", TWICE)
        process, port = self.pod(first)
        self.assertEqual(self.follow(port, "first")[1], 0)
        ring = Ring(self, port)
        ring.send(frames.CALL, dict(later, argv=[*later["argv"], "--work", os.path.join(self.root, "pod-1")]))
        self.lose(process, port, "later")
        shutil.rmtree(os.path.join(self.root, "pod-1"))
        _, port = self.pod(first)
        self.assertEqual(self.follow(port, "later"), ("begun\n", 0))
        self.assertEqual((self.result("later")["value"], self.result("first")["attempt"]), ("2", 1))

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


if __name__ == "__main__":
    unittest.main()
