"""Files become objects whole or not at all."""

import os
import shutil
import tempfile
import unittest

from bucket import BUCKET, Bucket, Handler
from fixture import JOB
from kinetic_runner.errors import RunnerError, Unreachable
from kinetic_runner.outputs import sender
from kinetic_runner.outputs.index import Superseded
from kinetic_runner.outputs.scan import stamp_of
from kinetic_runner.store import gcs
from kinetic_runner.store.gcs import GCSStore
from kinetic_runner.store.objects import copy_object, list_objects

PIECE = 256 << 10


class SenderCase(unittest.TestCase):
    def setUp(self):
        self.bucket = self.make_bucket()
        self.addCleanup(self.bucket.close)
        self.root = tempfile.mkdtemp(prefix="kinetic-sender-")
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.store = GCSStore(f"gs://{BUCKET}/{JOB}/outputs", self.bucket.host)
        self.addCleanup(self.store.close)
        self.sender = self.sender_of()
        for module, name, value in ((sender, "PIECE_BYTES", PIECE), (gcs, "FIRST_PAUSE", 0.001)):
            self.addCleanup(setattr, module, name, getattr(module, name))
            setattr(module, name, value)

    def make_bucket(self):
        return Bucket()

    def sender_of(self, host=0, attempt=1, **kwargs):
        return sender.Sender(self.store, self.root, sender.Owner(JOB, host, attempt, **kwargs))

    def write(self, path, data):
        with open(os.path.join(self.root, path), "wb") as file:
            file.write(data)
        return stamp_of(os.path.join(self.root, path))

    def send(self, path, data, generation=0, by=None):
        return (by or self.sender).send(path, self.write(path, data), generation)

    def stored(self, path):
        return self.bucket.read(f"{JOB}/outputs/{path}")


class Sending(SenderCase):
    def test_files_of_all_sizes(self):
        for size in (0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 5):
            with self.subTest(size):
                data = os.urandom(size)
                entry = self.send(f"f{size}", data)
                self.assertEqual(self.stored(f"f{size}"), data)
                found = self.bucket.objects[f"{JOB}/outputs/f{size}"]
                self.assertEqual((entry.generation, entry.md5), (str(found.generation), found.resource("")["md5Hash"]))
                self.assertEqual(found.metadata, {"kinetic-sync": f"{JOB}/0/1"})

    def test_faults_of_every_request(self):
        faults = (503, Handler.reset, Handler.lose_answer, Handler.keep_half)
        for number, what in enumerate(faults):
            for pattern in ("POST .*resumable", "PUT .*upload_id"):
                for skipped in range(1 if "POST" in pattern else 3):
                    if what is Handler.keep_half and "POST" in pattern:
                        continue
                    with self.subTest(what=what, pattern=pattern, skipped=skipped):
                        path, data = f"f-{number}-{pattern[:3]}-{skipped}", os.urandom(2 * PIECE + 9)
                        if skipped:
                            self.bucket.fail(Handler.serve, skipped, pattern)
                        self.bucket.fail(what, 1, pattern)
                        self.send(path, data)
                        self.assertEqual(self.stored(path), data)

    def test_a_file_that_changes_is_no_object(self):
        for size in (10, 3 * PIECE):
            with self.subTest(size):
                stamp = self.write("f", b"a" * size)
                self.write("f", b"b" * size)
                with self.assertRaises(sender.Changed):
                    self.sender.send("f", stamp, 0)
                self.assertEqual(self.bucket.names(JOB), [])

    def test_a_file_that_changes_while_it_is_sent_is_no_object(self):
        def change(handler):
            self.write("f", b"b" * 3 * PIECE)
            handler.serve()

        stamp = self.write("f", b"a" * 3 * PIECE)
        self.bucket.fail(change, 1, "PUT")
        with self.assertRaises(sender.Changed):
            self.sender.send("f", stamp, 0)
        self.assertEqual(self.bucket.names(JOB), [])

    def test_a_log_may_grow_meanwhile(self):
        stamp = self.write("log", b"one\n")
        self.write("log", b"one\ntwo\n")
        entry = self.sender.send("log", stamp, 0, beginning=True)
        self.assertEqual((self.stored("log"), entry.size), (b"one\n", 4))

    def test_an_interrupted_upload_continues(self):
        data = os.urandom(3 * PIECE)
        stamp = self.write("f", data)

        def interrupt(handler):
            self.sender.interrupt.set()
            handler.serve()

        self.bucket.fail(interrupt, 1, "PUT")
        with self.assertRaises(sender.Interrupted):
            self.sender.send("f", stamp, 0)
        self.sender.interrupt.clear()
        self.sender.send("f", stamp, 0)
        self.assertEqual((self.stored("f"), len(self.bucket.asked("PUT")), len(self.bucket.sessions)), (data, 3, 1))

    def test_links_are_no_objects(self):
        os.symlink("a", os.path.join(self.root, "last"))
        entry = self.sender.send("last", stamp_of(os.path.join(self.root, "last")), 0)
        self.assertEqual((entry.link, self.bucket.names(JOB)), ("a", []))

    def test_hurry(self):
        self.bucket.fail(503, 10**6, "POST")
        self.store.hurry(0)
        with self.assertRaises(Unreachable):
            self.send("f", b"data")

    def test_corruption_is_noticed(self):
        def corrupt(handler):
            body = handler.body
            handler.body = lambda: body().replace(b"a", b"b")
            handler.serve()

        self.bucket.fail(corrupt, 1, "PUT")
        with self.assertRaisesRegex(RunnerError, "corrupted in transit"):
            self.send("f", b"a" * 2 * PIECE)


