"""What a warm host keeps between two calls: a process with imported packages, or one that runs them all, and what is installed."""

import importlib.util
import json
import os
import re
import selectors
import signal
import socket
import time
import unittest

from fixture import TIMEOUT, function, script
from hosting import SECRET, Hosting, Ring
from kinetic_runner.warm import frames
from kinetic_runner.warm.frames import seal
from kinetic_runner.warm.kept import handle_ready
from kinetic_runner.warm.leftovers import processes
from wheels import SITE, MadeWheel, Packages


class Ready(unittest.TestCase):
    def test_a_file_that_another_one_closes_is_not_handled(self):
        selector, handled, pairs = selectors.DefaultSelector(), [], [socket.socketpair() for _ in range(2)]

        def close_other(number):
            handled.append(number)
            selector.unregister(pairs[1 - number][0])
            pairs[1 - number][0].close()

        for number, (ours, theirs) in enumerate(pairs):
            selector.register(ours, selectors.EVENT_READ, lambda number=number: close_other(number))
            theirs.send(b"1")
        self.assertIsNone(handle_ready(selector))
        self.assertEqual(len(handled), 1)
        for end in (*pairs[0], *pairs[1], selector):
            end.close()


class Kept(Hosting):
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

    def test_packages_that_a_call_installs_are_imported_anew(self):
        for level in ("preloaded", "process"):
            with self.subTest(level):
                self.setUp()
                self.calls, site = 0, os.path.join(self.root, "site-packages")
                os.mkdir(site)
                with open(os.path.join(site, "heavy.py"), "w") as file:
                    file.write("N = 1\n")
                process, port = self.host(level=level, PYTHONPATH=site)
                show = "import heavy\ndef f(): return heavy.N"
                install = f"import os\ndef f():\n  os.unlink({site!r} + '/heavy.py')\n  open({site!r} + '/heavy.py', 'w').write('N = 2222')\n  os.mkdir({site!r} + '/heavy-2.dist-info')"
                values, printed = self.values(port, show, show, install, show)
                self.assertEqual(values, [1, 1, None, 2222], printed)
                process.kill()

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
  signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM, signal.SIGPROF])
  for timer in (signal.ITIMER_REAL, signal.ITIMER_PROF):
    signal.setitimer(timer, 1e-6, 1e-6)
  while len(signal.sigpending()) < 2: pass
  sys.setrecursionlimit(99)
  os.chdir("/")
  return %d
"""
        looks = """import os, signal, sys
def f():
  return [os.environ.get("LEFT"), os.umask(0o22) != 0, "/left" in sys.path, signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL,
    os.path.basename(os.getcwd()), "helper" in sys.modules, sys.stdout is None,
    signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set(), signal.getitimer(signal.ITIMER_PROF)[0] == 0, sys.getrecursionlimit() > 99]
