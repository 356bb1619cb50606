"""The plain names of outputs, and what the indexes of several hosts say together."""

import os
import re
import unittest

from bucket import BUCKET
from fixture import JOB, sha256
from kinetic_runner.outputs.index import LATEST, Document, Entry, Index, Past, entry_of, text_of_moment
from kinetic_runner.outputs.plain import Plain
from kinetic_runner.outputs.restore import items_of, moments, read_indexes
from kinetic_runner.outputs.tree import FILE, FOLDER, folders_above
from kinetic_runner.store.gcs import GCSStore
from kinetic_runner.store.names import index_folder, index_name
from test_keeper import KeeperCase

SECOND = 10**9  # nanoseconds


class PlainNames(KeeperCase):
    def bring(self, attempt, text, host=0):
        """Lets a host bring its plain names in step with an index that names this text. Returns what has the name then."""
        name = f"{index_folder(host)}{attempt}-aa/a"
        self.bucket.put(f"{JOB}/{name}", text.encode())
        entry = Entry(FILE, len(text), sha256(text.encode()), 0o644, 0, None, name)
        outputs = GCSStore(f"gs://{BUCKET}/{JOB}/outputs", self.bucket.host)
        self.addCleanup(outputs.close)
        names = Plain(self.home, outputs, f"{JOB}/{host}/{attempt}", self.said.append)
        names.bring(Document(attempt, {"a": entry}))
        return self.bucket.read(f"{JOB}/outputs/a").decode()

    def test_the_next_attempt_replaces_them(self):
        self.assertEqual([self.bring(1, "one"), self.bring(2, "two")], ["one", "two"])

    def test_an_earlier_attempt_that_still_runs_does_not(self):
        self.assertEqual([self.bring(2, "two"), self.bring(1, "one")], ["two", "two"])
        self.assertEqual(self.said, [])

    def test_another_host_does_not_and_tells(self):
        self.assertEqual([self.bring(1, "one"), self.bring(1, "two", host=1)], ["one", "one"])
        self.assertRegex(self.said[0], "^warning: the output 'a' is saved, but not under its plain name: host 0 has written it, too")

    def test_what_a_program_has_written_stays(self):
        self.bucket.put(f"{JOB}/outputs/a", b"its own")
        self.assertEqual(self.bring(1, "one"), "its own")
        self.assertRegex(self.said[0], "exists, and this job has neither written nor restored it$")


class Indexes(unittest.TestCase):
    def test_a_number_that_is_left_out_is_0(self):
        self.assertEqual(entry_of({"path": "_SUCCESS", "sha256": sha256(b"")}, "index"), ("_SUCCESS", Entry(FILE, 0, sha256(b""), 0, 0, None, "")))


