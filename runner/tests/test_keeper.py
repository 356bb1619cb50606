"""What counts as finished, and what the index has of it: one moment of a directory, and what happens before and after it."""

import errno
import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
import unittest
from unittest import mock

from bucket import BUCKET, Bucket
from fixture import JOB
from kinetic_runner.errors import RunnerError
from kinetic_runner.outputs import keeper as keepers
from kinetic_runner.outputs import observer as observers
from kinetic_runner.outputs.index import Index, Superseded
from kinetic_runner.outputs.keeper import Keeper
from kinetic_runner.outputs.observer import Observer
from kinetic_runner.outputs.restore import Restore, items_of, read_indexes
from kinetic_runner.outputs.sender import Sender
from kinetic_runner.outputs.tree import SMALL
from kinetic_runner.outputs.watch import Watch
from kinetic_runner.store.gcs import GCSStore
from kinetic_runner.store.names import incomplete_folder, index_folder, index_name


class Deaf(Watch):
    """A watch on a machine without inotify."""

    def __init__(self):
        with mock.patch("ctypes.CDLL", side_effect=OSError("no libc")):
            super().__init__()


class KeeperCase(unittest.TestCase):
    watch = Watch

    def setUp(self):
        self.bucket = Bucket()
        self.addCleanup(self.bucket.close)
        self.home = GCSStore(f"gs://{BUCKET}/{JOB}", self.bucket.host)
        self.addCleanup(self.home.close)
        self.top = tempfile.mkdtemp(prefix="kinetic-keeper-")
        self.addCleanup(shutil.rmtree, self.top)
        for name in ("SETTLE_SECONDS", "QUIET_SECONDS", "INDEX_SECONDS"):
            patch = mock.patch.object(keepers, name, 0)
            patch.start()
            self.addCleanup(patch.stop)
        self.root, stage = os.path.join(self.top, "root"), os.path.join(self.top, "stage")
        os.mkdir(self.root)
        os.mkdir(stage)
        self.said, self.living, self.unnamed = [], True, []
        self.observer = Observer(self.root, stage, {}, {}, self.watch())
        self.addCleanup(self.observer.watch.close)  # a user has few instances of inotify, often 128
        self.observer.watch.add(self.root, os.stat(self.root).st_ino)  # as the runner does while the call starts
        self.index = Index(self.home, index_name(0), 1)
        sender = Sender(self.home, index_folder(0) + "1-aa")
        self.keeper = Keeper(self.observer, self.index, sender, self.home, incomplete_folder(0), 1, self.said.append, lambda: self.living)
        self.keeper.on_index = lambda document, unnamed: self.unnamed.extend(unnamed)

    def path(self, name):
        return os.path.join(self.root, name)

    def write(self, name, text="", mode="w"):
        """Writes a file in place, with its directory."""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), mode, errors="surrogateescape") as file:
            file.write(text or name)

    def replace(self, name, text=""):
        """Writes a file that is renamed into place."""
        self.write(name + ".tmp", text or name)
        os.replace(self.path(name + ".tmp"), self.path(name))

    def hold(self, name, text="half", mode="<>"):
        """Lets another process have a file open in which it has written a half."""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        code = f'exec 3{mode}"$0"; printf "%s" "$1" >&3; echo ready; read line'
        process = subprocess.Popen(["sh", "-c", code, self.path(name), text], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def moment(self, after=lambda: None):
        """Takes a moment, does what comes after it, lets the keeper judge, and returns what a restore would bring."""
        if not self.keeper.moment:
            self.keeper.start()
        moment = self.keeper.moment
        until = time.monotonic() + 60
        while moment and not moment.sent:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.001)
        after()
        while self.keeper.moment:
            self.assertLess(time.monotonic(), until)
            self.keeper.carry_on()
        return self.restored()

    def restored(self):
        """The files that a restore would bring."""
        place = tempfile.mkdtemp(dir=self.top)
        items = items_of(read_indexes(self.home, [0]), self.home, self.home)
        restore = Restore(place, self.said.append)
        restore.run(items)
        restore.remove_broken()
        files = [os.path.join(folder, name) for folder, _, names in os.walk(place) for name in names]
        found = {}
        for path in files:
            with open(path, "rb") as file:
                found[os.path.relpath(path, place)] = os.fsdecode(file.read())
        return found


