"""What each kind of call does, and what each way to end is reported as."""

import json
import os
import sys
import unittest

from fixture import JOB, RunnerCase, command, function, script, sha256


class Files(RunnerCase):
    def test_script_is_main_with_its_arguments_and_its_directory_first(self):
        source = """
            import json, sys, os
            assert os.environ["PYTHONPATH"].split(os.pathsep)[-2] == "/of/the/image"
            print(json.dumps([__name__, sys.argv[1:], os.path.relpath(sys.path[0], os.getcwd()), os.getcwd() == os.path.dirname(sys.path[0])]))
        """
        ran = self.run_call(script("sub/train.py", "-x", "a b"), {"sub/train.py": source}, env={"PYTHONPATH": "/of/the/image"})
        self.assertEqual(ran.code, 0, ran.out + ran.err)
        self.assertEqual(json.loads(ran.out), ["__main__", ["-x", "a b"], "sub", True])
        self.assertEqual((ran.end["state"], ran.end["reason"]), ("SUCCEEDED", "Completed"))
        self.assertTrue(ran.result["ok"])
        self.assertIsNone(ran.result["value"])

    def test_happy_path_prints_nothing_of_the_runner(self):
        ran = self.run_call(script(), {"train.py": "print('only this')"})
        self.assertEqual((ran.out, ran.err), ("only this\n", ""))

    def test_streams_stay_apart(self):
        ran = self.run_call(script(), {"train.py": "import sys\nprint('a')\nprint('b', file=sys.stderr)\nprint('c')"})
        self.assertEqual((ran.stdout, ran.stderr, ran.err), ("a\nc\n", "b\n", ""))

    def test_script_imports_from_sys_path(self):
        files = {"app/train.py": "import lib.part\nprint(lib.part.X)", "lib/part.py": "X = 'found'"}
        ran = self.run_call(script("app/train.py"), files)
        self.assertEqual(ran.out, "found\n")

    def test_exit_codes(self):
        for code, want, reason in ((0, 0, "Completed"), (1, 1, "ExitCode"), (3, 3, "ExitCode"), (123, 123, "ExitCode"), (124, 1, "ExitCode"), (255, 1, "ExitCode")):
            with self.subTest(code=code):
                self.setUp()
                ran = self.run_call(script(), {"train.py": f"import sys; sys.exit({code})"})
                self.assertEqual((ran.code, ran.end["exit_code"], ran.end["reason"]), (want, want, reason))
                self.assertEqual(ran.result["ok"], code == 0)
                if code:
                    self.assertIn(f"train.py ended with exit code {code}", ran.end["message"])

    def test_stdin_is_empty(self):
        ran = self.run_call(script(), {"train.py": "import sys; print(repr(sys.stdin.read()))"})
        self.assertEqual(ran.out, "''\n")

    def test_missing_script_is_refused(self):
        ran = self.run_call(script("gone.py"), {"train.py": ""}, "--final")
        self.assertEqual((ran.code, ran.end["reason"]), (125, "RunnerFailure"))
        self.assertIn("gone.py", ran.end["message"])

    def test_executable_bit_and_empty_directories(self):
        files = {"bin/tool": "#!/bin/sh\necho ran $1\n", "data.txt": "x"}
        ran = self.run_call(command("bin/tool", "now"), files, executable=("bin/tool",), dirs=("empty/deep",))
        self.assertEqual((ran.code, ran.out), (0, "ran now\n"))
        self.assertEqual(os.stat(os.path.join(self.work, "workspace/bin/tool")).st_mode & 0o777, 0o755)
        self.assertEqual(os.stat(os.path.join(self.work, "workspace/data.txt")).st_mode & 0o777, 0o644)
        self.assertTrue(os.path.isdir(os.path.join(self.work, "workspace/empty/deep")))

    def test_environment_of_the_call(self):
        source = "import os\nfor n in ('JOB_ID', 'HOST', 'HOSTS', 'ATTEMPT', 'OUTPUT_DIR'): print(os.environ['KINETIC_' + n])\nopen(os.environ['KINETIC_OUTPUT_DIR'] + '/model', 'w')"
        ran = self.run_call(script(), {"train.py": source})
        output = os.path.join(self.store, JOB, "outputs")
        self.assertEqual(ran.out.split(), [JOB, "0", "1", "1", output])
        self.assertTrue(self.exists("outputs/model"))

    def test_output_dir_of_the_user(self):
        for given in (os.path.join(self.root, "mine"), f"file://{self.root}/mine/"):
            with self.subTest(given=given):
                ran = self.run_call(script(), {"train.py": "import os; print(os.environ['KINETIC_OUTPUT_DIR'])"}, "--output-dir", given)
                self.assertEqual(ran.out, os.path.join(self.root, "mine") + "\n")
                os.unlink(os.path.join(self.store, JOB, "end.json"))

    def test_working_directory_is_made_if_the_bundle_has_no_file_in_it(self):
        ran = self.run_call(script(cwd="runs/today"), {"train.py": "import os; print(os.getcwd())"})
        self.assertEqual(ran.out, os.path.join(self.work, "workspace/runs/today") + "\n")


