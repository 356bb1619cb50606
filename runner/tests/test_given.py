"""The store of a call that a client has given to a warm host while it stores the call itself."""

import os
import tempfile
import time
import unittest
from unittest import mock

from fixture import TIMEOUT
from kinetic_runner.errors import NotFound, RunnerError
from kinetic_runner.records import Records, read_document
from kinetic_runner.store import given
from kinetic_runner.store.files import FileStore
from kinetic_runner.store.given import GivenStore

BLOB = "blobs/sha256/ab/abc"


class Given(unittest.TestCase):
    def setUp(self):
        self.root, self.told = tempfile.mkdtemp(), []
        for name, text in {"job/call.json": "call", "job/handle.json": "handle", BLOB: "blob"}.items():
            path = os.path.join(self.root, "given", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        os.mkdir(os.path.join(self.root, "store"))
        self.inner = FileStore("file://" + os.path.join(self.root, "store"))
        self.store = GivenStore(self.inner, os.path.join(self.root, "given"), "job", self.told.append)

    def text(self, store, name):
        with store.open(name) as file:
            return file.read().decode()

    def stored(self):
        return {name: self.text(self.inner, name) for name in ("job/call.json", "job/handle.json", BLOB) if self.inner.exists(name)}

    def test_what_was_given_is_read_and_stored_at_the_end(self):
        count = self.store.first(Records(self.inner, "job"), "uid", 0, "now")
        self.assertEqual((count.number, count.job_started, count.crashes), (1, "now", 0))
        self.assertEqual((self.text(self.store, BLOB), self.stored()), ("blob", {}))
        self.store.complete()
        self.assertEqual(len(self.stored()), 3)
        self.assertEqual(read_document(self.inner, "job/attempts/1.json")["uid"], "uid")

    def test_an_attempt_is_counted_once_the_call_has_started(self):
        order = []
        self.store.call_started = mock.Mock(wait=lambda seconds: order.append("started"))
        self.store.first(mock.Mock(count=lambda *_: order.append("counted")), "uid", 0, "now")
        self.store.complete()
        self.assertEqual(order, ["started", "counted"])

    def test_the_client_has_stored_it(self):
        self.inner.create("job/handle.json", lambda: [b"with more"])
        self.store.complete()
        self.assertEqual(self.stored(), {"job/handle.json": "with more"})

    def test_a_client_that_was_lost(self):
        with mock.patch.object(given, "START_SECONDS", 0.0), mock.patch.object(given, "CLIENT_SECONDS", 0.0):
            self.store.first(Records(self.inner, "job"), "uid", 0, "now")
            until = time.monotonic() + TIMEOUT
            while "job/handle.json" not in self.stored():
                self.assertLess(time.monotonic(), until, "nobody stores it")
                os.sched_yield()
        self.assertEqual(len(self.stored()), 3)

    def test_an_attempt_that_can_not_be_counted(self):
        os.makedirs(os.path.join(self.root, "store", "job"))
        open(os.path.join(self.root, "store", "job", "attempts"), "w").close()  # in place of a directory
        self.store.first(Records(self.inner, "job"), "uid", 0, "now")
        with self.assertRaises((OSError, RunnerError)):
            self.store.complete()
        os.unlink(os.path.join(self.root, "store", "job", "attempts"))
        self.store.complete()  # the store is back
        self.assertEqual(read_document(self.inner, "job/attempts/1.json")["uid"], "uid")

    def test_what_nobody_stores(self):
        with self.assertRaises(NotFound):
            self.store.open("job/payload.pkl")
        with mock.patch.object(given, "WAIT_SECONDS", 0.3), mock.patch.object(given, "TOLD_SECONDS", 0.0), self.assertRaises(NotFound):
            self.store.open("blobs/sha256/cd/cde")
        self.assertEqual(self.told, [f"waiting for {self.inner.url('blobs/sha256/cd/cde')}, which the client is still storing"])


if __name__ == "__main__":
    unittest.main()
