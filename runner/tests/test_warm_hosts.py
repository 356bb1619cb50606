"""A warm host that consists of several: all of them run a call, or none does."""

import hmac
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from fixture import RUNNER, TIMEOUT, free_port, function, read_log
from hosting import SECRET, UID, Hosting, Ring
from kinetic_runner.warm import frames
from kinetic_runner.warm import group as hosts
from kinetic_runner.warm.ends import LABEL
from kinetic_runner.warm.calls import HostedCall
from kinetic_runner.warm.group import Leading
from kinetic_runner.warm.holder import Holder
from kinetic_runner.warm.leftovers import processes

HOLD = """
import json, sys; sys.path.insert(0, %r)
from kinetic_runner.warm import group as hosts
from kinetic_runner.warm.group import Following, Leading
hosts.END_SECONDS = 1.0
from kinetic_runner.warm import connections
connections.GREETING_SECONDS = %r
from kinetic_runner.warm.holder import Holder
host, hosts, port, runners, work, level, idle, first, repeats = json.loads(sys.argv[1])
secret = %r
group = Following(host, "127.0.0.1", secret, port, repeats) if host else Leading(hosts, secret, port, repeats)
flags = ["--group-port", str(runners), "--work", work] + ["--release", "namespace/set"] * repeats
from kinetic_runner.warm.ends import store_of, unended
holder = Holder(secret, %r, work, 0, idle, 1000.0, level, flags, group, lambda: unended(store_of("host", first["argv"]), "host", secret))
print(holder.port, flush=True)
if first:
    holder.expect(first)
    if not host:
        holder.take(None, first)
holder.serve()
sys.exit(143 if holder.left_unended else 1 if holder.lost else 0)
"""
BOTH = """
import os
def f():
    print("host", os.environ["RANK"], "of", os.environ["WORLD_SIZE"])
    return "KINETIC_GROUP_KEY" in os.environ or "KINETIC_LEADER" in os.environ
"""


class Hosts(Hosting):
    """Two hosts, which find each other like the hosts of an Indexed Job."""

    HOSTS = 2
    GREETING_SECONDS = 5.0
    REPEATS = False  # whether lost hosts are started again

    def setUp(self):
        super().setUp()
        self.port, self.runners = free_port(), free_port()

    def one(self, host, level="preloaded", idle=1000.0, first=None, **more):
        work = os.path.join(self.root, f"host-{host}")
        given = json.dumps([host, self.HOSTS, self.port, self.runners, work, level, idle, first, self.REPEATS])
        environ = {name: value for name, value in os.environ.items() if not name.startswith("KINETIC_")}
        names = ("LWS_WORKER_INDEX", "LWS_GROUP_SIZE", "LWS_LEADER_ADDRESS") if self.REPEATS else ("JOB_COMPLETION_INDEX", "KINETIC_HOSTS", "KINETIC_LEADER")
        environ.update(zip(names, (str(host), str(self.HOSTS), "127.0.0.1")), KINETIC_GROUP_KEY="aa", **more)
        argv = [sys.executable, "-c", HOLD % (RUNNER, self.GREETING_SECONDS, SECRET, UID), given]
        process = subprocess.Popen(argv, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self._kill, process)
        return process, int(process.stdout.readline())

    def pair(self, level="preloaded", **more):
        """Two hosts, and the port of the first one."""
        (zero, port), (one, other) = self.one(0, level, **more), self.one(1, level, **more)
        self.others = [other]
        return zero, one, port

    def order(self, *args, **more):
        order = super().order(*args, **more)
        at = order["argv"].index("--work")
        del order["argv"][at : at + 2]  # each host has its own
        return order

    def log_of(self, job, host):
        folder = os.path.join(self.store, job, "logs", str(host))
        parts = sorted(os.listdir(folder))
        return read_log(b"".join(open(os.path.join(folder, name), "rb").read() for name in parts), stamped=True)[0]

    def ended(self, process):
        """The exit code of a host that ends, and what it has told."""
        return process.wait(TIMEOUT), process.stderr.read().decode()