class ModulesAndCommands(RunnerCase):
    def test_module(self):
        call = {"version": 1, "kind": "module", "module": "pkg.job", "args": ["1"], "cwd": "", "sys_path": ["lib"]}
        files = {"lib/pkg/__init__.py": "", "lib/pkg/job.py": "import sys; from . import near; print(__name__, sys.argv[1:], near.X)", "lib/pkg/near.py": "X = 5"}
        ran = self.run_call(call, files)
        self.assertEqual((ran.code, ran.out), (0, "__main__ ['1'] 5\n"))

    def test_command(self):
        ran = self.run_call(command("sh", "-c", "cat data.txt; exit 9"), {"data.txt": "here\n"})
        self.assertEqual((ran.code, ran.out, ran.end["reason"]), (9, "here\n", "ExitCode"))

    def test_projects_come_last(self):
        """What stands for their installation hides neither the standard library nor what is installed."""
        found = ".kinetic-metadata/"
        look = "import importlib.metadata as m, sys, own, queue; print(m.version('own'), hasattr(queue, 'Queue'), sys.path[-2:])"
        files = {
            found + "own-1.dist-info/METADATA": "Name: own\nVersion: 1\n",
            found + "projects.pth": "../lib\n",
            "lib/own.py": "",
            "lib/queue.py": "",
            "sub/train.py": f"def f():\n    {look}",
        }
        for call in (command(sys.executable, "-c", look, cwd="sub"), function(file="sub/train.py", cwd="sub", sys_path=["sub"])):
            with self.subTest(call["kind"]):
                self.setUp()
                ran = self.run_call(call, files)
                last = [os.path.join(self.work, "workspace", folder) for folder in (".kinetic-metadata", "lib")]
                self.assertEqual(ran.stdout, f"1 True {last}\n", ran.err)

    def test_a_function_and_what_it_starts_find_projects(self):
        """Once each: in the function the directories of the call come first, elsewhere last."""
        look = "import own, sys; print([os.path.basename(place) for place in sys.path].count('lib'), sys.path[-1].endswith('lib'))"
        files = {
            ".kinetic-metadata/projects.pth": "../lib\n",
            "lib/own.py": "",
            "train.py": f"import os, subprocess, sys\ndef f():\n    {look}\n    subprocess.run([sys.executable, '-c', 'import os; ' + {look!r}], cwd='/', check=True)",
        }
        ran = self.run_call(function(sys_path=["", "lib"]), files)
        self.assertEqual(ran.stdout, "1 False\n1 True\n", ran.err)

    def test_command_that_cannot_be_run(self):
        cases = {
            "no such program": (("no-such-program-here",), "there is no such program"),
            "not executable": (("./data.txt",), "Permission denied"),
            "no interpreter line": (("./plain",), "#! line"),
        }
        for name, (argv, message) in cases.items():
            with self.subTest(name):
                self.setUp()
                ran = self.run_call(command(*argv), {"data.txt": "x", "plain": "echo"}, executable=("plain",))
                self.assertEqual((ran.code, ran.end["exit_code"], ran.end["reason"]), (1, 1, "NoProgram"))
                self.assertIn(f"cannot run {argv[0]}", ran.end["message"])
                self.assertIn(message, ran.out)

    def test_sigpipe_is_as_in_a_shell(self):
        ran = self.run_call(command("sh", "-c", "yes | head -n 1"), {"x": ""})
        self.assertEqual((ran.code, ran.out), (0, "y\n"))


