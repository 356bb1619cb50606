"""How the process of a function ends: as Python ends, and nothing but the call itself speaks for the call."""

import os
import signal
import unittest

from fixture import RunnerCase, command, function, script

STACK = "Fatal Python error: Segmentation fault"
# The first notice comes after 10 seconds; the module that says so is in the call's sys.modules like any other.
TOLD_SOON = "import sys; sys.modules['kinetic_runner.child.outcomes'].FIRST_SECONDS = 0.3"
FORGOTTEN_THREAD = """
    import signal, threading
    def wait():
        threading.main_thread().join()  # returns when Python begins to end this process
        print("ends", flush=True)
        threading.Event().wait()
    threading.Thread(target=wait, name="forgotten").start()
"""
IGNORE = "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
STOPPED = "train.py:f returned, but its threads or exit handlers did not finish in time and were stopped"


class AsPythonEnds(RunnerCase):
    def value(self, source, *flags):
        """Runs f, which returns 1."""
        ran = self.call(source, *flags)
        self.assertEqual((ran.code, ran.end["state"], ran.result["value"]), (0, "SUCCEEDED", 1), ran.out + ran.err)
        return ran

    def test_file_that_the_module_holds_open_is_flushed(self):
        path = os.path.join(self.root, "metrics.csv")
        self.value(f"LOG = open({path!r}, 'w')\ndef f():\n  LOG.write('loss\\n' * 10)\n  return 1")
        with open(path) as file:
            self.assertEqual(file.read(), "loss\n" * 10)

    def test_idle_executor_is_not_waited_for(self):
        source = """
            from concurrent.futures import ThreadPoolExecutor
            POOL = ThreadPoolExecutor(2)
            def f(): return POOL.submit(len, "x").result()
        """
        ran = self.value(source)
        self.assertEqual((ran.out, ran.result["warnings"]), ("", []))

    def test_exit_handlers_and_finalizers_run(self):
        source = """
            import atexit, weakref
            class Writer:
                pass
            WRITER = Writer()
            weakref.finalize(WRITER, print, "finalized")
            atexit.register(print, "at exit")
            def f(): return 1
        """
        self.assertEqual(sorted(self.value(source).out.splitlines()), ["at exit", "finalized"])

    def saved_by_a_thread(self, seconds, first=""):
        """Runs a function whose thread runs for so long after it; returns what was printed."""
        path = os.path.join(self.root, "checkpoint")
        source = f"""
            {first}
            import threading, time
            def save():
                threading.main_thread().join()
                time.sleep({seconds})
                open({path!r}, "w").close()
            def f():
                threading.Thread(target=save, name="saver").start()
                return 1
        """
        ran = self.value(source)
        self.assertTrue(os.path.exists(path))
        self.assertEqual(ran.result["warnings"], [])
        return ran.out

    def test_thread_that_works_on_is_waited_for(self):
        out = self.saved_by_a_thread(3, TOLD_SOON)
        self.assertEqual(out, "kinetic: train.py:f ended 0.3 seconds ago; waiting for its threads: saver\n")

    def test_thread_that_works_on_for_long_is_waited_for(self):
        out = self.saved_by_a_thread(11)
        self.assertEqual(out, "kinetic: train.py:f ended 10 seconds ago; waiting for its threads: saver\n")

    def test_thread_without_end_is_bounded_by_max_runtime(self):
        for name, more in (("listens", ""), ("does not listen", IGNORE)):
            with self.subTest(name):
                ran, _ = self.out_of_time(lambda *limit: self.call(FORGOTTEN_THREAD + more + "    def f(): return 1", *limit, "--grace", "0.2"), "ends")
                self.assertEqual((ran.code, ran.end["state"], ran.result["value"]), (0, "SUCCEEDED", 1), ran.out + ran.err)
                self.assertEqual((ran.out, ran.result["warnings"]), ("ends\n", [STOPPED]))

    def test_thread_without_end_is_bounded_by_the_grace(self):
        for name, more in (("listens", ""), ("does not listen", IGNORE)):
            with self.subTest(name):
                self.setUp()
                files = {"train.py": FORGOTTEN_THREAD + more + "    def f(): return 1"}
                process = self.start(self.argv(function(), files, "--grace", "0.2"))
                self.assertEqual(process.stdout.readline(), b"ends\n")
                process.send_signal(signal.SIGTERM)
                ran = self.finish(process)
                self.assertEqual((ran.code, ran.end["state"], ran.result["value"]), (0, "SUCCEEDED", 1), ran.out)
                self.assertEqual(ran.result["warnings"], [STOPPED])

    def test_exception_before_a_thread_without_end_stays_the_reason(self):
        ran, _ = self.out_of_time(lambda *limit: self.call(FORGOTTEN_THREAD + "    def f(): raise ValueError('bad')", *limit), "ends")
        self.assertEqual((ran.code, ran.end["reason"], ran.end["message"]), (1, "Exception", "ValueError: bad"))

    def test_segfault_after_the_value_is_a_warning(self):
        ran = self.value("import atexit, ctypes\natexit.register(ctypes.string_at, 0)\ndef f(): return 1")
        self.assertEqual(ran.result["warnings"], ["train.py:f returned, but its process was killed by SIGSEGV while exiting"])
        self.assertIn(STACK, ran.stderr)