class Hosts(KeeperCase):
    """What the indexes of several hosts say together. Times are in seconds."""

    def put(self, number, at, files, pending=(), before=(), ended=False, in_order=False, attempt=1, restored=0):
        """Writes the index of a host as of a moment. files has by path since when it is finished, before also until when."""
        entries = {}
        for path, since in files.items():
            entries.update({folder: Entry(FOLDER, 0, "", 0o755, 0, None, "", since * SECOND) for folder in folders_above(path) if folder not in entries})
            entries[path] = self.entry(number, path, since)
        past = [Past(path, self.entry(number, path, since), until * SECOND) for path, since, until in before]
        parts = {"pending": pending, "before": past, "ended": ended or in_order, "in_order": in_order, "at": text_of_moment(at * SECOND), "restored": restored * SECOND}
        Index(self.home, index_name(number), attempt).write(entries=entries, **parts)

    def entry(self, number, path, since):
        """A file whose text tells whose it is, and since when."""
        data, name = f"{number} since {since}".encode(), f"{index_folder(number)}1-{since}/{path}"
        self.bucket.put(f"{JOB}/{name}", data)
        return Entry(FILE, len(data), sha256(data), 0o644, since * SECOND, None, name, since * SECOND)

    def union(self):
        items = items_of(read_indexes(self.home), self.home, self.home)
        return {path: self.bucket.read(f"{JOB}/{item.name}").decode() for path, item in items.items() if item.entry.kind == FILE}

    def test_a_host_that_has_yet_to_restore_needs_all_that_others_have(self):
        self.put(0, 30, {}, ended=True)
        self.assertEqual(moments(self.home, [0, 1]), [LATEST])
        self.assertEqual(moments(self.home, [0, 1], restoring=2), [0, 0])
        index = Index(self.home, index_name(0), 2)
        index.read()
        index.write_again()
        self.assertEqual(sorted(moments(self.home, [0, 1], restoring=2)), [0, LATEST])

    def test_each_gets_what_all_have(self):
        self.put(0, 30, {"ckpt/0": 10})
        self.put(1, 40, {"ckpt/1": 10, "own": 20})
        self.assertEqual(self.union(), {"ckpt/0": "0 since 10", "ckpt/1": "1 since 10", "own": "1 since 20"})

    def test_a_host_that_restores_later_begins_with_the_same(self):
        self.put(0, 100, {"0": 90}, before=[("0", 10, 90)], attempt=2, restored=30)  # its call has begun
        self.put(1, 40, {"1": 35}, before=[("1", 10, 35)])
        self.assertEqual(self.union(), {"0": "0 since 10", "1": "1 since 10"})

    def test_so_it_does_if_nothing_came_after_the_moment(self):
        self.put(0, 100, {"0": 90}, before=[("0", 10, 90)], attempt=2, restored=60)
        self.put(1, 40, {"1": 35}, ended=True)
        self.assertEqual(self.union(), {"0": "0 since 10", "1": "1 since 35"})

    def test_a_host_that_never_began_costs_the_others_nothing(self):
        self.put(0, 100, {"0": 90}, restored=1)
        self.assertEqual(self.union(), {"0": "0 since 90"})

    def test_what_was_restored_bounds_nothing_once_all_have_done_so(self):
        self.put(0, 100, {"0": 90}, attempt=2, restored=30)
        self.put(1, 95, {"1": 91}, attempt=2, restored=30)
        self.assertEqual(self.union(), {"0": "0 since 90", "1": "1 since 91"})

    def test_a_directory_that_one_has_not_finished_is_left_out(self):
        self.put(0, 30, {"one/0": 10, "two/0": 20})
        self.put(1, 30, {"one/1": 10}, pending=["two"])
        self.assertEqual(self.union(), {"one/0": "0 since 10", "one/1": "1 since 10"})

    def test_what_one_writes_again_does_not_hide_what_it_has(self):
        self.put(0, 30, {"last/0": 10}, pending=["last"])
        self.assertEqual(self.union(), {"last/0": "0 since 10"})

    def test_what_another_host_has_not_seen_yet_is_left_out(self):
        self.put(0, 60, {"ckpt-1/0": 10, "ckpt-2/0": 50})
        self.put(1, 30, {"ckpt-1/1": 10})
        self.assertEqual(self.union(), {"ckpt-1/0": "0 since 10", "ckpt-1/1": "1 since 10"})

    def test_the_first_checkpoint(self):
        self.put(0, 30, {"ckpt-1/0": 20})
        self.put(1, 5, {"log": 4})
        self.assertEqual(self.union(), {"log": "1 since 4"})

    def test_what_one_has_removed_counts_until_the_others_have_done_so(self):
        self.put(0, 60, {"ckpt-2/0": 50}, before=[("ckpt-1/0", 10, 60)])
        self.put(1, 30, {"ckpt-1/1": 10})
        self.assertEqual(self.union(), {"ckpt-1/0": "0 since 10", "ckpt-1/1": "1 since 10"})

    def test_what_both_replace_is_of_one_moment(self):
        self.put(0, 60, {"last/0": 50}, before=[("last/0", 10, 50)])
        self.put(1, 40, {"last/1": 11})
        self.assertEqual(self.union(), {"last/0": "0 since 10", "last/1": "1 since 11"})

    def test_a_directory_that_others_write_to_the_kind_of_is_left_out(self):
        self.put(0, 60, {"ckpt-1/0": 10, "ckpt-2/0": 50, "runs/events": 20, "host-0/log": 1})
        self.put(1, 60, {"ckpt-1/1": 10, "host-1/log": 1})
        self.assertNotIn("ckpt-2/0", self.union())

    def test_the_last_checkpoint_of_one_host_when_all_were_terminated(self):
        self.put(0, 60, {"last": 59, "ckpt-1/0": 10, "ckpt-2/0": 58}, ended=True)
        self.put(1, 40, {"ckpt-1/1": 10}, ended=True)
        self.assertEqual(self.union().keys(), {"last", "ckpt-1/0", "ckpt-1/1"})

    def test_a_host_whose_call_has_ended_writes_no_more(self):
        self.put(0, 60, {"final/model": 59, "ckpt-1/0": 10})
        self.put(1, 20, {"ckpt-1/1": 10}, ended=True)
        self.assertEqual(self.union().keys(), {"final/model", "ckpt-1/0", "ckpt-1/1"})

    def test_what_all_have_ended_with_counts(self):
        self.put(0, 60, {"ckpt-1/0": 10, "ckpt-2/0": 59}, in_order=True)
        self.put(1, 20, {"ckpt-1/1": 10}, in_order=True)
        self.assertEqual(self.union().keys(), {"ckpt-1/0", "ckpt-1/1", "ckpt-2/0"})

    def test_the_newer_one_of_a_name_that_two_write_counts(self):
        self.put(0, 30, {"both": 10})
        self.put(1, 30, {"both": 11})
        self.assertEqual(self.union(), {"both": "1 since 11"})

    def test_a_file_and_a_directory_of_one_name(self):
        self.put(0, 30, {"a": 10})
        self.put(1, 30, {"a/b": 10})
        self.assertNotIn("a/b", self.union())


