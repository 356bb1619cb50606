"""The runner's command shell, beside a call that runs."""

import json
import os
import pty
import signal
import subprocess
import sys
import unittest

from fixture import RUNNER, TIMEOUT, RunnerCase, command, function, script
from hosting import Hosting, Ring
from kinetic_runner.warm import frames

# Runs until its standard input, a fifo, has a line.
WAIT = """
import os
def f():
    print("runs", flush=True)
    open(os.environ["GATE"]).read()
if __name__ == "__main__":
    f()
"""
OWN = ("KINETIC_NETRC", "KINETIC_GROUP_KEY", "KINETIC_WARM_KEY", "KINETIC_LEADER")  # variables of the runner
SEEN = "import json, os; print(json.dumps([os.getcwd(), dict(os.environ)]))"


def beside(work, *words, **env):
    """Run a program beside the call, from elsewhere and with hardly any variables."""
    argv = [sys.executable, RUNNER, "shell", work, *words]
    return subprocess.run(argv, cwd="/", env=dict(env, PATH=os.defpath, TERM="dumb"), stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)


class Shell(RunnerCase):
    def begin(self, call, *flags, files=None, **env):
        """Start a call that waits, and return how to end it."""
        gate = os.path.join(self.root, "gate")
        os.mkfifo(gate)
        process = self.start(self.argv(call, files or {"train.py": WAIT}, *flags), dict(env, GATE=gate))
        self.assertEqual(process.stdout.readline(), b"runs\n", process.poll() is not None and process.stderr.read())

        def end():
            with open(gate, "w"):
                pass
            return self.finish(process)

        return end

    def shell(self, *words, **env):
        return beside(self.work, *words, **env)

    def test_it_is_where_each_kind_of_call_is(self):
        calls = {"function": function(cwd="sub"), "file": script(cwd="sub"), "command": command(sys.executable, "../train.py", cwd="sub")}
        for name, call in calls.items():
            with self.subTest(name):
                self.setUp()
                end = self.begin(call, OWN="of the job", KINETIC_NETRC="machine index login x password y")
                cwd, environ = json.loads(self.shell(sys.executable, "-c", SEEN).stdout)
                self.assertEqual(cwd, os.path.join(self.work, "workspace", "sub"))
                self.assertEqual((environ["OWN"], environ["KINETIC_HOSTS"], environ["KINETIC_ATTEMPT"], environ["TERM"]), ("of the job", "1", "1", "dumb"))
                self.assertTrue(os.path.isdir(environ["KINETIC_OUTPUT_DIR"]))
                self.assertNotIn("KINETIC_NETRC", environ)
                self.assertEqual(end().code, 0)

    def test_nothing_secret_is_written(self):
        end = self.begin(script(), TOKEN="hush-hush")
        path = os.path.join(self.work, "scratch", "place.json")
        with open(path) as file:
            self.assertNotIn("hush-hush", file.read())
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.assertEqual(self.shell("printenv", "TOKEN").stdout, b"hush-hush\n")
        end()

    def test_the_streams_are_exact_and_apart(self):
        end = self.begin(script())
        ran = self.shell(sys.executable, "-c", "import os; os.write(1, bytes(range(256)) * 4096); os.write(2, b'\\r\\n\\0'); os._exit(3)")
        self.assertEqual((ran.stdout, ran.stderr, ran.returncode), (bytes(range(256)) * 4096, b"\r\n\0", 3))
        end()

    def test_how_a_program_ends(self):
        end = self.begin(script())
        for words, code, said in (
            (["sh", "-c", "kill -9 $$"], 137, b""),
            (["no-such-program"], 127, b"kinetic: cannot run no-such-program: there is no such program"),
            (["./train.py"], 127, b"kinetic: cannot run ./train.py: Permission denied"),
        ):
            ran = self.shell(*words)
            self.assertEqual(ran.returncode, code)
            self.assertIn(said, ran.stderr)
        end()

    def test_what_a_program_leaves_running_does_not_hold_the_shell(self):
        end = self.begin(script())
        ran = self.shell("sh", "-c", "sleep 1000 & echo $!")
        os.kill(int(ran.stdout), signal.SIGKILL)
        self.assertEqual(ran.returncode, 0)
        end()

    def test_without_a_program_it_is_a_shell(self):
        end = self.begin(script(), SHELL="/bin/sh")
        ran = subprocess.run([sys.executable, RUNNER, "shell", self.work], input=b"echo $KINETIC_JOB_ID; exit 4\n", capture_output=True, timeout=TIMEOUT)
        self.assertEqual((ran.stdout, ran.returncode), (b"cpu-train-20261120-082019-abc1234\n", 4))
        end()

    def test_a_terminal_is_passed_on(self):
        end = self.begin(script())
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(sys.executable, [sys.executable, RUNNER, "shell", self.work, "sh", "-c", "tty >/dev/null && stty size"])
        said = b""
        while b"\n" not in said:
            said += os.read(terminal, 1024)
        status = os.waitpid(pid, 0)[1]
        os.close(terminal)
        self.assertEqual((said, status), (b"0 0\r\n", 0))
        end()

    def test_before_the_call_it_says_what_is_missing(self):
        os.makedirs(os.path.join(self.work, "workspace"))
        ran = self.shell("pwd")
        self.assertEqual(ran.stdout.decode(), os.path.join(self.work, "workspace") + "\n")
        self.assertEqual(ran.stderr, b"kinetic: the call has not begun: its variables and its packages are missing here\n")
        own = dict.fromkeys(OWN, "x")
        self.assertEqual(self.shell("printenv", "HOME", *OWN, HOME="/root", **own).stdout, b"/root\n")


class WarmShell(Hosting):
    @unittest.skipUnless(os.path.isdir("/proc/self"), "needs /proc")
    def test_it_has_the_variables_of_the_call(self):
        gate = os.path.join(self.root, "gate")
        os.mkfifo(gate)
        _, port = self.host(OWN="of the host", LEFT="of the host")
        ring = Ring(self, port)
        ring.send(frames.CALL, self.order("call-1", function(), {"train.py": WAIT}, environ={"GATE": gate, "OWN": "of the call"}))
        ring.await_output()
        self.assertEqual(beside(self.work, "printenv", "OWN", "GATE", "LEFT").stdout.decode(), f"of the call\n{gate}\nof the host\n")
        self.assertEqual(os.stat(os.path.join(self.work, "scratch", "place.json")).st_mode & 0o777, 0o600)
        with open(gate, "w"):
            pass
        self.assertEqual(ring.follow()[1], 0)


if __name__ == "__main__":
    unittest.main()
