"""A warm host: calls over its port, one after the other."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from fixture import JOB, RUNNER, TIMEOUT, RunnerCase, function, pack, script
from kinetic_runner.warm import frames
from kinetic_runner.warm.frames import Frames
from kinetic_runner.warm.holder import OFFSET
from kinetic_runner.warm.leftovers import Leftovers
from wheels import SITE, MadeWheel, Packages

SECRET, UID = b"secret", "uid-1"
PROGRAM = """
import sys; sys.path.insert(0, %r)
from kinetic_runner.warm.holder import Holder
holder = Holder(%r, %r, %r, 0, %r, %r, %r)
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


class Hosting(RunnerCase):
    calls = 0

    def host(self, idle=1000.0, limit=1000.0, level="preloaded", **more):
        code = PROGRAM % (RUNNER, SECRET, UID, self.work, idle, limit, level)
        environ = {name: value for name, value in os.environ.items() if not name.startswith("KINETIC_")}
        process = subprocess.Popen([sys.executable, "-c", code], env=dict(environ, **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self._kill, process)
        return process, int(process.stdout.readline())

    def order(self, job, call, files, **more):
        """A call in the store, and what is said of it to the host."""
        bundle, data = self.put_index(*pack(files)), json.dumps(call).encode()
        self.put(f"{job}/call.json", data)
        argv = self.argv(call, bundle)
        argv = ["--store", self.store_url, "--call", argv[argv.index("--call") + 1], "--bundle", bundle, "--work", self.work, *more.pop("flags", ())]
        return dict(id=job, argv=argv + ["--function"] * (call["kind"] == "function"), environ=more.pop("environ", {}), **more)

    def run_there(self, port, *args, **more):
        ring = Ring(self, port)
        ring.send(frames.CALL, self.order(*args, **more))
        kind, state = ring.receive()
        self.assertEqual((kind, state["state"]), (frames.STATE, "started"), state)
        got = ring.follow()
        ring.close()
        return got

    def result(self, job):
        with open(os.path.join(self.store, job, "result.json")) as file:
            return json.load(file)

    def values(self, port, *sources, environ=None, files=None):
        """The values of calls of f in these files, one after the other, None for one that failed, and what they printed."""
        values, printed = [], []
        for source in sources:
            job, self.calls = f"call-{self.calls}", self.calls + 1
            output, code = self.run_there(port, job, function(), dict(files or {}, **{"train.py": source}), environ=environ or {})
            printed.append(output)
            values.append(None if code else self.result(job)["value"])
        return values, printed


class Holding(Hosting):
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

    def test_a_process_that_is_kept(self):
        _, port = self.host(level="process")
        source = "import os, kinetic\ndef f():\n  print('printed')\n  return [os.getpid(), len(kinetic.keep('list', list).append(1) or kinetic.keep('list', list))]"
        (first, second, third), printed = self.values(port, source, source, source)
        self.assertEqual([second, third], [[first[0], 2], [first[0], 3]])
        self.assertEqual(printed, ["printed\n"] * 3)

    def test_a_kept_process_has_the_code_of_its_call_alone(self):
        _, port = self.host(level="process")
        source = """import os, signal, sys, helper
def f():
  os.environ["LEFT"] = "1"
  os.umask(0)
  sys.path.append("/left")
  sys.stdout = None
  signal.signal(signal.SIGUSR1, signal.SIG_IGN)
  os.chdir("/")
  return %d
"""
        looks = """import os, signal, sys
def f():
  return [os.environ.get("LEFT"), os.umask(0o22) != 0, "/left" in sys.path, signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL,
    os.path.basename(os.getcwd()), "helper" in sys.modules, sys.stdout is None]
"""
        values, _ = self.values(port, source % 1, source % 2, looks, files={"helper.py": "N = 1"})
        self.assertEqual(values, [1, 2, [None, True, False, True, "workspace", False, False]])

    def test_what_ends_a_kept_process(self):
        _, port = self.host(level="process")
        pid = "import os, sys, threading, time\ndef f():\n  %s\n  return os.getpid()"
        thread = "threading.Thread(target=time.sleep, args=(9999,), daemon=True, name='mine').start()"
        values, printed = self.values(port, *(pid % line for line in ("pass", "pass", thread, "pass", "1 / 0", "pass", "os.kill(os.getpid(), 9)", "pass", "os._exit(0)", "pass")))
        self.assertEqual((values[0], values[0]), (values[1], values[2]))
        self.assertIn("the next call runs in a new process: the thread mine still runs\n", printed[2])
        self.assertIn("the next call runs in a new process: this one has failed\n", printed[4])
        self.assertEqual([value is None for value in values], [False] * 4 + [True, False] * 3)
        self.assertEqual(len({value for value in values if value}), 5, values)

    def test_what_cannot_be_kept(self):
        _, port = self.host(level="process")
        for made, name in (("Model", "Model"), ("lambda: f", "f")):
            _, printed = self.values(port, f"import kinetic\nclass Model: pass\ndef f(): kinetic.keep('x', {made})")
            self.assertIn(f"TypeError: cannot keep 'x': {name} is defined in your project", printed[0])

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

    def warm(self, level):
        """A host whose next call runs in, or is a fork of, the process that it keeps."""
        self.calls, site = 0, os.path.join(self.root, "site-packages")
        os.mkdir(site)
        with open(os.path.join(site, "heavy.py"), "w") as file:
            file.write("import os\nLOADED_BY = os.getpid()\n")
        process, port = self.host(level=level, PYTHONPATH=site)
        self.assertEqual(self.values(port, "import heavy\ndef f(): return 1")[0], [1])
        return process, port

    def begun(self, port, source, *flags):
        """A call that has printed something, and its connection."""
        job, self.calls = f"call-{self.calls}", self.calls + 1
        ring = Ring(self, port)
        ring.send(frames.CALL, self.order(job, function(), {"train.py": source}, flags=flags))
        while ring.receive()[0] != frames.OUT:
            pass
        return job, ring

    def end(self, ring):
        while (frame := ring.receive())[0] != frames.END:
            pass
        ring.close()
        return frame[1]["code"]

    def test_cancel(self):
        for level in ("clean", "preloaded", "process"):
            with self.subTest(level):
                _, port = self.warm(level)
                source = "import heavy, signal\ndef f():\n  print('begun', flush=True)\n  signal.pause()"
                job, ring = self.begun(port, source)
                ring.send(frames.CANCEL, {"id": job})
                self.assertEqual(self.end(ring), 143)
                told = "import signal, time\nTOLD = []\nsignal.signal(signal.SIGTERM, lambda *_: TOLD.append(1))\ndef f():\n  print('begun', flush=True)\n  while not TOLD: time.sleep(0.01)\n  return 5"
                job, ring = self.begun(port, told)
                ring.send(frames.CANCEL, {"id": job})
                self.assertEqual((self.end(ring), self.result(job)["value"]), (0, 5))
                self.assertEqual(self.values(port, "import heavy, os\ndef f(): return heavy.LOADED_BY == os.getpid()")[0], [level != "preloaded"])
                self.setUp()

    def test_call_that_ignores_the_end_of_its_time(self):
        source = "import heavy, os, signal, subprocess, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ndef f():\n  print('begun', os.getpid(), flush=True)\n  time.sleep(9999)"
        for level in ("clean", "preloaded", "process"):
            with self.subTest(level):
                _, port = self.warm(level)
                _, ring = self.begun(port, source, "--max-runtime", "1", "--grace", "1")
                self.assertEqual(self.end(ring), 124)
                self.assertEqual(self.values(port, "def f(): return 7")[0], [7])
                self.setUp()

    def test_a_crash_is_one_of_the_call(self):
        for level in ("preloaded", "process"):
            with self.subTest(level):
                _, port = self.warm(level)
                _, printed = self.values(port, "import os\ndef f(): os.kill(os.getpid(), 11)", "import sys\ndef f(): sys.exit(3)", "def f(): return 8")
                self.assertIn("SIGSEGV", printed[0])
                for number, reason in ((1, "Killed"), (2, "ExitCode"), (3, "Completed")):
                    with open(os.path.join(self.store, f"call-{number}", "end.json")) as file:
                        self.assertEqual(json.load(file)["reason"], reason)
                self.setUp()

    def test_the_kept_process_dies(self):
        """The call that runs is lost with it or not, the next ones run."""
        for level in ("preloaded", "process"):
            with self.subTest(level):
                _, port = self.warm(level)
                kill = "import heavy, os, signal\ndef f():\n  os.kill(os.getppid(), signal.SIGKILL)\n  return 1"
                values, _ = self.values(port, kill, "def f(): return 2", "import heavy, os\ndef f(): return heavy.LOADED_BY == os.getpid()")
                self.assertEqual(values[1:], [2, False])
                self.setUp()

    def test_the_first_call_begins_without_a_client(self):
        order = self.order("call-0", function(), {"train.py": "def f(): return 4"})
        code = PROGRAM.replace("print(holder", f"holder.take(None, {order!r}); print(holder") % (RUNNER, SECRET, UID, self.work, 1000.0, 1000.0, "preloaded")
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self._kill, process)
        process.stdout.readline()
        end, until = os.path.join(self.store, "call-0", "end.json"), time.monotonic() + TIMEOUT
        while not os.path.exists(end) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(self.result("call-0")["value"], 4)

    def test_devices_are_free_for_another_process(self):
        """A call that can't run in the kept process does not find that beside it."""
        lock = os.path.join(self.root, "device")
        holds = f"import fcntl, kinetic\ndef f():\n  file = kinetic.keep('device', lambda: open({lock!r}, 'w'))\n  fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n  return 1"
        takes = f"import fcntl\nfcntl.flock(open({lock!r}, 'w'), fcntl.LOCK_EX | fcntl.LOCK_NB)\nprint('taken')"
        _, port = self.host(level="process")
        self.assertEqual(self.values(port, holds, holds)[0], [1, 1])
        self.assertEqual(self.values(port, holds, environ={"OTHER": "1"})[0], [1])
        self.assertEqual(self.run_there(port, "script-1", script(), {"train.py": takes}), ("taken\n", 0))

    def test_what_a_kept_process_prints_and_writes_is_there(self):
        path = os.path.join(self.root, "file")
        source = f"import io, os, sys\nFILE = open({path!r}, 'w')\ndef f():\n  FILE.write('written')\n  sys.stdout = io.TextIOWrapper(open(os.dup(1), 'wb'))\n  print('printed')\n  return os.getpid()"
        _, port = self.host(level="process")
        for _ in range(3):
            _, printed = self.values(port, source)
            with open(path) as file:
                self.assertEqual((printed, file.read()), (["printed\n"], "written"))
            os.unlink(path)

    def test_packages_that_cannot_be_imported_ahead(self):
        site = os.path.join(self.root, "site-packages")
        os.mkdir(site)
        ahead = "import sys\nAHEAD = 'train' not in sys.modules\n"
        for name, text in {"aa": "", "bad": "if AHEAD: raise OSError", "crash": "import os\nif AHEAD: os.abort()", "leave": "if AHEAD: sys.exit(3)", "zz": ""}.items():
            with open(os.path.join(site, name + ".py"), "w") as file:
                file.write(ahead + text)
        _, port = self.host(PYTHONPATH=site)
        names = "aa, bad, crash, leave, zz"
        source = f"import sys\nsys.modules['train'] = sys.modules[__name__]\nimport {names}\ndef f(): return [module.AHEAD for module in ({names})]"
        until, values = time.monotonic() + TIMEOUT, []
        while values != [[True, False, False, False, True]] and time.monotonic() < until:
            values = self.values(port, source)[0]
        self.assertEqual(values, [[True, False, False, False, True]])

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


