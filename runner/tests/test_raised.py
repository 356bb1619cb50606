"""What a pickled call raises, or returns although it can't be pickled."""

import collections
import json
import os
import pickle
import sys
import threading
import unittest

from fixture import RUNNER, RunnerCase, pickled, sha256
from group import GroupCase
from payloads import Payloads, header, module, payload

try:
    import cloudpickle
except ImportError:
    cloudpickle = None

sys.path.insert(0, RUNNER)
from kinetic_runner.child import culprit  # noqa: E402

ERRORS = """
    class Own(Exception):
        def __init__(self, a, b):
            super().__init__(f"{a} {b}")
    class Made(Own):
        def __new__(cls, a, b):
            return super().__new__(cls)
    class Coded(Own):
        def __init__(self, code, message="none"):
            super().__init__(code, message)
            self.code = code
    class NoFile(FileNotFoundError):
        def __init__(self, path, *, why):
            super().__init__(2, why, path)
            self.why = why
    class NoKey(KeyError):
        def __init__(self, table, key):
            super().__init__(key)
            self.table = table
    class Kept(Exception):
        def __init__(self, a):
            super().__init__(a)
            self.more = [a]
    class Locked(Exception):
        def __init__(self):
            import threading
            super().__init__(threading.Lock())
    class Exits(Exception):
        def __reduce__(self):
            return eval, ("__import__('os')._exit(9)",)
"""


class Raised(Payloads, RunnerCase):
    def raised(self, body):
        """What remains of a call whose function has this body: the run, and the exception that a client would load."""
        source = f"{ERRORS}\n    def f():\n        {body}"
        ran, data = self.pickle_of(source)
        self.assertEqual(ran.end["state"], "FAILED")
        if data is None:
            self.assertNotIn("pickle", ran.end)
            self.assertEqual((ran.result["pickle"], "pickle_sha256" in ran.result), (None, False))
            return ran, None
        self.assertVouched(ran, data)
        with module("train", source):
            return ran, pickle.loads(data)

    def test_exception(self):
        ran, exc = self.raised("raise KeyError('lr')")
        self.assertEqual((ran.code, type(exc), exc.args), (1, KeyError, ("lr",)))
        self.assertEqual((ran.result["error"]["type"], ran.result["error"]["message"]), ("KeyError", "'lr'"))
        self.assertIn('File "train.py", line', ran.result["error"]["traceback"].replace("<string>", "train.py"))

    def test_attributes(self):
        _, exc = self.raised("raise Kept('x')")
        self.assertEqual((type(exc).__name__, exc.args, exc.more), ("Kept", ("x",), ["x"]))

    def test_own_init(self):
        """The __init__ is not called again: it may not fit the args, or change them."""
        cases = {
            "raise Own(1, 2)": ("Own", "1 2", {}),
            "raise Coded(7)": ("Coded", "7 none", {"code": 7, "args": ("7 none",)}),
            "raise NoFile('a.csv', why='gone')": ("NoFile", "[Errno 2] gone: 'a.csv'", {"why": "gone", "errno": 2, "filename": "a.csv"}),
            "raise NoKey('users', 5)": ("NoKey", "5", {"table": "users", "args": (5,)}),
            "raise ValueError('x') from Own(3, 4)": ("ValueError", "x", {}),
        }
        for body, (kind, text, attributes) in cases.items():
            with self.subTest(body):
                self.setUp()
                _, exc = self.raised(body)
                self.assertEqual((type(exc).__name__, str(exc), {name: getattr(exc, name) for name in attributes}), (kind, text, attributes))
        self.assertEqual(str(exc.__cause__), "3 4")

    def test_causes(self):
        _, exc = self.raised("""
        try:
            try: {}['x']
            except KeyError as e: raise Kept('middle') from e
        except Kept:
            raise ValueError('outer')""")
        self.assertEqual((exc.args, exc.__cause__, exc.__suppress_context__), (("outer",), None, False))
        middle = exc.__context__
        self.assertEqual((middle.args, middle.more, repr(middle.__cause__), middle.__suppress_context__), (("middle",), ["middle"], "KeyError('x')", True))

    def test_cause_that_is_hidden(self):
        _, exc = self.raised("""
        try: 1 / 0
        except ZeroDivisionError: raise ValueError('outer') from None""")
        self.assertEqual((repr(exc.__context__), exc.__suppress_context__), ("ZeroDivisionError('division by zero')", True))

    def test_cause_that_cannot_be_pickled(self):
        ran, exc = self.raised("raise ValueError('outer') from Locked()")
        self.assertEqual((repr(exc), exc.__cause__), ("ValueError('outer')", None))
        self.assertIn("Locked", ran.result["error"]["traceback"])

    def test_cause_of_itself(self):
        _, exc = self.raised("e = ValueError('x'); e.__cause__ = e; raise e")
        self.assertIs(exc.__cause__, exc)

    @unittest.skipIf(sys.version_info < (3, 11), "this Python has no exception groups")
    def test_group(self):
        _, exc = self.raised("raise ExceptionGroup('both', [ValueError('a'), Kept('b')])")
        self.assertEqual([repr(one) for one in exc.exceptions], ["ValueError('a')", "Kept('b')"])

    def test_what_cannot_be_loaded_again(self):
        for body, message in {"raise Made(1, 2)": "1 2", "raise Locked()": "<unlocked _thread.lock"}.items():
            with self.subTest(body):
                self.setUp()
                ran, exc = self.raised(body)
                self.assertIsNone(exc)
                self.assertIn(message, ran.result["error"]["message"])
                self.assertIn("in f", ran.result["error"]["traceback"])

    def test_what_would_end_the_program_that_loads_it(self):
        cases = {"raise KeyboardInterrupt": ("Exception", 1), "import asyncio; raise asyncio.CancelledError": ("Exception", 1), "raise SystemExit(3)": ("ExitCode", 3)}
        for body, want in cases.items():
            with self.subTest(body):
                self.setUp()
                ran, exc = self.raised(body)
                self.assertEqual(((ran.end["reason"], ran.code), exc), (want, None))

    def test_exit_without_a_code_returns_none(self):
        ran, data = self.pickle_of("import sys\ndef f(): sys.exit()")
        self.assertEqual((ran.code, ran.result["ok"], pickle.loads(data)), (0, True, None))
        self.assertVouched(ran, data)