class WhoSpeaks(RunnerCase):
    def test_forked_helper_never_speaks_for_the_call(self):
        endings = {"sys.exit(0)": 0, "sys.exit(3)": 3, "raise ValueError('of the helper')": 1, "return 'the helper'": 0}
        for ending, code in endings.items():
            with self.subTest(ending):
                self.setUp()
                source = f"""
                    import os, signal, sys
                    def f():
                        helper = os.fork()
                        if helper == 0:
                            {ending}
                        print("helper", os.waitstatus_to_exitcode(os.waitpid(helper, 0)[1]), flush=True)
                        os.kill(os.getpid(), signal.SIGKILL)
                """
                ran = self.call(source, "--final")
                self.assertEqual((ran.code, ran.end["state"], ran.end["reason"]), (137, "FAILED", "Killed"), ran.out)
                self.assertIn(f"helper {code}\n", ran.out)
                self.assertIsNone(ran.result["value"])

    def test_forked_helper_beside_a_call_that_returns(self):
        source = """
            import os, sys
            def f():
                if os.fork() == 0:
                    sys.exit(3)
                os.wait()
                return "the call"
        """
        ran = self.call(source)
        self.assertEqual((ran.code, ran.end["reason"], ran.result["value"]), (0, "Completed", "the call"))

    def test_function_that_closes_all_descriptors(self):
        ran = self.call("import os\ndef f():\n  os.closerange(3, 256)\n  return 'kept'")
        self.assertEqual((ran.code, ran.result["value"]), (0, "kept"), ran.out)

    def test_file_that_gets_our_descriptor_gets_no_bytes_of_ours(self):
        path = os.path.join(self.root, "mine")
        source = f"""
            import os
            def f():
                os.close(3)
                assert os.open({path!r}, os.O_WRONLY | os.O_CREAT) == 3
                os.write(3, b"mine")
                return "kept"
        """
        ran = self.call(source)
        self.assertEqual((ran.code, ran.result["value"]), (0, "kept"), ran.out)
        with open(path) as file:
            self.assertEqual(file.read(), "mine")

    def test_exit_without_pythons_end(self):
        for code, want in ((0, 1), (5, 5)):
            with self.subTest(code):
                self.setUp()
                ran = self.call(f"import os\ndef f(): os._exit({code})")
                self.assertEqual((ran.code, ran.end["reason"]), (want, "ExitCode"))

    def test_scratch_that_the_call_removes(self):
        source = "import shutil\ndef f(size):\n  shutil.rmtree('../scratch')\n  print('gone')\n  return 'x' * size"
        ran = self.call(source, kwargs={"size": 10})
        self.assertEqual((ran.code, ran.result["value"]), (0, "x" * 10), ran.out)
        self.assertIn("gone", ran.log)

    def test_scratch_that_the_call_removes_before_a_large_value(self):
        ran = self.call("import shutil\ndef f():\n  shutil.rmtree('../scratch')\n  return 'x' * (2 << 20)")
        self.assertEqual((ran.code, ran.result["value"]), (0, "x" * (2 << 20)), ran.out)

    def test_large_value_without_a_place(self):
        ran = self.call("import os, shutil\ndef f():\n  shutil.rmtree('../scratch')\n  os.symlink('nowhere', '../scratch')\n  return 'x' * (2 << 20)")
        self.assertEqual((ran.code, ran.end["reason"]), (1, "BadResult"))
        self.assertIn(f"to {self.work}/scratch/value.json: File exists", ran.end["message"])


