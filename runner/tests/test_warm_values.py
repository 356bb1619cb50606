"""What calls return, print and raise on a warm host: the same as with a pod of their own, whatever ran before.

With KINETIC_MANY, each level has all calls twice; by default, a third of them once.
"""

import json
import os
import random
import re
import unittest

from fixture import JOB, function, limit_time, read_log
from hosting import Hosting

MANY = "KINETIC_MANY" in os.environ
LEVELS = ("clean", "preloaded", "process")
PROJECT = {
    "pkg/__init__.py": "NAME = __name__\n",
    "pkg/part.py": "from . import NAME\nfrom .deep import DEPTH\ndef add(a, b): return a + b\n",
    "pkg/deep/__init__.py": "DEPTH = 2\n",
    "state.py": "count = 0\n",
    "data/words.txt": "one two\n",
}
# Bodies of the function f(), or a whole file with it.
CORPUS = {
    "nothing": "pass",
    "true": "return True",
    "an integer": "return 10 ** 4000",
    "a float": "return 0.1 + 0.2",
    "no numbers": "return [float('nan'), float('inf'), -float('inf')]",
    "a text": "return 'ünï \\ud83d\\ude00 \\x00 \\x1f \\n'",
    "half a character": "return '\\ud800'",
    "bytes": "return bytes(range(256))",
    "containers": "return {'a': [1, (2, 3), {4}], 'b': {'c': None}}",
    "keys": "return {1: 'a', None: 'b', (1, 2): 'c', True: 'd'}",
    "a circle": "x = []; x.append(x); return x",
    "depth": "x = 1\n  for _ in range(5000): x = [x]\n  return x",
    "a set": "return sorted({3, 1, 2})",
    "a dataclass": "import dataclasses\n@dataclasses.dataclass\nclass Run:\n  name: str\n  best: float = 0.5\ndef f(): return Run('a')",
    "a named tuple": "import collections\nPoint = collections.namedtuple('Point', 'x y')\ndef f(): return Point(1, 2)",
    "an enum": "import enum\nclass Level(enum.Enum):\n  HIGH = 3\ndef f(): return Level.HIGH",
    "a date": "import datetime; return datetime.datetime(2026, 1, 2, 3, 4, 5)",
    "a path": "import pathlib; return pathlib.Path('a/b')",
    "a decimal": "import decimal; return decimal.Decimal('1.50')",
    "a generator": "return (n for n in range(3))",
    "a function": "return len",
    "an object": "return type('Own', (), {'__repr__': lambda self: 'Own()'})()",
    "an exception as a value": "return ValueError('x')",
    "a large value": "return 'x' * 3_000_000",
    "a package of the project": "from pkg.part import add, DEPTH; return [add(1, 2), DEPTH]",
    "state of a module": "import state; state.count += 1; return state.count",
    "state of a class": "class Own:\n  made = 0\n  def __init__(self): Own.made += 1\ndef f(): Own(); return Own.made",
    "a default that changes": "def f(seen=[]): seen.append(1); return seen",
    "a cache": "import functools\n@functools.lru_cache\ndef g(n): return [n]\ndef f(): g(1).append(2); return g(1)",
    "its own name": "return [__name__, __file__.rpartition('/')[2], f.__module__, f.__qualname__]",
    "the main module": "import sys; return sys.modules['__main__'].__name__",
    "arguments of the program": "import sys; return len(sys.argv)",
    "the directory": "import os; return [os.path.basename(os.getcwd()), sorted(os.listdir('.'))[-3:]]",
    "another directory": "import os; os.chdir('/'); return os.getcwd()",
    "a file of the project": "return open('data/words.txt').read().split()",
    "a file that it writes": "open('new.txt', 'a').write('x'); return open('new.txt').read()",
    "a file of the project that it writes": "open('data/words.txt', 'a').write('x'); return open('data/words.txt').read()",
    "the environment": "import os; return sorted(name for name in os.environ if name.startswith(('OWN', 'KINETIC_KEPT', 'KINETIC_LAST')))",
    "a variable that it sets": "import os; os.environ['OWN'] = os.environ.get('OWN', '') + 'x'; return os.environ['OWN']",
    "the mask of new files": "import os; return [os.umask(0o77), os.umask(0o77)]",
    "the limit of recursion": "import sys; before = sys.getrecursionlimit(); sys.setrecursionlimit(before + 1); return before",
    "the path of imports": "import sys; sys.path.insert(0, '/nowhere'); return sys.path.count('/nowhere')",
    "a hook of imports": "import sys; before = len(sys.meta_path); sys.meta_path.append(None); del sys.meta_path[-1:]; sys.meta_path.insert(0, type('Finder', (), {'find_spec': lambda *_: None})()); return before",
    "handlers of signals": "import signal; before = signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL; signal.signal(signal.SIGUSR1, lambda *_: None); return before",
    "an alarm": "import signal; signal.signal(signal.SIGALRM, lambda *_: None); return signal.alarm(1000)",
    "random numbers": "import random; random.seed(7); return random.random()",
    "threads": "import threading\n  found = []\n  thread = threading.Thread(target=lambda: found.append(threading.current_thread().name)); thread.start(); thread.join()\n  return [len(found), threading.active_count()]",
    "a pool of threads": "from concurrent.futures import ThreadPoolExecutor\n  with ThreadPoolExecutor(2) as pool: return list(pool.map(abs, [-1, -2]))",
    "a pool of processes": "import multiprocessing\ndef g(n): return n * n\ndef f():\n  with multiprocessing.get_context('fork').Pool(2) as pool: return pool.map(g, range(4))",
    "processes that are spawned": "import multiprocessing\ndef g(q): q.put('spawned')\ndef f():\n  context = multiprocessing.get_context('spawn'); q = context.SimpleQueue(); p = context.Process(target=g, args=(q,)); p.start(); p.join(); return [q.get(), p.exitcode]",
    "a program": "import subprocess, sys; return subprocess.run([sys.executable, '-c', 'print(6 * 7)'], capture_output=True, text=True).stdout",
    "a coroutine": "import asyncio\nasync def g(): await asyncio.sleep(0); return 5\ndef f(): return asyncio.run(g())",
    "a coroutine that is not awaited": "async def f(): return 1",
    "lines": "print('one'); import sys; print('two', file=sys.stderr); sys.stdout.write('three'); return 1",
    "lines of a descriptor": "import os; os.write(1, b'raw\\n'); os.write(2, b'error\\n'); return 1",
    "a bar": "import sys\n  for n in range(3): sys.stderr.write(f'\\r{n}/3')\n  return 1",
    "a warning": "import warnings; warnings.warn('careful'); return 1",
    "a log": "import logging; logging.getLogger().warning('a warning'); logging.basicConfig(level=logging.INFO); logging.info('told'); return 1",
    "at its end": "import atexit; atexit.register(print, 'at the end'); return 1",
    "an exception": "raise ValueError('of the call')",
    "an exception of the project": "from pkg.part import add; return add(1, 'a')",
    "a chain of exceptions": "try: 1 / 0\n  except ZeroDivisionError as exc: raise KeyError('b') from exc",
    "an exception of its own": "class Own(Exception): pass\ndef f(): raise Own('a', 2)",
    "too deep": "return f()",
    "no module": "import no_such_module",
    "a syntax error": "def f(:",
    "no function": "g = 1",
    "a failure of the import": "1 / 0\ndef f(): pass",
    "an interrupt": "raise KeyboardInterrupt",
    "an end": "raise SystemExit",
    "an end with a code": "import sys; sys.exit(3)",
    "an end with a text": "import sys; sys.exit('that is all')",
    "an end at once": "import os; os._exit(4)",
    "a signal": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "a crash": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "a closed output": "import os; os.close(1); return 1",
    "closed descriptors": "import os; os.closerange(6, 64); return 1",
    "a fork": "import os\n  pid = os.fork()\n  if pid == 0: os._exit(0)\n  return os.waitpid(pid, 0)[1]",
}
AT_THE_END = ("at its end",)  # of the process, which is kept
# What differs from run to run, and what a host tells of the process that it keeps.
VARIES = re.compile(
    r"(?:[\d:.TZ-]+ )?kinetic: the next call runs in a new process: this one has failed or was cancelled\\n"
    r'|(?:[\d:.TZ-]+ )?  File \\"[^"]*/kinetic_runner/[^"]*", line \d+ in \w+\\n'  # where it crashed, from the runner on
    r"|\d{4}-\d\d-\d\dT[\d:.]+Z|\b0x[0-9a-f]+|repeated \d+ more"
)