class WithPackages(Packages, Hosting):
    SOURCE = """import importlib, os, sys
def f():
  found = {}
  for name in ("one", "two"):
    try: found[name] = importlib.import_module(name).VERSION
    except ImportError: pass
  return [found, sys.prefix]
"""

    def looks(self, port, *wheels, flag=None):
        job, self.calls = f"call-{self.calls}", self.calls + 1
        output, code = self.run_there(port, job, function(), {"train.py": self.SOURCE}, flags=flag or self.packages(*wheels))
        self.assertEqual(code, 0, output)
        found, prefix = self.result(job)["value"]
        self.assertEqual(prefix, self.prefix_of_env)
        return found, re.findall(r"installed (\d+) package", output)

    def test_only_what_differs_is_installed(self):
        one, two = MadeWheel("one"), MadeWheel("two", files={"two/__init__.py": "from two.deep import VERSION", "two/deep.py": "VERSION = 2"})
        newer = MadeWheel("one", "1.1")
        for level in ("clean", "preloaded", "process"):
            with self.subTest(level):
                _, port = self.host(level=level)
                self.assertEqual(self.looks(port, one), ({"one": "1.0"}, ["1"]))
                self.assertEqual(self.looks(port, one), ({"one": "1.0"}, []))
                self.assertEqual(self.looks(port, one, two), ({"one": "1.0", "two": 2}, ["1"]))
                self.assertEqual(self.looks(port, newer, two), ({"one": "1.1", "two": 2}, ["1"]))
                self.assertEqual(self.looks(port, newer), ({"one": "1.1"}, []))
                self.assertFalse(os.path.exists(os.path.join(self.prefix_of_env, SITE, "two")))
                self.setUp()

    def test_what_a_call_installs_is_gone(self):
        one = MadeWheel("one")
        _, port = self.host()
        self.looks(port, one)
        installs = f"import importlib\ndef f():\n  open({self.prefix_of_env + '/' + SITE + '/two.py'!r}, 'w').write('VERSION = 3')\n  importlib.invalidate_caches()\n  import two"
        self.assertEqual(self.run_there(port, "installs-1", function(), {"train.py": installs}, flags=self.packages(one))[1], 0)
        self.assertEqual(self.looks(port, one), ({"one": "1.0"}, ["1"]))

    def test_packages_with_one_file(self):
        """The file stays as it is with the packages that remain."""
        one, two = MadeWheel("one", files={"one.py": "VERSION = 1", "both.py": ""}), MadeWheel("two", files={"two.py": "VERSION = 2", "both.py": ""})
        _, port = self.host()
        self.looks(port, one, two)
        self.assertEqual(self.looks(port, two), ({"two": 2}, ["1"]))
        self.assertTrue(os.path.exists(os.path.join(self.prefix_of_env, SITE, "both.py")))

    def test_requirements_are_resolved_once(self):
        index = self.index(MadeWheel("one"))
        flag = self.wish("one", options=[index.option()])
        _, port = self.host(PIP_CONFIG_FILE=os.devnull)
        self.assertEqual(self.looks(port, flag=flag), ({"one": "1.0"}, ["1"]))
        asked = len(index.requests)
        self.assertEqual(self.looks(port, flag=flag), ({"one": "1.0"}, []))
        self.assertEqual(len(index.requests), asked)


if __name__ == "__main__":
    unittest.main()
