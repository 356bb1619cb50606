"""How a job of several hosts ends."""

import json
import os
import signal
import subprocess
import unittest

from fixture import JOB, function, script
from group import LEADERWORKERSET, GroupCase

# One host fails when all are at work, and the others would hang for ever.
ONE_FAILS = """
    import os, signal
    def f():
        print("ready", flush=True)
        if os.environ["KINETIC_HOST"] == "1":
            while not os.path.exists({go!r}): os.sched_yield()
            {what}
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True: signal.pause()
"""


# The leader tells of its wait at once, and has waited for longer than --max-runtime.
LONG_WAIT = """
gather = leader.LeaderAttempt.gather
def wait(self):
    self.began -= 2000
    return gather(self)
leader.LeaderAttempt.gather = wait
leader.MEET_SECONDS = 0
"""

# The package of this host's job is broken.
NO_PACKAGE = """
from kinetic_runner.errors import BadEnvironment
def fetch(self): raise BadEnvironment("boom")
hosts.Attempt.fetch = fetch
"""

# This host makes a file once it has its place in the attempt.
SEATED = """
note = peers.Member._note
def noted(self, message):
    note(self, message)
    if self.attempt:
        open(%r, "w").close()
peers.Member._note = noted
"""


class FailingCase(GroupCase):
    def one_fails(self, what, *flags, **kwargs):
        """All hosts; host 1 does that when all are ready."""
        go = os.path.join(self.root, "go")
        processes = self.hosts(function(), {"train.py": ONE_FAILS.format(go=go, what=what)}, *flags, **kwargs)
        self.ready(*processes)
        open(go, "w").close()
        return processes