class Overtaken(KeeperCase):
    """What an attempt reads while an earlier one still writes, and the connection breaks."""

    def setUp(self):
        super().setUp()
        self.replace("last.pt", "one")
        self.moment()

    def lose(self, name, replace):
        """Let the next answer for an object break off, and the object be replaced at that moment."""

        def fault(handler):
            answer = handler.answer
            handler.answer = lambda *args, **kwargs: (replace(), answer(*args, **kwargs))
            handler.cut()

        self.bucket.fail(fault, pattern=f"GET .*{re.escape(name)}.*alt=media")

    def test_its_index(self):
        name = f"{JOB}/{index_name(0)}"
        self.lose(name, lambda: self.bucket.put(name, self.bucket.read(name)))
        self.assertEqual(self.restored(), {"last.pt": "one"})

    def test_an_object_that_is_no_longer_named(self):
        name = f"{JOB}/{self.index.document.entries['last.pt'].object}"
        self.lose(name, lambda: self.bucket.remove(name))
        self.assertEqual(self.restored(), {})
        self.assertIn("not restored", self.said[-1])


class Kept(KeeperCase):
    """What a host keeps for the others."""

    def setUp(self):
        super().setUp()
        self.told = 0  # the moment of the other host
        self.index.others = lambda: [self.told]

    def kept(self):
        return [past.path for past in self.index.document.before if past.entry.kind == FILE]

    def test_what_was_replaced_until_the_others_have_told_of_a_later_moment(self):
        self.replace("last.pt", "one")
        self.moment()
        self.replace("last.pt", "two")
        self.assertEqual(self.moment(), {"last.pt": "two"})
        self.assertEqual((self.kept(), self.unnamed), (["last.pt"], []))
        self.told = self.index.document.moment
        self.moment()
        self.assertEqual((self.kept(), len(self.unnamed)), ([], 1))

    def test_what_was_removed(self):
        self.replace("a/file", "one")
        self.moment()
        os.remove(self.path("a/file"))
        self.assertEqual(self.moment(), {})
        self.assertEqual(self.kept(), ["a/file"])

    def test_what_is_committed_counts_at_once(self):
        for new in (True, False):
            self.replace(f"last-{new}.pt", "one")
            self.moment()
            self.assertNotIn(f"last-{new}.pt", self.index.document.state_at(self.told))
            if new:
                self.replace(f"last-{new}.pt", "two")
            self.keeper.commit()
            self.assertEqual(self.index.document.state_at(self.told), self.index.document.entries)

    def test_nothing_of_a_log(self):
        self.write("train.log", "one")
        self.moment()
        self.write("train.log", "two", "a")
        self.assertEqual((self.moment(), self.kept()), ({"train.log": "onetwo"}, []))

    def test_a_call_that_has_ended_needs_no_later_moment(self):
        for in_order in (False, True):
            self.replace("last.pt", str(in_order))
            self.keeper.finish(in_order)
            self.assertEqual((self.index.document.ended, self.index.document.in_order), (True, in_order))

    def test_the_moment_goes_on_without_a_change(self):
        self.replace("last.pt", "one")
        self.moment()
        before = self.index.document.moment
        self.moment()
        self.assertGreater(self.index.document.moment, before)


if __name__ == "__main__":
    unittest.main()
