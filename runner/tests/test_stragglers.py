"""What a call leaves running: it is told to end, and is gone before the runner is."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import unittest

from fixture import RunnerCase, command, function, script

# Starts a process that holds a pipe of the test open for as long as it lives.
START = """
    import os, signal, subprocess, sys, time
    def start(source, **more):
        with open(FIFO, "w") as alive:
            child = subprocess.Popen([sys.executable, "-u", "-c", source], stdout=subprocess.PIPE, pass_fds=[alive.fileno()], **more)
        assert child.stdout.readline() == b"started\\n"
        return child
"""
SLEEP = "import time; print('started'); time.sleep(1000)"
IGNORE = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('started'); time.sleep(1000)"
SAVE = f"""
import signal, sys, time
def save(*_):
    time.sleep(0.05)
    open("saved", "w").close()
    sys.exit()
signal.signal(signal.SIGTERM, save)
print("started")
while True:
    time.sleep(0.1)  # Python acts on a signal that comes just before it only at its end
"""


class StragglerCase(RunnerCase):
    def setUp(self):
        super().setUp()
        self.fifo = os.path.join(self.root, "fifo")
        os.mkfifo(self.fifo)

    def source(self, body):
        return textwrap.dedent(START).replace("FIFO", repr(self.fifo)) + body

    def wait_for_stragglers(self, alive, seconds=10):
        """Waits until nothing holds the fifo open; a signal takes a moment."""
        os.set_blocking(alive.fileno(), False)
        until = time.monotonic() + seconds
        while alive.read(1) is None:
            self.assertLess(time.monotonic(), until, "something still runs")
            time.sleep(0.01)


class Stragglers(StragglerCase):
    def leave(self, call, body, *flags):
        """Runs a call that leaves processes; returns what ran once they are gone."""
        process = self.start(self.argv(call, {"train.py": self.source(body)}, *flags))
        with open(self.fifo, "rb", buffering=0) as alive:
            ran = self.finish(process)
            self.wait_for_stragglers(alive)
        return ran

    def test_background_process_is_ended(self):
        calls = {
            "function": (function(), "def f(): start({})"),
            "script": (script(), "start({})"),
            "command": (command("sh", "-c", "python3 train.py & wait"), "start({})"),
        }
        for name, (call, body) in calls.items():
            with self.subTest(name):
                self.setUp()
                ran = self.leave(call, body.format(repr(SLEEP)))
                self.assertEqual((ran.code, ran.end["state"]), (0, "SUCCEEDED"), ran.out)

    def test_background_process_that_does_not_listen_is_killed(self):
        ran = self.leave(function(), f"def f():\n    start({IGNORE!r})\n    return 1")
        self.assertEqual((ran.code, ran.result["value"]), (0, 1), ran.out)

    def test_background_process_has_a_second_to_save(self):
        self.leave(script(), f"start({SAVE!r})")
        self.assertIn("saved", self.workspace())

    def test_what_a_killed_call_left_is_ended(self):
        ran = self.leave(script(), f"start({SLEEP!r})\nos.kill(os.getpid(), 9)", "--final")
        self.assertEqual((ran.code, ran.end["reason"]), (137, "Killed"))

    def test_what_a_call_left_that_ran_too_long_is_ended(self):
        ran = self.leave(script(), f"start({IGNORE!r})\ntime.sleep(1000)", "--max-runtime", "8", "--grace", "0.2")
        self.assertEqual((ran.code, ran.end["reason"]), (124, "DeadlineExceeded"))


TRAIN = """
    import signal, sys, time
    def save(*_):
        for number in range(4):
            print("saving", number)
            time.sleep(0.1)
        print("saved")
        sys.exit(0)
    signal.signal(signal.SIGTERM, save)
    print("ready")
    while True:
        signal.pause()
"""
STUBBORN = """
    import signal
    signal.signal(signal.SIGTERM, lambda *_: print("not now"))
    print("ready")
    while True:
        signal.pause()
