"""A call on Pathways: in its one process, on host 0, while the chips are elsewhere."""

import os
import signal
import time
import unittest

from fixture import JOB, command, function, pickled, script, sha256
from pathways import NAME, TPU_HOSTS, PathwaysCase, worker
from payloads import payload


class Call(PathwaysCase):
    def test_a_function_runs_once_on_all_tpu_hosts(self):
        source = """
            import os
            print("imported")
            def f():
                return [os.environ[name] for name in ("KINETIC_HOST", "KINETIC_HOSTS", "KINETIC_TPU_HOSTS", "KINETIC_ATTEMPT")] + \\
                    sorted(name for name in os.environ if name.startswith(("JAX_", "MASTER_", "OMPI_", "RANK", "WORLD")))
        """
        ran = self.ended(function(), source)
        self.assertEqual((ran.end["state"], ran.result["value"]), ("SUCCEEDED", ["0", "1", "4", "1", "JAX_PLATFORMS"]), ran.out)
        self.assertEqual(ran.stdout, "initialized for proxy,cpu 4\nimported\n")

    def test_a_pickled_call(self):
        source = "import os\ndef f(): return os.environ['KINETIC_TPU_HOSTS']"
        data = payload(source)
        self.put(f"{JOB}/payload.pkl", data)
        ran = self.ended(pickled(), source, "--payload", sha256(data))
        self.assertEqual((ran.result["value"], ran.stdout), ("4", "initialized for proxy,cpu 4\n"), ran.out)

    def test_a_file_is_what_python_makes_of_it(self):
        source = """
            import json, os, sys
            from queue import queue_is_ours
            print(json.dumps([__name__, os.path.relpath(__file__, os.getcwd()), sys.argv[1:], os.path.relpath(sys.path[0], os.getcwd())]))
            print(sys.modules["__main__"].sys is sys, queue_is_ours(), sys.argv[0] == __file__)
        """
        ran = self.ended(script("sub/train.py", "-x", "a b"), {"sub/train.py": source, "sub/queue.py": "def queue_is_ours(): return True"})
        self.assertEqual(ran.stdout, 'initialized for proxy,cpu 4\n["__main__", "sub/train.py", ["-x", "a b"], "sub"]\nTrue True True\n', ran.out)
        self.assertEqual(ran.end["state"], "SUCCEEDED")

    def test_a_module(self):
        call = {"version": 1, "kind": "module", "module": "pkg", "args": ["-x"], "cwd": "", "sys_path": []}
        files = {"pkg/__init__.py": "", "pkg/__main__.py": "import sys; print(__name__, __package__, sys.argv[1:])"}
        ran = self.ended(call, files)
        self.assertEqual((ran.end["state"], ran.stdout), ("SUCCEEDED", "initialized for proxy,cpu 4\n__main__ pkg ['-x']\n"), ran.out)

    def test_a_command_is_told_to_do_it_itself(self):
        ran = self.ended(command("echo", "ran"), {"x": ""})
        self.assertEqual((ran.end["state"], ran.stdout), ("SUCCEEDED", "ran\n"))
        self.assertIn("kinetic: a --command must itself call pathwaysutils.initialize() before it uses JAX\n", ran.stderr)

    def test_with_a_debugger(self):
        debugpy = """
            listen = print
            is_client_connected = lambda: True
            breakpoint = lambda: print("stops")
            class wait_for_client:
                def cancel(): pass
                def __new__(cls): print("waits")
        """
        self.provide({"debugpy/__init__.py": debugpy})
        for call in (function(), script()):
            with self.subTest(call["kind"]):
                ran = self.ended(call, "print('runs')\ndef f(): pass", env={"KINETIC_DEBUG": "1", "KINETIC_POD_UID": call["kind"]})
                self.assertEqual([line for line in ran.stdout.split() if line in ("initialized", "waits", "runs")], ["initialized", "waits", "runs"], ran.out)
                self.assertIn("stops", ran.stdout)
                self.setUp()
                self.provide({"debugpy/__init__.py": debugpy})

    def test_an_exception_of_a_file_is_shown_without_our_frames(self):
        ran = self.ended(script(), "def f():\n  raise ValueError('boom')\nf()")
        self.assertEqual((ran.end["reason"], ran.end["exit_code"]), ("ExitCode", 1))
        shown = ran.stderr[ran.stderr.index("Traceback") :].splitlines()
        self.assertRegex(shown[1], r'File ".*/workspace/train\.py", line 3, in <module>')

    def test_the_exit_code_of_a_file_is_its_own(self):
        ran = self.ended(script(), "import sys; sys.exit(7)")
        self.assertEqual((ran.end["exit_code"], ran.end["message"]), (7, "train.py ended with exit code 7"))


