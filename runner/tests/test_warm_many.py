"""A warm host after many calls, and after its processes were killed. KINETIC_MANY is how many; by default they are few."""

import json
import os
import random
import signal
import subprocess
import tempfile
import time
import unittest
from collections import namedtuple

from fixture import TIMEOUT, function, limit_time
from hosting import CONTAINER, Hosting, Ring
from kinetic_runner.warm import frames
from kinetic_runner.warm.holder import KEPT_CALLS
from kinetic_runner.warm.leftovers import processes

MANY = int(os.environ.get("KINETIC_MANY", "12"))
WARM_UP = 3  # calls until a host has all that it keeps
GROWTH = 4 << 20  # bytes of memory, of which Python's allocator may take pieces at any time
DISK_GROWTH = 4 << 10  # bytes for each call whose output can be read again
VALUE = "import heavy, os, time\ndef f():\n  print('begun', flush=True)\n  time.sleep(%r)\n  return %d"
KEY = 0x4B000000 | os.getpid() << 1
MAKE = r"""
import ctypes
def make(key):
  system = ctypes.CDLL(None)
  objects = system.shmget(key, 1, 0o1600), system.semget(key, 1, 0o1600), system.msgget(key, 0o1600)
  system.semop(objects[1], b"\0\0\1\0\0\0", 1)
  system.msgsnd(objects[2], b"\1".ljust(9, b"\0"), 1, 0)
def unmake(key):
  system = ctypes.CDLL(None)
  return [system.shmctl(system.shmget(key, 0, 0), 0, None), system.semctl(system.semget(key, 0, 0), 0, 0), system.msgctl(system.msgget(key, 0), 0, None)]
"""

Held = namedtuple("Held", "memory descriptors threads processes files disk")