"""
        values, _ = self.values(port, source % 1, source % 2, looks, files={"helper.py": "N = 1"})
        self.assertEqual(values, [1, 2, [None, True, False, True, "workspace", False, False, True, True, True]])

    def test_what_ends_a_kept_process(self):
        _, port = self.host(level="process")
        pid = "import os, sys, threading, time\ndef f():\n  %s\n  return os.getpid()"
        thread = "threading.Thread(target=time.sleep, args=(9999,), daemon=True, name='mine').start()"
        values, printed = self.values(port, *(pid % line for line in ("pass", "pass", thread, "pass", "1 / 0", "pass", "os.kill(os.getpid(), 9)", "pass", "os._exit(0)", "pass")))
        self.assertEqual((values[0], values[0]), (values[1], values[2]))
        self.assertIn("the next call runs in a new process: the thread mine still runs\n", printed[2])
        self.assertIn("the next call runs in a new process: this one has failed or was cancelled\n", printed[4])
        self.assertIn("the next call runs in a new process: this one has failed or was cancelled\n", printed[6])
        self.assertEqual([value is None for value in values], [False] * 4 + [True, False] * 3)
        self.assertEqual(len({value for value in values if value}), 5, values)

    def test_threads_of_packages(self):
        """One that calls nothing of the project may stay: the next call is not told what an old version prints."""
        _, port = self.warm("process")
        with open(os.path.join(self.root, "site-packages", "watch.py"), "w") as file:
            file.write("import threading\nclass Watch(threading.Thread):\n  def __init__(self, *tell):\n    super().__init__(daemon=True)\n    self.tell = {'it': [tell]}\n  def run(self): threading.Event().wait()\n")
        source = "import os, watch\ndef told(): pass\ndef f():\n  watch.Watch(%s).start()\n  return os.getpid()"
        (first, second, third, fourth), printed = self.values(port, *(source % what for what in ("", "print", "told", "")))
        self.assertEqual((first, second), (second, third))
        self.assertNotEqual(third, fourth)
        self.assertIn("the next call runs in a new process: the thread Thread-", printed[2])

    def test_a_kept_process_ends_in_order(self):
        left = os.path.join(self.root, "left")
        source = f"import atexit, kinetic, os, time\ndef end(word):\n  open({left!r}, 'a').write(word)\n  %s\nword = %r\ndef f():\n  kinetic.keep('once', lambda: atexit.register(end, word) and 1)\n  return os.getpid()"
        process, port = self.host(level="process")

        def ended():
            with open(left) as file:
                return file.read()

        other = {"WORD": "other"}
        self.values(port, source % ("pass", "a"), source % ("pass", "not kept"))
        self.assertFalse(os.path.exists(left))
        self.values(port, source % ("pass", "b"), source % ("pass", "c"), environ=other)  # the first one has a process of its own
        self.assertEqual(ended(), "ab")
        self.run_there(port, "script-1", script(), {"train.py": ""}, environ=other)
        self.assertEqual(ended(), "abc")
        hangs = self.values(port, source % ("time.sleep(9999)", "d"), environ=other)[0][0]
        self.values(port, source % ("pass", "e"), source % ("pass", "f"))
        self.assertEqual((ended(), hangs in processes()), ("abcde", False))
        process.terminate()
        process.wait(TIMEOUT)
        self.assertEqual(ended(), "abcdef")

    def test_a_library_of_the_project_ends_a_kept_process(self):
        """A process can't load it again after it has changed."""
        _, port = self.host(level="process")
        extension = importlib.util.find_spec("_lsprof").origin
        name = os.path.basename(extension)
        with open(extension, "rb") as file:
            content = file.read()
        pid = "import ctypes, os, sys\nsys.path.insert(0, os.path.abspath('deep'))\ndef f():\n  %s\n  return os.getpid()"
        for library, load in {name: "import _lsprof; assert 'deep' in _lsprof.__file__", "own.so": "ctypes.CDLL(os.path.abspath('deep/own.so'))"}.items():
            with self.subTest(library):
                (first, second, third), printed = self.values(port, *(pid % line for line in ("pass", load, "pass")), files={f"deep/{library}": content})
                self.assertEqual((first == second, second == third), (True, False), printed)
                self.assertIn(f"the next call runs in a new process: the library deep/{library} of the project is loaded\n", printed[1])

    def test_a_host_tells_what_the_next_call_finds(self):
        fails, plain, heavy = "def f(): 1 / 0", "def f(): pass", "import heavy\ndef f(): pass"
        for level, kept in {"clean": ["", "", "", ""], "preloaded": ["", "", "imports", "imports"], "process": ["", "process", "process", ""]}.items():
            with self.subTest(level):
                self.setUp()
                site = os.path.join(self.root, "site-packages")
                os.mkdir(site)
                open(os.path.join(site, "heavy.py"), "w").close()
                _, port = self.host(level=level, PYTHONPATH=site)
                told = []
                for source in (fails, plain, heavy, fails):
                    self.values(port, source, environ={"WORD": "a"})
                    told.append(self.told(port))
                similar = seal(SECRET, ["WORD=a", ""])
                self.assertEqual(told, [(word, similar) for word in kept])
                self.values(port, heavy, environ={"WORD": "b"})
                self.assertNotEqual(self.told(port)[1], similar)
                _, ring = self.begun(port, "import time\ndef f():\n  print('begun', flush=True)\n  time.sleep(9999)")
                self.assertEqual(self.told(port)[0], "")
                ring.close()

    def told(self, port):
        """What a host says that the next call finds, and which call."""
        ring = Ring(self, port)
        ring.send(frames.STAT, {})
        state = ring.receive()[1]
        ring.close()
        return state["keeps"], state["similar"]

    def test_edits_within_a_second_are_what_runs(self):
        for where in ("", "prefix"):
            with self.subTest(where or "beside the files"):
                self.setUp()
                _, port = self.warm("preloaded", **({"PYTHONPYCACHEPREFIX": os.path.join(self.root, where)} if where else {}))
                found = [self.values(port, "import m\ndef f(): return m.V", files={"m.py": f"V = {n}\n"})[0] for n in range(8)]
                self.assertEqual(found, [[n] for n in range(8)])

    def test_what_cannot_be_kept(self):
        _, port = self.host(level="process")
        for made, name in (("Model", "Model"), ("lambda: f", "f"), ("lambda: (n for n in ())", "f.<locals>.<lambda>.<locals>.<genexpr>")):
            _, printed = self.values(port, f"import kinetic\nclass Model: pass\ndef f(): kinetic.keep('x', {made})")
            self.assertIn(f"TypeError: cannot keep 'x': {name} is defined in your project", printed[0])

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
                _, ring = self.begun(port, source, "--max-runtime", "3", "--grace", "1")
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

    def test_the_process_of_the_next_call_waits_for_it(self):
        _, port = self.warm("preloaded")
        source = "import heavy, os\ndef f(): return [heavy.LOADED_BY, os.getpid()]"
        kept, last = self.values(port, source)[0][0]
        forked = self.forked(kept, last)
        self.assertEqual(self.values(port, source)[0], [[kept, forked]])
        forked = self.forked(kept, forked)
        os.kill(kept, signal.SIGKILL)
        self.assertEqual(self.values(port, "def f(): return 2")[0], [2])
        self.wait_for(lambda: forked not in processes(), "it still waits")

    def forked(self, kept, last):
        """The process that the kept one has forked after the last one."""
        found = set()

        def look():
            found.update(pid for pid, parent in processes().items() if parent == kept and pid != last)
            return found

        self.wait_for(look, "nothing was forked")
        return found.pop()

    def wait_for(self, fact, what):
        until = time.monotonic() + TIMEOUT
        while not fact():
            self.assertLess(time.monotonic(), until, what)
            time.sleep(0.01)

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
        until, values, log = time.monotonic() + TIMEOUT, [], ""
        while values != [[True, False, False, False, True]] and time.monotonic() < until:
            values, printed = self.values(port, source)
            log += printed[0]
        self.assertEqual(values, [[True, False, False, False, True]])
        log += self.values(port, source)[1][0]
        told = {"bad": "fails with OSError", "crash": "ends Python, or takes more than 120 seconds", "leave": "fails with SystemExit"}
        self.assertEqual(sorted(log.replace("\x1e", "").splitlines()), [f"kinetic: {name} is not imported ahead of calls: its import {why}" for name, why in told.items()])


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