class Functions(RunnerCase):
    def value(self, call, files, **kwargs):
        ran = self.run_call(call, files, **kwargs)
        self.assertEqual(ran.code, 0, ran.out + ran.err)
        return ran.result["value"]

    def test_keyword_arguments_and_value(self):
        ran = self.call("def f(a, b=2): print('working'); return {'sum': a + b}", kwargs={"a": 40})
        self.assertEqual((ran.code, ran.out, ran.result["value"]), (0, "working\n", {"sum": 42}))
        self.assertIsNone(ran.result["pickle"])
        self.assertEqual(json.loads(self.termination())["value"], {"sum": 42})

    def test_numbers_travel_untouched(self):
        data = ('{"version":1,"kind":"function","file":"train.py","module":"train","function":"f","cwd":"","sys_path":[""],"kwargs":{"n":%s}}' % ("1" + "0" * 4999 + "1")).encode()
        files = {"train.py": "def f(n): return [n == 10**5000 + 1, n]"}
        argv = self.argv(function(), files)
        self.put(f"{JOB}/call.json", data)
        argv[argv.index("--call") + 1] = sha256(data)
        ran = self.finish(self.start(argv))
        self.assertEqual(ran.code, 0, ran.out)
        text = self.read("result.json")
        self.assertIn(b"[true,1" + b"0" * 4999 + b"1]", text)

    def test_dotted_module_with_relative_imports(self):
        files = {
            "src/pkg/__init__.py": "ORDER = ['pkg']",
            "src/pkg/near.py": "X = 7",
            "src/pkg/train.py": "from . import near, ORDER\ndef f(): import pkg.train; return [near.X, __name__, ORDER, pkg.train.f is f]",
        }
        call = function(file="src/pkg/train.py", module="pkg.train", sys_path=["src"])
        self.assertEqual(self.value(call, files), [7, "pkg.train", ["pkg"], True])

    def test_package_file(self):
        files = {"pkg/__init__.py": "from . import near\ndef f(): return near.X", "pkg/near.py": "X = 7"}
        self.assertEqual(self.value(function(file="pkg/__init__.py", module="pkg"), files), 7)

    def test_module_that_its_package_imports_runs_once(self):
        files = {"pkg/__init__.py": "COUNT = []\nfrom . import train", "pkg/train.py": "from . import COUNT\nCOUNT.append(1)\ndef f(): return len(COUNT)"}
        self.assertEqual(self.value(function(file="pkg/train.py", module="pkg.train"), files), 1)

    def test_file_named_like_a_standard_module_is_itself(self):
        for name in ("json", "random", "signal", "pickle", "traceback"):
            with self.subTest(name):
                self.setUp()
                files = {f"{name}.py": f"def f(): import {name}; return [{name}.__file__ == __file__, float('nan')]"}
                ran = self.run_call(function(file=f"{name}.py", module=name), files)
                self.assertEqual((ran.code, ran.result["value"], ran.result["pickle"]), (0, [True, None], "result.pkl"), ran.out)

    def test_neighbour_named_like_a_module_of_the_runner_is_found(self):
        files = {"train.py": "import calendar, shutil\ndef f(): return [calendar.X, hasattr(shutil, 'move')]", "calendar.py": "X = 1"}  # select, math and others are a part of some interpreters
        self.assertEqual(self.value(function(), files), [1, True])

    def test_module_of_the_image(self):
        call = {"version": 1, "kind": "function", "module": "posixpath", "function": "basename", "kwargs": {"p": "a/b"}, "cwd": ""}
        self.assertEqual(self.value(call, {"x": ""}), "b")

    def test_runner_is_invisible_to_the_function(self):
        source = """
            import __main__, sys, os
            def f():
                return [hasattr(__main__, "Runner"), sys.argv[1:], sys.argv[0] == __file__, [i > 0 for i, p in enumerate(sys.path) if p.endswith("runner")]]
        """
        self.assertEqual(self.value(function(), {"train.py": source}), [False, [], True, [True]])

    def test_processes_of_multiprocessing(self):
        source = """
            import multiprocessing
            def double(x): return 2 * x
            def f():
                with multiprocessing.get_context("spawn").Pool(1) as spawned, multiprocessing.get_context("fork").Pool(1) as forked:
                    return spawned.map(double, [1, 2]) + forked.map(double, [3])
        """
        self.assertEqual(self.value(function(), {"train.py": source}), [2, 4, 6])

    def test_coroutine_is_awaited(self):
        source = "import asyncio\nasync def f():\n  await asyncio.sleep(0)\n  return 'done'"
        self.assertEqual(self.value(function(), {"train.py": source}), "done")

    def test_awaitable_object_is_awaited(self):
        source = "class A:\n  def __await__(self):\n    yield from ()\n    return 5\ndef f(): return A()"
        self.assertEqual(self.value(function(), {"train.py": source}), 5)

    def test_generators_are_refused_by_name(self):
        for source, word in (("def f(): yield 1", "a generator"), ("async def f(): yield 1", "an async generator")):
            with self.subTest(word):
                self.setUp()
                ran = self.call(source)
                self.assertEqual((ran.code, ran.end["reason"], ran.result["error"]["type"]), (1, "BadResult", "TypeError"))
                self.assertIn(f"train.py:f returned {word}", ran.result["error"]["message"])

    def test_missing_function_names_the_nearest(self):
        ran = self.run_call(function("trian"), {"train.py": "def train(): pass"})
        self.assertEqual((ran.code, ran.end["reason"], ran.result["error"]["type"]), (1, "Exception", "AttributeError"))
        self.assertIn("train.py has no function 'trian'; did you mean 'train'?", ran.result["error"]["message"])

    def test_something_else_than_a_function(self):
        ran = self.call("f = 3")
        self.assertEqual((ran.code, ran.result["error"]["type"]), (1, "TypeError"))
        self.assertIn("'f' in train.py is an int, not a function", ran.result["error"]["message"])

    def test_sys_exit(self):
        cases = {
            "()": (0, "Completed", None), "(0)": (0, "Completed", None), "(None)": (0, "Completed", None),
            "(7)": (7, "ExitCode", "ended with exit code 7"), "(200)": (1, "ExitCode", "exit code 200"),
            "('no data')": (1, "ExitCode", "no data"),
        }  # fmt: skip
        for argument, (code, reason, message) in cases.items():
            with self.subTest(argument):
                self.setUp()
                ran = self.call(f"import sys\ndef f(): sys.exit{argument}")
                self.assertEqual((ran.code, ran.end["reason"], ran.result["value"]), (code, reason, None))
                if message:
                    self.assertEqual(ran.result["error"]["type"], "SystemExit")
                    self.assertIn(message, ran.result["error"]["message"])
        self.assertIn("no data\n", ran.out)

    def test_process_that_ends_before_the_function_returns(self):
        for code, want in ((0, 1), (5, 5)):
            with self.subTest(code):
                self.setUp()
                ran = self.call(f"import os\ndef f(): os._exit({code})")
                self.assertEqual((ran.code, ran.end["reason"], ran.result["ok"]), (want, "ExitCode", False))

    def test_threads_may_finish_their_work(self):
        source = "import threading\ndef f():\n  threading.Timer(0.2, print, ['saved']).start()\n  return 1"
        ran = self.call(source)
        self.assertEqual((ran.out, ran.result["value"]), ("saved\n", 1))

    def test_end_of_life(self):
        source = """
            import atexit, sys, threading
            atexit.register(lambda: print("at exit"))
            def f():
                threading.Thread(target=threading.Event().wait, name="helper", daemon=True).start()
                sys.stdout = open(1, "w", buffering=1 << 16, closefd=False)
                print("buffered")
                return 1
        """
        ran = self.call(source)
        self.assertEqual((ran.code, ran.result["value"], ran.out), (0, 1, "buffered\nat exit\n"))


