"""The time that --max-cost pays for: that of all attempts together."""

import json
import os
import sys
import unittest

from fixture import JOB, RunnerCase, function, program, script


class Budget(RunnerCase):
    def test_end_of_the_budget(self):
        ran = self.run_call(script(), {"train.py": "import signal\nwhile True: signal.pause()"}, "--budget", "0.5", "--grace", "0.2")
        self.assertEqual((ran.code, ran.end["reason"], ran.end["exit_code"]), (124, "DeadlineExceeded", 124))
        self.assertIn("ran for the 0.5 seconds that its --max-cost pays for, in all attempts together", ran.end["message"])

    def test_earlier_attempts_count(self):
        for name, earlier, code in (("spent", 60, 124), ("not spent", 1, 0)):
            with self.subTest(name):
                self.setUp()
                record = {"version": 1, "attempt": 1, "uid": "gone", "started": "2026-04-17T10:00:00Z", "ran": earlier}
                self.put(f"{JOB}/attempts/1.json", json.dumps(record).encode())
                ran = self.run_call(script(), {"train.py": "print('called')"}, "--budget", "60")
                self.assertEqual((ran.code, ran.end["attempt"], "called" in self.log(2)), (code, 2, code == 0), ran.err)

    def test_shorter_limit_counts(self):
        flags = ("--budget", "1000", "--max-runtime", "0.5", "--grace", "0.2")
        ran = self.run_call(script(), {"train.py": "import signal\nwhile True: signal.pause()"}, *flags)
        self.assertIn("the 0.5 seconds of --max-runtime", ran.end["message"])

    def test_running_time_of_a_short_attempt_is_noted(self):
        ran = self.run_call(script(), {"train.py": "import os; os.kill(os.getpid(), 9)"}, "--budget", "1000", "--retries", "1")
        self.assertEqual((ran.code, self.exists("end.json")), (137, False), ran.err)
        self.assertGreater(self.document("attempts/1.json")["ran"], 0)

    def test_running_time_is_noted(self):
        record = os.path.join(self.store, JOB, "attempts", "1.json")
        source = f"import os\ndef f():\n  while b'ran' not in open({record!r}, 'rb').read(): os.sched_yield()"
        argv = self.argv(function(), {"train.py": source}, "--budget", "1000")
        ran = self.finish(self.start([sys.executable, "-u", "-c", program("attempt.RAN_SECONDS = 0.05")] + argv[3:]))
        self.assertEqual(ran.code, 0, ran.err)
        self.assertGreater(self.document("attempts/1.json")["ran"], 0)


if __name__ == "__main__":
    unittest.main()
