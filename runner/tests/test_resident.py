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

    def test_a_call_that_was_told_to_stop(self):
        """The next one was not, and finds out when it is."""
        _, port = self.host(level="process")
        source = "import kinetic, os, signal\ndef f():\n  told = kinetic.is_preempted()\n  os.kill(os.getpid(), signal.SIGTERM)\n  while not kinetic.is_preempted(): pass\n  return told, os.getpid()"
        values, printed = self.values(port, source, source, source)
        self.assertNotIn(None, values, printed)
        self.assertEqual(values, [[False, values[0][1]], *[[False, values[1][1]]] * 2], printed)

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

    def test_objects_in_place_of_modules(self):
        """Also of those in a folder that the call adds to the path."""
        source = "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'src'))\nimport conf\ndef f(): return [conf.v(), os.getpid()]"
        stand_ins = ("class C:\n  def v(self): return %s\n", "import types\nclass C(types.ModuleType):\n  def __init__(self): super().__init__('conf')\n  def v(self): return %s\n")
        for stand_in in stand_ins:
            _, port = self.host(level="process")
            found = []
            for number in (1, 22, 333):
                found += self.values(port, source, files={"src/conf.py": "import sys\n" + stand_in % number + "sys.modules[__name__] = C()\n"})[0]
            self.assertEqual(found, [[number, found[0][1]] for number in (1, 22, 333)])

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

    def test_old_code_in_packages_ends_a_process(self):
        """It would run in later calls, which have no such line."""
        site = {"heavy.py": "import collections, functools\nTABLE, HOOKS, MANY = {}, [], collections.defaultdict(list)\nclass Bus:\n  def __init__(self): self.subs = []\nbus = Bus()\nclass Thing:\n  def run(self): pass\ndef load(): pass\n@functools.singledispatch\ndef generic(value): pass\n"}
        lines = {
            "heavy.load = mine": "heavy.load",
            "heavy.load = lambda: 1": "heavy.load",
            "heavy.load = Mine().run": "heavy.load",
            "heavy.load = functools.partial(mine)": "heavy.load",
            "heavy.load = functools.wraps(mine)(functools.lru_cache(mine))": "heavy.load",
            "heavy.settings = Plain": "heavy.settings",
            "heavy.mine = sys.modules[__name__]": "heavy.mine",
            "heavy.Thing.run = mine": "heavy.Thing.run",
            "heavy.Thing.more = property(mine)": "heavy.Thing.more",
            "heavy.TABLE['load'] = mine": "heavy.TABLE",
            "heavy.HOOKS.append(Mine())": "heavy.HOOKS",
            "heavy.MANY['end'].append(mine)": "heavy.MANY",
            "heavy.bus.subs.append(mine)": "heavy.bus",
            "heavy.bus.subs.append({'call': Mine()})": "heavy.bus",
            "heavy.generic.register(int)(mine)": "heavy.generic.registry",
            "warnings.showwarning = mine": "warnings.showwarning",
            "gc.callbacks.append(mine)": "gc.callbacks",
        }
        start = "import functools, gc, heavy, os, sys, warnings\nclass Mine:\n  def run(self): pass\nclass Plain: pass\ndef mine(*_): pass\ndef f():\n  %s\n  return os.getpid()"
        _, port = self.host(level="process", PYTHONPATH=self.site(site))
        before = None
        for line, what in lines.items():
            with self.subTest(line):
                (first, second), printed = self.values(port, start % "pass", start % line)
                self.assertIn(f"kinetic: the next call runs in a new process: {what} is of the project\n", printed[1])
                self.assertEqual((first == second, before == first), (True, False), printed)
                before = second

    def test_a_function_in_place_of_one_of_a_stream(self):
        _, port = self.host(level="process")
        patch = "  write = sys.stdout.write\n  sys.stdout.write = lambda text: write(text.replace('LINE', 'MY LINE'))\n"
        source = "import os, sys\ndef f():\n%s  print('LINE')\n  return os.getpid(), getattr(sys.stdout, 'mode', None)"
        values, printed = self.values(port, *[source % patch] * 2, source % "")
        self.assertEqual((len(set(map(tuple, values))), ["MY MY" in text for text in printed], "MY" in printed[2]), (1, [False] * 3, False), printed)

    def test_the_time_zone(self):
        _, port = self.host(level="process")
        asks = "import time\ndef f(): return time.tzname[0]"
        values, printed = self.values(port, asks, "import os, time\ndef f():\n  os.environ['TZ'] = 'ABC-9'\n  time.tzset()\n  return time.tzname[0]", asks)
        self.assertEqual(values, [values[0], "ABC", values[0]], printed)

    def test_what_cannot_be_looked_at(self):
        source = '''import heavy, os
class Meta(type):
  @property
  def __module__(cls): raise RuntimeError
class Odd(metaclass=Meta): pass
def f():
  heavy.odd = Odd
  return os.getpid()
'''
        _, port = self.host(level="process", PYTHONPATH=self.site({"heavy.py": ""}))
        values, printed = self.values(port, source, source)
        self.assertNotIn("Traceback", "".join(printed))
        self.assertNotIn(None, values)

    def test_projects_that_keep_their_process(self):
        """What they leave runs no code of theirs in the next call."""
        site = {
            "registry.py": "CLASSES, BY_NAME, MAKERS = {}, {}, {}\ndef add(kind, maker):\n  CLASSES[kind], BY_NAME[kind.__name__], MAKERS[kind] = object(), kind, maker\n  return kind\n",
            "_numpy.py": "try: import numpy\nexcept ImportError: numpy = None\n",
        }
        source = """import abc, asyncio, atexit, contextvars, copyreg, dataclasses, enum, functools, logging, multiprocessing, os, pickle, threading, typing, warnings, weakref
import _numpy, helper, kinetic, registry, sys, types
from typing import Dict, Generic, List, NamedTuple, Optional, TypeVar
T = TypeVar("T")
CURRENT, log = contextvars.ContextVar("current"), logging.getLogger(__name__)
@dataclasses.dataclass
class Config:
  rate: float = 0.1
class Color(enum.Enum):
  RED = 1
class Base(abc.ABC):
  @abc.abstractmethod
  def run(self): ...
class Child(Base, Generic[T]):
  def run(self): return CURRENT
class Point(NamedTuple):
  x: int
class Worker(multiprocessing.get_context("fork").Process):
  def run(self): pass
class Thread(threading.Thread):
  def run(self): self.local = Child()
def reduce(child): return Child, ()
copyreg.pickle(Child, reduce)
registry.add(Config, lambda: 1)
@functools.lru_cache(None)
def cached(value): return value
@functools.singledispatch
def generic(value): return 1
@generic.register(list)
def _(value): return 2
def double(x): return helper.double(x)
atexit.register(double, 1)
sys.modules["helper.fake"] = types.ModuleType("helper.fake")
@kinetic.run(accelerator="cpu")
def other(): pass
def f():
  CURRENT.set(Child())
  assert isinstance(Child(), typing.Sized) is False and Optional[Child[int]] and List[Config] and Dict[str, Color]
  cached(Child()), generic([Config()])
  log.addHandler(logging.NullHandler())
  log.warning("%s", Config())
  assert isinstance(pickle.loads(pickle.dumps([Child(), Point(1), Color.RED, Config()]))[0], Child)
  kept = Child()
  weakref.finalize(kept, double, 2)
  weakref.ref(kept, double)
  for thread in (Thread(), threading.Thread(target=double, args=(1,))):
    thread.start()
    thread.join()
  with multiprocessing.get_context("fork").Pool(1) as pool:
    assert pool.map(double, [1]) == [2]
  Worker().start()
  async def main(): await asyncio.sleep(0, Config())
  asyncio.run(main())
  try:
    raise type("Mine", (Exception,), {})(Child())
  except Exception as exc:
    failed = exc
  with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    warnings.warn(type("Mine", (UserWarning,), {})())
  if _numpy.numpy: assert list(_numpy.numpy.vectorize(double)([1])) == [2]
  return os.getpid()
"""
        _, port = self.host(level="process", PYTHONPATH=self.site(site))
        values, printed = self.values(port, *[source] * 4, files={"helper.py": "import functools\n@functools.wraps(len)\ndef double(x): return 2 * x\n"})
        self.assertEqual(values[1:], [values[1]] * 3, printed)

    def test_a_package_with_modules_of_the_project(self):
        """It is one package of both, without __init__.py."""
        _, port = self.host(level="process", PYTHONPATH=self.site({"acme/common.py": "N = 1\n"}))
        source = "import os, acme.common\nfrom acme import mine\ndef f(): return [acme.common.N, mine.N, os.getpid()]"
        found = [self.values(port, source, files={"acme/mine.py": f"N = {number}{'#' * number}\n"})[0][0] for number in range(4)]
        self.assertEqual(found[1:], [[1, number, found[1][2]] for number in range(1, 4)])

    def test_a_package_of_the_project_with_installed_modules(self):
        extend = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"
        _, port = self.host(level="process", PYTHONPATH=self.site({"acme/__init__.py": extend, "acme/common.py": "N = 1\n"}))
        source = "import acme.common, acme.mine\ndef f(): return [acme.common.N, acme.mine.N]"
        for number in range(3):
            values, printed = self.values(port, source, files={"acme/__init__.py": extend, "acme/mine.py": f"N = {number}{'#' * number}\n"})
            self.assertEqual(values, [[1, number]], printed)
        self.assertIn("the next call runs in a new process: the module acme.common is installed, and in a package of the project\n", printed[0])

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