class Finished(KeeperCase):
    """Each case: what the index has before, what is done before the moment, what after it, and what it has then."""

    def test_files(self):
        nothing = lambda: None  # noqa: E731
        cases = {
            "written in place and closed": (nothing, lambda: self.write("a"), nothing, {"a": "a"}),
            "still open": (nothing, lambda: self.hold("a"), nothing, {}),
            "renamed into place, again and again": (nothing, lambda: self.replace("a", "1"), lambda: self.replace("a", "2"), {"a": "1"}),
            "names that begin with tmp": (nothing, lambda: (self.write("tmp_metrics"), self.write("tmp1x_ab90c")), nothing, {"tmp_metrics": "tmp_metrics"}),
            "a temporary name": (nothing, lambda: (self.write("a.tmp"), self.write("b")), nothing, {"b": "b"}),
            "changed in place, whole": (lambda: self.write("a", "1"), lambda: self.write("a", "2"), nothing, {"a": "2"}),
            "one of two is open": (
                lambda: (self.write("d/a", "1"), self.write("d/b", "1")), lambda: (self.write("d/a", "2"), self.hold("d/b")), nothing, {"d/a": "1", "d/b": "1"},
            ),
            "the next of two is written after the moment": (
                lambda: (self.write("d/a", "1"), self.write("d/b", "1")), lambda: self.write("d/a", "2"), lambda: self.write("d/b", "2"), {"d/a": "1", "d/b": "1"},
            ),
            "the mark of a checkpoint is renamed after the moment": (
                lambda: (self.write("d/a", "1"), self.replace("d/.metadata", "1")),
                lambda: self.write("d/a", "2"), lambda: self.replace("d/.metadata", "2"), {"d/a": "1", "d/.metadata": "1"},
            ),
            "the mark was taken away at the moment": (
                lambda: (self.write("d/a", "1"), self.replace("d/.metadata", "1")),
                lambda: (self.write("d/a", "2"), os.unlink(self.path("d/.metadata"))), lambda: self.replace("d/.metadata", "2"), {"d/a": "1", "d/.metadata": "1"},
            ),
            "a file that is just being opened anew": (nothing, lambda: open(self.path("a"), "w").close(), lambda: self.write("a"), {}),
            "an empty file": (nothing, lambda: open(self.path("a"), "w").close(), nothing, {"a": ""}),
            "a new directory at rest": (nothing, lambda: (self.write("d/a"), self.write("d/b")), nothing, {"d/a": "d/a", "d/b": "d/b"}),
            "a new directory grows": (nothing, lambda: self.write("d/a"), lambda: self.write("d/b"), {}),
            "a removed file": (lambda: self.write("a"), lambda: os.unlink(self.path("a")), nothing, {}),
            "a rotation": (
                lambda: self.replace("last", "1"),
                lambda: (os.replace(self.path("last"), self.path("previous")), self.replace("last", "2")), nothing, {"last": "2", "previous": "1"},
            ),
            "a log is open": (nothing, lambda: self.hold("train.log"), nothing, {"train.log": "half"}),
            "a link to what is there": (nothing, lambda: (self.write("a"), os.symlink("a", self.path("latest"))), nothing, {"a": "a", "latest": "a"}),
            "a link that leads out": (nothing, lambda: (self.write("a"), os.symlink("/etc/passwd", self.path("b"))), nothing, {"a": "a"}),
        }  # fmt: skip
        for name, (before, write, after, want) in cases.items():
            with self.subTest(name):
                self.setUp()
                before()
                self.moment()
                write()
                self.assertEqual(self.moment(after), want)

    def written_again(self, *names):
        """Writes files into a new directory and, before it counts as finished, begins to write the first one again. Returns what writes."""
        for name in names:
            self.write(name, "1")
        with mock.patch.object(keepers, "QUIET_SECONDS", 60):
            self.keeper.start()
            while not self.keeper.moment.soon:
                self.keeper.carry_on()
        writer = self.hold(names[0])
        self.assertEqual(self.moment(), {})
        return writer

    def test_files_that_are_new_together_count_together_when_they_are_written_again(self):
        writer = self.written_again("d/a", "d/b")
        self.assertEqual(self.moment(), {})
        self.assertFalse(self.index.document.entries)  # nor the directory alone
        writer.communicate()
        self.assertEqual(self.moment(lambda: self.write("d/b", "2")), {})
        self.assertEqual(self.moment(), {"d/a": "half", "d/b": "2"})

    def test_what_is_not_written_again_does_not_wait_for_ever(self):
        with mock.patch.object(observers, "TOGETHER_SECONDS", 0.0):
            self.written_again("d/last", "d/best")
            self.assertEqual(self.moment(), {"d/best": "1"})

    def test_only_what_cannot_be_half_counts_if_the_call_dies_at_once(self):
        def folder(mark):
            self.write("new/a")
            self.write(f"new/{mark}", "{}")

        def replaced(*texts, name="d/a"):
            os.makedirs(os.path.dirname(self.path(name)))
            self.keeper.watch()  # as the runner does twice a second
            for text in texts:
                self.replace(name, text)

        cases = {
            "in place": (lambda: self.write("a"), {}),
            "renamed": (lambda: self.replace("a"), {"a": "a"}),
            "a new directory": (lambda: self.write("d/a"), {}),
            "a directory renamed into place": (lambda: (self.write("d.tmp/a"), os.rename(self.path("d.tmp"), self.path("d"))), {"d/a": "d.tmp/a"}),
            "renamed into a new directory": (lambda: replaced("1"), {}),
            "renamed again in a new directory": (lambda: replaced("1", "2"), {"d/a": "2"}),
            "renamed again below a new directory": (lambda: replaced("1", "2", name="d/e/a"), {"d/e/a": "2"}),
            "a directory with its mark": (lambda: folder(".metadata"), {"new/a": "new/a", "new/.metadata": "{}"}),
            "a directory with half a mark": (lambda: (self.write("d/a"), self.write("d/trainer_state.json", '{"st')), {}),
        }
        for name, (write, want) in cases.items():
            with self.subTest(name):
                self.setUp()
                write()
                self.keeper.start()
                self.living = False
                self.keeper.finish(False)
                self.assertEqual(self.restored(), want)

    def test_a_name_that_is_not_text(self):
        self.write("\udcff/a")
        os.symlink("\udcff/a", self.path("\udcfe"))
        self.assertEqual(self.moment(), {"\udcff/a": "\udcff/a", "\udcfe": "\udcff/a"})

    def test_a_database_is_copied_while_it_is_open(self):
        with sqlite3.connect(self.path("study.db")) as database:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("CREATE TABLE trials (value)")
            database.execute("INSERT INTO trials VALUES (7)")
            database.commit()
            self.moment()
            copy = os.path.join(self.top, "copy.db")
            found = self.restored()
            self.assertEqual(list(found), ["study.db"])
            with open(copy, "wb") as file:
                file.write(os.fsencode(found["study.db"]))
        with sqlite3.connect(copy) as restored:
            self.assertEqual(restored.execute("SELECT value FROM trials").fetchall(), [(7,)])


