"""The log on disk: appended whole, published in parts, and what is published leaves the disk."""

import os
import tempfile
import threading
import unittest
import unittest.mock

from fixture import RunnerCase
from test_gcs import StoreCase
from kinetic_runner import spool as spools
from kinetic_runner.errors import AlreadyExists
from kinetic_runner.spool import LogParts, Spool
from kinetic_runner.store import files

MIB = 1 << 20


class SpoolCase(RunnerCase):
    def spool(self, keep=False):
        self.path = os.path.join(self.root, f"spool-{keep}")
        spool = Spool(self.path, keep)
        self.addCleanup(os.close, spool._fd)
        return spool

    def content(self):
        with open(self.path, "rb") as file:
            return file.read()

    def recorded(self):
        """The spool without its times."""
        return b"\n".join(line[28:] for line in self.content().split(b"\n"))


class SpoolTest(SpoolCase):
    LINE = b"2026-11-21T00:00:00.000000Z %d\n"

    def lines(self, *numbers):
        return b"".join(self.LINE % number for number in numbers)

    def test_whole_lines(self):
        spool = self.spool()
        self.assertEqual(spool.whole_lines(100), 0)
        spool.append(b"ab\n")
        spool.append(b"cd\n")
        spool.append(b"x" * (3 * MIB) + b"\n")
        for limit, want in ((1, 0), (2, 0), (3, 3), (6, 6), (2 * MIB, 6), (4 * MIB, 7 + 3 * MIB)):
            self.assertEqual(spool.whole_lines(limit), want, limit)

    def test_released_bytes_leave_the_disk_unless_the_file_is_kept(self):
        for keep in (False, True):
            spool = self.spool(keep)
            spool.append(self.lines(1))
            length = spool.pending
            spool.append(self.lines(2, 3))
            spool.release(length)
            spool.append(self.lines(4))
            self.assertEqual(b"".join(spool.blocks(spool.pending)), self.lines(2, 3, 4))
            self.assertEqual(self.content(), self.lines(*range(1 if keep else 2, 5)))

    def test_what_is_pending_is_moved_only_when_that_pays(self):
        with unittest.mock.patch.object(spools, "PART_BYTES", 0):
            spool = self.spool()
            spool.append(self.lines(1))
            first = spool.pending
            spool.append(self.lines(2, 3))
            spool.release(first)
            self.assertEqual(self.content()[first:], self.lines(2, 3))
            spool.release(first)
            self.assertEqual(self.content(), self.lines(3))
            self.assertEqual(b"".join(spool.blocks(spool.pending)), self.lines(3))

    def test_one_thread_appends_and_another_publishes(self):
        spool, got = self.spool(), []
        writer = threading.Thread(target=lambda: [spool.append(b"line %d\n" % n) for n in range(20_000)])
        writer.start()
        while writer.is_alive() or spool.pending:
            if length := spool.whole_lines(10_000):
                got += spool.blocks(length)
                spool.release(length)
        writer.join()
        self.assertEqual(b"".join(got).decode(), "".join(f"line {n}\n" for n in range(20_000)))

    def test_log_of_a_runner_that_has_crashed(self):
        self.spool(keep=True).append(self.lines(1, 2))
        spool = self.spool(keep=True)
        self.assertEqual(spool.pending, 0)
        spool.recover()
        spool.append(self.lines(3))
        self.assertEqual(b"".join(spool.blocks(spool.pending)), self.lines(1, 2, 3))

    def test_what_was_published_before_a_crash_is_not_published_again(self):
        for done, want in ((1, [2, 3, 4]), (2, [3, 4]), (3, [4]), (4, [])):
            with unittest.mock.patch.object(spools, "PART_BYTES", 0):
                crashed = self.spool()
                crashed.append(self.lines(1, 2, 3, 4))
                for _ in range(done):
                    crashed.release(len(self.lines(1)))
            spool = Spool(self.path, keep=True)
            self.addCleanup(os.close, spool._fd)
            spool.recover()
            self.assertEqual(b"".join(spool.blocks(spool.pending)), self.lines(*want), done)


