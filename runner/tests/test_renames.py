"""Files that get another name or mode are not sent again, and what the store has under the new name is what the file has."""

import contextlib
import http.client
import os
import unittest
from unittest import mock

from bucket import Handler, RealBucket, real_program
from fixture import JOB
from test_restore import KeeperCase
from test_sender import PIECE

from kinetic_runner.outputs import sender
from kinetic_runner.outputs.scan import stamp_of

SIZE = 2 * PIECE + 9  # of a file that is sent in pieces


@contextlib.contextmanager
def counted():
    """Counts the bytes of all requests."""
    sizes, send = [], http.client.HTTPConnection.send

    def count(connection, data):
        sizes.append(len(data) if hasattr(data, "__len__") else 0)
        send(connection, data)

    with mock.patch.object(http.client.HTTPConnection, "send", count):
        yield sizes


class Renamed:
    """What runs on every bucket."""

    def rename(self, old, new):
        os.rename(os.path.join(self.root, old), os.path.join(self.root, new))

    def fill(self, folder, names=("a", "b")):
        os.makedirs(os.path.join(self.root, folder))
        self.data = {name: os.urandom(SIZE) for name in names}
        for name, data in self.data.items():
            self.write(f"{folder}/{name}", data)

    def saved_keeper(self):
        """A keeper that has saved what there is."""
        keeper = self.keeper()
        for _ in range(2):
            keeper.round()
        return keeper

    def test_a_directory(self):
        self.fill("new")
        keeper = self.saved_keeper()
        self.rename("new", "best")
        with counted() as sizes:
            keeper.round()
            keeper.round()
        self.assertEqual(self.listed(), ["best/a", "best/b"])
        self.assertLess(sum(sizes), SIZE)
        _, root = self.restore()
        for name, data in self.data.items():
            self.assertEqual(self.stored(f"best/{name}"), data)
            with open(os.path.join(root, "best", name), "rb") as file:
                self.assertEqual(file.read(), data)

    def test_at_the_end_of_the_call(self):
        self.fill("new")
        keeper = self.saved_keeper()
        self.rename("new", "best")
        with counted() as sizes:
            self.assertEqual(keeper.last_round(True), [])
        self.assertLess(sum(sizes), SIZE)
        self.assertEqual((self.listed(), self.stored("best/a")), (["best/a", "best/b"], self.data["a"]))

    def test_a_hard_link(self):
        self.fill("d", "a")
        keeper = self.saved_keeper()
        os.link(os.path.join(self.root, "d/a"), os.path.join(self.root, "last"))
        with counted() as sizes:
            keeper.last_round(True)
        self.assertEqual((self.listed(), self.stored("last")), (["d/a", "last"], self.data["a"]))
        self.assertLess(sum(sizes), SIZE)

    def test_another_mode(self):
        self.fill("d", "a")
        keeper = self.saved_keeper()
        os.chmod(os.path.join(self.root, "d/a"), 0o400)
        with counted() as sizes:
            keeper.last_round(True)
        self.assertLess(sum(sizes), SIZE)
        _, root = self.restore()
        self.assertEqual(os.stat(os.path.join(root, "d/a")).st_mode & 0o777, 0o400)

    def test_renamed_twice_before_it_is_saved_again(self):
        self.fill("one")
        keeper = self.saved_keeper()
        self.rename("one", "two")
        keeper.round()
        self.rename("two", "three")
        with counted() as sizes:
            for _ in range(3):
                keeper.round()
        self.assertLess(sum(sizes), SIZE)
        self.assertEqual((self.listed(), self.stored("three/b")), (["three/a", "three/b"], self.data["b"]))

    def test_another_file_takes_the_old_name(self):
        self.write("last", b"1" * SIZE)
        keeper = self.saved_keeper()
        self.rename("last", "first")
        self.write("last", b"2" * SIZE)
        keeper.last_round(True)
        self.assertEqual((self.stored("first"), self.stored("last")), (b"1" * SIZE, b"2" * SIZE))
        self.write("last", b"3" * SIZE)
        keeper.last_round(True)
        self.assertEqual((self.stored("first"), self.stored("last")), (b"1" * SIZE, b"3" * SIZE))

    def test_another_file_that_looks_the_same(self):
        """A file system uses inodes again, and programs set times."""
        self.fill("d", "a")
        keeper = self.saved_keeper()
        saved = keeper.saved["d/a"]
        self.rename("d/a", "d/b")
        with open(os.path.join(self.root, "d/b"), "r+b") as file:
            file.write(b"other bytes")
        os.utime(os.path.join(self.root, "d/b"), ns=(saved.stamp.mtime_ns, saved.stamp.mtime_ns))
        keeper.last_round(True)
        self.assertEqual(self.stored("d/b"), b"other bytes" + self.data["a"][11:])


