# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The runner's command stacks, beside a call that runs."""

import json
import os
import re
import subprocess
import sys
import unittest

from fixture import RUNNER, TIMEOUT, RunnerCase, command, function, script

# Runs until a fifo has a writer.
WAIT = """
import os, threading
def inner():
    print("runs", flush=True)
    open(os.environ["GATE"]).read()
def f():
    beside = threading.Event()
    threading.Thread(target=beside.wait, daemon=True).start()
    inner()
if __name__ == "__main__":
    f()
"""
FORK = """
import multiprocessing, os, sys
def work(gate):
    print("runs", flush=True)
    open(gate).read()
if __name__ == "__main__":
    child = multiprocessing.get_context(os.environ["HOW"]).Process(target=work, args=[os.environ["GATE"]])
    child.start()
    child.join()
"""
MASKED = """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGURG])
print("runs", flush=True)
open(os.environ["GATE"]).read()
"""
CLOSED = """
import os
os.closerange(3, 100)
kept = open("kept", "w")
print("runs", flush=True)
open(os.environ["GATE"]).read()
print(os.path.getsize("kept"))
"""


@unittest.skipUnless(sys.platform == "linux", "needs /proc")
class Stacks(RunnerCase):
    def begin(self, call, text, **env):
        """Start a call that waits, and return how to end it."""
        gate = os.path.join(self.root, "gate")
        os.mkfifo(gate)
        process = self.start(self.argv(call, {"train.py": text}), dict(env, GATE=gate))
        self.assertEqual(process.stdout.readline(), b"runs\n", process.poll() is not None and process.stderr.read())

        def end():
            with open(gate, "w"):
                pass
            return self.finish(process)

        return end

    def stacks(self):
        """Return what the processes of the call answer."""
        argv = [sys.executable, RUNNER, "stacks", self.work]
        done = subprocess.run(argv, cwd="/", env={"PATH": os.defpath}, capture_output=True, timeout=TIMEOUT)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return json.loads(done.stdout)["processes"]

    def test_each_kind_of_call_answers(self):
        calls = {"function": function(), "file": script(), "command": command("sh", "-c", f"{sys.executable} train.py; true")}
        for name, call in calls.items():
            with self.subTest(name):
                self.setUp()
                end = self.begin(call, WAIT)
                for _ in range(2):
                    (answer,) = self.stacks()
                    self.assertRegex(answer["text"], 'train.py", line [45] in inner')
                    self.assertIn('threading.py", line', answer["text"])
                    self.assertEqual(answer["text"].count("most recent call first"), 2)
                self.assertEqual(end().code, 0)

    def test_children_answer_for_themselves(self):
        for how in ("fork", "spawn"):
            with self.subTest(how):
                self.setUp()
                end = self.begin(script(), FORK, HOW=how)
                self.eventually(lambda: any("in join" in answer["text"] for answer in self.stacks()))
                answers = [answer["text"] for answer in self.stacks()]
                (child,) = [text for text in answers if re.search(", line [45] in work", text)]
                (parent,) = [text for text in answers if "in join" in text]
                self.assertNotIn("in work", parent)
                self.assertEqual(end().code, 0)

    def test_no_answer_is_said(self):
        end = self.begin(script(), MASKED)
        (answer,) = self.stacks()
        self.assertEqual((answer["text"], answer["why"]), ("", "no answer in 3s, state S (sleeping)"))
        self.assertEqual(end().code, 0)

    def test_a_program_that_closes_everything_is_left_alone(self):
        end = self.begin(script(), CLOSED)
        self.assertEqual(self.stacks(), [])
        self.assertIn("0\n", end().stdout)

    def test_nothing_runs(self):
        self.assertEqual(self.stacks(), [])

    def test_the_next_sitecustomize_is_imported(self):
        site = os.path.join(self.root, "site")
        os.mkdir(site)
        with open(os.path.join(site, "sitecustomize.py"), "w") as file:
            file.write("import sys; sys.mine = 8")
        env = {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join([RUNNER, site])}
        look = "import sys; print(sys.mine, sys.path[1:3], [name for name in sys.modules if 'kinetic' in name])"
        done = subprocess.run([sys.executable, "-c", look], env=env, capture_output=True, text=True, timeout=TIMEOUT)
        self.assertEqual(done.stderr, "")
        self.assertTrue(done.stdout.startswith("8 ") and done.stdout.endswith(" []\n"), done.stdout)


if __name__ == "__main__":
    unittest.main()
