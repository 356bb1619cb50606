"""What a call finds of packages that the process of a warm host has imported ahead: as if it had imported them itself."""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from fixture import RUNNER, TIMEOUT, function, script
from hosting import CONTAINER, Hosting
from kinetic_runner.warm.imports import Imports
from kinetic_runner.warm.leftovers import processes

# NumPy and PyTorch, as far as their seeds go.
NUMPY = """
from secrets import randbits
from types import SimpleNamespace
DREW = []
def seed(): DREW[:] = [randbits(64)]
seed()
class BitGenerator:
    def __init__(self, number=None):
        self.seed_seq = SimpleNamespace(entropy=randbits(128) if number is None else number)
class PCG64(BitGenerator):
    __module__ = "numpy.random._pcg64"
"""
TORCH = """
import os
class Generator:
    def seed(self): self.number = os.urandom(8).hex()
default_generator = Generator()
default_generator.seed()
"""
OWN = """
import random
from numpy.random import PCG64
class Class:
    rng = random.Random()
class Kind(random.Random):
    pass
again, once, system, kind = random.Random(3), random.Random(), random.SystemRandom(), Kind()
again.seed()
seeded, later = random.Random(7), random.Random()
later.seed(8)
bits, fixed = PCG64(), PCG64(9 << 120)
"""
LOAD = """
import sys; sys.path[:0] = [%r, %r]
from kinetic_runner.warm import imports
import os
imports.DEVICES, os.environ["TMPDIR"] = (%r,), %r
sys.exit(not imports.Imports(%r).load())
"""


