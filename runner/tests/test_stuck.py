"""A stdout that nobody reads: it holds up what the call prints for some seconds, and nothing else."""

import json
import os
import signal
import sys
import time
import unittest

from fixture import RunnerCase, command, function, program, script

# Says ready by a file, since nobody reads what it prints.
FLOOD = """
    import os, signal, sys, time
    def flood():
        open(READY, "w").close()
        for number in range(100_000):
            print("line", number, "x" * 80)
"""
FOREVER = "\n    flood()\n    while True: signal.pause()\n"
SAVE = """
    def save(*_):
        os.write(1, b"saving\\n")
        open(SAVED, "w").close()
        os._exit(0)
    signal.signal(signal.SIGTERM, save)
"""


class StuckStdout(RunnerCase):
    def setUp(self):
        super().setUp()
        self.ready, self.saved = os.path.join(self.root, "ready"), os.path.join(self.root, "saved")

    def start_stuck(self, call, source, *flags):
        """Starts the runner with nobody reading its stdout; returns when the pipe is full and the call has to wait."""
        source = (FLOOD + source).replace("READY", repr(self.ready)).replace("SAVED", repr(self.saved))
        process = self.start(self.argv(call, {"train.py": source}, *flags))
        self.wait(lambda: os.path.exists(self.ready))
        self.wait(lambda: self.spooled() >= 1 << 20)
        return process

    def spooled(self):
        with open(os.path.join(self.work, "scratch/log"), "rb") as file:
            return os.fstat(file.fileno()).st_size

    def wait(self, condition, seconds=60):
        until = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)

    def leave_alone(self, process):
        """Waits for the runner, which nobody reads."""
        process.wait(timeout=60)
        return self.finish(process)

    def test_max_runtime_is_kept(self):
        process = self.start_stuck(script(), FOREVER, "--max-runtime", "10", "--grace", "0.5")
        ran = self.leave_alone(process)
        self.assertEqual((ran.code, ran.end["reason"], ran.end["exit_code"]), (124, "DeadlineExceeded", 124))
        self.assertIn("line 1 x", ran.log)

    def test_sigterm_reaches_the_call_and_its_log_is_in_the_store(self):
        process = self.start_stuck(script(), SAVE + FOREVER, "--grace", "20")
        process.send_signal(signal.SIGTERM)
        self.wait(lambda: os.path.exists(self.saved))
        ran = self.leave_alone(process)
        self.assertEqual((ran.code, ran.result["error"]["type"]), (143, "Terminated"))
        self.assertIn("saving\n", ran.log)
        self.assertEqual(json.loads(self.termination())["reason"], "Terminated")

    def test_call_that_does_not_listen_is_killed_within_the_grace(self):
        process = self.start_stuck(command("python3", "train.py"), "\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)" + FOREVER, "--grace", "0.5", "--final")
        process.send_signal(signal.SIGTERM)
        ran = self.leave_alone(process)
        self.assertEqual((ran.code, ran.end["reason"]), (143, "Terminated"))

    def test_runner_ends_before_kubernetes_kills_it(self):
        process = self.start_stuck(script(), "\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)" + FOREVER, "--grace", "0.5")
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        self.leave_alone(process)
        # Kubernetes waits for the grace and at least three seconds. The second is for a busy machine.
        self.assertLess(time.monotonic() - began, 0.5 + 3 + 1)

    def test_reader_that_comes_back_gets_everything(self):
        process = self.start_stuck(function(), "\n    def f():\n        flood()\n        return 'done'")
        time.sleep(0.3)  # nothing else moves meanwhile
        self.assertIsNone(process.poll())
        ran = self.finish(process)
        self.assertEqual((ran.code, ran.result["value"], ran.said_end), (0, "done", True))
        want = [f"line {number} {'x' * 80}" for number in range(100_000)]
        self.assertEqual(ran.out.splitlines(), want)
        self.assertEqual([line[28:] for line in ran.log.splitlines()], want)

    def test_call_does_not_wait_for_a_reader_that_never_comes(self):
        process = self.start_stuck(function(), "\n    def f():\n        flood()\n        return 'done'")
        self.wait(lambda: self.exists("end.json"))
        ran = self.finish(process)
        self.assertEqual((ran.code, ran.result["value"]), (0, "done"))
        self.assertEqual([line[28:] for line in ran.log.splitlines()], [f"line {number} {'x' * 80}" for number in range(100_000)])
        self.assertRegex(ran.stderr, r"kinetic: \d+ bytes are missing here because the output was not read in time; the store has them\n")

    def test_the_call_goes_on_although_nothing_else_wakes_the_runner(self):
        source = (FLOOD + "\n    def f():\n        flood()\n        return 'done'").replace("READY", repr(self.ready))
        argv = self.argv(function(), {"train.py": source})
        process = self.start([sys.executable, "-u", "-c", program("errands.PART_SECONDS = 3600; attempt.PIECE_SECONDS = 0.1; log.STUCK_SECONDS = 1")] + argv[3:])
        self.wait(lambda: self.exists("end.json"))
        ran = self.finish(process)
        self.assertEqual((ran.code, ran.result["value"]), (0, "done"))

    def test_small_output_of_a_call_that_ends_is_waited_for(self):
        """What fits into the runner is no reason for the call to wait; a reader has some seconds to come."""
        source = "\n    def f():\n        open(READY, 'w').close()\n        print('x' * 500_000)\n        return 'done'"
        source = (FLOOD + source).replace("READY", repr(self.ready))
        process = self.start(self.argv(function(), {"train.py": source}))
        self.wait(lambda: self.exists("end.json"))
        self.assertIsNone(process.poll())
        ran = self.finish(process)
        self.assertEqual((ran.code, ran.out, ran.said_end), (0, "x" * 500_000 + "\n", True))

    def test_reader_that_has_gone(self):
        source = "\n    def f():\n        flood()\n        return 'done'"
        process = self.start_stuck(function(), source)
        process.stdout.close()
        process.wait(timeout=60)
        self.assertEqual((process.returncode, self.document("result.json")["value"]), (0, "done"))
        self.assertIn("line 99999 x", self.log(1))

    def test_stdout_is_blocking_for_the_call(self):
        ran = self.call("import os\ndef f(): return [os.get_blocking(1), os.get_blocking(2)]")
        self.assertEqual(ran.result["value"], [True, True])


if __name__ == "__main__":
    unittest.main()