class Calls(Hosts):
    def test_all_hosts_run_a_call_at_each_level(self):
        for level in ("clean", "preloaded", "process"):
            with self.subTest(level):
                self.setUp()
                zero, one, port = self.pair(level)
                for number in (1, 2, 3):
                    output, code = self.run_there(port, f"call-{number}", function(), {"train.py": BOTH, "data.txt": str(number)})
                    self.assertEqual((output, code), ("host 0 of 2\n", 0))
                    self.assertIs(self.result(f"call-{number}")["value"], False)
                    self.assertIn("host 1 of 2", self.log_of(f"call-{number}", 1))
                for process in (zero, one):
                    self.assertIsNone(process.poll())
                    process.kill()

    def test_the_process_of_the_first_call_is_kept_on_all_hosts(self):
        kept = "import os, kinetic\ndef f():\n  kept = kinetic.keep('calls', list)\n  kept.append(1)\n  print('kept', len(kept))\n  return len(kept)"
        first = self.order("first", function(), {"train.py": kept})
        (_, port), _ = (self.one(host, "process", first=first) for host in (0, 1))
        ring = Ring(self, port)
        ring.send(frames.ATTACH, {"id": "first", "lines": -1, "follow": True})
        self.assertEqual(ring.follow(), ("kept 1\n", 0))
        self.assertEqual(self.values(port, kept)[0], [2])
        self.assertIn("kept 2", self.log_of("call-0", 1))

    def test_the_first_call_waits_for_all_hosts(self):
        first = self.order("first", function(), {"train.py": BOTH})
        zero, port = self.one(0, first=first)
        ring = Ring(self, port)
        ring.send(frames.ATTACH, {"id": "first", "lines": -1, "follow": True})
        ring.send(frames.STAT, {})
        kind, state = ring.receive()  # and not that the call is unknown
        self.assertEqual((kind, state["current"], state["idle"]), (frames.STATE, "first", None))
        self.one(1)
        self.assertEqual(ring.follow(), ("host 0 of 2\n", 0))

    def test_the_output_of_each_host_can_be_followed(self):
        _, _, port = self.pair()
        ring = Ring(self, self.others[0])
        ring.send(frames.ATTACH, {"id": "call", "lines": -1, "follow": True})
        self.run_there(port, "call", function(), {"train.py": BOTH})
        self.assertEqual(ring.follow(), ("host 1 of 2\n", 0))

    def test_a_call_is_cancelled_on_all_hosts(self):
        _, _, port = self.pair()
        source = "import signal\ndef f():\n  print('begun', flush=True)\n  while True: signal.pause()"
        job, ring = self.begun(port, source)
        ring.send(frames.CANCEL, {"id": job})
        self.assertEqual(self.end(ring), 143)
        with open(os.path.join(self.store, job, "end.json")) as file:
            self.assertEqual(json.load(file)["reason"], "Terminated")
        self.assertEqual(self.values(port, BOTH)[0], [False])

    def test_a_call_that_fails_on_another_host(self):
        _, _, port = self.pair()
        source = "import os\ndef f():\n  if os.environ['RANK'] == '1': raise ValueError('bad')\n  import signal; signal.pause()"
        output, code = self.run_there(port, "call", function(), {"train.py": source})
        self.assertEqual(code, 1)
        self.assertIn("ValueError: bad", self.result("call")["error"]["traceback"])
        self.assertEqual(self.values(port, BOTH)[0], [False])

    def test_a_call_that_fails_while_another_host_starts_its_own(self):
        _, _, port = self.pair()
        ring = Ring(self, self.others[0])
        ring.send(frames.ATTACH, {"id": "call", "lines": -1, "follow": True})
        source = "import os, time\nif os.environ['RANK'] == '0': raise ValueError('bad')\ndef f():\n  while True: time.sleep(1)"
        self.assertEqual(self.run_there(port, "call", function(), {"train.py": source})[1], 1)
        self.assertEqual(ring.follow()[1], 143)  # whether or not its call has started

    def test_hosts_end_together(self):
        (zero, _), (one, _) = self.one(0, idle=0.0, first=self.order("first", function(), {"train.py": BOTH})), self.one(1)
        self.assertEqual([self.ended(zero)[0], self.ended(one)[0]], [0, 0])
        self.assertIn("host 1 of 2", self.log_of("first", 1))


class Ends(Hosting):
    def test_a_host_that_was_to_end_a_call_does_not_end_the_next_one(self):
        holder = Holder(SECRET, UID, self.work, 0, 1000.0, 1000.0, group=Leading(2, SECRET, free_port(), False))
        for job in ("first", "next"):
            holder._current, holder._stopping = HostedCall(job, self.work), True  # so that it starts no runner
            if job == "first":
                holder.end_soon(job)
                self.assertLess(holder._stop_at, math.inf)
                holder._current.code = 1
                holder._finish()
        self.assertEqual(holder._stop_at, math.inf)