class Ends(FailingCase):
    def test_all_succeed(self):
        source = """
            import os
            def f():
                print("host", os.environ["KINETIC_HOST"], os.environ["KINETIC_ATTEMPT"])
                return os.environ["KINETIC_HOST"]
        """
        processes = self.hosts(function(), {"train.py": source})
        leader, *_ = self.parked(*processes)
        self.assertEqual((leader.end["state"], leader.result["value"], leader.said_end), ("SUCCEEDED", "0", True))
        for host in range(4):
            self.assertEqual(self.lines(host), [f"host {host} 1"])
        path, kind, token, patch = self.api.patches[0]
        self.assertEqual((path, kind, token), (LEADERWORKERSET, "application/merge-patch+json", "Bearer secret"))
        self.assertEqual(patch["spec"], {"replicas": 0})
        self.assertEqual(json.loads(patch["metadata"]["annotations"]["kubectl-kinetic.github.io/outcome"]), leader.end)
        self.assertEqual((len(self.api.patches), self.api.open_ports), (1, [False]))

    def test_what_a_host_cannot_save_is_in_the_result(self):
        source = "import os\ndef f():\n  if os.environ['KINETIC_HOST'] == '2': os.symlink('/', os.environ['KINETIC_OUTPUT_DIR'] + '/root')"
        leader, *_ = self.parked(*self.hosts(function(), {"train.py": source}))
        self.assertEqual([file["path"] for file in leader.end["unsaved"]], ["root"])
        (warning,) = leader.result["warnings"]
        self.assertRegex(warning, r"^1 output \(\d+ B\) is not saved: root ")

    def test_exception_ends_all(self):
        processes = self.one_fails("raise ValueError('boom')")
        leader, *_ = self.parked(*processes)
        error = leader.result["error"]
        self.assertEqual((error["type"], error["message"]), ("ValueError", "boom"))
        self.assertIn('File "train.py", line 7, in f', error["traceback"])
        end = leader.end
        self.assertEqual((end["state"], end["reason"], end["host"], end["exit_code"]), ("FAILED", "Exception", 1, 1))
        self.assertEqual(end["message"], "host 1: ValueError: boom")
        self.assertIn("ValueError: boom", "".join(self.lines(1)))
        self.assertIn("was stopped because another host failed", "".join(self.lines(3)))

    def test_function_that_hangs_when_it_leaves(self):
        what = "import atexit, time; atexit.register(time.sleep, 1000); raise ValueError('boom')"
        leader, *_ = self.parked(*self.one_fails(what))
        self.assertEqual((leader.end["host"], leader.end["message"]), (1, "host 1: ValueError: boom"))

    def test_exit_code(self):
        leader, *_ = self.parked(*self.one_fails("import sys; sys.exit(7)"))
        self.assertEqual((leader.end["reason"], leader.end["exit_code"], leader.end["host"]), ("ExitCode", 7, 1))

    def test_leader_fails(self):
        source = "import os\ndef f():\n  if os.environ['KINETIC_HOST'] != '0':\n    while True: os.sched_yield()\n  raise ValueError('boom')"
        leader, *_ = self.parked(*self.hosts(function(), {"train.py": source}))
        self.assertEqual((leader.end["host"], leader.end["message"]), (0, "ValueError: boom"))

    def test_first_failure_is_the_cause(self):
        self.first_failure_is_the_cause()

    def test_first_failure_is_the_cause_whatever_the_clocks_say(self):
        self.first_failure_is_the_cause("time.time = lambda now=time.time: now() + 1000")

    def first_failure_is_the_cause(self, clock=""):
        # Host 1 takes long to save its log, and host 0 fails because host 1 has.
        source = f"""
            import os
            def f():
                if os.environ["KINETIC_HOST"] == "1":
                    raise ValueError("the cause")
                while os.environ["KINETIC_HOST"] != "0" or not os.path.exists({self.root + "/saving"!r}): os.sched_yield()
                raise RuntimeError("lost a peer")
        """
        slow = f"""
import time
{clock}
save = spool.LogParts.publish_all
def publish_all(*words):
    open({self.root + "/saving"!r}, "w").close()
    time.sleep(0.5)
    save(*words)
spool.LogParts.publish_all = publish_all
"""
        call, files = function(), {"train.py": source}
        others = self.hosts(call, files, numbers=(0, 2, 3))
        leader, *_ = self.parked(*others, self.host(1, call, files, change=slow))
        self.assertEqual((leader.end["host"], leader.result["error"]["message"]), (1, "the cause"))

    def test_value_of_another_host_does_not_matter(self):
        source = "import os\ndef f(): return 1 if os.environ['KINETIC_HOST'] == '0' else object()"
        leader, *_ = self.parked(*self.hosts(function(), {"train.py": source}))
        self.assertEqual((leader.end["state"], leader.result["value"], self.lines(1)), ("SUCCEEDED", 1, []))

    def test_late_host(self):
        files = {"train.py": "def f(): print('ran')"}
        processes = self.hosts(function(), files, "--max-runtime", "1000", numbers=(2, 3))
        processes.append(self.host(0, function(), files, "--max-runtime", "1000", change=LONG_WAIT))
        self.assertEqual(processes[-1].stdout.readline(), b"\x1ekinetic: waiting for all 4 hosts to start\n")
        self.eventually(lambda: self.connections() == 2, *processes)
        self.assertEqual([self.lines(host) for host in (0, 2, 3)], [[], [], []])
        self.assertEqual((self.api.patches, self.exists("end.json")), ([], False))
        late = self.host(1, function(), files)
        leader, *_ = self.parked(processes[2], late)
        self.assertEqual((leader.end["state"], self.lines(1)), ("SUCCEEDED", ["ran"]))

    def test_host_that_cannot_reach_the_leader_tells_why(self):
        process = self.host(1, function(), {"train.py": "def f(): pass"}, change="member.UNREACHABLE_SECONDS = 0.1")
        said = process.stdout.readline().decode()
        self.assertRegex(said, r"kinetic: waiting for host 0, 127\.0\.0\.1: \[Errno 111\] Connection refused: it is still starting, or a NetworkPolicy")
        self.terminate(process)

    def test_no_call_starts_after_the_loss_of_a_host(self):
        files = {"train.py": "def f(): print('ran')"}
        change, seated = "leader.MEET_SECONDS = 0; leader.RESTART_SECONDS = 0.5", os.path.join(self.root, "seated")
        processes = [self.host(0, function(), files, change=change)]
        processes += [self.host(number, function(), files, change=change + SEATED % f"{seated}-{number}") for number in (1, 2)]
        self.eventually(lambda: os.path.exists(f"{seated}-1") and os.path.exists(f"{seated}-2"), *processes)
        processes[1].send_signal(signal.SIGTERM)
        self.finish(processes[1])
        late = self.host(3, function(), files)
        ran = self.finish(processes[0])
        self.assertEqual((ran.code, self.exists("end.json")), (143, False))
        self.assertIn("kinetic: host 1 was lost", ran.out)
        self.assertEqual(processes[2].stdout.readline(), b"\x1ekinetic: the job ended or failed before the call started on this host\n")
        self.terminate(processes[2], late)
        self.assertEqual([host for host in range(4) if "ran" in self.lines(host)], [])

    def test_budget_counts_the_wait(self):
        files = {"train.py": "def f(): print('ran')"}
        begun = "begin = leader.LeaderAttempt.begin\ndef early(self):\n  self.began -= 500\n  return begin(self)\nleader.LeaderAttempt.begin = early"
        change = f"leader.MEET_SECONDS = 0; leader.RAN_SECONDS = 0.05\n{begun}"
        for budget in ("10000", "100"):
            with self.subTest(budget):
                self.setUp()
                leader = self.host(0, function(), files, "--budget", budget, change=change)
                self.eventually(lambda: self.exists("end.json") or self.exists("attempts/1.json") and self.document("attempts/1.json").get("ran", 0) > 500, leader)
                self.assertEqual(self.exists("end.json"), budget == "100")
                (ran,) = self.terminate(leader)
                self.assertNotIn("\nran", ran.out)
        self.assertEqual((self.document("end.json")["reason"], self.document("end.json")["exit_code"]), ("DeadlineExceeded", 124))

    def test_host_that_comes_too_late(self):
        files = {"train.py": "def f(): print('ran')"}
        first = [*self.hosts(function(), files, numbers=(0, 2)), self.host(1, function(), files, change=NO_PACKAGE)]
        self.eventually(lambda: self.api.patches, *first)
        self.assertEqual(self.document("end.json")["host"], 1)
        self.assertNotIn("ran", self.lines(0))
        late = self.host(3, function(), files)
        self.eventually(lambda: os.path.exists(os.path.join(self.root, "host-3-0", "workspace", "train.py")), late)
        ran = self.terminate(*first, late)[-1]
        self.assertEqual((ran.code, ran.out), (143, "kinetic: the job was terminated before its call started\n"))

    def test_host_that_comes_while_the_others_are_ended(self):
        self.host_comes_while_the_others_are_ended()

    def test_host_of_a_job_that_comes_while_the_others_are_ended(self):
        self.host_comes_while_the_others_are_ended(indexed=True)

    def host_comes_while_the_others_are_ended(self, **kwargs):
        files = {"train.py": "def f(): print('ran')"}
        change = "leader.MEET_SECONDS = peers.REPORT_SECONDS = 1000"
        seated = os.path.join(self.root, "seated")
        first = [self.host(0, function(), files, change=change, **kwargs), self.host(2, function(), files, change=SEATED % seated, **kwargs)]
        self.eventually(lambda: os.path.exists(seated), *first)
        first[1].send_signal(signal.SIGSTOP)
        failing = self.host(1, function(), files, change=NO_PACKAGE, **kwargs)
        self.assertEqual(first[0].stdout.readline(), b"\x1ekinetic: the job ended or failed before the call started on this host\n")
        late = self.host(3, function(), files, **kwargs)
        self.assertEqual(first[0].stdout.readline(), b"\x1ekinetic: host 3 connected after the job had failed, so it takes no part in this attempt\n")
        self.assertEqual(late.stdout.readline(), b"\x1ekinetic: the job ended or failed before the call started on this host\n")
        with self.assertRaises(subprocess.TimeoutExpired):
            late.wait(0.5)  # before the leader has published why
        self.assertIsNone(failing.poll())

    def test_host_that_does_not_end(self):
        go = os.path.join(self.root, "go")
        files = {"train.py": ONE_FAILS.format(go=go, what="raise ValueError('boom')")}
        processes = self.hosts(function(), files, change="peers.REPORT_SECONDS = 0.5")
        self.ready(*processes)
        processes[2].send_signal(signal.SIGSTOP)
        open(go, "w").close()
        self.eventually(lambda: self.api.patches, *processes)
        self.assertEqual((self.document("end.json")["host"], self.document("end.json")["message"]), (1, "host 1: ValueError: boom"))

    def test_first_failure_while_host_0_still_saves(self):
        source = """
            import os, time
            def f():
                if os.environ["KINETIC_HOST"] == "1":
                    HOW
                while not os.path.exists(os.environ["GATE"]):
                    time.sleep(0.01)
                raise ConnectionError("closed by peer")
        """
        slow = """
import os, time
from kinetic_runner.outputs.directory import Outputs
save = Outputs.save
def save_late(*words):
    while not os.path.exists(os.environ["SENT"]):
        time.sleep(0.01)
    time.sleep(1.5)  # the report is there, and nobody reads it
    return save(*words)
Outputs.save = save_late
"""
        noted = """
import os
from kinetic_runner.hosts.member import MemberAttempt
note = MemberAttempt.note_failure
def note_failure(self):
    note(self)
    open(os.environ["GATE"], "w").close()
MemberAttempt.note_failure = note_failure
"""
        for how, message in (("raise ValueError('the cause')", "ValueError: the cause"), ("os._exit(3)", "train.py:f ended with exit code 3")):
            with self.subTest(how):
                self.setUp()
                call, files = function(), {"train.py": source.replace("HOW", how)}
                env = {"GATE": os.path.join(self.root, "gate"), "SENT": os.path.join(self.root, "termination-1")}
                rest = self.hosts(call, {"train.py": "def f(): pass"}, numbers=(2, 3))
                self.parked(self.host(0, call, files, env=env, change=slow), self.host(1, call, files, env=env, change=noted), *rest)
                end = self.document("end.json")
                self.assertEqual(end["host"], 1, end)
                self.assertIn(f"host 1: {message}", end["message"])

    def test_budget_of_a_host_counts_earlier_attempts(self):
        early = "gather = member.MemberAttempt.gather\ndef long(self):\n  try: return gather(self)\n  finally: self.began -= 500\nmember.MemberAttempt.gather = long"
        record = {"version": 1, "attempt": 1, "uid": "gone", "started": "2026-04-17T10:00:00Z", "ran": 900}
        self.put(f"{JOB}/attempts/1.json", json.dumps(record).encode())
        source = "import os, signal\ndef f():\n  while os.environ['KINETIC_HOST'] == '1': signal.pause()"
        others = self.hosts(function(), {"train.py": source}, "--budget", "1000", numbers=(0, 2, 3))
        self.parked(*others, self.host(1, function(), {"train.py": source}, "--budget", "1000", change=early))
        self.assertEqual([self.document("end.json")[key] for key in ("reason", "host")], ["DeadlineExceeded", 1])

    def test_time_for_the_call_of_a_host_begins_when_all_have_met(self):
        early = "init = attempt.Attempt.__init__\ndef begun(self, *words):\n  init(self, *words)\n  self.began -= 1000\nattempt.Attempt.__init__ = begun"
        call, files = function(), {"train.py": "def f(): print('ran')"}
        others = self.hosts(call, files, "--max-runtime", "500", numbers=(0, 2, 3))
        leader, *_ = self.parked(*others, self.host(1, call, files, "--max-runtime", "500", change=early))
        self.assertEqual((leader.end["state"], self.lines(1)), ("SUCCEEDED", ["ran"]))

    def test_store_that_a_host_cannot_read(self):
        self.bucket.fail(403, times=1, pattern="GET .*call.json")
        member = self.host(1, script(), {"train.py": "print('ran')"})
        self.eventually(lambda: not self.bucket.faults[0].times, member)
        leader = self.host(0, script(), {"train.py": "import time; time.sleep(1000)"})
        ran = self.finish(leader)
        self.assertEqual((ran.code, self.document("attempts/1.json")["reason"]), (125, "RunnerFailure"))
        self.assertIn("host 1: cannot read", ran.out)


