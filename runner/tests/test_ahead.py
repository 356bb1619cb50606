"""An interpreter that starts before the call is known."""

import os
import signal
import subprocess
import time
import unittest
from unittest import mock

from fixture import RunnerCase, function, script
from kinetic_runner import ahead

# Returns the process that has called f.
CALLED = "import os\ndef f(): return os.getpid()"


class Ahead(RunnerCase):
    def children(self, pid):
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(child) for child in file.read().split()]

    def waiting(self, process):
        """The interpreter that the runner has started."""
        until = time.monotonic() + 10
        while time.monotonic() < until:
            for child in self.children(process.pid):
                with open(f"/proc/{child}/cmdline", "rb") as file:
                    if file.read().endswith(b"\0function\0"):
                        return child
            time.sleep(0.001)
        self.fail("no interpreter was started")

    def late_call(self, call, files, *flags, env=None):
        """A runner whose call.json is a pipe, which nobody has written to yet, and what to write there."""
        argv = self.argv(call, files, *flags)
        path = os.path.join(self.store, argv[argv.index("--job") + 1], "call.json")
        data = self.read("call.json")
        os.unlink(path)
        os.mkfifo(path)
        return self.start(argv, env), path, data

    @unittest.skipUnless(os.path.isdir("/proc/self/task"), "needs /proc")
    def test_the_function_runs_in_it(self):
        process, path, data = self.late_call(function(), {"train.py": CALLED})
        child = self.waiting(process)
        with open(path, "wb") as file:
            file.write(data)
        self.assertEqual(self.finish(process).result["value"], child)

    @unittest.skipUnless(os.path.isdir("/proc/self/task"), "needs /proc")
    def test_it_ends_with_the_runner(self):
        process, _, _ = self.late_call(function(), {"train.py": CALLED})
        child = self.waiting(process)
        process.send_signal(signal.SIGKILL)
        process.wait()
        until = time.monotonic() + 10
        while os.path.exists(f"/proc/{child}/exe") and time.monotonic() < until:
            time.sleep(0.01)
        self.assertFalse(os.path.exists(f"/proc/{child}/exe"))

    @unittest.skipUnless(os.path.isdir("/proc/self/task"), "needs /proc")
    def test_one_that_was_killed_is_a_crash(self):
        process, path, data = self.late_call(function(), {"train.py": CALLED}, "--final")
        os.kill(self.waiting(process), signal.SIGKILL)
        with open(path, "wb") as file:
            file.write(data)
        ran = self.finish(process)
        self.assertEqual((ran.code, ran.end["reason"]), (137, "Killed"))

    @unittest.skipUnless(os.path.isdir("/proc/self/task"), "needs /proc")
    def test_one_that_does_not_read(self):
        """Signals and clocks count while it does not take its document, here of more than a pipe holds."""
        process, path, data = self.late_call(function(kwargs={"text": "x" * 300_000}), {"train.py": "def f(text): pass"}, "--max-runtime", "1", "--grace", "0.1")
        os.kill(self.waiting(process), signal.SIGSTOP)
        with open(path, "wb") as file:
            file.write(data)
        ran = self.finish(process)
        self.assertEqual((ran.code, ran.end["reason"]), (124, "DeadlineExceeded"))

    def test_one_that_prints_before_it_reads(self):
        site = os.path.join(self.root, "site")
        os.mkdir(site)
        with open(os.path.join(site, "sitecustomize.py"), "w") as file:
            file.write("import sys\nif 'function' in sys.orig_argv: sys.stderr.write('x' * 100_000 + '\\n')\n")
        call = function(kwargs={"text": "x" * 300_000})
        ran = self.run_call(call, {"train.py": "def f(text): return len(text)"}, "--max-runtime", "60", env={"PYTHONPATH": site})
        self.assertEqual((ran.code, ran.result["value"]), (0, 300_000))

    def test_paths_in_the_workspace(self):
        """What is there only later is looked for later: a module of PYTHONPATH and the bundle's start-up code."""
        workspace = os.path.join(self.work, "workspace")
        files = {"train.py": "import own, sys\ndef f(): return own.VALUE, sys.mine", "lib/own.py": "VALUE = 7", "sitecustomize.py": "import sys; sys.mine = 8"}
        ran = self.run_call(function(), files, env={"PYTHONPATH": f"{workspace}:{workspace}/lib"})
        self.assertEqual(ran.result["value"], [7, 8], ran.out)

    def test_output_that_is_closed(self):
        argv = self.argv(function(), {"train.py": "def f(): return 1"}, "--final")
        closed = subprocess.run(["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *argv], env={"PATH": os.environ["PATH"]}, timeout=60)
        self.assertEqual((closed.returncode, self.document("result.json")["value"]), (0, 1))

    def test_relative_python_path(self):
        """It counts from the directory of the call, which is known late."""
        files = {"src/train.py": "import own\ndef f(): return own.VALUE", "src/lib/own.py": "VALUE = 7"}
        call = function(file="src/train.py", cwd="src", sys_path=["src"])
        self.assertEqual(self.run_call(call, files, env={"PYTHONPATH": "lib"}).result["value"], 7)

    def test_directory_and_environment(self):
        source = """
            import os, sys
            def f():
                return os.getcwd(), os.environ["KINETIC_JOB_ID"], os.environ["KINETIC_ATTEMPT"], sys.stdin.read()
        """
        ran = self.run_call(function(cwd="sub"), {"train.py": source, "sub/data": ""})
        place = os.path.realpath(os.path.join(self.work, "workspace", "sub"))
        self.assertEqual(ran.result["value"], [place, "cpu-train-20261120-082019-abc1234", "1", ""])

    def test_a_script_of_the_network_runs_once(self):
        with mock.patch.dict(os.environ, KINETIC_NETWORK="rdma"):
            self.assertIsNone(ahead.start(os.path.join(self.work, "workspace")))

    def test_a_call_that_is_no_function(self):
        ran = self.run_call(script(), {"train.py": "print('ran')"}, "--function", "--final")
        self.assertEqual((ran.code, ran.stdout, ran.end["reason"]), (125, "", "RunnerFailure"), ran.err)

    def test_several_calls(self):
        argv = self.argv(function(), {"train.py": CALLED}, "--function", "--map", "a" * 64)
        ran = self.finish(self.start(argv))
        self.assertEqual((ran.code, ran.err), (125, "kinetic: --function supports one call only\n"))


if __name__ == "__main__":
    unittest.main()
