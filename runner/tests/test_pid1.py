"""SIGTERM in the first moments of the runner, as PID 1, for whom the kernel has no default action."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from fixture import RUNNER, RunnerCase, script

STEP, LAST = 0.010, 0.400  # seconds after the start
WAIT = "import signal\nprint('ready', flush=True)\nwhile True: signal.pause()"


class FirstMoments(RunnerCase):
    def setUp(self):
        super().setUp()
        self.unshare = [shutil.which("unshare") or "", "--pid", "--fork", "--kill-child"]
        if not self.unshare[0] or subprocess.run(self.unshare + ["true"], capture_output=True).returncode:
            self.skipTest("no right to make a PID namespace here")

    def start_as_pid_1(self, number):
        """Starts the runner; returns it and, once it is there, the pid that it has here."""
        job = ["--work", os.path.join(self.root, f"work-{number}"), "--grace", "5"]
        process = self.start(self.unshare + self.argv(script(), {"train.py": WAIT}, *job), {"KINETIC_POD_UID": f"uid-{number}"})
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with contextlib.suppress(OSError, ValueError):
                with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
                    pid = int(file.read())
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    if RUNNER.encode() in file.read().split(b"\0") and os.readlink(f"/proc/{pid}/exe") == os.path.realpath(sys.executable):
                        return process, pid
        self.fail("it does not start")

    @staticmethod
    def handles(pid, number=signal.SIGTERM):
        """Reports whether the process has a handler."""
        with open(f"/proc/{pid}/status") as file:
            caught = next(line for line in file if line.startswith("SigCgt:"))
        return bool(int(caught.split()[1], 16) >> (number - 1) & 1)

    def test_signal_at_any_moment(self):
        deaf = 0.0
        for number in range(1, round(LAST / STEP) + 1):
            process, pid = self.start_as_pid_1(number)
            time.sleep(number * STEP)
            heard = self.handles(pid)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            if not heard:
                deaf = max(deaf, number * STEP)
                if process.stdout.readline() == b"ready\n":  # the kernel has ignored it
                    os.kill(pid, signal.SIGTERM)
            ran = self.finish(process)
            with self.subTest(milliseconds=round(1000 * number * STEP), heard=heard):
                self.assertEqual(ran.code, 143, ran.out + ran.err)
                said, _, _ = ran.err.partition("Exception ignored in")  # Python's words, if a callback of its importer is interrupted
                self.assertNotIn("Traceback", ran.out + said)
        print(f"deaf for up to {1000 * deaf:.0f} ms", file=sys.stderr)

    def test_signal_before_the_imports(self):
        """What comes before the runner's own handler is there is kept."""
        boot = f"""
import os, signal, sys
class Finder:
    def find_spec(name, path=None, target=None):
        if name == {{name!r}}:
            os.kill(os.getpid(), signal.SIGTERM)
sys.meta_path.insert(0, Finder)
del sys.argv[0]
import runpy
runpy.run_path(sys.argv[0], run_name="__main__")
"""
        modules = ("kinetic_runner", "kinetic_runner.main", "kinetic_runner.signals", "kinetic_runner.single", "kinetic_runner.attempt", "kinetic_runner.supervisor")
        for name in modules:
            with self.subTest(name):
                argv = self.argv(script(), {"train.py": "print('it ran')"}, "--final")
                ran = self.finish(self.start(argv[:2] + ["-c", boot.format(name=name)] + argv[2:]))
                self.assertEqual((ran.code, ran.out), (143, ""), ran.err)
                self.assertNotIn("Traceback", ran.err)


if __name__ == "__main__":
    unittest.main()