class Indexed(FailingCase):
    def test_all_succeed(self):
        processes = self.hosts(script(), {"train.py": "print('ran')"}, indexed=True)
        self.assertEqual([self.finish(process).code for process in processes], [0] * 4)
        self.assertEqual((self.document("end.json")["state"], self.api.patches), ("SUCCEEDED", []))

    def test_failure_is_published_before_a_host_leaves(self):
        processes = self.one_fails("import sys; sys.exit(7)", indexed=True)
        processes[1].wait()
        self.assertEqual((self.document("end.json")["exit_code"], self.document("end.json")["host"]), (7, 1))
        self.assertEqual([self.finish(process).code for process in processes], [7, 7, 143, 143])

    def test_crash_is_final(self):
        source = "import os, signal, time\nif os.environ['KINETIC_HOST'] == '2': os.kill(os.getpid(), signal.SIGKILL)\ntime.sleep(1000)"
        leader, *_ = self.hosts(script(), {"train.py": source}, indexed=True)
        self.assertEqual(self.finish(leader).code, 137)
        self.assertEqual(self.document("end.json")["reason"], "Killed")

    def test_lost_host(self):
        source = "import signal\nprint('ready', flush=True)\nsignal.pause()"
        leader, *others = self.hosts(script(), {"train.py": source}, indexed=True)
        self.ready(leader, *others)
        others[0].kill()
        self.assertEqual(leader.stdout.readline(), b"\x1ekinetic: lost the connection to host 1\n")
        for process in others[1:]:  # by the controller of the Job
            process.send_signal(signal.SIGTERM)
            process.wait()
        ran = self.terminate(leader)[0]
        self.assertEqual((ran.code, ran.end["state"], ran.end["reason"]), (1, "FAILED", "Disrupted"))
        self.assertIn("host 1 was lost (preempted, drained or crashed); an Indexed Job does not restart its hosts: use --backend lws", ran.end["message"])

    def test_all_are_told_to_end(self):
        processes = self.hosts(script(), {"train.py": "import signal\nprint('ready', flush=True)\nsignal.pause()"}, indexed=True)
        self.ready(*processes)
        ran, *_ = self.terminate(*processes)
        self.assertEqual((ran.code, ran.end["state"], ran.end["reason"]), (143, "FAILED", "Terminated"))
        self.assertIn("host 0 was terminated (preempted, drained or deleted); an Indexed Job does not restart", ran.end["message"])

    def test_drained_host_leaves_while_the_leader_runs(self):
        source = "import os, signal\nprint('ready', flush=True)\nif os.environ['KINETIC_HOST'] == '0': signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: signal.pause()"
        leader, *others = self.hosts(script(), {"train.py": source}, "--grace", "1000", indexed=True)
        self.ready(leader, *others)
        others[0].send_signal(signal.SIGTERM)
        self.assertEqual((self.finish(others[0]).code, leader.poll()), (143, None))

    def test_drained_host_that_has_failed_before_it_met_the_leader(self):
        self.bucket.fail(403, times=1, pattern="GET .*call.json")
        slow = "import time; say = attempt.Attempt.say; attempt.Attempt.say = lambda *words: (say(*words), time.sleep(0.5))"
        member = self.host(1, script(), {"train.py": ""}, "--grace", "1000", indexed=True, change=slow)
        self.eventually(lambda: not self.bucket.faults[0].times, member)
        self.assertIn(b"cannot read", member.stdout.readline())
        member.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(member).code, 125)

    def test_lost_host_that_fails_the_leader(self):
        gone = os.path.join(self.root, "gone")
        source = f"import os\nprint('ready', flush=True)\nwhile not os.path.exists({gone!r}): os.sched_yield()\nraise RuntimeError('lost a peer')"
        leader, *others = self.hosts(script(), {"train.py": source}, indexed=True, change="peers.BACK_SECONDS = 0.1")
        self.ready(leader, *others)
        others[0].kill()
        others[0].wait()
        open(gone, "w").close()
        ran = self.finish(leader)
        self.assertEqual((ran.code, ran.end["state"], ran.end["reason"]), (1, "FAILED", "Disrupted"))
        self.assertIn("host 1 was lost (preempted, drained or crashed); an Indexed Job does not restart its hosts: use --backend lws", ran.end["message"])


if __name__ == "__main__":
    unittest.main()