class Lacking(PathwaysCase):
    def lacking(self, call, **kwargs):
        shadows = {"re.py": "1/0", "importlib/__init__.py": "1/0"}  # which only this project's own code may import
        ran = self.ended(call, {"train.py": "print('ran')\ndef f(): pass", **shadows}, **kwargs)
        self.assertEqual((ran.end["state"], ran.end["reason"], ran.end["exit_code"]), ("FAILED", "BadEnvironment", 1))
        self.assertNotIn("ran\n", ran.stdout)
        self.assertIn(f"kinetic: {ran.end['message']}\n", ran.stderr)
        return ran.end["message"]

    def test_no_pathwaysutils(self):
        os.rename(os.path.join(self.library, "pathwaysutils"), os.path.join(self.library, "gone"))
        want = "--backend pathways needs the packages jax and pathwaysutils: add pathwaysutils to the project's requirements, or to the image"
        self.assertEqual(self.lacking(script()), want)

    def test_old_jax(self):
        self.provide({"jax-0.9.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: jax\nVersion: 0.8.2\n"})
        want = "--backend pathways needs jax 0.8.3 or later, and this is 0.8.2: change the project's requirements, or the image"
        self.assertEqual(self.lacking(function()), want)

    def test_old_python(self):
        self.provide({"sitecustomize.py": "import sys; sys.version_info = (3, 10, 1)"})
        self.assertEqual(self.lacking(function()), "--backend pathways needs Python 3.11 or later, and this is 3.10: use another image")

    def test_old_python_for_this_jax(self):
        self.provide(
            {
                "jax-0.9.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: jax\nVersion: 0.11.1\n",
                "sitecustomize.py": "import sys; sys.version_info = (3, 11, 9)",
            }
        )
        self.assertEqual(self.lacking(function()), "--backend pathways needs Python 3.12 or later with jax 0.11.1, and this is 3.11: use another image")


class Exit(PathwaysCase):
    CRASH = "import atexit, os, signal\natexit.register(lambda: os.kill(os.getpid(), signal.SIGSEGV))\n"

    def crash_at_exit(self):
        """JAX's own exit handler crashes."""
        self.provide({"pathwaysutils/__init__.py": self.CRASH + "def initialize(): pass"})

    def test_crash_at_the_exit_of_a_function(self):
        ran = self.ended(function(), self.CRASH + "def f(): return 7")
        self.assertEqual((ran.end["state"], ran.result["value"]), ("SUCCEEDED", 7), ran.out)
        self.assertEqual(ran.result["warnings"], ["train.py:f returned, but its process was killed by SIGSEGV while exiting"])

    def test_crash_at_the_exit_of_a_program(self):
        for source in ("print('ran')", "import sys; print('ran'); sys.exit()"):
            with self.subTest(source):
                self.setUp()
                self.crash_at_exit()
                ran = self.ended(script(), source)
                self.assertEqual((ran.end["state"], ran.stdout), ("SUCCEEDED", "ran\n"), ran.out)
                self.assertEqual(ran.result["warnings"], ["train.py returned, but its process was killed by SIGSEGV while exiting"])

    def test_crash_at_the_exit_of_a_program_that_failed(self):
        for source in ("raise ValueError('boom')", "import os; os.fork() or exit(0); os.wait(); raise ValueError('boom')"):
            with self.subTest(source):
                self.setUp()
                self.crash_at_exit()
                ran = self.ended(script(), source)
                self.assertEqual((ran.end["state"], ran.end["reason"], ran.end["exit_code"]), ("FAILED", "ExitCode", 1))  # no crash, and final