class FinishedWithoutInotify(Finished):
    watch = Deaf

    # Without inotify, a rename and a write look the same, so that only time tells.
    test_only_what_cannot_be_half_counts_if_the_call_dies_at_once = None


class Ends(KeeperCase):
    """The last index, after the call."""

    def finish(self, everything=False, **kwargs):
        self.living = False
        self.keeper.finish(everything, **kwargs)
        return self.restored(), {file.path: file.why for file in self.keeper.unsaved}

    def test_in_order(self):
        self.write("a")
        self.write("b.tmp")
        self.assertEqual(self.finish(everything=True), ({"a": "a", "b.tmp": "b.tmp"}, {}))

    def test_in_the_middle_of_a_checkpoint(self):
        self.write("step-1/a", "1")
        self.moment()
        self.write("step-2/a", "2")
        self.assertEqual(self.finish(), ({"step-1/a": "1"}, {"step-2/a": keepers.UNFINISHED}))
        self.assertEqual(self.bucket.read(f"{JOB}/incomplete/0/step-2/a"), b"2")

    def test_in_the_middle_of_two_files(self):
        self.replace("a", "1")
        self.replace("b", "1")
        self.moment()
        self.replace("b", "2")
        self.write("a", "half")
        self.assertEqual(self.finish(), ({"a": "1", "b": "1"}, {"a": keepers.UNFINISHED, "b": keepers.MIXED}))

    def test_what_a_process_that_stayed_had_open(self):
        self.write("a")
        left = frozenset([os.stat(self.path("a")).st_ino])
        found, unsaved = self.finish(everything=True, left_open=left)
        self.assertEqual((found, unsaved), ({}, {"a": "a process that the call left behind had it open"}))

    def test_a_file_that_cannot_be_read_keeps_nothing_else(self):
        def read(path, *args, **kwargs):
            if path == self.path("secret"):
                raise PermissionError(errno.EACCES, "not yours", path)
            return open(path, *args, **kwargs)

        for everything in (False, True):
            with self.subTest(everything=everything), mock.patch("kinetic_runner.outputs.observer.open", read, create=True):
                self.setUp()
                self.write("secret")
                self.write("a", "1")
                self.moment()
                self.replace("a", "2")
                found, unsaved = self.finish(everything)
                self.assertEqual((found, unsaved), ({"a": "2"}, {"secret": "the runner can't read it: not yours"}))

    def test_a_commit_is_finished_at_once(self):
        self.write("a")
        self.hold("b")
        self.assertEqual(self.keeper.commit(), ["b"])
        self.living = False
        self.assertEqual(self.restored(), {"a": "a"})


