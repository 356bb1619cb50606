"""A pickled call: a function and its arguments in a payload, its value in a pickle."""

import os
import pickle
import sys
import textwrap
import unittest

from fixture import PEAK, RunnerCase, pickled, script
from payloads import PYTHON, Payloads, header, module, payload
from test_pod import PodCase

OTHER = "3.%d" % (sys.version_info[1] + 1)


class Values(Payloads, RunnerCase):
    def test_value(self):
        ran, data = self.pickle_of("def f(a, b=0, **more): return {'sum': a + b, 'more': more}", 1, b=2, c=(3,))
        self.assertEqual((ran.code, ran.out, ran.err), (0, "", ""))
        self.assertEqual((pickle.loads(data), data[:2]), ({"sum": 3, "more": {"c": (3,)}}, b"\x80\x05"))
        self.assertEqual((ran.result["ok"], ran.result["value"], ran.result["warnings"]), (True, {"sum": 3, "more": {"c": [3]}}, []))
        self.assertVouched(ran, data)

    def test_none_has_a_pickle_too(self):
        ran, data = self.pickle_of("def f(): pass")
        self.assertEqual((pickle.loads(data), ran.result["value"]), (None, None))
        self.assertVouched(ran, data)

    def test_payload_without_a_header(self):
        ran, data = self.pickle_of("def f(n): return n + 1", 1, before=b"")
        self.assertEqual((ran.code, pickle.loads(data)), (0, 2))

    def test_coroutine(self):
        _, data = self.pickle_of("import asyncio\nasync def f(n):\n  await asyncio.sleep(0)\n  return n", 7)
        self.assertEqual(pickle.loads(data), 7)

    def test_generator(self):
        ran, data = self.pickle_of("def f(): yield 1")
        self.assertEqual((ran.code, ran.end["reason"], data), (1, "BadResult", None))
        self.assertIn("f returned a generator, which runs only when it is iterated: return a list instead", ran.result["error"]["message"])

    def test_warnings_about_json_stay_in_the_result(self):
        ran, data = self.pickle_of("def f(): return [float('inf'), b'x']")
        self.assertEqual((ran.out, pickle.loads(data)), ("", [float("inf"), b"x"]))
        self.assertEqual((ran.result["warnings"], ran.result["differs"]), (["value[0] is Infinity: null in JSON", "value[1] is bytes: base64 in JSON"], True))
        self.assertEqual(ran.result["json_warnings"], 2)

    def test_a_large_value_has_no_json(self):
        large = "type('A', (), {'nbytes': 1 << 30, 'tolist': lambda self: 1 / 0, '__reduce__': lambda self: (int, (7,))})()"
        self.assertEqual(self.pickle_of(f"def f(): return {large}")[0].result["value"], None)
        values = {"text": "'x' * (1 << 20)", "bytes": "bytes(1 << 20)", "list": "[0] * (1 << 20)", "members": "dict.fromkeys(range(1 << 18))"}
        for name, value in values.items():
            with self.subTest(name):
                self.setUp()
                ran, data = self.pickle_of(f"def f(): return {value}")
                self.assertEqual((ran.code, ran.result["value"], ran.result["differs"]), (0, None, True))
                self.assertEqual(ran.result["warnings"], ["only the pickle has the value: it is too large for JSON"])
                self.assertEqual(pickle.loads(data), eval(value))
                self.assertEqual(sorted(os.listdir(os.path.join(self.work, "scratch"))), ["log", "place.json", "stacks"])
        self.setUp()
        ran, _ = self.pickle_of("def f(): return [0] * ((1 << 19) - 1)")
        self.assertEqual(len(ran.result["value"]), (1 << 19) - 1)

    def test_large_arguments_and_values_are_in_memory_once(self):
        source = PEAK + textwrap.dedent("""
            import atexit
            def f(data):
                atexit.register(lambda: print(peak()))
                return data
        """)
        size = 128 << 20
        ran, data = self.pickle_of(source, bytearray(size))
        self.assertEqual((ran.code, ran.end["pickle"]["size"], len(data)), (0, len(data), len(data)))
        self.assertLess(int(ran.out), 1.4 * size)
        self.assertVouched(ran, data)

    def test_where_it_runs(self):
        source = """
            import os, sys
            def f():
                import __main__
                return os.path.relpath(__main__.__file__, os.environ["ROOT"]), sys.argv, os.path.basename(os.getcwd()), os.environ["KINETIC_JOB_ID"], __name__
        """
        call = pickled(file="src/train.py", cwd="src", sys_path=["src"])
        place = os.path.join(self.work, "workspace")
        ran = self.run_payload(payload(source), {"src/train.py": source}, call=call, env={"ROOT": place})
        self.assertEqual(ran.result["value"], ["src/train.py", [os.path.join(place, "src/train.py")], "src", "cpu-train-20261120-082019-abc1234", "train"], ran.out)

    def test_data(self):
        """A placeholder finds its path in a variable when it is unpickled, and the function gets no argument of that name."""
        mounted = os.path.join(self.root, "mounted")
        os.mkdir(mounted)
        source = "import os\ndef path(name): return os.environ['KINETIC_DATA_' + name]\nclass Data:\n  def __reduce__(self): return path, ('D0',)\ndef f(x): return x"
        with module("train", source) as train:
            data = header() + pickle.dumps((train.f, ([train.Data()],), {}))
        call = pickled(data=[{"name": "d0", "access": "fuse", "source": "gs://b/d", "path": mounted}])
        self.assertEqual(self.run_payload(data, {"train.py": source}, call=call).result["value"], [mounted])

    def test_modules_that_come_with_it(self):
        """They are found before those of the image, and only while they are imported."""
        source = "import helper, sys\ndef f(): return [helper.VALUE, helper.part.VALUE, any('modules' in path for path in sys.path)]"
        modules = {"helper/__init__.py": "from . import part\nVALUE = 7", "helper/part.py": "VALUE = 8", "single.py": ""}
        with module("helper", ""):
            data = payload(source, before=header(modules=modules))
        site = os.path.join(self.root, "site")
        os.mkdir(site)
        with open(os.path.join(site, "helper.py"), "w") as file:
            file.write("VALUE = 'of the image'")
        ran = self.run_payload(data, {"train.py": source}, env={"PYTHONPATH": site})
        self.assertEqual(ran.result["value"], [7, 8, False], ran.out)

    def test_modules_that_are_installed(self):
        """They are the image's own if these are the same: Python has compiled them."""
        source = "import helper.part\ndef f(): return helper.__file__, helper.part.VALUE"
        modules = {"helper/__init__.py": "", "helper/part.py": "VALUE = 'sent'"}
        with module("helper", ""), module("helper.part", ""):
            data = payload(source, before=header(modules=modules))
        for name, installed in (("the same", "VALUE = 'sent'"), ("another version", "VALUE = 'of the image'")):
            with self.subTest(name):
                self.setUp()
                package = os.path.join(self.root, "site", "helper")
                os.makedirs(package)
                for file, text in (("__init__.py", ""), ("part.py", installed), ("more.py", "")):
                    with open(os.path.join(package, file), "w") as out:
                        out.write(text)
                ran = self.run_payload(data, {"train.py": source}, env={"PYTHONPATH": os.path.dirname(package)})
                file, value = ran.result["value"]
                self.assertEqual((file.startswith(package), value), (name == "the same", "sent"))

    def test_traceback_of_the_script(self):
        """Functions of the script travel by value: their code has the path of the client's file, which is not in the pod."""
        source, main = "def f():\n  return [].pop()  # of nothing\n", "/home/me/train.py"
        text = f"(lambda names: (exec(compile({source!r}, {main!r}, 'exec'), names), names['f'])[1])({{}})"
        function = type("ByValue", (), {"__reduce__": lambda self: (eval, (text,))})()
        data = header(main=main) + pickle.dumps((function, (), {}))
        lines = ["Traceback (most recent call last):", '  File "src/train.py", line 2, in f', "    return [].pop()  # of nothing"]
        ran = self.run_payload(data, {"src/train.py": source}, call=pickled(file="src/train.py", cwd="src", sys_path=["src"]))
        self.assertEqual(ran.result["error"]["traceback"].splitlines()[:3], lines)
        self.setUp()
        ran = self.run_payload(data, {"train.py": source})  # of the working directory, as in a notebook
        self.assertEqual(ran.result["error"]["traceback"].splitlines()[1], f'  File "{main}", line 2, in f')

    def test_the_payload_makes_room_for_the_result(self):
        source = "import os\ndef f(): return os.listdir(os.environ['SCRATCH'])"
        ran = self.run_payload(payload(source), {"train.py": source}, env={"SCRATCH": os.path.join(self.work, "scratch")})
        self.assertNotIn("payload.pkl", ran.result["value"])

    def test_later_attempt(self):
        source = "import os, signal\ndef f():\n  if os.environ['KINETIC_ATTEMPT'] == '1': os.kill(os.getpid(), signal.SIGKILL)\n  return 1"
        for number in (1, 2):
            ran = self.run_payload(payload(source), {"train.py": source}, "--retries", "1", env={"KINETIC_POD_UID": f"uid-{number}"})
        self.assertVouched(ran, self.read("result-2.pkl"), "result-2.pkl")

    def test_end_of_the_process(self):
        ran, data = self.pickle_of("import os\ndef f(): os._exit(0)")
        self.assertEqual((ran.code, ran.end["message"], data), (1, "f ended its process before returning", None))