class Crashes(RunnerCase):
    CRASH = "import ctypes\ndef crash(): ctypes.string_at(0)\n"

    def test_segfault_prints_the_stack(self):
        calls = {
            "function": (function(), self.CRASH + "def f(): crash()"),
            "script": (script(), self.CRASH + "crash()"),
            "below a command": (command("sh", "-c", "python3 train.py; kill -SEGV $$"), self.CRASH + "crash()"),
        }
        for name, (call, source) in calls.items():
            with self.subTest(name):
                self.setUp()
                ran = self.run_call(call, {"train.py": source}, "--final")
                self.assertEqual((ran.code, ran.end["reason"]), (137, "Killed"))
                self.assertIn("SIGSEGV", ran.end["message"])
                self.assertIn(STACK, ran.stderr)
                self.assertRegex(ran.stderr, r'train\.py", line \d+ in crash')

    def test_stack_can_be_refused(self):
        ran = self.run_call(script(), {"train.py": self.CRASH + "crash()"}, env={"PYTHONFAULTHANDLER": ""})
        self.assertNotIn(STACK, ran.stderr)


class TheProcess(RunnerCase):
    def test_main_has_the_file_of_the_call(self):
        ran = self.call("import sys\ndef f(): return [sys.modules['__main__'].__file__ == __file__, sys.argv == [__file__]]")
        self.assertEqual(ran.result["value"], [True, True])

    def test_async_function_beside_a_thread_that_imports(self):
        source = """
            import importlib, sys, threading
            failures, stop, went = [], threading.Event(), 0
            def work():
                global went
                while not stop.is_set():
                    sys.modules.pop("part", None)
                    try:
                        importlib.import_module("part")
                    except ImportError as exc:
                        failures.append(str(exc))
                    went += 1
            thread = threading.Thread(target=work)
            thread.start()
            while not went:
                pass
            async def f():
                import asyncio
                await asyncio.sleep(0.1)
                stop.set()
                thread.join()
                return [went > 0, failures[:3]]
        """
        ran = self.run_call(function(), {"train.py": source, "part.py": ""})
        self.assertEqual((ran.code, ran.result["value"]), (0, [True, []]), ran.out)

    def test_little_of_the_runner_is_open_in_the_call(self):
        show = "import os\ndef f(): return sorted(int(fd) for fd in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{fd}'))\n"
        for name, call, source, want in (
            ("function", function(), show, [0, 1, 2, 3, 4, 900]),  # where it reports how it ended, where it answers jobs stacks, and a duplicate
            ("script", script(), show + "print(f())", [0, 1, 2, 3]),
            ("command", command("python3", "train.py"), show + "print(f())", [0, 1, 2, 3]),
        ):
            with self.subTest(name):
                self.setUp()
                ran = self.run_call(call, {"train.py": source})
                self.assertEqual(ran.result["value"] or [int(fd) for fd in ran.out.strip("[]\n").split(",")], want)

    def test_what_the_function_starts_inherits_nothing_of_ours(self):
        source = "import subprocess\ndef f(): return subprocess.run('ls /proc/$$/fd', shell=True, close_fds=False, capture_output=True, text=True).stdout.split()"
        self.assertNotIn("3", self.call(source).result["value"])

    def test_python_below_a_command_prints_at_once(self):
        source = "import os, signal\nprint('before')\nos.kill(os.getpid(), signal.SIGKILL)"
        argv = self.argv(command("sh", "-c", "python3 train.py; true"), {"train.py": source})
        ran = self.finish(self.start(["env", "-u", "PYTHONUNBUFFERED"] + argv))
        self.assertIn("before\n", ran.out)


if __name__ == "__main__":
    unittest.main()