class Store(KeeperCase):
    def objects(self):
        return set(self.bucket.names(f"{JOB}/{index_folder(0)}"))

    def test_objects_that_no_index_names_are_given_up(self):
        self.write("a", "1")
        self.moment()
        first = self.objects()
        self.write("a", "2")
        self.moment()
        self.assertEqual({f"{JOB}/{name}" for name in self.unnamed}, first)

    def test_a_large_file_with_another_name_is_not_sent_again(self):
        text = "x" * (SMALL + 1)
        self.write("a", text)
        self.moment()
        os.rename(self.path("a"), self.path("b"))
        self.bucket.requests.clear()
        self.assertEqual(self.moment(), {"b": text})
        self.assertEqual(len(self.bucket.asked("POST")), 1)  # the index

    def test_an_index_is_written_only_if_it_changes(self):
        self.write("a")
        self.moment()
        self.bucket.requests.clear()
        self.moment()
        self.assertEqual(self.bucket.asked("POST"), [])

    def test_the_index_comes_after_what_it_names(self):
        self.write("a")
        self.write("b")
        self.bucket.fail(403, times=1, pattern="POST")
        with self.assertRaises(RunnerError):
            self.moment()
        self.assertEqual(self.restored(), {})
        self.assertEqual(self.moment(), {"a": "a", "b": "b"})

    def test_a_later_attempt_stops_this_one(self):
        self.write("a")
        self.moment()
        later = Index(self.home, index_name(0), 2)
        later.read()
        later.write_again()
        self.write("b")
        for _ in range(2):  # it may try again: the program ends before it hears of it
            with self.assertRaises(Superseded):
                self.moment()
        with self.assertRaises(Superseded):
            self.keeper.finish(True)
        self.assertEqual(self.restored(), {"a": "a"})

    def test_an_attempt_that_restores_says_how_long_it_may_write(self):
        self.write("a")
        self.moment()
        later = Index(self.home, index_name(0), 2, grace=25.0)
        later.read()
        later.write_again()
        self.assertIn(b'"grace":25.0', gzip.decompress(self.bucket.read(f"{JOB}/{index_name(0)}")))

    def test_nobody_writes_what_a_tidy_up_may_have_deleted(self):
        self.write("a")
        self.moment()
        tidy = Index(self.home, index_name(0), 1)
        tidy.read()
        tidy.write(done=True)
        self.write("b")
        for _ in range(2):
            with self.assertRaisesRegex(Superseded, "were tidied up"):
                self.moment()
        self.assertEqual(self.restored(), {"a": "a"})

    def test_a_fault_of_our_own_hangs_nothing(self):
        self.write("a")
        with mock.patch.object(self.keeper, "_send_file", side_effect=ZeroDivisionError), self.assertRaises(ZeroDivisionError):
            self.moment()
        self.assertEqual(self.moment(), {"a": "a"})


if __name__ == "__main__":
    unittest.main()