class Three(Hosts):
    HOSTS = 3
    GREETING_SECONDS = 1.0

    def test_a_host_may_come_late(self):
        first = self.order("first", function(), {"train.py": BOTH})
        _, port = self.one(0, first=first)
        ring = Ring(self, port)
        ring.send(frames.ATTACH, {"id": "first", "lines": -1, "follow": True})
        self.one(1)
        time.sleep(2 * self.GREETING_SECONDS)
        self.one(2)
        self.assertEqual(ring.follow(), ("host 0 of 3\n", 0))

    def test_a_call_is_cancelled_before_all_hosts_have_come(self):
        zero, port = self.one(0, idle=0.0, first=self.order("first", function(), {"train.py": BOTH}))
        ring = Ring(self, port)
        ring.send(frames.ATTACH, {"id": "first", "lines": -1, "follow": True})
        ring.send(frames.CANCEL, {"id": "first"})
        self.assertEqual(ring.receive(), (frames.STATE, {"id": "first", "state": "unknown"}))
        self.assertEqual(self.ended(zero)[0], 0)


class Repeats(Hosts):
    """Hosts whose pods a LeaderWorkerSet starts again, all together, if one is lost."""

    REPEATS = True
    # It ends by itself in its second attempt.
    TWICE = """
import os, time
def f():
  print("begun", os.environ["RANK"], flush=True)
  while os.environ["KINETIC_ATTEMPT"] == "1": time.sleep(0.01)
  return os.environ["KINETIC_ATTEMPT"]
"""

    def again(self, first, name):
        """All pods of the host, new ones, and the port of the first."""
        shutil.rmtree(os.path.join(self.root, "host-0"), ignore_errors=True)
        shutil.rmtree(os.path.join(self.root, "host-1"), ignore_errors=True)
        both = [self.one(host, first=first, KINETIC_POD_UID=f"{name}-{host}") for host in (0, 1)]
        self.others = [both[1][1]]
        return [process for process, _ in both], both[0][1]

    def attach(self, port, job):
        ring = Ring(self, port)
        ring.send(frames.ATTACH, {"id": job, "lines": -1, "follow": True})
        return ring

    def given(self, job, source):
        """A call that was given to the host: in its records, too."""
        order = self.order(job, function(), {"train.py": source})
        text = json.dumps(order)
        mac = hmac.digest(SECRET, f"{LABEL}host\0{text}".encode(), "sha256").hex()
        self.put(f"warm/host/{job}", json.dumps({"call": text, "mac": mac}).encode())
        return order

    def test_a_call_runs_again_if_a_pod_is_terminated(self):
        for lost in (0, 1):
            with self.subTest(lost):
                self.setUp()
                first = self.given("first", self.TWICE)
                both, port = self.again(first, "old")
                rings = [self.attach(at, "first") for at in (port, *self.others)]
                for ring in rings:
                    ring.await_output()
                both[lost].send_signal(signal.SIGTERM)
                self.assertEqual([self.ended(process)[0] for process in both], [143, 143])
                for ring in rings:
                    self.assertNotIn(frames.END, [kind for kind, _ in iter(ring.receive, None)])  # it has not ended
                self.assertFalse(os.path.exists(os.path.join(self.store, "first", "end.json")))
                _, port = self.again(first, "new")
                self.assertEqual(self.attach(port, "first").follow(), ("begun 0\n", 0))
                self.assertEqual((self.result("first")["value"], self.result("first")["attempt"]), ("2", 2))
                self.assertEqual(self.values(port, BOTH)[0], [False])

    def test_a_later_call_runs_again_and_no_other(self):
        first, later = self.given("first", "def f(): return 1"), self.given("later", self.TWICE)
        both, port = self.again(first, "old")
        self.assertEqual(self.attach(port, "first").follow()[1], 0)
        ring = Ring(self, port)
        ring.send(frames.CALL, later)
        ring.await_output()
        both[1].send_signal(signal.SIGTERM)
        self.assertEqual([self.ended(process)[0] for process in both], [143, 143])
        _, port = self.again(first, "new")
        self.assertEqual(self.attach(port, "later").follow(), ("begun 0\n", 0))
        self.assertEqual((self.result("later")["value"], self.result("first")["attempt"]), ("2", 1))

    def test_hosts_that_have_no_call_to_run_again_end(self):
        first = self.given("first", "def f(): return 1")
        both, port = self.again(first, "old")
        self.assertEqual([self.attach(at, "first").follow()[1] for at in (port, *self.others)], [0, 0])
        both[1].send_signal(signal.SIGTERM)
        self.assertEqual([self.ended(process)[0] for process in both], [1, 0])
        both, _ = self.again(first, "new")
        self.assertEqual([self.ended(process)[0] for process in both], [0, 0])
        self.assertEqual(self.result("first")["attempt"], 1)

    def test_a_crash_is_not_repeated(self):
        first = self.given("first", self.TWICE)
        both, port = self.again(first, "old")
        ring = self.attach(port, "first")
        ring.await_output()
        both[1].kill()  # its memory has run out, for example
        self.assertEqual(self.ended(both[0])[0], 1)
        with open(os.path.join(self.store, "first", "end.json")) as file:
            end = json.load(file)
        self.assertEqual((end["reason"], end["exit_code"]), ("Disrupted", 1))
        self.assertIn("host 1 was lost", end["message"])

    def test_a_first_call_that_has_not_begun(self):
        self.HOSTS = 3
        first = self.given("first", self.TWICE)
        zero, _ = self.one(0, first=first)
        one = Ring(self, self.port, uid=hosts.LABEL)
        one.send(frames.JOIN, {"host": 1})
        self.assertEqual(one.receive(), (frames.JOIN, {}))
        one.send(frames.END, {"id": None, "code": 143})  # its pod is terminated
        one.close()
        self.assertEqual(self.ended(zero)[0], 143)