@unittest.skipUnless(real_program(os.environ), "there is no fake-gcs-server")
class OnARealServer(Renamed, KeeperCase):
    def make_bucket(self):
        return RealBucket(real_program(os.environ))


class OnOurServer(Renamed, KeeperCase):
    """With faults."""

    def move(self):
        """A saved directory that gets another name; returns its keeper."""
        self.fill("new")
        keeper = self.saved_keeper()
        self.rename("new", "best")
        return keeper

    def is_whole(self):
        self.assertEqual(self.listed(), ["best/a", "best/b"])
        _, root = self.restore()
        for name, data in self.data.items():
            with open(os.path.join(root, "best", name), "rb") as file:
                self.assertEqual(file.read(), data)

    def test_the_object_is_replaced_meanwhile(self):
        keeper = self.move()

        def replace(handler):
            self.bucket.put(f"{JOB}/outputs/new/a", b"of somebody else")
            handler.serve()

        self.bucket.fail(replace, 1, "rewriteTo")
        self.assertEqual(keeper.last_round(True), [])
        self.is_whole()

    def test_the_object_is_removed_meanwhile(self):
        keeper = self.move()
        del self.bucket.objects[f"{JOB}/outputs/new/a"]
        self.assertEqual(keeper.last_round(True), [])
        self.is_whole()

    def test_somebody_else_has_the_new_name(self):
        keeper = self.move()
        self.bucket.put(f"{JOB}/outputs/best/a", b"theirs")
        self.assertEqual([lost.path for lost in keeper.last_round(True)], ["best/a"])
        self.assertEqual((self.stored("best/a"), self.stored("best/b")), (b"theirs", self.data["b"]))

    def test_faults_of_the_copy(self):
        for what in (503, Handler.reset, Handler.lose_answer):
            with self.subTest(what):
                self.setUp()
                keeper = self.move()
                self.bucket.fail(what, 1, "rewriteTo")
                self.assertEqual(keeper.last_round(True), [])
                self.is_whole()

    def test_a_file_that_is_written_to_meanwhile(self):
        self.fill("d", "a")
        keeper = self.saved_keeper()
        self.rename("d/a", "d/b")
        stamp, earlier = stamp_of(os.path.join(self.root, "d/b")), keeper.saved["d/a"].entry
        self.write("d/b", b"x" * SIZE)
        with self.assertRaises(sender.Changed):
            self.sender.send("d/b", stamp, 0, earlier=earlier)
        self.assertNotIn(f"{JOB}/outputs/d/b", self.bucket.objects)

    def test_the_old_name_stays_complete_until_the_new_one_is(self):
        keeper = self.move()
        keeper.round()
        self.bucket.fail(403, 10**6, "rewriteTo|upload.*best")
        with self.assertRaises(sender.RunnerError):
            keeper.round()
        self.assertEqual(self.listed(), ["new/a", "new/b"])
        self.bucket.faults.clear()
        keeper.round()
        self.is_whole()

    def test_interrupted(self):
        keeper = self.move()
        keeper.round()
        self.sender.interrupt = keeper._sender.interrupt
        keeper._sender.interrupt.set()
        with self.assertRaises(sender.Interrupted):
            keeper.round()
        keeper._sender.interrupt.clear()
        keeper.round()
        self.is_whole()


if __name__ == "__main__":
    unittest.main()