class FailingStore:
    """A store that fails so many times, then takes everything."""

    def __init__(self, failures=0):
        self.failures, self.parts = failures, {}

    def create(self, name, source):
        if self.failures:
            self.failures -= 1
            raise OSError("not now")
        if name in self.parts:
            raise AlreadyExists(name)
        self.parts[name] = b"".join(source())

    def list(self, folder):
        return [name[len(folder) :] for name in self.parts if name.startswith(folder)]


class LogPartsTest(SpoolCase):
    def test_what_could_not_be_stored_stays_pending(self):
        store = FailingStore(failures=2)
        parts, spool = LogParts(store, "job", 0, 1), self.spool()
        spool.append(b"one\n")
        with self.assertRaises(OSError):
            parts.publish_all(spool)
        spool.append(b"two\n")
        with self.assertRaises(OSError):
            parts.publish_all(spool)
        for _ in range(2):
            parts.publish_all(spool)
        self.assertEqual(store.parts, {"job/logs/0/1-1.log": b"one\n", "job/logs/0/1-2.log": b"two\n"})

    def test_full_parts_are_whole_lines(self):
        store = FailingStore()
        parts, spool = LogParts(store, "job", 0, 1), self.spool()
        with unittest.mock.patch.object(spools, "PART_BYTES", 10):
            spool.append(b"1234\n5678\n9")
            spool.append(b"0\nrest\n")
            parts.publish_full(spool)
        self.assertEqual(list(store.parts.values()), [b"1234\n5678\n"])
        self.assertEqual(b"".join(spool.blocks(spool.pending)), b"90\nrest\n")

    def test_parts_of_a_container_that_was_started_again_stay(self):
        store = FailingStore()
        for text in (b"first\n", b"second\n"):
            spool = self.spool()
            spool.append(text)
            LogParts(store, "job", 0, 1).publish_all(spool)
        self.assertEqual(store.parts, {"job/logs/0/1-1.log": b"first\n", "job/logs/0/1-2.log": b"second\n"})


class RestartedTest(StoreCase):
    def test_parts_from_before_a_restart_are_not_tried_one_by_one(self):
        names = [f"job/logs/0/{attempt}-{part}.log" for attempt in (1, 2) for part in range(1, 30 // attempt)]
        for name in names:
            self.bucket.put(name, name.encode())
        for _ in range(2):  # as often as the container is restarted
            with tempfile.NamedTemporaryFile() as file:
                spool = Spool(file.name, keep=False)
                spool.append(b"the end\n")
                LogParts(self.open_store(), "job", 0, 1).publish_all(spool)
            self.assertEqual(set(self.bucket.names("")) - set(names), {"job/logs/0/1-30.log"})
            self.assertEqual(self.bucket.read("job/logs/0/1-30.log"), b"the end\n")
        self.assertLessEqual(len(self.bucket.asked("^POST")), 5)


class FileStoreTest(RunnerCase):
    def test_a_file_in_the_place_of_a_folder_is_no_object(self):
        store = files.FileStore(self.store_url)
        store.create("job", lambda: [b"1"])
        with unittest.mock.patch.object(files, "RETRY_DELAYS", ()):
            with self.assertRaises(NotADirectoryError):
                store.create("job/end.json", lambda: [b"1"])

    def test_what_is_refused_is_tried_again(self):
        store, tries = files.FileStore(self.store_url), []

        def refused(times):
            tries.append(times)
            if len(tries) <= times:
                raise OSError("not now")
            return [b"1"]

        with unittest.mock.patch.object(files, "RETRY_DELAYS", (0, 0)):
            store.create("x", lambda: refused(2))
            with store.open("x") as file:
                self.assertEqual(file.read(), b"1")
            with self.assertRaises(AlreadyExists):
                store.create("x", lambda: refused(0))
            tries.clear()
            with self.assertRaisesRegex(OSError, "not now"):
                store.write("x", lambda: refused(9))
        self.assertEqual(tries, [9] * 3)


if __name__ == "__main__":
    unittest.main()
