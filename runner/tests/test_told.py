"""What the keeper of outputs says of what it does not save."""

import os
import sys
import time
import unittest
from unittest import mock

from fixture import RUNNER, command, function, script
from kinetic_runner.errors import RunnerError
from kinetic_runner.outputs import index as indexes
from test_keeper import KeeperCase, keepers, observers, read_indexes
from test_outputs import OutputCase


class Told(KeeperCase):
    def test_what_waits_for_long_is_named_once(self):
        self.hold("a")
        self.write("b.tmp")
        with mock.patch.object(keepers, "PATIENCE", 0):
            for _ in range(3):
                self.moment()
        self.assertEqual(sorted(self.said), [
            "warning: the output a is not saved: a is open for writing",
            "warning: the output b.tmp is not saved: its name looks temporary",
        ])  # fmt: skip

    def test_too_many_files_for_an_index_are_told_once(self):
        """The last index that can be read stays."""
        self.write("a")
        self.moment()
        with mock.patch.object(indexes, "LIMIT", 1000):
            for number in range(9):
                self.write(f"b{number}")
            self.assertEqual([self.moment(), self.moment()], [{"a": "a"}] * 2)
            self.assertEqual(self.said, ["warning: too many outputs to save: put them into archives"])
            with self.assertRaisesRegex(RunnerError, "too many outputs"):
                self.keeper.commit()
            for number in range(8):
                os.unlink(self.path(f"b{number}"))
            self.assertEqual(self.moment(), {"a": "a", "b8": "b8"})

    def test_a_full_disk_is_told_and_nothing_is_frozen(self):
        self.write("a")
        with mock.patch.object(observers, "SPARE_SHARE", 0.5), mock.patch.object(observers, "SPARE_BYTES", 1 << 60):
            for size in (1, 1 << 20):
                self.write("b", "b" * size)
                self.assertEqual(self.moment(), {})
        (told,) = self.said
        self.assertRegex(told, "^warning: outputs are not saved for now: less than .* of the disk is free$")

    def test_a_full_disk_holds_no_other_host_back(self):
        self.index.others = list  # moments of other hosts: none yet
        self.write("a")
        for since, told in ((time.time(), ""), (0.0, "20")):
            self.keeper._current_at = since
            with mock.patch.object(self.observer, "room", lambda: (0, 1)):
                self.keeper.start()
            self.assertEqual(self.index.document.at[:2], told)

    def test_a_copy_that_would_fill_the_disk_is_not_made(self):
        self.replace("a", "a" * 5000)
        self.replace("b")
        with mock.patch.object(self.observer, "room", lambda: ((1 << 30) + 1000, 1 << 30)):
            self.keeper.start()
            self.assertEqual(self.keeper.moment.units["a"].why, "the disk has no room for a copy of it")
            self.assertEqual(self.moment(), {"b": "b"})

    def test_lines_that_are_written_anew(self):
        """Until the file is closed, what was saved stays, also if there is more again."""
        for name in ("data.jsonl", "train.log"):
            self.write(name, "one\ntwo\n")
            self.moment()
            for text in ("half", "half of the lines"):
                with self.subTest(name, text=text):
                    self.hold(name, text, ">")
                    self.assertEqual(self.moment()[name], text if name == "train.log" else "one\ntwo\n")
            os.unlink(self.path(name))

    def test_what_inotify_cannot_tell_is_told(self):
        self.observer.watch.problem = "there is no inotify here"
        self.write("a")
        self.moment()
        self.moment()
        self.assertEqual(len(self.said), 1)
        self.assertIn("there is no inotify here: ", self.said[0])

    def test_the_index_names_what_is_not_finished(self):
        self.hold("a")
        self.moment()
        document = read_indexes(self.home, [0])[0]
        self.assertEqual((document.pending, document.entries), (["a"], {}))


class TooMany(OutputCase):
    def test_a_job_whose_files_are_too_many_does_not_fail(self):
        source = "import os, kinetic\ndef write(name): open(os.environ['KINETIC_OUTPUT_PATH'] + name, 'w').close()\nwrite('/a')\nkinetic.commit()\nfor number in range(9): write(f'/b{number}')"
        ran = self.finish(self.start_changed("from kinetic_runner.outputs import index; index.LIMIT = 1000", self.argv(script(), {"train.py": source})))
        self.assertEqual((ran.code, list(self.saved())), (0, ["a"]), ran.err)
        self.assertIn("warning: 9 outputs (0 B) are not saved: b0 (0 B): too many outputs to save: put them into archives", ran.stderr)


class Commit(OutputCase):
    def test_where_nobody_can_listen_nothing_is_promised(self):
        for call in (function(), command(sys.executable, RUNNER, "commit")):
            with self.subTest(call["kind"]):
                self.setUp()
                self.work = os.path.join(self.root, "w" * 100)  # too long for the path of a socket
                os.mkdir(self.work)
                ran = self.run_call(call, {"train.py": "import kinetic\ndef f(): kinetic.commit()"})
                self.assertEqual(ran.code, 1, ran.out)
                self.assertIn("warning: kinetic.commit() does not work here: AF_UNIX path too long", ran.stderr)
                self.assertIn("the outputs are not saved: the runner does not answer: ", ran.stderr)


if __name__ == "__main__":
    unittest.main()
