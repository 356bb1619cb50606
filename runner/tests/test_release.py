"""How the leader lets the hosts of its job go, also where the store does not take the end."""

import json
import math
import os
import unittest

from bucket import Fault
from fixture import command, function
from group import WAIT, GroupCase, is_open
from test_pod import first_upload


class Refusals(GroupCase):
    """A store that takes nothing: no attempt would be counted, and the hosts would be started again for ever."""

    HOSTS = 2

    def ended(self, *processes):
        """What the set says of the end; nothing is in the store."""
        self.parked(*processes)
        ((*_, patch),) = self.api.patches
        self.assertEqual((patch["spec"], self.exists("end.json")), ({"replicas": 0}, False))
        return json.loads(patch["metadata"]["annotations"]["kubectl-kinetic.github.io/outcome"])

    def test_all_is_refused(self):
        self.bucket.fail(403, times=math.inf)
        end = self.ended(*self.hosts(function(), {"train.py": WAIT}))
        self.assertEqual([end[key] for key in ("state", "reason", "exit_code")], ["FAILED", "RunnerFailure", 125])
        self.assertIn("grant it roles/storage.objectUser there", end["message"])

    def test_the_end_is_refused(self):
        self.bucket.fail(403, times=math.inf, pattern="POST .*")
        self.bucket.faults.insert(0, first_upload())
        end = self.ended(*self.hosts(function(), {"train.py": "def f(): print('ran')"}))
        self.assertEqual((end["state"], end["attempt"]), ("FAILED", 1))
        self.assertRegex(end["message"], "^cannot store the result: cannot write gs://")

    def test_the_end_of_a_failure_is_refused(self):
        self.bucket.fail(403, times=math.inf, pattern="POST .*")
        self.bucket.faults.insert(0, first_upload())
        end = self.ended(*self.hosts(function(), {"train.py": "def f(): raise ValueError('boom')"}))
        # Both hosts raise, and either may be the first.
        boom = "^(host 1: )?ValueError: boom; "
        self.assertRegex(end["message"], boom + "cannot store the result: cannot write gs://")

    def test_an_end_that_is_stored_unknown_to_the_leader_is_the_end(self):
        def upload(handler):
            data = handler.body()
            handler.body = lambda: data
            if b"/end.json" not in data:
                return handler.serve()
            self.bucket.faults.insert(0, Fault(403, math.inf, ""))
            handler.lose_answer()

        self.bucket.fail(upload, times=math.inf, pattern="POST")
        self.parked(*self.hosts(function(), {"train.py": "def f(): return 1"}))
        ((*_, patch),) = self.api.patches
        told = json.loads(patch["metadata"]["annotations"]["kubectl-kinetic.github.io/outcome"])
        self.assertEqual(told, self.document("end.json"))

    def test_no_attempt_can_be_counted(self):
        self.bucket.fail(503, times=math.inf)
        change = "gcs.RETRY_SECONDS = 0.1"
        end = self.ended(*self.hosts(function(), {"train.py": WAIT}, change=change))
        self.assertRegex(end["message"], "answered 503")

    def test_outage_at_the_start_is_waited_for(self):
        self.bucket.fail(503, times=8)
        leader, *_ = self.parked(*self.hosts(function(), {"train.py": "def f(): print('ran')"}))
        self.assertEqual((leader.end["state"], leader.end["attempt"]), ("SUCCEEDED", 1))

    def test_no_store(self):
        end = self.ended(*self.hosts(function(), {"train.py": WAIT}, "--store", "gs://-"))
        self.assertIn("store gs://-: expected gs://BUCKET", end["message"])

    def test_no_place(self):
        ran = self.parked(self.host(0, function(), {"train.py": WAIT}, env={"KINETIC_SLICES": "3"}))
        self.assertEqual((ran[0].end["state"], len(self.api.patches)), ("FAILED", 1))
        self.assertIn("does not say which host of the job this is", ran[0].end["message"])

    def test_outage_at_the_end_is_another_attempt(self):
        self.bucket.fail(503, times=math.inf, pattern="POST .*")
        self.bucket.faults.insert(0, first_upload())
        change = "gcs.RETRY_SECONDS = 0.1"
        leader, member = self.hosts(function(), {"train.py": "def f(): print('ran')"}, change=change)
        self.assertEqual((self.finish(leader).code, self.api.patches), (125, []))
        self.bucket.faults.clear()
        leader = self.host(0, function(), {"train.py": WAIT})
        self.assertIn(b"this container was restarted", leader.stderr.readline())
        self.terminate(leader, member)
        self.assertNotIn("reason", self.document("attempts/1.json"), "its runner was not killed")


class Release(GroupCase):
    HOSTS = 1

    def release(self, count, *statuses):
        """A leader to which the API server says that at first, and which asks so often."""
        self.api.statuses = list(statuses)
        leader = self.host(0, command("echo", "ran"), {"x": ""})
        self.eventually(lambda: len(self.api.patches) == count, leader)
        return leader

    def test_trouble_is_waited_for(self):
        self.terminate(self.release(6, 500, 429, 409, None, 401))
        self.assertEqual(self.document("end.json")["state"], "SUCCEEDED")

    def test_refused(self):
        leader = self.release(1, 403)
        self.assertIn(b"the API server answered 403", leader.stderr.readline())
        self.assertEqual((is_open(self.port), len(self.api.patches)), (False, 1))
        self.terminate(leader)

    def test_set_that_is_gone(self):
        (ran,) = self.terminate(self.release(1, 404))
        self.assertEqual(ran.err, "")

    def test_no_token(self):
        os.unlink(os.path.join(self.root, "account", "token"))
        leader = self.host(0, command("echo", "ran"), {"x": ""})
        self.assertIn(b"cannot release the job's hosts", leader.stderr.readline())
        self.terminate(leader)

    def test_job_that_has_ended_is_released_and_not_run(self):
        for end in ({"version": 1, "state": "SUCCEEDED", "exit_code": 0}, {"version": 1, "state": "FAILED", "reason": "Cancelled"}):
            with self.subTest(end):
                self.setUp()
                self.put("cpu-train-20261120-082019-abc1234/end.json", json.dumps(end).encode())
                (ran,) = self.terminate(self.release(1))
                patch = self.api.patches[0][3]
                self.assertEqual(json.loads(patch["metadata"]["annotations"]["kubectl-kinetic.github.io/outcome"]), end)
                self.assertEqual((ran.out, self.exists("attempts/1.json")), ("", False))

    def test_restarted_container_of_a_job_that_has_ended(self):
        first = self.release(1, 403)
        first.kill()
        first.wait()
        second = self.release(2)
        (ran,) = self.terminate(second)
        self.assertNotIn("ran\n", ran.out)


if __name__ == "__main__":
    unittest.main()