class Losses(Hosts):
    def test_the_runner_of_another_host_is_killed(self):
        _, one, port = self.pair()
        job, ring = self.begun(port, "import signal\ndef f():\n  print('begun', flush=True)\n  while True: signal.pause()")
        other = Ring(self, self.others[0])
        other.send(frames.ATTACH, {"id": job, "lines": -1, "follow": True})
        other.await_output()
        for pid, parent in processes().items():
            if parent == one.pid:
                with open(f"/proc/{pid}/cmdline") as file:
                    if "ready" in file.read().split("\0"):
                        os.kill(pid, signal.SIGKILL)
        self.assertEqual(self.end(ring), 1)
        with open(os.path.join(self.store, job, "end.json")) as file:
            end = json.load(file)
        self.assertEqual(end["reason"], "Disrupted")
        self.assertIn("host 1 was lost", end["message"])
        self.assertEqual(self.values(port, BOTH)[0], [False])

    def test_a_lost_host_ends_the_other(self):
        for lost in (0, 1):
            with self.subTest(lost):
                self.setUp()
                *both, port = self.pair()
                self.assertEqual(self.values(port, BOTH)[0], [False])
                both[lost].kill()
                code, told = self.ended(both[1 - lost])
                self.assertEqual(code, 1)
                self.assertIn(f"kinetic: host {lost} was lost: this host takes no further call", told)

    def test_no_host_begins_a_call_if_one_is_lost(self):
        zero, port = self.one(0)
        one = self.one(1)[0]
        self.assertEqual(self.values(port, BOTH)[0], [False])
        os.kill(one.pid, signal.SIGSTOP)
        ring = Ring(self, port)
        ring.send(frames.CALL, self.order("lost", function(), {"train.py": BOTH}))
        ring.send(frames.STAT, {})
        self.assertEqual(ring.receive()[1]["calls"], 1)
        one.kill()
        self.assertEqual(ring.receive(), (frames.STATE, {"id": "lost", "state": "refused", "why": "host 1 was lost"}))
        self.assertEqual(self.ended(zero)[0], 1)
        self.assertFalse(os.path.exists(os.path.join(self.store, "lost", "attempts")))

    def test_hosts_that_were_started_again_repeat_no_call(self):
        first = self.order("first", function(), {"train.py": BOTH})

        def change_code():
            with open(os.path.join(self.store, "first", "end.json")) as file:
                end = json.load(file)
            with open(os.path.join(self.store, "first", "end.json"), "w") as file:
                json.dump(dict(end, state="FAILED", reason="Terminated", exit_code=143), file)

        for name, change in (("ended", lambda: None), ("terminated", change_code), ("lost", lambda: os.unlink(os.path.join(self.store, "first", "end.json")))):
            with self.subTest(name):
                if name == "ended":
                    both = [self.one(host, first=first if host == 0 else None)[0] for host in (0, 1)]
                    self.until(lambda: os.path.exists(os.path.join(self.store, "first", "end.json")))
                    for process in both:
                        process.kill()
                change()
                again = [self.one(host, first=first if host == 0 else None, KINETIC_POD_UID=f"again-{name}")[0] for host in (0, 1)]
                self.assertEqual([self.ended(process)[0] for process in again], [1, 0])
                self.assertEqual(self.log_of("first", 0).count("host 0 of 2"), 1)
        with open(os.path.join(self.store, "first", "end.json")) as file:
            self.assertEqual(json.load(file)["state"], "FAILED")

    def until(self, condition):
        until = time.monotonic() + TIMEOUT
        while not condition():
            self.assertLess(time.monotonic(), until, "it never happened")
            os.sched_yield()


if __name__ == "__main__":
    unittest.main()