class InABucket(Payloads, PodCase):
    def test_value(self):
        ran, data = self.pickle_of("def f(n): return n", 7)
        self.assertEqual((ran.code, pickle.loads(data)), (0, 7))
        self.assertVouched(ran, data)

    def test_payload_that_was_changed(self):
        source = "def f(): return 1"
        data = payload(source)
        argv = self.argv(pickled(), {"train.py": source}, "--payload", "a" * 64)
        self.put("cpu-train-20261120-082019-abc1234/payload.pkl", data)
        ran = self.finish(self.start(argv))
        self.assertEqual(ran.code, 125)
        self.assertIn("payload.pkl has SHA-256", ran.out)


class Refused(Payloads, RunnerCase):
    """Payloads that can't be unpickled. No retry would change that."""

    def refused(self, data, files, **kwargs):
        """The error of a payload that is refused."""
        ran = self.run_payload(data, files, "--retries", "3", "--retry-on", "error", **kwargs)
        self.assertEqual((ran.code, ran.end["reason"], ran.end["state"], ran.result["pickle"]), (1, "BadPayload", "FAILED", None), ran.out)
        self.assertNotIn("pickle", ran.end)
        self.assertIn(ran.result["error"]["message"], ran.out)
        self.assertTrue(ran.end["message"].startswith(ran.result["error"]["message"][:900]))
        return ran.result["error"]

    def test_another_version_of_python(self):
        error = self.refused(payload("def f(): pass", before=header(python=f"{OTHER}.1")), {"train.py": ""})
        ours = "%d.%d" % sys.version_info[:2]
        self.assertEqual(error["message"], f"f was pickled with Python {OTHER}, and the job has Python {ours}: submit it from Python {ours}, "
            f"or use --python {OTHER}, an --image with Python {OTHER}, or with --local a python3 of that version")  # fmt: skip

    def test_another_patch_of_python(self):
        source = "def f(): return 1"
        ran = self.run_payload(payload(source, before=header(python=".".join(PYTHON.split(".")[:2]) + ".99")), {"train.py": source})
        self.assertEqual(ran.code, 0, ran.out)

    def test_missing_module(self):
        error = self.refused(payload("def f(): pass"), {"other.py": ""})
        self.assertEqual(error["type"], "ModuleNotFoundError")
        self.assertIn("cannot unpickle f: ModuleNotFoundError: No module named 'train': the job has no module train: a module of your own must be", error["message"])

    def test_other_code(self):
        error = self.refused(payload("def f(): pass"), {"train.py": "def g(): pass"})
        self.assertRegex(error["message"], "cannot unpickle f: AttributeError: .*'f'.*: the packaged code is not what was pickled: submit again")

    def test_something_of_the_script(self):
        error = self.refused(header() + b"\x80\x04c__main__\nmine\n.", {"train.py": ""})
        self.assertRegex(error["message"], "AttributeError: .*'mine'.*: put it into a module of your own$")

    def test_a_module_that_fails(self):
        error = self.refused(payload("def f(): pass"), {"train.py": "import json\n1 / 0"})
        self.assertEqual((error["type"], error["message"]), ("ZeroDivisionError", "cannot unpickle f: ZeroDivisionError: division by zero"))
        self.assertEqual(error["traceback"].splitlines()[:2], ["Traceback (most recent call last):", '  File "train.py", line 2, in <module>'])

    def test_what_is_no_payload(self):
        cases = {
            "no header": (b"hello\n", "begins neither with a pickle nor with a header"),
            "another version": (header(kinetic_payload=2), "begins neither with a pickle nor with a header of version 1"),
            "half of a pickle": (payload("def f(): pass")[:-5], "cannot unpickle f: "),
            "no tuple": (header() + pickle.dumps([1]), "cannot unpickle f: TypeError: it is a list, not a tuple of 3"),
            "another tuple": (header() + pickle.dumps((1, 2)), "cannot unpickle f: TypeError: it is a tuple of 2, not a tuple of 3"),
            "a path that leads out": (header(modules={"../x.py": ""}) + pickle.dumps(1), "a module with the path '../x.py', which is not allowed"),
        }
        for name, (data, want) in cases.items():
            with self.subTest(name):
                self.setUp()
                self.assertIn(want, self.refused(data, {"train.py": "def f(): pass"})["message"])

    def test_exit_while_unpickling(self):
        source = "import sys\ndef f(): pass\nsys.exit(3)"
        ran = self.run_payload(payload("def f(): pass"), {"train.py": source})
        self.assertEqual((ran.code, ran.end["reason"]), (3, "ExitCode"))

    def test_flags_and_calls_that_do_not_fit(self):
        for call, flags in ((pickled(), ()), (script(), ("--payload", "a" * 64))):
            with self.subTest(call["kind"]):
                self.setUp()
                ran = self.run_call(call, {"train.py": ""}, *flags, "--final")
                self.assertEqual(ran.code, 125)
                self.assertIn(f"has a {call['kind']} call: --payload is for a pickle call, which needs it", ran.out)


if __name__ == "__main__":
    unittest.main()