class Exceptions(RunnerCase):
    def error(self, source, **kwargs):
        ran = self.call(source, **kwargs)
        self.assertEqual((ran.code, ran.end["reason"]), (1, "Exception"), ran.out + ran.err)
        self.assertFalse(ran.result["ok"])
        return ran.result["error"], ran

    def test_traceback_is_the_one_of_home(self):
        error, ran = self.error("def g():\n    raise ValueError('bad')\n\ndef f():\n    g()\n")
        self.assertEqual((error["type"], error["message"]), ("ValueError", "bad"))
        lines = [line for line in error["traceback"].splitlines() if "^" not in line and "~" not in line]
        self.assertEqual(lines, [
            "Traceback (most recent call last):",
            '  File "train.py", line 5, in f', "    g()",
            '  File "train.py", line 2, in g', "    raise ValueError('bad')",
            "ValueError: bad",
        ])  # fmt: skip
        self.assertEqual(ran.out, error["traceback"])
        self.assertEqual(ran.end["message"], "ValueError: bad")

    def test_runner_and_import_machinery_are_not_shown(self):
        cases = {
            "import": "import no_such_module_here",
            "syntax": "def f(:",
            "coroutine": "async def f(): raise KeyError(1)",
            "arguments": "def f(x): pass",
            "caught and raised": "def f():\n  try: g()\n  except NameError as e: raise RuntimeError('x') from e",
        }
        for name, source in cases.items():
            with self.subTest(name):
                self.setUp()
                error, _ = self.error(source)
                for word in ("remote_runner", "importlib", "asyncio", self.work):
                    self.assertNotIn(word, error["traceback"])

    def test_chain_is_kept(self):
        error, _ = self.error("def f():\n  try: 1 / 0\n  except ZeroDivisionError as e: raise LookupError('second') from e")
        self.assertIn("ZeroDivisionError", error["traceback"])
        self.assertIn("direct cause", error["traceback"])

    def test_qualified_type(self):
        error, _ = self.error("class Odd(Exception): pass\ndef f(): raise Odd('x')")
        self.assertEqual(error["type"], "train.Odd")

    def test_unprintable(self):
        error, _ = self.error("class Odd(Exception):\n  def __str__(self): raise ValueError\ndef f(): raise Odd")
        self.assertIn("unprintable Odd", error["message"])

    def test_base_exceptions(self):
        error, _ = self.error("def f(): raise KeyboardInterrupt")
        self.assertEqual(error["type"], "KeyboardInterrupt")

    def test_lone_surrogates_and_long_messages(self):
        error, ran = self.error("def f(): raise ValueError('\\udc80' + 'x' * 9000)")
        self.assertEqual(error["message"], "\udc80" + "x" * 9000)
        summary = json.loads(self.termination())
        self.assertLess(len(self.termination()), 4096)
        self.assertEqual(summary["error"]["type"], "ValueError")
        self.assertTrue(summary["error"]["message"].endswith("…"))
        self.assertLessEqual(len(ran.end["message"]), 1000)

    def test_endless_recursion(self):
        error, _ = self.error("def f(): f()")
        self.assertEqual(error["type"], "RecursionError")

    def test_closed_streams(self):
        error, _ = self.error("import os, sys\ndef f():\n  sys.stdout.close(); sys.stderr = None; os.close(2)\n  raise ValueError('still told')")
        self.assertEqual(error["message"], "still told")


if __name__ == "__main__":
    unittest.main()
