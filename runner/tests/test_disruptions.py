"""What an attempt leaves for the next ones, and when no other may follow."""

import json
import pickle
import signal
import unittest

from fixture import JOB, command, function
from test_pod import PodCase


class Disruptions(PodCase):
    CRASH = "kill -9 $$"

    def attempt(self, line, *flags):
        """One more pod; a line that waits is terminated."""
        self.pods = getattr(self, "pods", 0) + 1
        argv = self.argv(command("sh", "-c", line), {"x": ""}, *flags)
        process = self.start(argv, {"KINETIC_POD_UID": f"uid-{self.pods}"})
        if "sleep" in line:
            self.assertIn(b"ready\n", process.stdout)
            process.send_signal(signal.SIGTERM)
        return self.finish(process)

    def lost(self):
        """A pod that had no time for a word."""
        self.pods = getattr(self, "pods", 0) + 1
        self.put(f"{JOB}/attempts/{self.pods}.json", b'{"version":1,"uid":"uid-%d"}' % self.pods)

    def test_crash_is_recorded_with_a_reason_and_termination_without(self):
        self.assertEqual(self.attempt(self.CRASH).code, 137)
        self.assertEqual(self.attempt("echo ready; exec sleep 1000").code, 143)
        self.assertEqual(self.attempt("exit 7").code, 7)
        records = [self.document(f"attempts/{number}.json") for number in (1, 2, 3)]
        self.assertEqual([record.get("reason") for record in records], ["Killed", None, None])
        self.assertEqual([record["uid"] for record in records], ["uid-1", "uid-2", "uid-3"])
        self.assertEqual(records[1]["message"], "sh was terminated")
        for record in records[:2]:
            self.assertLessEqual(record["started"], record["finished"])

    def test_crash_that_another_host_records_meanwhile_stays(self):
        crash = {"version": 1, "uid": "uid-1", "reason": "Killed", "message": "host 1: its runner was killed"}

        def meanwhile(handler):
            data = handler.body()
            handler.body = lambda: data
            if b"sh was terminated" in data and b"attempts/1.json" in data:
                self.put(f"{JOB}/attempts/1.json", json.dumps(crash).encode())
                fault.times = 0
            handler.serve()

        self.bucket.fail(meanwhile, times=1000, pattern="POST")
        (fault,) = self.bucket.faults
        self.assertEqual(self.attempt("echo ready; exec sleep 1000").code, 143)
        self.assertEqual((self.document("attempts/1.json"), fault.times), (crash, 0))

    def test_store_failure_is_recorded(self):
        argv = self.argv(command("true"), "0" * 64)
        self.assertEqual(self.finish(self.start(argv)).code, 125)
        self.assertEqual(self.document("attempts/1.json")["reason"], "RunnerFailure")

    def test_each_attempt_has_its_pickle(self):
        self.attempt(self.CRASH)
        ran = self.run_call(function(), {"train.py": "def f(): return {1, 2}"}, env={"KINETIC_POD_UID": "uid-2"})
        self.assertEqual((ran.result["pickle"], pickle.loads(self.read("result-2.pkl"))), ("result-2.pkl", {1, 2}))
        self.assertFalse(self.exists("result.pkl"))

    def test_disruptions_are_bounded(self):
        stopped = "echo ready; exec sleep 1000"
        for line in (stopped, self.CRASH, "", stopped):
            if line:
                self.assertIn(self.attempt(line, "--max-disruptions", "2").code, (137, 143))
            else:
                self.lost()
        ran = self.attempt("echo it ran", "--max-disruptions", "2")
        self.assertEqual((ran.code, ran.end["state"], ran.end["reason"], ran.end["attempt"]), (1, "FAILED", "Disrupted", 5))
        self.assertIn("lost its pod 3 times", ran.end["message"])
        self.assertIn("--max-disruptions allows 2", ran.out)
        self.assertIn("--max-disruptions allows 2", self.log(5))
        self.assertNotIn("it ran", ran.out)
        self.assertEqual(json.loads(self.termination())["reason"], "Disrupted")
        self.assertEqual(self.attempt("echo it ran", "--max-disruptions", "9").code, 1, "the job has ended")

    def test_as_many_as_allowed(self):
        for _ in range(2):
            self.lost()
        self.assertEqual(self.attempt("true", "--max-disruptions", "2").code, 0)

    def test_none_is_allowed(self):
        self.assertEqual(self.attempt(self.CRASH, "--max-disruptions", "0").code, 137)
        self.lost()
        end = self.attempt("true", "--max-disruptions=0").end
        self.assertEqual(end["reason"], "Disrupted")
        self.assertIn("lost its pod once", end["message"])

    def test_default(self):
        for _ in range(100):
            self.lost()
        self.assertEqual(self.attempt(self.CRASH).code, 137)
        self.lost()
        ran = self.attempt("true")
        self.assertEqual((ran.code, ran.end["attempt"]), (1, 103))


class RetryOnError(PodCase):
    """--retry-on error, with which --retries covers an exception too."""

    def attempt(self, number, call, *flags):
        return self.run_call(call, {"train.py": "def f(): raise ValueError('bad')"}, *flags, env={"KINETIC_POD_UID": f"uid-{number}"})

    def test_errors_are_retried_and_the_last_one_ends_the_job(self):
        calls = {
            "exception": (function(), 1, "Exception"),
            "exit code": (command("sh", "-c", "exit 7"), 7, "ExitCode"),
            "no program": (command("no-such-program-here"), 1, "NoProgram"),
        }
        for name, (call, code, reason) in calls.items():
            with self.subTest(name):
                self.setUp()
                for number in (1, 2):
                    self.assertEqual((self.attempt(number, call, "--retry-on", "error", "--retries", "2").code, self.exists("end.json")), (code, False))
                    self.assertEqual(self.document(f"attempts/{number}.json")["reason"], reason)
                ran = self.attempt(3, call, "--retry-on", "error", "--retries", "2")
                self.assertEqual((ran.code, ran.end["reason"], ran.end["attempt"]), (code, reason, 3))

    def test_crashes_alone_are_retried_by_default(self):
        for flags in ((), ("--retry-on", "crash"), ("--retry-on=error", "--retries", "0")):
            with self.subTest(flags):
                self.setUp()
                ran = self.attempt(1, function(), *flags)
                self.assertEqual((ran.code, ran.end["reason"]), (1, "Exception"))

    def test_deadline_is_no_error(self):
        ran = self.attempt(1, command("sleep", "1000"), "--retry-on", "error", "--retries", "2", "--max-runtime", "0.2")
        self.assertEqual((ran.code, ran.end["reason"]), (124, "DeadlineExceeded"))

    def test_another_word_is_refused(self):
        ran = self.attempt(1, function(), "--retry-on", "errors")
        self.assertEqual((ran.code, ran.err), (125, "kinetic: --retry-on: 'errors' is neither crash nor error\n"))


if __name__ == "__main__":
    unittest.main()