class Waiting(PathwaysCase):
    SOURCE = "import os, time\nprint('ready', flush=True)\nwhile not os.path.exists({!r}): time.sleep(0.01)"

    def begin_without_hosts(self, *flags):
        self.go = os.path.join(self.root, "go")
        self.api.pods.update({f"{NAME}-{number + 1}": worker(number, phase="Pending", ready=False) for number in (1, 2)})
        self.api.pods[f"{NAME}-4"] = worker(3)  # of an attempt before
        self.api.pods[f"{NAME}-4"]["metadata"]["deletionTimestamp"] = "2026-11-20T08:20:19Z"
        return self.begin(script(), self.SOURCE.format(self.go), *flags)

    def pending(self, *flags):
        process = self.begin_without_hosts(*flags)
        while not (line := process.stdout.readline()).startswith(b"\x1ekinetic: waiting for"):
            self.assertTrue(line)
        self.assertEqual(line, b"\x1ekinetic: waiting for 4 TPU hosts: 1 is running\n")
        return process

    def come(self):
        self.api.pods.update({f"{NAME}-{number + 1}": worker(number) for number in range(TPU_HOSTS)})

    def test_the_hosts_are_told_once(self):
        process = self.pending()
        count = len(self.api.gets)
        self.eventually(lambda: len(self.api.gets) > count + 10, process)
        self.come()
        while not (line := process.stdout.readline()).startswith(b"\x1ekinetic: all"):
            self.assertNotIn(b"waiting", line)
        self.assertEqual(line, b"\x1ekinetic: all 4 TPU hosts are running\n")
        open(self.go, "w").close()
        (ran,) = self.parked(process)
        self.assertEqual(ran.end["state"], "SUCCEEDED")

    def test_max_runtime_counts_from_when_all_are_there(self):
        process = self.pending("--max-runtime", "0.3", "--grace", "1")
        count = len(self.api.gets)
        self.eventually(lambda: len(self.api.gets) > count + 30, process)  # far longer than the limit
        self.assertFalse(self.exists("end.json"))
        self.come()
        (ran,) = self.parked(process)
        self.assertEqual((ran.end["reason"], ran.end["message"]), ("DeadlineExceeded", "train.py ran longer than the 0.3 seconds of --max-runtime"))

    def test_a_call_that_waits_for_its_hosts_does_not_hang(self):
        process = self.pending("--hang-timeout", "2", "--hang-action", "restart")
        count, begun = len(self.api.gets), time.monotonic()
        self.eventually(lambda: len(self.api.gets) > count + 60 and time.monotonic() > begun + 3, process)  # 20 looks, and longer than the limit
        self.come()
        while not (line := process.stdout.readline()).startswith(b"\x1ekinetic: all"):
            self.assertNotIn(b"--hang-timeout", line)
        ran = self.finish(process)
        self.assertIn("train.py hung, and was ended (--hang-action restart)", ran.stderr)
        self.assertEqual(ran.code, 137)

    def test_max_cost_counts_while_they_are_missing(self):
        process = self.begin_without_hosts("--budget", "0.3", "--max-runtime", "0.1", "--grace", "0.2")
        (ran,) = self.parked(process)
        self.assertEqual(ran.end["reason"], "DeadlineExceeded")
        self.assertIn("train.py ran for the 0.3 seconds that its --max-cost pays for", ran.end["message"])

    def test_the_wait_for_them_is_noted_for_the_next_attempt(self):
        process = self.pending("--budget", "1000")
        count, begun = len(self.api.gets), time.monotonic()
        self.eventually(lambda: len(self.api.gets) > count + 30, process)
        waited = time.monotonic() - begun
        self.come()
        while not (line := process.stdout.readline()).startswith(b"\x1ekinetic: all"):
            self.assertTrue(line)
        process.send_signal(signal.SIGTERM)
        self.finish(process)
        self.assertGreater(self.document("attempts/1.json")["ran"], waited)

    def test_pods_that_cannot_be_seen_do_not_hold_the_clock(self):
        self.api.refuses = True
        ran = self.ended(script(), self.SOURCE.format(os.path.join(self.root, "never")), "--max-runtime", "0.3", "--grace", "1")
        self.assertEqual(ran.end["reason"], "DeadlineExceeded")
        self.assertIn("kinetic: warning: cannot look for the TPU hosts, so --max-runtime counts from now: the API server answered 403", ran.stderr)

    def test_looks_that_may_succeed_later_do_not_hold_it_for_ever(self):
        self.api.busy = True
        self.change += "\npathways.BLIND_SECONDS = 0.3"
        ran = self.ended(script(), self.SOURCE.format(os.path.join(self.root, "never")), "--max-runtime", "0.3", "--grace", "1")
        self.assertEqual(ran.end["reason"], "DeadlineExceeded")
        self.assertEqual(ran.stderr.count("cannot look for the TPU hosts, so --max-runtime counts from now: the API server answered 503"), 1)


if __name__ == "__main__":
    unittest.main()