class Ownership(SenderCase):
    def test_who_may_replace_what(self):
        theirs = {
            "a program": {},
            "another job": {"kinetic-sync": "job-b/0/1"},
            "another host": {"kinetic-sync": f"{JOB}/1/1"},
            "an earlier attempt": {"kinetic-sync": f"{JOB}/0/1"},
            "a later attempt": {"kinetic-sync": f"{JOB}/0/3"},
        }
        cases = {name: sender.Refused for name in ("a program", "another job", "another host")}
        cases["a later attempt"] = Superseded
        for name, metadata in theirs.items():
            with self.subTest(name):
                self.bucket.put(f"{JOB}/outputs/f", b"theirs", metadata)
                if name in cases:
                    with self.assertRaises(cases[name]):
                        self.send("f", b"ours", by=self.sender_of(attempt=2))
                    self.assertEqual(self.stored("f"), b"theirs")
                else:
                    self.send("f", b"ours", by=self.sender_of(attempt=2))
                    self.assertEqual(self.stored("f"), b"ours")

    def test_what_was_restored_may_be_replaced(self):
        self.bucket.put(f"{JOB}/outputs/f", b"theirs")
        self.send("f", b"ours", self.bucket.objects[f"{JOB}/outputs/f"].generation)
        self.assertEqual(self.stored("f"), b"ours")

    def test_the_last_pod_of_a_map_wins(self):
        self.send("f", b"one", by=self.sender_of(host=1))
        last = self.sender_of(host=2, last_wins=True)
        self.send("f", b"two", by=last)
        self.assertEqual((self.stored("f"), last.shared), (b"two", ["f"]))


class Objects(SenderCase):
    def test_list(self):
        for number in range(7):  # several pages
            self.send(f"f{number}", b"x" * number)
        found = list(list_objects(self.store))
        self.assertEqual([(one.name, one.size) for one in found], [(f"f{number}", number) for number in range(7)])
        self.assertTrue(all(one.md5 and one.generation and one.created for one in found))

    def test_copy(self):
        self.send("a", b"data")
        other = GCSStore(f"gs://{BUCKET}/other/outputs", self.bucket.host)
        self.addCleanup(other.close)
        generation = copy_object(self.store, other, "a", {"k": "v"})
        found = self.bucket.objects["other/outputs/a"]
        self.assertEqual((found.data, found.metadata, generation), (b"data", {"k": "v"}, str(found.generation)))
        self.assertIsNone(copy_object(self.store, other, "a", None), "it is there already")
        self.assertIsNone(copy_object(self.store, other, "b", None), "there is none")


if __name__ == "__main__":
    unittest.main()
