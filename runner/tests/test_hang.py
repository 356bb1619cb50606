# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A call that prints, writes and finishes nothing for a while."""

import signal
import sys
import unittest

from fixture import RunnerCase, function, script

HANGS = """
import os, sys, time
STACKS = os.path.join(os.path.dirname(os.environ["KINETIC_STOP_FILE"]), "stacks")
def stuck():
    while sys.argv[1:] or os.path.getsize(STACKS) == before:
        time.sleep(0.05)
print("begun", flush=True)
before = os.path.getsize(STACKS)  # on a busy machine, this program may have hung before it began
stuck()
"""
# Prints, and then writes, longer than the time without progress; then it waits for what the log says.
MOVES = """
import os, time
def wait():
    time.sleep(0.25)
for number in range(12):
    print(number, flush=True)
    wait()
for number in range(12):
    with open(os.path.join(os.environ["KINETIC_OUTPUT_DIR"], "step"), "w") as file:
        file.write(str(number))
    wait()
"""
# Ends when it was told to, but only after it has counted as hung.
SAVES = """
import os, signal, time
def f():
    told = []
    signal.signal(signal.SIGTERM, lambda *_: told.append(1))
    print("ready", flush=True)
    while not told or not os.path.getsize(os.path.join(os.path.dirname(os.environ["KINETIC_STOP_FILE"]), "stacks")):
        time.sleep(0.05)
    time.sleep(0.5)
    return "saved"
"""


@unittest.skipUnless(sys.platform == "linux", "needs /proc")
class Hang(RunnerCase):
    def test_stacks_are_printed_once(self):
        ran = self.run_call(script(), {"train.py": HANGS}, "--hang-timeout", "0.5")
        self.assertEqual(ran.code, 0, ran.stderr)
        self.assertIn("kinetic: nothing was printed, written or finished for 0.5 seconds (--hang-timeout)", ran.stderr)
        self.assertIn("train.py):\n", ran.stderr)
        self.assertEqual(ran.stderr.count(" in stuck"), 1)
        self.assertNotIn("kinetic_runner/child", ran.stderr)

    def test_restart_ends_the_attempt_like_a_crash(self):
        ran = self.run_call(script("train.py", "for ever"), {"train.py": HANGS}, "--hang-timeout", "3", "--hang-action", "restart")
        self.assertEqual(ran.code, 137, ran.stderr)
        self.assertIn(" in stuck", ran.stderr)
        self.assertIn("train.py hung, and was ended (--hang-action restart); its log shows where it was", ran.stderr)

    def test_a_call_that_was_told_to_end_is_not_ended_once_more(self):
        process = self.start(self.argv(function(), {"train.py": SAVES}, "--hang-timeout", "5", "--hang-action", "restart"))
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGTERM)
        ran = self.finish(process)
        self.assertEqual((ran.code, ran.result["value"]), (0, "saved"), ran.stderr)
        self.assertIn("(--hang-timeout)", ran.stderr)

    def test_a_limit_counts_before_a_hang_that_is_noticed_later(self):
        source = "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(1)"
        ran = self.run_call(script(), {"train.py": source}, "--max-runtime", "0.5", "--hang-timeout", "1", "--hang-action", "restart", "--grace", "3")
        self.assertEqual((ran.code, ran.end["reason"]), (124, "DeadlineExceeded"), ran.stderr)

    def test_progress_is_what_is_printed_or_written(self):
        ran = self.run_call(script(), {"train.py": MOVES}, "--hang-timeout", "2.5", "--hang-action", "restart")
        self.assertEqual(ran.code, 0, ran.stderr)
        self.assertNotIn("hang-timeout", ran.stderr)


if __name__ == "__main__":
    unittest.main()
