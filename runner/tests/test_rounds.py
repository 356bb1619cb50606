"""What the rounds that save outputs leave for later, and what is said when they cannot save."""

import errno
import mmap
import os
import unittest
from unittest import mock

from fixture import JOB
from test_restore import KeeperCase

from kinetic_runner.outputs import keeper as keepers
from kinetic_runner.outputs import scan, units, worker
from kinetic_runner.store import gcs

TEMPORARY = (
    "5.orbax-checkpoint-tmp", "5.orbax-checkpoint-tmp-1700000000", "d/x_temp", "tmp-checkpoint-10", "a.tmp", "a.temp", "a.bin.partial", "a.incomplete", ".~lock",
)  # fmt: skip
FINISHED = ("tmp", "temporary.bin", "a.tmpl", "checkpoint-tmp-1", "partial", "x_temperature")


class RoundCase(KeeperCase):
    def rounds(self, keeper, count=units.PATIENCE + 2):
        for _ in range(count):
            keeper.round()

    def fill(self, *paths):
        for path in paths:
            os.makedirs(os.path.dirname(os.path.join(self.root, path)), exist_ok=True)
            self.write(path, b"data")


class Waiting(RoundCase):
    def test_temporary_names_wait_for_the_end_of_the_call(self):
        self.fill(*(name + "/a" if "orbax" in name or name.startswith("tmp-") else name for name in TEMPORARY), *FINISHED)
        keeper = self.keeper()
        self.rounds(keeper)
        self.assertEqual(self.listed(), sorted(FINISHED))
        keeper.last_round(True)
        self.assertEqual(len(self.listed()), len(FINISHED) + len(TEMPORARY))

    def test_a_file_that_is_mapped_for_writing_waits(self):
        path = os.path.join(self.root, "array.npy")
        self.write("array.npy", bytes(mmap.PAGESIZE))
        keeper = self.keeper()
        with open(path, "r+b") as file:
            mapped = mmap.mmap(file.fileno(), 0)
        self.rounds(keeper)
        self.assertEqual(self.bucket.names(JOB), [])
        mapped.close()
        self.rounds(keeper)
        self.assertEqual(self.listed(), ["array.npy"])

    def test_a_file_that_is_only_read_does_not_wait(self):
        self.write("a", b"data")
        keeper = self.keeper()
        with open(os.path.join(self.root, "a"), "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ):
            keeper.round()
            keeper.round()
            self.assertEqual(self.listed(), ["a"])

    def test_the_trainer_of_hugging_face_writes_its_state_last(self):
        self.fill("run/config.json", "run/checkpoint-5/optimizer.pt")
        keeper = self.keeper()
        self.rounds(keeper, 9)
        self.fill("run/checkpoint-5/trainer_state.json")
        self.assertNotIn(f"{JOB}/outputs/run/checkpoint-5/optimizer.pt", self.bucket.objects)
        self.rounds(keeper)
        self.assertEqual(self.listed(), ["run/checkpoint-5/optimizer.pt", "run/checkpoint-5/trainer_state.json", "run/config.json"])

    def test_the_index_comes_after_what_it_lists(self):
        self.fill("d/a", "d/b")
        keeper = self.keeper()
        self.rounds(keeper)
        writes = self.bucket.asked("POST /upload")
        self.assertEqual((len(writes), len(self.bucket.names(f"{JOB}/sync/"))), (3, 1))
        self.assertEqual(max(self.bucket.objects, key=lambda name: self.bucket.objects[name].generation), f"{JOB}/sync/0.json")


class Unreadable(RoundCase):
    """A directory that cannot be listed, for now or for good, still has what was in it."""

    def setUp(self):
        super().setUp()
        self.fill("ckpt/a", "ckpt/sub/b", "c")
        self.keep = self.keeper()
        self.rounds(self.keep)
        self.assertEqual(self.listed(), ["c", "ckpt/a", "ckpt/sub/b"])

    def unreadable(self, folder):
        scandir, path = os.scandir, os.path.join(self.root, folder)

        def list_others(other):
            if other == path:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return scandir(other)

        return mock.patch.object(scan.os, "scandir", list_others)

    def test_rounds(self):
        for folder in ("ckpt", "ckpt/sub", ""):
            with self.subTest(folder), self.unreadable(folder):
                self.rounds(self.keep, 3)
                self.assertEqual(self.listed(), ["c", "ckpt/a", "ckpt/sub/b"])

    def test_the_last_round(self):
        with self.unreadable("ckpt"):
            lost = self.keep.last_round(True)
        self.assertEqual([(one.path, one.why) for one in lost], [("ckpt", "Input/output error")])
        self.assertEqual(self.listed(), ["c", "ckpt/a", "ckpt/sub/b"])

    def test_a_restored_object_of_a_program_can_still_be_replaced(self):
        self.bucket.put(f"{JOB}/outputs/theirs/a", b"theirs")
        found, root = self.restore()
        self.root, keeper = root, self.keeper(2, found=found, root=root)
        with self.unreadable("theirs"):
            self.rounds(keeper, 3)
        self.write("theirs/a", b"changed")
        self.assertEqual((keeper.last_round(True), self.stored("theirs/a")), ([], b"changed"))

    def test_what_is_removed_elsewhere_leaves_the_index(self):
        os.unlink(os.path.join(self.root, "c"))
        with self.unreadable("ckpt"):
            self.rounds(self.keep, 3)
        self.assertEqual(self.listed(), ["ckpt/a", "ckpt/sub/b"])


class Behind(KeeperCase):
    def test_more_than_the_grace_can_carry_is_said_once(self):
        keeper = self.keeper()
        with mock.patch.object(keepers, "BEHIND_BYTES", 5000), open(os.path.join(self.root, "large.pt"), "wb") as file:
            file.write(bytes(6000))
            file.flush()
            for _ in range(3):
                keeper.round()
        self.assertEqual(self.said, ["warning: 5.9 KiB of outputs are not saved yet: a preemption now would lose much of it"])
        keeper.round()
        keeper.round()
        self.assertEqual((self.listed(), len(self.said)), (["large.pt"], 1))


class Preempted(KeeperCase):
    """SIGTERM: the time ends before everything is sent."""

    def test_what_was_committed_is_whole_and_the_rest_is_told(self):
        for step in range(4):
            os.makedirs(os.path.join(self.root, f"step-{step}"))
            for name in "ab":
                self.write(f"step-{step}/{name}", b"%d" % step * 10)
                os.utime(os.path.join(self.root, f"step-{step}", name), (1000 + step, 1000 + step))
        os.makedirs(os.path.join(self.root, "large"))
        self.write("large/a", bytes(1000))
        self.write("large/b", bytes(1000))
        keeper = self.keeper()
        base = scan.scan(self.root).files
        keeper._base = units.observe(None, base, ())
        store, left = keeper._sender._store, [5]  # requests before the time is over

        def count(handler):
            left[0] -= 1
            if left[0] < 0:
                return handler.error(503, "")
            handler.serve()

        self.bucket.fail(count, 10**6, "POST /upload")
        with mock.patch.object(units, "SMALL_BYTES", 100), mock.patch.object(keepers, "BATCH_FILES", 2), mock.patch.object(keepers, "PARALLEL", 1), mock.patch.object(keepers, "INDEX_SECONDS", 0):
            thread = worker.Worker(keeper, keeper._sender, 0)
            store.hurry(0)
            self.jobs.hurry(0)
            thread.finish(False)
            thread.run()
        self.assertIsInstance(thread.failure, gcs.Unreachable)
        self.assertEqual(self.listed(), ["step-3/a", "step-3/b"], "the newest of the small ones")
        lost = {one.path for one in keeper.unsaved("no time was left")}
        self.assertEqual(self.stored("step-2/a"), b"2" * 10)
        self.assertEqual(lost, {f"{folder}/{name}" for folder in ("large", "step-0", "step-1", "step-2") for name in "ab"}, "step-2 is not in the index")
        self.bucket.faults.clear()
        self.assertEqual(self.files(self.restore()[1]), ["step-3/a", "step-3/b"])


class Trouble(KeeperCase):
    def test_a_round_that_fails_is_said_once_and_the_next_one_goes_on(self):
        self.write("a", b"data")
        keeper = self.keeper()
        thread = worker.Worker(keeper, keeper._sender, 30)
        thread._round(True)
        self.bucket.fail(403, 2, "POST /upload")
        for _ in range(3):
            thread._round(True)
        self.assertEqual(len(thread.messages), 1)
        self.assertRegex(thread.messages[0], r"^warning: outputs are not saved for now, the next try is in 30 seconds: cannot write gs://\S+/outputs/a: ")
        self.assertEqual((self.listed(), thread.failure), (["a"], None))

    def test_an_unexpected_error_ends_no_later_round(self):
        for error in (MemoryError(), KeyError("a"), ValueError("a")):
            with self.subTest(repr(error)):
                self.setUp()
                self.write("a", b"data")
                keeper = self.keeper()
                thread = worker.Worker(keeper, keeper._sender, 30)
                with mock.patch.object(keeper, "_save", side_effect=error):
                    thread._round(True)
                self.assertRegex("".join(thread.messages), rf"^warning: outputs are not saved for now, the next try is in 30 seconds: {type(error).__name__}\b")
                thread._round(True)
                self.assertEqual(self.listed(), ["a"])

    def test_an_unexpected_error_does_not_prevent_the_last_round(self):
        self.write("a", b"data")
        keeper = self.keeper()
        thread = worker.Worker(keeper, keeper._sender, 30)

        def fail(_):
            thread.finish(True)
            raise KeyError("a")

        with mock.patch.object(keeper, "round", fail):
            thread.run()
        self.assertEqual((self.listed(), thread.unsaved, thread.failure), (["a"], [], None))

    def test_an_index_with_the_metadata_of_somebody_else_is_replaced(self):
        for attempt in ("one", "", "-", "1.5", "9" * 5000):
            with self.subTest(attempt):
                self.setUp()
                self.bucket.put(f"{JOB}/sync/0.json", b"theirs", {"attempt": attempt})
                self.write("a", b"data")
                self.assertEqual((self.save(), self.listed()), ([], ["a"]))

    def test_two_hosts_write_one_name_at_once(self):
        """Both find that there is no such object, and the other one is first."""
        self.write("a", b"ours")

        def race(handler):
            self.bucket.put(f"{JOB}/outputs/a", b"theirs", {"kinetic-sync": f"{JOB}/0/1"})
            handler.serve()

        self.bucket.fail(race, 1, "POST /upload")
        lost = self.save(self.keeper(host=1))
        self.assertEqual([(one.path, "host 0 has written" in one.why) for one in lost], [("a", True)])
        self.assertEqual(self.stored("a"), b"theirs")


if __name__ == "__main__":
    unittest.main()
