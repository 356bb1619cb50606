"""What a call finds in a process that has run another one: nothing that the first one has changed."""

import importlib.util
import io
import os
import subprocess
import tempfile
import unittest
import zipfile

from fixture import pickled, sha256
from hosting import CONTAINER, Hosting
from payloads import header, module


def zipped(**modules):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name, text in modules.items():
            file.writestr(name + ".py", text)
    return data.getvalue()


class Resident(Hosting):
    def test_hooks(self):
        """No code of the last call runs."""
        _, port = self.host(level="process")
        first = """import os, sys, threading
def hook(*_):
  print("old code")
def f():
  for owner, name in ((sys, "excepthook"), (sys, "unraisablehook"), (sys, "breakpointhook"), (threading, "excepthook")):
    setattr(owner, name, hook)
  for owner in (threading, sys):
    owner.settrace(hook)
    owner.setprofile(hook)
  return os.getpid()
"""
        second = """import gc, os, threading
class Fails:
  def __del__(self): raise ValueError
def f():
  thread = threading.Thread(target=lambda: 1 / 0)
  thread.start()
  thread.join()
  Fails()
  gc.collect()
  return os.getpid()
"""
        values, printed = self.values(port, first, second)
        self.assertEqual(values[0], values[1], printed)
        self.assertNotIn("old code", printed[1])
        self.assertIn("ZeroDivisionError", printed[1])

    def test_a_watchdog_ends_with_its_call(self):
        _, port = self.host(level="process")
        watch = "import faulthandler, os\ndef f():\n  %s\n  return os.getpid(), len(os.listdir('/proc/self/task'))"
        values, printed = self.values(port, watch % "faulthandler.dump_traceback_later(1000, exit=True)", watch % "pass")
        self.assertEqual(values, [[values[0][0], 2], [values[0][0], 1]], printed)

    def test_handlers_of_signals(self):
        _, port = self.host(level="process")
        numbers = "import signal\nNUMBERS = sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})\n"
        look = numbers + "def f(): return [str(signal.getsignal(number) or 0) for number in NUMBERS]"
        change = numbers + "def f():\n  for number in NUMBERS: signal.signal(number, [signal.SIG_IGN, lambda *_: None][number % 2])"
        values, printed = self.values(port, look, change, look, "import os, signal\ndef f(): os.kill(os.getpid(), signal.SIGSEGV)")
        self.assertEqual(values[0], values[2], printed)
        self.assertIn("Fatal Python error: Segmentation fault", printed[3])

    def test_modules_of_an_archive(self):
        _, port = self.host(level="process")
        source = "import os, sys\nsys.path.insert(0, os.path.abspath('lib.zip'))\nimport inner\ndef f(): return inner.V, os.getpid()"
        archives = (zipped(inner="V = 1\n"), zipped(more="#" * 5000, inner="V = 22\n"))
        first, second = (self.values(port, source, files={"lib.zip": archive})[0][0] for archive in archives)
        self.assertEqual((first[0], second[0], first[1]), (1, 22, second[1]))

    def test_modules_that_are_loaded_otherwise(self):
        """With a path that is not absolute, and an object in place of a module."""
        _, port = self.host(level="process")
        source = """import importlib.machinery, os, sys
if "conf" not in sys.modules:
  importlib.machinery.SourceFileLoader("conf", "conf/values.py").load_module()
import lazy
def f():
  os.chdir("/")
  return [sys.modules["conf"].V, lazy.v, os.getpid()]
"""
        found = []
        for number in (1, 22):
            files = {"conf/values.py": f"V = {number}\n", "lazy.py": f"import sys\nclass Lazy:\n  def __getattr__(self, name): return {number}\nsys.modules[__name__] = Lazy()\n"}
            found += self.values(port, source, files=files)[0]
        self.assertEqual(found, [[1, 1, found[0][2]], [22, 22, found[0][2]]])

    def test_packages_whose_traces_end_with_a_call(self):
        """Each call that imports one gets a new process."""
        temporary = os.path.join(self.root, "temporary")
        os.mkdir(temporary)
        made = "import subprocess, tempfile\n%s\ndef more():\n  %s\n"
        directory, program = "tempfile.mkdtemp()", "subprocess.Popen(['cat'], stdin=subprocess.PIPE)"
        site = self.site({"files.py": made % (directory, "pass"), "runs.py": made % (program, "pass"), "later.py": made % ("", f"return {directory}, {program}")})
        source = "import os, %s as package\ndef f():\n  package.more()\n  return os.getpid()"
        for name, what in {"files": "temporary files", "runs": "a process", "later": ""}.items():
            with self.subTest(name):
                process, port = self.host(level="process", PYTHONPATH=site, TMPDIR=temporary)
                values, printed = self.values(port, *[source % name] * 3)
                self.assertEqual(len(set(values)), 3 if what else 1, printed)
                self.assertEqual(f"kinetic: the next call runs in a new process: a package has made {what} when it was imported\n" in printed[2], bool(what))
                process.kill()
                process.wait()

    def test_what_a_call_changes_in_libraries(self):
        """The same call gives the same again."""
        source = """import asyncio, contextvars, decimal, gc, heavy, logging, multiprocessing, os, random, resource, socket, subprocess, sys
def f():
  log, path = logging.getLogger("mine"), os.path.abspath("log")
  found = [socket.getdefaulttimeout(), decimal.getcontext().prec, gc.isenabled(), sys.getswitchinterval(), heavy.V.get("none"), log.level, log.handlers, os.environ.get("LEFT"), sys.stdin.read()]
  found += [resource.getrlimit(resource.RLIMIT_NOFILE), sorted(os.sched_getaffinity(0)), subprocess.check_output("echo $LEFT $PUT", shell=True, text=True)]
  logging.basicConfig(filename=path, level=logging.INFO)
  logging.info("printed")
  found.append(open(path).read())
  multiprocessing.set_start_method("spawn")
  loop = asyncio.get_event_loop_policy().new_event_loop()
  asyncio.set_event_loop(loop)
  loop.close()
  socket.setdefaulttimeout(3)
  decimal.getcontext().prec = 5
  gc.disable()
  sys.setswitchinterval(1)
  heavy.V.set("left")
  log.setLevel("DEBUG")
  log.addHandler(logging.StreamHandler())
  os.putenv("PUT", "1")
  os.environ["LEFT"] = "1"
  os.environ = dict(os.environ)
  resource.setrlimit(resource.RLIMIT_NOFILE, (77, found[9][1]))
  os.sched_setaffinity(0, {min(found[10])})
  sys.stdin.close()
  return found, os.getpid()
"""
        _, port = self.host(level="process", PYTHONPATH=self.site({"heavy.py": "import contextvars\nV = contextvars.ContextVar('V')\n"}))
        values, printed = self.values(port, *[source] * 3)
        self.assertEqual(values, [[values[0][0], value[1]] for value in values], printed)
        self.assertEqual(values[1], values[2], printed)
        asks = "import asyncio, os\ndef f():\n  loop = asyncio.get_event_loop()\n  loop.run_until_complete(asyncio.sleep(0))\n  loop.close()\n  return os.getpid()"
        values, printed = self.values(port, asks, asks, "import os\nasync def f(): return os.getpid()", asks)
        self.assertEqual(values, [values[0]] * 4, printed)

    def test_random_numbers(self):
        _, port = self.host(level="process")
        source = "import os, random\ndef f():\n  found = random.random()\n  random.seed(0)\n  return found, os.getpid()"
        values, printed = self.values(port, *[source] * 4)
        self.assertEqual((len({number for number, _ in values}), len({pid for _, pid in values[1:]})), (4, 1), printed)

    def test_another_json(self):
        """As some do who use a faster one. The runner reports as before."""
        source = "import json\ndef f():\n  json.loads = json.dumps = json.load = json.dump = lambda *_: b''\n  return [1]"
        for level in ("clean", "preloaded", "process"):
            with self.subTest(level):
                self.setUp()
                self.calls = 0
                _, port = self.host(level=level)
                values, printed = self.values(port, source, source)
                self.assertEqual(values, [[1], [1]], printed)
                self.assertNotIn("Traceback", "".join(printed))

    def test_another_list_in_place_of_the_path(self):
        _, port = self.host(level="process")
        (first, second), printed = self.values(port, "import os, sys\ndef f():\n  sys.path = ['/left', *sys.path]\n  return os.getpid()", "import os, sys\ndef f(): return os.getpid(), '/left' in sys.path")
        self.assertEqual(second, [first, False], printed)

    @unittest.skipUnless(importlib.util.find_spec("cloudpickle"), "cloudpickle is not installed")
    def test_what_has_come_with_a_pickle_cannot_be_kept(self):
        """The module of its code is not loaded."""
        import cloudpickle

        _, port = self.host(level="process")
        for made, fits in {"Model": False, "Model()": False, "[Model().version]": False, "Model().version()": True}.items():
            source = f"import kinetic\nclass Model:\n  def version(self): return 1\ndef f(): kinetic.keep('x', lambda: {made})"
            with module("sent", source) as sent:
                cloudpickle.register_pickle_by_value(sent)
                data = header() + cloudpickle.dumps((sent.f, (), {}), protocol=4)
                cloudpickle.unregister_pickle_by_value(sent)
            job, self.calls = f"call-{self.calls}", self.calls + 1
            self.put(f"{job}/payload.pkl", data)
            output, code = self.run_there(port, job, pickled(), {"x.txt": ""}, flags=("--payload", sha256(data), "--function"))
            self.assertEqual((code, "TypeError: cannot keep 'x': Model" in output), (0, False) if fits else (1, True), (made, output))

    @unittest.skipIf(subprocess.run([*CONTAINER, tempfile.gettempdir(), "true"], capture_output=True).returncode, "this machine allows no container")
    def test_helpers_of_multiprocessing(self):
        """They end with a call: the host ends what a call has left running, and removes its temporary files."""
        self.PREFIX = (*CONTAINER, self.root)
        _, port = self.host(level="process")
        source = """import multiprocessing, os
from multiprocessing import shared_memory
def f():
  with multiprocessing.get_context(%r).Pool(1) as pool:
    found = pool.map(abs, [-1, -2])
  memory = shared_memory.SharedMemory(create=True, size=64)
  memory.close()
  memory.unlink()
  return found, os.getpid()
"""
        values, printed = self.values(port, *(source % method for method in ("forkserver", "forkserver", "spawn", "spawn", "fork", "fork")))
        self.assertEqual((values, printed), ([[[1, 2], values[0][1]]] * 6, [""] * 6))


if __name__ == "__main__":
    unittest.main()