class Many(Hosting):
    STDERR = subprocess.DEVNULL

    def held(self, pid):
        """What a host holds once the runner that waits for the next call has started."""
        before, until = None, time.monotonic() + TIMEOUT
        while (now := self.held_now(pid)) is None or now != before:
            self.assertLess(time.monotonic(), until)
            before = now
            time.sleep(0.1)  # one that starts takes more memory meanwhile
        return now

    def held_now(self, pid):
        """Memory of all its processes, its open files and threads, how many processes, and the files and bytes on its disk. None while one works."""
        running = processes()
        family = {pid}
        for _ in range(4):
            family |= {child for child, parent in running.items() if parent in family}
        memory = [int(self.status(member)["VmRSS"].split()[0]) << 10 for member in family]
        if any(self.status(member)["State"].split()[0] != "S" for member in family):
            return None
        return Held(sum(memory), len(os.listdir(f"/proc/{pid}/fd")), int(self.status(pid)["Threads"]), len(family), *self.disk())

    def disk(self):
        """How many files a host has, and their bytes: all but the store."""
        top, paths = self.store + os.sep, []
        for folder, _, names in os.walk(self.root):
            paths += [os.path.join(folder, name) for name in names if not os.path.join(folder, name).startswith(top)]
        return len(paths), sum(os.lstat(path).st_size for path in paths)

    def status(self, pid):
        with open(f"/proc/{pid}/status") as file:
            return dict(line.split(":", 1) for line in file)

    def idle(self, port):
        """Waits until no call runs, so that all that belongs to one is gone."""
        until = time.monotonic() + TIMEOUT
        while True:
            if self.state(port)["current"] is None:
                return
            self.assertLess(time.monotonic(), until)

    def test_nothing_grows(self):
        for level in ("clean", "preloaded", "process"):
            with self.subTest(level):
                self.setUp()
                temporary = os.path.join(self.root, "tmp")
                os.mkdir(temporary)
                process, port = self.warm(level, TMPDIR=temporary)
                for number in range(MANY):
                    limit_time()  # many calls may take longer than one test
                    if number == WARM_UP:
                        self.idle(port)
                        before = self.held(process.pid)
                    self.assertEqual(self.values(port, VALUE % (0, number))[0], [number])
                self.idle(port)
                after = self.held(process.pid)
                print(f"{level}: {MANY} calls, {before} → {after}")
                self.assertLess(after.memory - before.memory, GROWTH)
                self.assertLessEqual(after.descriptors, before.descriptors + KEPT_CALLS)  # their logs stay open
                self.assertLessEqual(after.threads, before.threads)
                self.assertLessEqual(after.processes, before.processes + 1)
                self.assertLessEqual(after.files, before.files + 3 * KEPT_CALLS)  # a log, a value and a report
                self.assertLess(after.disk - before.disk, DISK_GROWTH * KEPT_CALLS)
                process.kill()

    def below(self, pid):
        """The processes below a host, deepest first."""
        running, found, row = processes(), [], [pid]
        while row:
            row = [child for child, parent in running.items() if parent in row]
            found = row + found
        return found

    @unittest.skipIf(subprocess.run([*CONTAINER, tempfile.gettempdir(), "true"], capture_output=True).returncode, "this machine allows no container")
    def test_kills_at_random_moments(self):
        """Every call ends, with its value or with a reason in its records, and the next one has its own value."""
        chance = random.Random(20261127)
        for level in ("preloaded", "process"):
            self.setUp()
            self.PREFIX = (*CONTAINER, self.root)
            process, port = self.warm(level)
            for number in range(MANY):
                limit_time()  # many calls may take longer than one test
                job, ring = self.begin(port, number)
                time.sleep(chance.random() * 0.2)  # the moment is random, and nothing waits for it
                victims = [pid for pid in self.below(process.pid) if self.is_of_call(pid)]
                if victims and chance.random() < 0.8:
                    victim = chance.choice(victims)
                    killed = self.role(victim)
                    self.kill(victim)
                else:
                    ring.close()  # the client is gone
                    ring = killed = None
                try:
                    if ring:
                        self.end(ring)
                    self.idle(port)
                except TimeoutError:
                    self.fail(f"{level}, call {number}: {killed} was killed, and there are {[self.role(pid) for pid in self.below(process.pid)]}")
                end = self.end_in_store(job)
                if end["state"] == "SUCCEEDED":
                    self.assertEqual(self.result(job)["value"], number)
                elif end["reason"] == "Exception":  # it printed when who reads that was gone
                    self.assertIn("BrokenPipeError", end["message"])
                else:
                    self.assertIn(end["reason"], ("Killed", "Terminated", "RunnerFailure"), end)
                self.assertEqual(self.values(port, VALUE % (0, -number))[0], [-number], (level, number, end))
            process.kill()

    @unittest.skipIf(subprocess.run([*CONTAINER, tempfile.gettempdir(), "true"], capture_output=True).returncode, "this machine allows no container")
    def test_the_next_call_finds_nothing_of_the_last(self):
        leaves = MAKE + """
import os, signal, time
def f():
  open("/tmp/left", "w").close()
  os.makedirs("/dev/shm/left/deep")
  make(%d)
  read, write = os.pipe()
  if not os.fork():
    os.setsid()
    if not os.fork():
      signal.signal(signal.SIGTERM, signal.SIG_IGN)
      os.write(write, b"%%d" %% os.getpid())
      os.closerange(0, 256)
      time.sleep(1000)
    os._exit(0)
  return int(os.read(read, 10))""" % KEY
        looks = """import os
def f():
  objects = [int(line.split()[0]) for kind in ("shm", "sem", "msg") for line in list(open("/proc/sysvipc/" + kind))[1:]]
  return [*map(os.path.exists, ("/proc/%%d", "/tmp/left", "/dev/shm/left")), objects.count(%d), objects.count(%d)]""" % (KEY, KEY + 1)
        beside = ("sh", "-c", 'sleep 1000 & echo $! > "$0/beside"; "$@"; :')  # of another container, if all of a pod see each other's processes
        for level, first in (("clean", ()), ("preloaded", ()), ("process", ()), ("preloaded", beside)):
            with self.subTest(level, first=first):
                self.setUp()
                self.PREFIX = (*CONTAINER, self.root, *first, *[self.root] * bool(first))
                change = f"import kinetic_runner.warm.holder as module; module.WORK = {self.work!r}" if first else ""
                process, port = self.warm(level, change=change)
                exec(MAKE, made := {})  # as another pod may, if it shares the IPC namespace
                self.addCleanup(made["unmake"], KEY)
                self.addCleanup(made["unmake"], KEY + 1)
                made["make"](KEY + 1)
                (left,), printed = self.values(port, leaves)
                self.assertEqual(self.values(port, looks % left)[0], [[False, False, False, 0, 3]], printed)
                if first:
                    with open(os.path.join(self.root, "beside")) as file:
                        self.assertEqual(self.values(port, f"import os\ndef f(): return os.path.exists('/proc/{file.read().strip()}')")[0], [True])
                made["unmake"](KEY + 1)
                process.kill()

    def begin(self, port, number):
        job, self.calls = f"call-{self.calls}", self.calls + 1
        ring = Ring(self, port)
        ring.send(frames.CALL, self.order(job, function(), {"train.py": VALUE % (0.1, number)}))
        self.assertEqual(ring.receive()[1]["state"], "started")
        return job, ring

    def end_in_store(self, job):
        """The end of a call. If its runner was killed, the host records it."""
        until = time.monotonic() + TIMEOUT
        while (end := self.document(job, "end.json")) is None:
            self.assertLess(time.monotonic(), until, job)
            time.sleep(0.005)
        return end

    def is_of_call(self, pid):
        """Whether a process of a container is another than its first, which is the host itself."""
        try:
            return self.status(pid)["NSpid"].split()[1:] not in ([], ["1"])
        except OSError:
            return False

    def role(self, pid):
        """What a process is."""
        try:
            with open(f"/proc/{pid}/cmdline") as file:
                words = file.read().split("\0")
            return f"{pid} {words[3] if len(words) > 3 else words}, {self.status(pid)['State'].strip()}, below {processes().get(pid)}"
        except OSError:
            return f"{pid} (gone)"

    def kill(self, pid):
        """Kills a process, and waits until it is dead: until then, it may still be given the next call."""
        try:
            os.kill(pid, signal.SIGKILL)
            until = time.monotonic() + TIMEOUT
            while self.status(pid)["State"].split()[0] not in "ZX":
                self.assertLess(time.monotonic(), until)
                time.sleep(0.001)
        except (FileNotFoundError, ProcessLookupError):
            pass

    def document(self, job, name):
        try:
            with open(os.path.join(self.store, job, name)) as file:
                return json.load(file)
        except FileNotFoundError:
            return None


if __name__ == "__main__":
    unittest.main()
