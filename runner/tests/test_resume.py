"""A job that resumes from another one begins with its outputs, whichever of its hosts was interrupted before."""

import math
import os
import shutil
import unittest
from types import SimpleNamespace
from unittest import mock

from fixture import JOB
from test_restore import KeeperCase, entry

from kinetic_runner.outputs import session as sessions
from kinetic_runner.outputs.index import Index
from kinetic_runner.store.gcs import GCSStore

EARLIER = "job-b"


class Resume(KeeperCase):
    def setUp(self):
        super().setUp()
        self.bucket.put(f"{EARLIER}/outputs/model", b"model")
        patch = mock.patch.object(sessions, "open_store", self.open_store)
        patch.start()
        self.addCleanup(patch.stop)

    def open_store(self, url, *_):
        store = GCSStore(url, self.bucket.host)
        self.addCleanup(store.close)
        return store

    def run_host(self, host, number, **writes):
        """An attempt of a host that writes some files; returns what it began with."""
        root = f"{self.root}-{host}-{number}"
        os.makedirs(root)
        self.addCleanup(shutil.rmtree, root)
        options = SimpleNamespace(
            job=JOB, resume_from=EARLIER, map="", output_dir="", emulator=self.bucket.host, metadata_host="", credentials="",
        )  # fmt: skip
        signals = SimpleNamespace(listen=lambda action: None, came=False)
        attempt = SimpleNamespace(
            options=options, host=host, number=number, store=self.jobs, outage=None, signals=signals, leave_by=math.inf, say=self.said.append,
        )  # fmt: skip
        session = sessions.Session(attempt, self.jobs.outputs(JOB), root, 0)
        session.restore()
        found = self.files(root)
        for path, data in writes.items():
            with open(os.path.join(root, path), "w") as file:
                file.write(data)
        self.assertEqual(session.finish(True), [])
        return found

    def test_the_first_host_resumes_although_another_one_has_saved(self):
        self.assertEqual(self.run_host(1, 1, one="1"), ["model"])
        self.assertEqual(self.run_host(0, 2), ["model", "one"])
        self.assertEqual((self.listed(0), self.listed(1), self.stored("model")), ([], ["one"], b"model"))

    def test_the_first_host_resumes_only_once(self):
        self.run_host(0, 1, model="changed")
        self.bucket.put(f"{EARLIER}/outputs/later", b"later")
        self.assertEqual(self.run_host(0, 2), ["model"])
        self.assertEqual(self.stored("model"), b"changed")

    def test_other_hosts_begin_with_what_the_first_one_has_saved(self):
        self.run_host(0, 1, zero="0")
        self.assertEqual(self.run_host(1, 2), ["model", "zero"])

    def test_other_hosts_keep_what_they_saved_before_the_first_one_resumed(self):
        self.run_host(1, 1, one="1", log="1")
        self.assertEqual(self.run_host(1, 2, log="2"), ["log", "model", "one"])
        self.assertEqual((self.listed(1), self.stored("log")), (["log", "one"], b"2"))
        self.run_host(0, 2)
        self.assertEqual(self.run_host(1, 3), ["log", "model", "one"])

    def test_a_resume_that_was_interrupted_is_done_again(self):
        Index(self.jobs, EARLIER, 0, 1).write({"ckpt": entry("ckpt", size=4)})
        self.bucket.put(f"{EARLIER}/outputs/ckpt", b"ckpt", {"kinetic-sync": f"{EARLIER}/0/1"})
        self.bucket.put(f"{JOB}/outputs/ckpt", b"ckpt", {"kinetic-sync": f"{JOB}/0/1"})
        self.assertEqual(self.run_host(1, 1, one="1"), ["ckpt", "model"])
        self.assertEqual(self.run_host(0, 2), ["ckpt", "model", "one"])
        self.assertEqual((self.listed(0), self.listed(1)), (["ckpt"], ["one"]))


if __name__ == "__main__":
    unittest.main()