class Preloaded(Hosting):
    def wait_for(self, fact, what):
        until = time.monotonic() + TIMEOUT
        while not (found := fact()):
            self.assertLess(time.monotonic(), until, what)
            time.sleep(0.01)
        return found

    def test_each_call_has_its_own_random_numbers(self):
        files = {"numpy/__init__.py": "from . import random", "numpy/random/__init__.py": NUMPY, "torch.py": TORCH, "own.py": OWN}
        _, port = self.host(PYTHONPATH=self.site(files))
        source = """import numpy, own, random, torch
def f():
  drawn = [random.random(), numpy.random.DREW, torch.default_generator.number, own.bits.seed_seq.entropy]
  drawn += [rng.random() for rng in (own.Class.rng, own.again, own.once, own.system, own.kind)]
  return drawn, [own.seeded.random(), own.later.random(), own.fixed.seed_seq.entropy], random.Random.seed.__module__
"""
        values, printed = self.values(port, *[source] * 4)
        for number, place in enumerate(zip(*(drawn for drawn, _, _ in values))):
            self.assertEqual(len(set(map(str, place))), 4, (number, place, printed))
        self.assertEqual([rest for _, *rest in values], [values[0][1:]] * 4)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
    def test_each_call_has_its_own_random_numbers_of_numpy(self):
        own = "import numpy.random as r\nclass Class:\n  rng, state = r.default_rng(), r.RandomState()\n  bits = r.Philox()\nseeded, old = r.default_rng(1 << 127), r.RandomState(5)\n"
        _, port = self.host(PYTHONPATH=self.site({"own.py": own}))
        source = """import numpy.random, own
def f():
  child = own.Class.bits._seed_seq if hasattr(own.Class.bits, "_seed_seq") else own.Class.bits.seed_seq
  drawn = [numpy.random.random(), own.Class.rng.random(), own.Class.state.rand(), int(own.Class.bits.random_raw()), child.spawn(1)[0].entropy]
  return drawn, [own.seeded.random(), own.old.rand()]
"""
        values, printed = self.values(port, *[source] * 4)
        for number, place in enumerate(zip(*(drawn for drawn, _ in values))):
            self.assertEqual(len(set(place)), 4, (number, place, printed))
        self.assertEqual([kept for _, kept in values], [values[0][1]] * 4)

    def test_variables_that_imports_change(self):
        """They are as in the call that has imported the package itself."""
        package = """import os
SET = os.environ.setdefault("NEW", "1")
os.environ["PATH"] += ":/package"
os.environ["CHANGED"] += "2"
os.environ.pop("REMOVED", None)
os.environ.setdefault("KINETIC_JOB_ID", "none")
"""
        source = """import os, package
def f():
  seen = [os.environ.get(name) for name in ("NEW", "PATH", "CHANGED", "REMOVED", "KINETIC_JOB_ID", "LEFT")]
  os.environ["LEFT"] = os.environ["NEW"] = "left"
  return seen, os.popen('echo "$NEW $CHANGED"').read()
"""
        for level in ("preloaded", "process"):
            with self.subTest(level):
                self.setUp()
                self.calls = 0
                _, port = self.host(level=level, PYTHONPATH=self.site({"package.py": package}))
                (_, *values), printed = self.values(port, "def f(): pass", *[source] * 3, environ={"CHANGED": "1", "REMOVED": "1"})
                first = values[0][0]
                self.assertEqual((first[0], first[2:]), ("1", ["12", None, "call-1", None]), printed)
                self.assertTrue(first[1].endswith(":/package"))
                for number, (seen, told) in enumerate(values, 1):
                    self.assertEqual((seen, told), (first[:4] + [f"call-{number}", None], "left 12\n"))

    def test_modules_of_packages_are_imported_ahead(self):
        """Also in a directory without __init__.py, in the order in which they were imported, and without those that are gone."""
        by = "import os\nBY = os.getpid()\n"
        site = self.site({"light/__init__.py": "", "light/heavy.py": by, "light/gone.py": "", "gone/__init__.py": "", "gone/too.py": "", "parts/deep/__init__.py": by})
        _, port = self.host(PYTHONPATH=site)
        source = f"import os, shutil, light.heavy, parts.deep\ndef f(): return [module.BY == os.getpid() for module in (light.heavy, parts.deep)]"
        first = f"import light.gone, gone.too, os, shutil\nos.unlink({site!r} + '/light/gone.py')\nshutil.rmtree({site!r} + '/gone')\n" + source
        values, printed = self.values(port, first, source, source)
        self.assertEqual((values, printed), ([[True, True], [False, False], [False, False]], [""] * 3))

    def test_packages_look_for_files_where_the_last_call_ran(self):
        package = "import os\nFOUND, WHERE, BY = os.path.exists('packagerc'), os.path.basename(os.getcwd()), os.getpid()\n"
        _, port = self.host(PYTHONPATH=self.site({"package.py": package}))
        source = "import os, package\ndef f(): return [package.FOUND, package.WHERE, package.BY == os.getpid(), os.path.basename(os.getcwd())]"
        values = []
        for number, folder in enumerate(("deep", "deep", "", "")):
            output, code = self.run_there(port, f"call-{number}", function(cwd=folder), {"train.py": source, "deep/packagerc": ""})
            self.assertEqual(code, 0, output)
            values.append(self.result(f"call-{number}")["value"])
        self.assertEqual(values, [[True, "deep", True, "deep"], [True, "deep", False, "deep"], [True, "deep", False, "workspace"], [False, "workspace", False, "workspace"]])

    def test_packages_that_a_call_installs_for_its_user(self):
        base = os.path.join(self.root, "user")
        show = "import site; print(site.getusersitepackages())"
        user = subprocess.run([sys.executable, "-c", show], env=dict(os.environ, PYTHONUSERBASE=base), stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
        install = f"import os\ndef f():\n  os.makedirs('{user}/heavy-%s.dist-info')\n  with open('{user}/heavy.py', 'w') as file: file.write('N = %s')"
        look = "import heavy\ndef f(): return heavy.N"
        for level in ("preloaded", "process"):
            with self.subTest(level):
                _, port = self.host(level=level, PYTHONUSERBASE=base)
                values, printed = self.values(port, install % (1, 1), look, look, install % (22, 22), look)
                self.assertEqual(values, [None, 1, 1, None, 22], printed)
                self.setUp()
                shutil.rmtree(base)

    def test_packages_that_cannot_be_noted(self):
        """As on a full disk. Here a folder is in the way of the file."""
        for level in ("clean", "preloaded", "process"):
            with self.subTest(level):
                self.setUp()
                _, port = self.host(level=level, PYTHONPATH=self.site({"package.py": ""}))
                os.makedirs(os.path.join(self.work, "packages.json.new"))
                self.assertEqual(self.values(port, *["import package\ndef f(): return 1"] * 2), ([1, 1], [""] * 2))

    def test_stand_ins_for_modules(self):
        for body in ("def __getattr__(self, name): return self", "def __getattribute__(self, name): raise ImportError", "def __getattr__(self, name): raise ImportError('install it')", "__slots__ = ()"):
            source = f"import sys\nclass Stub:\n  {body}\nsys.modules['bits'] = Stub()\ndef f(): return 1"
            for level in ("clean", "preloaded", "process"):
                with self.subTest(level, body=body):
                    self.setUp()
                    _, port = self.host(level=level)
                    self.assertEqual(self.values(port, source, source), ([1, 1], [""] * 2))

    def test_a_process_that_dies_between_calls_starts_again(self):
        """Once: one that always dies must not keep the host busy."""
        host, port = self.warm("preloaded")

        def after_death():
            """Ends the process that is kept. Returns the next one, -1 if the host does without."""
            self.state(port)  # it has done what comes after a call
            pid = self.kept(host)
            os.kill(pid, signal.SIGKILL)
            self.wait_for(lambda: pid not in processes(), "it has not ended")
            return self.wait_for(lambda: self.kept(host) or not self.state(port)["keeps"] and -1, "the host has not noticed")

        source = "import heavy, os\ndef f(): return [heavy.LOADED_BY, os.getppid()]"
        for _ in range(2):
            again = after_death()
            self.assertGreater(again, 0, "it does not start again")
            self.assertEqual(self.values(port, source)[0], [[again, again]])
        self.assertGreater(after_death(), 0, "it does not start again")
        self.assertEqual(after_death(), -1, "it starts again and again")
        by, parent = self.values(port, source)[0][0]
        self.assertNotEqual(by, parent)

    def kept(self, host):
        """The process that a host keeps, None if there is none."""
        return next((pid for pid, parent in processes().items() if parent == host.pid and is_kept(pid)), None)

    def load(self, files, directory=""):
        """Imports these packages as the process that is kept does. Returns which of them it has left out."""
        site, path = self.site(files), os.path.join(self.root, "packages.json")
        with open(path, "w") as file:
            json.dump({"packages": [os.path.splitext(name)[0].replace("/", ".") for name in files], "directory": directory}, file)
        temporary = os.path.join(self.root, "temporary")
        os.makedirs(temporary, exist_ok=True)
        code = LOAD % (RUNNER, site, os.path.join(self.root, "dev"), temporary, path)
        while subprocess.run([sys.executable, "-c", code], timeout=TIMEOUT).returncode:
            Imports(path).leave_out()
        with open(path) as file:
            return json.load(file).get("left_out", {})

    def test_packages_that_a_fork_would_break_are_left_out(self):
        thread = "import os, threading\nstop = threading.Event()\nthread = threading.Thread(target=stop.wait, daemon=True)\nthread.start()\n"
        ends = thread + "os.register_at_fork(before=lambda: (stop.set(), thread.join()))\n"
        opens = f"file = open({os.path.join(self.root, 'dev0')!r}, 'w')\n"
        files = {"plain.py": "", "part/before.py": "", "part/thread.py": thread, "part/next.py": thread, "part/next/deep.py": thread, "thread.py": thread, "ends.py": ends, "opens.py": opens, "closes.py": opens + "file.close()\n"}
        told = "starts threads, which a fork would lose"
        self.assertEqual(self.load(files), {"part.thread": told, "thread": told, "opens": "opens an accelerator"})

    def test_packages_whose_traces_calls_would_share_are_left_out(self):
        files = {
            "data.py": "import os, tempfile\nplace = tempfile.mkdtemp()\nos.makedirs(place + '/deep')\n",
            "named.py": "import os\nopen(os.path.join(os.environ['TMPDIR'], 'named'), 'w').close()\n",
            "removed.py": "import tempfile\nwith tempfile.TemporaryDirectory() as place:\n  open(place + '/x', 'w').close()\n",
            "helper.py": "import subprocess\nchild = subprocess.Popen(['cat'], stdin=subprocess.PIPE)\n",
            "asks.py": "import subprocess\nsubprocess.run(['true'])\n",
            "reads.py": "file = open(__file__)\n",
            "logs.py": f"file = open({os.path.join(self.root, 'log')!r}, 'a')\n",
            "connects.py": "import socket\npair = socket.socketpair()\n",
        }
        told = {"data": "temporary files", "named": "temporary files", "helper": "a process", "reads": "an open file", "connects": "an open file"}
        self.assertEqual(self.load(files), {name: f"leaves {what}, which calls can't share" for name, what in told.items()})

    def test_packages_with_temporary_files_work_in_every_call(self):
        """Here each call removes those of the package as it ends."""
        package = "import atexit, os, shutil, tempfile\nplace = tempfile.mkdtemp()\natexit.register(shutil.rmtree, place)\nopen(place + '/data', 'w').write('x')\n"
        temporary = os.path.join(self.root, "temporary")
        os.mkdir(temporary)
        _, port = self.host(PYTHONPATH=self.site({"package.py": package}), TMPDIR=temporary)
        values, printed = self.values(port, *["import package\ndef f(): return open(package.place + '/data').read()"] * 4)
        self.assertEqual(values, ["x"] * 4, printed)
        self.assertIn("kinetic: package is not imported ahead of calls: its import leaves temporary files, which calls can't share\n", "".join(printed))

    @unittest.skipIf(subprocess.run([*CONTAINER, tempfile.gettempdir(), "true"], capture_output=True).returncode, "this machine allows no container")
    def test_the_end_of_a_call_does_not_end_what_an_import_asks(self):
        """A script does not wait for the process that is kept."""
        self.PREFIX = (*CONTAINER, self.root)
        asked, go = os.path.join(self.root, "asked"), os.path.join(self.root, "go")
        asks = f"sh -c 'touch {asked}; until [ -e {go} ]; do sleep 0.01; done; echo yes; true'"
        package = f"import os, subprocess, sys\nFOUND = 'train' in sys.modules or subprocess.run({asks!r}, shell=True, capture_output=True, text=True).stdout\n"
        _, port = self.host(PYTHONPATH=self.site({"package.py": package}))
        source = "import sys\nsys.modules.setdefault('train', sys)\nimport package\ndef f(): return package.FOUND"
        self.assertEqual(self.values(port, source)[0], [True])
        self.wait_for(lambda: os.path.exists(asked), "it is not imported ahead")
        self.assertEqual(self.run_there(port, "script-1", script(), {"train.py": "print('script')"}), ("script\n", 0))
        self.wait_for(lambda: self.state(port)["current"] is None, "the script does not end")
        open(go, "w").close()
        self.assertEqual(self.values(port, source), (["yes\n"], [""]))

    def test_a_directory_that_a_new_bundle_removes_is_no_fault_of_a_package(self):
        deep = os.path.join(self.root, "deep")
        os.mkdir(deep)
        source = f"import os\nif os.path.isdir({deep!r}):\n  os.rmdir({deep!r})\nos.getcwd()\n"
        self.assertEqual(self.load({"looks.py": source}, deep), {})
        self.assertFalse(os.path.exists(deep))


def is_kept(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"kept" in file.read().split(b"\0")
    except OSError:
        return False  # it has just ended


if __name__ == "__main__":
    unittest.main()