class Unpicklable(Payloads, RunnerCase):
    def test_value(self):
        source = "import threading\nclass Model:\n  def __init__(self): self.name, self.lock = 'm', threading.Lock()\ndef f(): return {'loss': 1, 'model': Model()}"
        ran, data = self.pickle_of(source)
        self.assertEqual((ran.code, ran.end["reason"], data), (1, "BadResult", None))
        error = ran.result["error"]
        self.assertEqual(error["message"], "f returned what cannot be pickled: value['model'].lock is of type _thread.lock: "
            "return only what the caller needs, and save the rest in the output directory")  # fmt: skip
        self.assertRegex(error["repr"], r"^\{'loss': 1, 'model': <train.Model object at 0x")
        self.assertIn(error["message"], ran.out)

    def test_repr_is_cut(self):
        ran, _ = self.pickle_of("class A:\n  def __repr__(self): return 'x' * 30_000\n  def __reduce__(self): raise TypeError('no')\ndef f(): return A()")
        self.assertEqual((len(ran.result["error"]["repr"]), ran.end["reason"]), (20_000, "BadResult"))

    def test_no_room(self):
        """A disk that is full while the value is written: here the file may not grow."""
        source = "import resource, signal\ndef f():\n  resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n  signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n  return bytes(100_000)"
        ran, data = self.pickle_of(source)
        self.assertEqual((ran.code, ran.end["reason"], data), (1, "BadResult", None))
        self.assertRegex(ran.result["error"]["message"], r"^cannot write the pickle of the value to \S*/result.pkl: File too large$")


class Slots:
    __slots__ = ("a", "b")


class Holder:
    def __init__(self, **attributes):
        vars(self).update(attributes)

    def method(self):
        pass


class Culprits(unittest.TestCase):
    def test_places(self):
        lock = threading.Lock()
        slots, listed = Slots(), collections.deque([1, lock])
        slots.a, slots.b = 1, lock
        cases = {
            "value": lock,
            "value[1]": [1, lock],
            "value[0][2]": ([1, 2, lock], 3),
            "value['a b']": {"x": 1, "a b": lock},
            "value[(1, 2)].deep.deeper": {(1, 2): Holder(deep=Holder(x=1, deeper=lock))},
            "value.b": slots,
            "value.items[1]": Holder(items=listed),
            "value.__self__.lock": Holder(lock=lock).method,
        }
        for place, value in cases.items():
            with self.subTest(place):
                self.assertEqual(culprit.find(value), (place, "_thread.lock"))

    def test_types(self):
        around = [1]
        around.append(around)
        around.append(n for n in around)
        cases = {"value[2]": (around, "generator"), "value.f": (Holder(f=sys._getframe()), "frame")}
        for place, (value, kind) in cases.items():
            with self.subTest(place):
                self.assertEqual(culprit.find(value), (place, kind))

    def test_variables_of_a_function(self):
        lock = threading.Lock()
        self.assertEqual(culprit.find({"f": lambda: lock}), ("value['f'] (its variable lock)", "_thread.lock"))

    def test_strange_methods(self):
        class Strange:
            def __reduce_ex__(self, protocol):
                raise RuntimeError

        self.assertEqual(culprit.find([Strange()])[0], "value[0]")