def file_of(text):
    """A file with a function f() of this body, unless the text is a file already."""
    whole = re.search(r"^(async )?def f\(|^g = 1", text, re.MULTILINE)
    return text if whole else f"def f():\n  {text}\n"


class Values(Hosting):
    def files(self, name):
        return {**PROJECT, "train.py": file_of(CORPUS[name])}

    def outcome(self, store, job, code, work):
        """What a call has left in its store, without times and places."""
        folder, found = os.path.join(store, job), {"code": code}
        for name in ("result.json", "end.json"):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                with open(path) as file:
                    found[name] = json.load(file)
        parts = os.path.join(folder, "logs", "0")
        data = b""
        for name in sorted(os.listdir(parts)) if os.path.isdir(parts) else ():
            with open(os.path.join(parts, name), "rb") as file:
                data += file.read()
        found["log"] = read_log(data, stamped=True)[0]
        text = json.dumps(found).replace(work, "WORK").replace(f'"{job}"', "JOB")
        return VARIES.sub("", text)

    def alone(self, name):
        """The outcome of a call in a runner of its own."""
        before, work = self.store, os.path.join(self.root, "alone", name)
        self.store = os.path.join(work, "store")
        os.makedirs(self.store)
        try:
            ran = self.run_call(function(), self.files(name), "--final", "--work", work)
            return self.outcome(self.store, JOB, ran.code, work)
        finally:
            self.store = before

    def warm_one(self, port, job, name):
        """The outcome of a call on a warm host."""
        _, code = self.run_there(port, job, function(), self.files(name))
        return self.outcome(self.store, job, code, self.work)

    def test_the_same(self):
        chance, alone = random.Random(20261128), {}
        for number, level in enumerate(LEVELS):
            self.setUp()
            _, port = self.warm(level)
            names = 2 * [*CORPUS] if MANY else [*CORPUS][number :: len(LEVELS)]
            chance.shuffle(names)
            for place, name in enumerate(names):
                if level == "process" and name in AT_THE_END:
                    continue
                limit_time()
                if name not in alone:
                    alone[name] = self.alone(name)
                with self.subTest(level, name=name, after=names[:place][-1:]):
                    self.assertEqual(self.warm_one(port, f"job-{place}", name), alone[name])

    def test_streams_of_its_own(self):
        code = """
            import io, sys
            streams = [(type(s).__name__, type(s.buffer).__name__, s.name, s.encoding, s.errors, s.line_buffering, s.write_through) for s in (sys.stdout, sys.stderr)]
            print("of Python")
            sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")
            print("ünï", flush=True)
            def f():
                print("of the call")
                sys.stdout.close(), sys.__stderr__.close()
                return streams
        """
        alone = self.run_call(function(), {"train.py": code}, "--final", "--work", os.path.join(self.root, "alone")).result["value"]
        for level in LEVELS:
            self.setUp()
            _, port = self.warm(level)
            for number in range(3):
                with self.subTest(level, call=number):
                    _, code_of_exit = self.run_there(port, f"job-{number}", function(), {"train.py": code})
                    self.assertEqual((code_of_exit, self.result(f"job-{number}")["value"]), (0, alone))


if __name__ == "__main__":
    unittest.main()
