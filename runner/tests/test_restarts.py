"""What a set of hosts makes of an attempt that is interrupted or crashes, and of the next one."""

import json
import os
import signal
import threading
import unittest

from fixture import TIMEOUT, function
from kinetic_runner.text import file_blocks
from group import WAIT, GroupCase

NO_OUTPUTS = ["kinetic: no outputs to restore: the attempts before have saved none"]  # on host 0


class Restarts(GroupCase):
    HOSTS = 2

    def crash(self, pod, what="os.kill(os.getpid(), signal.SIGKILL)"):
        source = f"import os, signal\ndef f():\n  if os.environ['KINETIC_HOST'] == '1': {what}\n  while True: signal.pause()"
        return self.hosts(function(), {"train.py": source}, pod=pod)

    def test_crashes_are_retried_until_they_are_too_many(self):
        leader, member = self.crash(1)
        ran = self.finish(leader)
        self.assertEqual((ran.code, self.exists("end.json"), self.api.patches), (137, False, []))
        record = self.document("attempts/1.json")
        self.assertEqual(record["reason"], "Killed")
        self.assertRegex(record["message"], "host 1: train.py:f was killed by SIGKILL")
        self.terminate(member)
        leader, *_ = self.parked(*self.crash(2))
        self.assertEqual([leader.end[key] for key in ("state", "reason", "exit_code", "host", "attempt")], ["FAILED", "Killed", 137, 1, 2])
        self.assertRegex(leader.end["message"], "host 1: train.py:f was killed by SIGKILL")
        self.assertEqual(leader.out.splitlines()[0], "kinetic: starting attempt 2 (1 of 1 retries used)")
        self.assertNotIn("starting attempt", ran.out)

    def test_crash_that_another_host_notices_first(self):
        # Host 0 has failed when its peer crashes, and tells it to end only afterwards.
        crash, leader = os.path.join(self.root, "crash"), """
save_log = leader.LeaderAttempt.save_log
def save_late(self, outcome):
    open(%r, "w").close()
    self.wait(lambda: self.link.outcomes)
    save_log(self, outcome)
leader.LeaderAttempt.save_log = save_late
"""
        source = f"""
            import os, signal
            def f():
                if os.environ["KINETIC_HOST"] == "1":
                    while not os.path.exists({crash!r}): os.sched_yield()
                    os.kill(os.getpid(), signal.SIGSEGV)
                raise RuntimeError("lost a peer")
        """
        self.change += "\nattempt.CRASH_LEAD = 1000"
        leader = self.host(0, function(), {"train.py": source}, change=leader % crash)
        self.host(1, function(), {"train.py": source})
        ran = self.finish(leader)
        self.assertEqual((ran.code, self.exists("end.json"), self.document("attempts/1.json")["reason"]), (137, False, "Killed"))

    def test_crash_of_a_host_that_was_told_to_end_is_no_cause(self):
        source = """
            import os, signal
            def f():
                signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGSEGV))
                print("ready", flush=True)
                while os.environ["KINETIC_HOST"] == "1" or not os.path.exists(%r): os.sched_yield()
                raise ValueError("the cause")
        """
        go = os.path.join(self.root, "go")
        leader, member = self.hosts(function(), {"train.py": source % go}, change="supervisor.END_GRACE = 1000")
        self.ready(leader, member)
        open(go, "w").close()
        leader, _ = self.parked(leader, member)
        self.assertEqual([leader.end[key] for key in ("reason", "host", "message")], ["Exception", 0, "ValueError: the cause"])

    def test_kill_that_another_host_notices_first(self):
        # The peer of host 0 is killed only when host 0 has failed already.
        source = """
            import os, signal
            def f():
                signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
                print("ready", flush=True)
                if os.environ["KINETIC_HOST"] == "1":
                    while True: signal.pause()
                while not os.path.exists(%r): os.sched_yield()
                raise RuntimeError("lost a peer")
        """
        go = os.path.join(self.root, "go")
        leader, member = self.hosts(function(), {"train.py": source % go}, change="supervisor.END_GRACE = 1000; attempt.CRASH_LEAD = 1000")
        self.ready(leader, member)
        open(go, "w").close()
        ran = self.finish(leader)
        self.assertEqual((ran.code, self.exists("end.json"), self.document("attempts/1.json")["reason"]), (137, False, "Killed"))

    def test_crashes_that_took_the_runner_along(self):
        for attempt, host in ((1, 1), (2, 0)):
            processes = self.hosts(function(), {"train.py": WAIT}, pod=attempt)
            self.ready(*processes)
            log = os.path.join(self.root, f"host-{host}-{attempt}", "scratch", "log")
            self.eventually(lambda: b"ready\n" in b"".join(file_blocks(log)), *processes)
            processes[host].kill()
            processes[host].wait()
            again = self.host(host, function(), {"train.py": WAIT}, pod=attempt)
            self.eventually(lambda: self.lines(host, attempt), again)
            record = self.document(f"attempts/{attempt}.json")
            self.assertEqual((record["reason"], record["message"]), ("Killed", f"host {host}: killed, probably out of memory"))
            again.kill()
            again.wait()
            processes[host] = self.host(host, function(), {"train.py": WAIT}, pod=attempt)
            self.assertIn(b"this container was restarted", processes[host].stderr.readline())
            ran = self.terminate_rest(*processes)
            self.assertNotIn("ready", ran[host].out)
            self.assertEqual(self.document(f"attempts/{attempt}.json"), record, "the leader's word of the lost host undoes it")
            begins = ["kinetic: starting attempt 2 (1 of 1 retries used)", *NO_OUTPUTS[host:]] * (attempt - 1)
            self.assertEqual(self.lines(host, attempt), begins + ["ready"])
        self.assertFalse(self.exists("end.json"))
        third = self.hosts(function(), {"train.py": WAIT}, pod=3)
        leader, member = self.parked(*third)
        self.assertEqual((leader.end["state"], leader.end["reason"]), ("FAILED", "Killed"))
        self.assertIn("crashed 2 times; --retries allows 1", leader.end["message"])
        self.assertNotIn("ready", member.out)

    def interruption(self):
        """What is recorded of an attempt that counts as no crash."""
        record = self.document("attempts/1.json")
        self.assertNotIn("reason", record)
        self.assertLessEqual(record["started"], record["finished"])
        return record["message"]

    def lose_host_1(self, number, **kwargs):
        """What the leader has left, whose call fails because the other one was sent a signal."""
        gone = os.path.join(self.root, "gone")
        source = f"""
            import os
            def f():
                print("ready", flush=True)
                while not os.path.exists({gone!r}): os.sched_yield()
                raise RuntimeError("lost a peer")
        """
        leader, member = self.hosts(function(), {"train.py": source}, **kwargs)
        self.ready(leader, member)
        member.send_signal(number)
        member.wait()
        open(gone, "w").close()
        return self.finish(leader)

    def test_lost_host_is_nobodys_failure(self):
        ran = self.lose_host_1(signal.SIGKILL)
        self.assertEqual((ran.code, self.exists("end.json"), self.api.patches), (143, False, []))
        self.assertIn(self.interruption(), ran.out)
        self.assertEqual(self.interruption(), "host 1 was lost (preempted, drained or crashed)")

    def test_drained_host_is_nobodys_failure(self):
        ran = self.lose_host_1(signal.SIGTERM)
        self.assertEqual((ran.code, self.exists("end.json"), self.api.patches), (143, False, []))
        self.assertEqual(self.interruption(), "host 1 was lost (cancelled, preempted, drained or crashed)")

    def test_drained_host_of_a_job_is_nobodys_failure(self):
        ran = self.lose_host_1(signal.SIGTERM, indexed=True)
        self.assertEqual((ran.code, ran.end["state"], ran.end["reason"]), (1, "FAILED", "Disrupted"))
        self.assertIn("host 1 was lost (cancelled, preempted, drained or crashed); an Indexed Job", ran.end["message"])

    def test_node_that_is_restarted_is_nobodys_failure(self):
        leader, member = self.hosts(function(), {"train.py": WAIT}, "--retries", "0", pod=1)
        self.ready(leader, member)
        work = os.path.join(self.root, "host-1-1")
        self.eventually(lambda: b"ready\n" in b"".join(file_blocks(os.path.join(work, "scratch", "log"))), leader, member)
        member.kill()
        member.wait()
        with open(os.path.join(work, "attempt"), "w") as file:
            file.write("1 of-an-earlier-start-of-the-machine")
        again = self.host(1, function(), {"train.py": WAIT}, "--retries", "0", pod=1)
        self.eventually(lambda: self.lines(1), again)
        self.assertEqual((self.interruption(), self.lines(1)), ("host 1: its node was restarted", ["ready"]))
        self.terminate_rest(leader, again)
        leader, _ = self.parked(*self.hosts(function(), {"train.py": "def f(): pass"}, "--retries", "0", pod=2))
        self.assertEqual([leader.end[key] for key in ("state", "attempt")], ["SUCCEEDED", 2])

    def test_leader_that_is_told_to_end_before_its_attempt_counts(self):
        asked, answer = threading.Event(), threading.Event()
        self.addCleanup(answer.set)

        def hold(handler):
            asked.set()
            answer.wait(TIMEOUT)
            handler.error(503, "")

        self.bucket.fail(hold, pattern="GET .*end.json")
        leader = self.host(0, function(), {"train.py": WAIT})
        self.assertTrue(asked.wait(TIMEOUT))
        leader.send_signal(signal.SIGTERM)
        self.assertEqual((self.finish(leader).code, self.exists("end.json"), self.api.patches), (143, False, []))

    def test_terminated_host_is_nobodys_failure(self):
        source = """
            import os, signal, sys
            def f():
                if os.environ["KINETIC_HOST"] == "1":
                    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
                print("ready", flush=True)
                while True: signal.pause()
        """
        leader, member = self.hosts(function(), {"train.py": source})
        self.ready(leader, member)
        self.assertEqual(self.connections(), 1)
        member.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(member).code, 143)
        self.eventually(lambda: self.connections() == 0, leader)  # the leader knows what became of host 1
        self.assertEqual(self.terminate(leader)[0].code, 143)
        self.assertEqual((self.exists("end.json"), self.interruption()), (False, "host 1 was lost (cancelled, preempted, drained or crashed)"))

    def test_all_terminated_hosts_save(self):
        source = f"""
            import os, signal, sys, time
            def save(*_):
                time.sleep(0.2)
                open(os.path.join({self.root!r}, "saved-" + os.environ["KINETIC_HOST"]), "w").close()
                print("saved")
                sys.exit(0)
            def f():
                signal.signal(signal.SIGTERM, save)
                print("ready", flush=True)
                while True: signal.pause()
        """
        processes = self.hosts(function(), {"train.py": source})
        self.ready(*processes)
        for host, ran in enumerate(self.terminate(*processes)):
            self.assertEqual(ran.code, 143)
            self.assertIn("saved", self.lines(host))
            self.assertTrue(os.path.exists(os.path.join(self.root, f"saved-{host}")))
        self.assertEqual((self.exists("end.json"), self.interruption()), (False, "its hosts were terminated (preempted, drained or deleted)"))

    def test_next_attempt(self):
        first = self.hosts(function(), {"train.py": WAIT}, pod=1)
        self.ready(*first)
        self.terminate(*first)
        source = "import os\ndef f(): print('attempt', os.environ['KINETIC_ATTEMPT'])"
        self.parked(*self.hosts(function(), {"train.py": source}, pod=2))
        self.assertEqual([self.lines(host, 2) for host in (0, 1)], [[*NO_OUTPUTS, "attempt 2"], ["attempt 2"]])

    def test_disruptions_are_bounded(self):
        for attempt in (1, 2):
            processes = self.hosts(function(), {"train.py": WAIT}, "--max-disruptions", "1", pod=attempt)
            self.ready(*processes)
            self.terminate(*processes)
        self.assertEqual((self.exists("end.json"), self.api.patches), (False, []))
        leader, member = self.parked(*self.hosts(function(), {"train.py": WAIT}, "--max-disruptions", "1", pod=3))
        self.assertEqual([leader.end[key] for key in ("state", "reason", "attempt")], ["FAILED", "Disrupted", 3])
        self.assertIn("--max-disruptions allows 1", leader.end["message"])
        self.assertEqual(leader.end["started"], self.document("attempts/1.json")["started"])
        self.assertNotIn("ready", leader.out + member.out)
        ((*_, patch),) = self.api.patches
        self.assertEqual(json.loads(patch["metadata"]["annotations"]["kubectl-kinetic.github.io/outcome"]), leader.end)

    def test_host_of_a_lost_pod_has_no_part(self):
        processes = self.hosts(function(), {"train.py": WAIT}, pod=1)
        self.ready(*processes)
        processes[1].kill()
        self.assertEqual(processes[0].stdout.readline(), b"\x1ekinetic: lost the connection to host 1\n")
        another = self.host(1, function(), {"train.py": WAIT}, pod=2)
        self.assertEqual(processes[0].stdout.readline(), b"\x1ekinetic: host 1 was restarted, so it takes no part in this attempt\n")
        ran = self.finish(processes[0])  # at once: the cluster may not have noticed
        self.assertEqual((ran.code, self.exists("end.json"), self.api.patches), (143, False, []))
        self.assertIn("host 1 was lost", ran.out)
        (ran,) = self.terminate(another)
        self.assertNotIn("ready", ran.out)

    def test_leader_that_starts_again_has_no_members_of_before(self):
        leader, member = self.hosts(function(), {"train.py": WAIT}, pod=1)
        self.ready(leader, member)
        leader.kill()
        leader.wait()
        leader = self.host(0, function(), {"train.py": WAIT}, pod=2)
        self.ready(leader)
        self.assertEqual(self.document("attempts/2.json")["uid"], "uid-0-2")
        _, ran = self.terminate(leader, member)
        self.assertEqual((ran.code, self.lines(1, 2)), (143, []))


if __name__ == "__main__":
    unittest.main()