class OnSeveralHosts(Payloads, GroupCase):
    HOSTS = 2

    def run_hosts(self, source):
        data = payload(source)
        self.put("cpu-train-20261120-082019-abc1234/payload.pkl", data)
        return self.hosts(pickled(), {"train.py": source}, "--payload", sha256(data))

    def test_host_0_returns(self):
        processes = self.run_hosts("import os\ndef f(): return os.environ['KINETIC_HOST']")
        self.parked(*processes)
        data = self.read("result.pkl")
        self.assertEqual(pickle.loads(data), "0")
        outcome = self.api.patches[0][3]["metadata"]["annotations"]["kubectl-kinetic.github.io/outcome"]
        self.assertIn('"pickle":{"name":"result.pkl","sha256":"%s","size":%d}' % (sha256(data), len(data)), outcome)

    def test_another_host_fails(self):
        processes = self.run_hosts("import os, signal\ndef f():\n  if os.environ['KINETIC_HOST'] == '1': raise ValueError('one')\n  signal.pause()")
        self.parked(*processes)
        result, data = self.document("result.json"), self.read("result.pkl")
        self.assertEqual((result["host"], result["error"]["message"], result["pickle_sha256"]), (1, "one", sha256(data)))
        self.assertEqual(repr(pickle.loads(data)), "ValueError('one')")
        told = {"name": "result.pkl", "sha256": sha256(data), "size": len(data)}
        messages = []
        for host in (0, 1):
            with open(os.path.join(self.root, f"termination-{host}")) as file:
                messages.append(json.load(file).get("pickle"))
        self.assertEqual((self.document("end.json")["pickle"], messages), (told, [told, None]))

    def test_another_host_fails_with_much(self):
        processes = self.run_hosts("import os, signal\ndef f():\n  if os.environ['KINETIC_HOST'] == '1': raise ValueError(bytes(70_000))\n  signal.pause()")
        self.parked(*processes)
        self.assertEqual((self.document("result.json")["pickle"], self.exists("result.pkl")), (None, False))


@unittest.skipUnless(cloudpickle, "this Python has no cloudpickle, whose files a client sends with a payload")
class ByValue(Payloads, RunnerCase):
    """Functions and classes that no module of the job has, with the client's own cloudpickle."""

    def ran(self, function, *args):
        folder = os.path.dirname(cloudpickle.__file__)
        modules = {}
        for name in filter(lambda name: name.endswith(".py"), os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                modules[f"cloudpickle/{name}"] = file.read()
        data = header(modules=modules, function=function.__name__) + cloudpickle.dumps((function, args, {}), protocol=5)
        return self.run_payload(data, {"x": ""})

    def in_main(self, source):
        """The names of a program that is __main__, whose functions travel by value."""
        names = {"__name__": "__main__"}
        exec(source, names)
        return names

    def test_closure(self):
        n = 7
        self.assertEqual((self.ran(lambda m: [n, m], 8)).result["value"], [7, 8])

    def test_class_comes_back_as_itself(self):
        names = self.in_main("class Point:\n  def __init__(self, x): self.x = x\ndef f(p): return Point(p.x + 1)")
        ran = self.ran(names["f"], names["Point"](1))
        back = pickle.loads(self.read("result.pkl"))
        self.assertIs(type(back), names["Point"])
        self.assertEqual(back.x, 2, ran.out)

    def test_exception_of_a_class_that_travels(self):
        names = self.in_main("class Own(Exception): pass\ndef f():\n  try: {}['x']\n  except KeyError as e: raise Own('y') from e")
        self.ran(names["f"])
        exc = pickle.loads(self.read("result.pkl"))
        self.assertIs(type(exc), names["Own"])
        self.assertEqual(repr(exc.__cause__), "KeyError('x')")

    def test_function_that_is_returned(self):
        self.ran(lambda: lambda x: x + 1)
        self.assertEqual(pickle.loads(self.read("result.pkl"))(1), 2)


class LongMessages(RunnerCase):
    """Messages of megabytes, as compilers of accelerators write them."""

    def test_the_report_has_the_beginning_and_the_log_all(self):
        ran = self.call("def f(): raise ValueError('x' * 5_000_000 + 'last')")
        error = ran.result["error"]
        for text, begin in ((error["message"], "xxx"), (error["traceback"], "Traceback (most recent call last):\n  File")):
            self.assertTrue(text.startswith(begin), text[:100])
            self.assertEqual(len(text), 1 << 20)
            self.assertTrue(text.endswith("x\u2026 the rest is in the log\n"), text[-100:])
        self.assertIn("x" * 5_000_000 + "last\n", ran.log)

    def test_a_report_of_any_length_is_read_in_linear_time(self):
        """The call writes a line of its own to our pipe, which is no report."""
        source = """
            import os
            def f():
                for _ in range(400):
                    view = memoryview(b"x" * (1 << 20))
                    while view:
                        view = view[os.write(3, view):]
                os.write(3, b"\\n")
                return "done"
        """
        ran = self.call(source)
        self.assertEqual((ran.code, ran.result["value"]), (0, "done"))


if __name__ == "__main__":
    unittest.main()