"""


class TerminationOfACommand(RunnerCase):
    """SIGTERM is for everything that a command has started."""

    def stop(self, argv, source, *flags):
        files = {"train.py": source, "run.sh": "python3 -u train.py\necho the script continues\n"}
        process = self.start(self.argv(command(*argv), files, *flags))
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGTERM)
        return self.finish(process)

    def test_python_below_a_shell_saves_its_work(self):
        for name, argv in {
            "script": ("bash", "run.sh"),
            "two levels": ("bash", "-c", "bash run.sh; true"),
            "in the background": ("bash", "-c", "bash run.sh & wait"),
        }.items():
            with self.subTest(name):
                self.setUp()
                ran = self.stop(argv, TRAIN)
                self.assertEqual((ran.code, ran.result["error"]["type"]), (143, "Terminated"))
                self.assertIn("saving 0\nsaving 1\nsaving 2\nsaving 3\nsaved\n", ran.out)
                self.assertIn("saved\n", ran.log)
                self.assertFalse(self.exists("end.json"), "it starts again elsewhere")

    def test_program_that_does_not_end_is_killed_after_the_grace(self):
        ran = self.stop(("bash", "run.sh"), STUBBORN, "--grace", "3", "--final")
        self.assertEqual((ran.code, ran.end["reason"]), (143, "Terminated"))
        self.assertIn("not now\n", ran.log)

    def test_deadline_ends_all_of_it_too(self):
        files = {"train.py": TRAIN, "run.sh": "python3 -u train.py\n"}
        ran = self.run_call(command("bash", "run.sh"), files, "--max-runtime", "8")  # enough to start two programs on a busy machine
        self.assertEqual((ran.code, ran.end["reason"]), (124, "DeadlineExceeded"))
        self.assertIn("saved\n", ran.log)


class TerminationOfPython(RunnerCase):
    def test_processes_of_a_script_are_its_own_business_until_it_has_ended(self):
        source = """
            import signal, subprocess, sys
            child = subprocess.Popen([sys.executable, "-c", "import signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]); print('ready', file=sys.stderr, flush=True); signal.sigwait([signal.SIGUSR1]); print('told by the script')"], stderr=subprocess.PIPE)
            def end(*_):
                child.send_signal(signal.SIGUSR1)
                child.wait()
                sys.exit(1)
            signal.signal(signal.SIGTERM, end)
            child.stderr.readline()
            print("ready", flush=True)
            while True:
                signal.pause()
        """
        process = self.start(self.argv(script(), {"train.py": source}))
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGTERM)
        self.assertIn("told by the script\n", self.finish(process).out)


class AsPid1(StragglerCase):
    def setUp(self):
        super().setUp()
        self.unshare = [shutil.which("unshare") or "", "--pid", "--fork", "--kill-child"]
        if not self.unshare[0] or subprocess.run(self.unshare + ["true"], capture_output=True).returncode:
            self.skipTest("no right to make a PID namespace here")

    def test_process_that_left_the_group_is_killed(self):
        body = f"""def f():
    start({IGNORE!r}, start_new_session=True)
    print("started")
    return os.getppid()
"""
        source = self.source(body)
        until = os.path.join(self.root, "published")
        argv = self.unshare + self.argv(function(), {"train.py": source})
        # The namespace's own end would kill it too, so the runner stays a moment longer.
        boot = "import os, runpy, sys\nend = os._exit\ndef stay(code):\n"
        boot += f"  os.mkfifo({until!r}); open({until!r}).close(); end(code)\n"
        boot += "os._exit = stay\ndel sys.argv[0]\nrunpy.run_path(sys.argv[0], run_name='__main__')"
        at = argv.index("-u") + 1
        process = self.start(argv[:at] + ["-c", boot] + argv[at:])
        with open(self.fifo, "rb", buffering=0) as alive:
            self.assertEqual(process.stdout.readline(), b"started\n")
            self.wait_for_stragglers(alive)
            deadline = time.monotonic() + 60
            while not os.path.exists(until):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            with open(until, "w"):
                ran = self.finish(process)
        self.assertEqual((ran.code, ran.result["value"]), (0, 1), ran.err)


class Unkillable(RunnerCase):
    def test_what_sigkill_does_not_end_is_not_waited_for(self):
        """A zombie of the call's group, whose parent has left it, stands in for a process that hangs in the kernel."""
        source = """
            import os, signal, time
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if os.fork() == 0:
                if os.fork() == 0:
                    os._exit(0)
                os.setsid()
                time.sleep(1000)
            time.sleep(1000)
        """
        ran = self.run_call(command("python3", "train.py"), {"train.py": source}, "--max-runtime", "0.5", "--grace", "0.5")
        self.assertEqual((ran.code, ran.end["reason"]), (124, "DeadlineExceeded"))


if __name__ == "__main__":
    unittest.main()
