"""A restore brings what is complete, whole, and nothing else."""

import os
import shutil
import unittest

from bucket import BUCKET
from fixture import JOB
from test_sender import SenderCase

from kinetic_runner.errors import NotFound, RunnerError
from kinetic_runner.outputs import plan, restore, scan, units
from kinetic_runner.outputs.index import Entry, Index, Superseded, index_name, read_index
from kinetic_runner.outputs.keeper import Keeper
from kinetic_runner.outputs.sender import Owner
from kinetic_runner.store.gcs import GCSStore
from kinetic_runner.store.objects import Object


def entry(path, unit=None, size=10, mtime=1, generation="1", link=None):
    return Entry(path, size, 0o644, mtime, "", generation, link, os.path.dirname(path) if unit is None else unit)


def objects(*texts):
    """Objects, each NAME or NAME=JOB/HOST/ATTEMPT."""
    found = []
    for text in texts:
        name, _, mark = text.partition("=")
        found.append(Object(name, 10, "", "1", 1, {"kinetic-sync": mark} if mark else {}))
    return found


PLANS = (  # what it is about, the objects, the indexes, what is brought, what is incomplete
    ("what an index lists", ["a=j/0/1", "b=j/0/1"], {"j": ["a"]}, "a", "b"),
    ("nothing is listed yet", ["a=j/0/1"], {"j": []}, "", "a"),
    ("what a program wrote itself", ["a"], {"j": []}, "a", ""),
    ("a unit that lacks an object", ["d/a=j/0/1", "e/a=j/0/1"], {"j": ["d/a", "d/b", "e/a"]}, "e/a", "d/a"),
    ("another job's, which is complete", ["a=k/0/1", "b=k/0/1"], {"j": [], "k": ["a"]}, "a", "b"),
    ("another job's, which was cleaned up", ["a=k/0/1"], {"j": [], "k": None}, "a", ""),
    ("hostile names", ["../a", "/etc/a", "a//b", "a/./b", "", "d/", "a\0b", "ok"], {"j": []}, "ok", ""),
)


class Plans(unittest.TestCase):
    def test_table(self):
        for name, names, lists, want, incomplete in PLANS:
            with self.subTest(name):
                indexes = {job: None if paths is None else {path: entry(path) for path in paths} for job, paths in lists.items()}
                found = plan.make_plan(objects(*names), indexes)
                self.assertEqual(([item.path for item in found.items], found.incomplete), (want.split(), incomplete.split()))

    def test_links_come_with_their_unit(self):
        link = entry("last", unit="d", link="d/a")
        found = plan.make_plan(objects("d/a=j/0/1"), {"j": {"last": link, "d/a": entry("d/a")}})
        self.assertEqual([item.path for item in found.items], ["d/a", "last"])
        found = plan.make_plan([], {"j": {"last": link, "d/a": entry("d/a")}})
        self.assertEqual(found.items, [])

    def test_an_object_that_was_replaced_is_told(self):
        found = plan.make_plan(objects("a=j/0/1"), {"j": {"a": entry("a", generation="0")}})
        self.assertEqual((found.newer, found.items[0].entry.generation), (["a"], "1"))

    def test_the_newest_units_fit_first(self):
        entries = [entry("old/a", mtime=1), entry("new/a", mtime=1), entry("new/b", mtime=9), entry("mid/a", mtime=5)]
        items = [plan.Item(one.path, one, {}) for one in entries]
        for room, want in ((40, "new/a new/b mid/a old/a"), (30, "new/a new/b mid/a"), (29, "new/a new/b"), (19, "mid/a"), (9, "")):
            with self.subTest(room):
                chosen, left_out = plan.choose(items, room)
                self.assertEqual([item.path for item in chosen], want.split())
                self.assertEqual(len(chosen) + len(left_out), 4)


class KeeperCase(SenderCase):
    """A directory whose outputs are kept, and others to which they are restored."""

    def setUp(self):
        super().setUp()
        self.jobs = GCSStore(f"gs://{BUCKET}", self.bucket.host)
        self.addCleanup(self.jobs.close)
        self.said = []

    def keeper(self, attempt=1, host=0, found=None, root=None):
        index = Index(self.jobs, JOB, host, attempt)
        sender = self.sender_of(host, attempt)
        sender._root = root or self.root
        keeper = Keeper(root or self.root, sender, index, 1000, self.said.append)
        if found is not None:
            index.entries, keeper.saved, keeper.absent = found.entries, found.saved, found.absent
        return keeper

    def save(self, keeper=None):
        """One last round: what it could not save."""
        return (keeper or self.keeper()).last_round(True)

    def restore(self, attempt=2, host=0, room=None, name="restored"):
        root = os.path.join(self.root + "-" + name)
        self.addCleanup(shutil.rmtree, root, ignore_errors=True)
        os.makedirs(root)
        found = restore.Restore(self.jobs, self.store, root, Owner(JOB, host, attempt), self.said.append)
        if room is not None:
            found._room = lambda: room
        found.run(self.store, JOB)
        return found, root

    @staticmethod
    def files(root):
        return sorted(scan.scan(root, temporary=True).files)

    def listed(self, host=0):
        return sorted(read_index(self.jobs, index_name(JOB, host)))


class RoundTrip(KeeperCase):
    def test_files_links_modes_and_times(self):
        os.makedirs(os.path.join(self.root, "d/e"))
        self.write("d/e/ä b%2F#?", b"data")
        self.write("run.sh", b"#!")
        os.chmod(os.path.join(self.root, "run.sh"), 0o755)
        os.utime(os.path.join(self.root, "run.sh"), ns=(5, 1_234_567_890_123_456_789))
        os.symlink("d/e", os.path.join(self.root, "last"))
        self.assertEqual(self.save(), [])
        found, root = self.restore()
        self.assertEqual(self.files(root), ["d/e/ä b%2F#?", "last", "run.sh"])
        info = os.stat(os.path.join(root, "run.sh"))
        self.assertEqual((info.st_mode & 0o777, info.st_mtime_ns), (0o755, 1_234_567_890_123_456_789))
        self.assertEqual(os.readlink(os.path.join(root, "last")), "d/e")
        before = len(self.bucket.requests)
        self.assertEqual(self.save(self.keeper(2, found=found, root=root)), [])
        self.assertEqual(len(self.bucket.requests), before, "nothing has changed, so nothing is asked")

    def test_what_a_program_removed_is_not_restored_and_stays_in_the_store(self):
        self.write("a", b"a")
        self.write("b", b"b")
        keeper = self.keeper()
        self.save(keeper)
        os.unlink(os.path.join(self.root, "a"))
        self.save(keeper)
        self.assertEqual((self.listed(), self.stored("a")), (["b"], b"a"))
        _, root = self.restore()
        self.assertEqual(self.files(root), ["b"])

    def test_half_of_a_unit_is_not_restored(self):
        for name in ("a", "b"):
            os.makedirs(os.path.join(self.root, name))
            self.write(f"{name}/1", b"1")
            self.write(f"{name}/2", b"2")
        self.save()
        del self.bucket.objects[f"{JOB}/outputs/a/2"]
        _, root = self.restore()
        self.assertEqual(self.files(root), ["b/1", "b/2"])
        self.assertIn("1 outputs are not restored, because they are incomplete: a/1", self.said)

    def test_too_small_a_disk(self):
        for name in ("old", "new"):
            os.makedirs(os.path.join(self.root, name))
            self.write(f"{name}/a", b"12345")
        os.utime(os.path.join(self.root, "old/a"), (1, 1))
        self.save()
        found, root = self.restore(room=9)
        self.assertEqual((self.files(root), found.absent), (["new/a"], {"old/a"}))
        self.assertRegex(self.said[-1], r"1 outputs \(5 B\) are not restored, because the disk is too small: old/a: submit with a larger --disk")
        os.unlink(os.path.join(root, "new/a"))
        self.save(self.keeper(2, found=found, root=root))
        self.assertEqual(self.listed(), ["old/a"], "what was not restored is still complete")

    def test_an_object_of_a_program_is_brought_and_left_alone(self):
        self.bucket.put(f"{JOB}/outputs/ckpt/a", b"theirs")
        self.bucket.put(f"{JOB}/outputs/ckpt/", b"")  # a folder, as consoles make it
        found, root = self.restore()
        self.assertEqual(self.files(root), ["ckpt/a"])
        self.save(self.keeper(2, found=found, root=root))
        self.assertEqual(self.bucket.asked("POST"), [])
        with open(os.path.join(root, "ckpt/a"), "wb") as file:
            file.write(b"changed")
        self.assertEqual(self.save(self.keeper(2, found=found, root=root)), [])
        self.assertEqual(self.stored("ckpt/a"), b"changed")

    def test_names_that_cannot_both_be_files(self):
        self.bucket.put(f"{JOB}/outputs/a", b"a")
        self.bucket.put(f"{JOB}/outputs/a/b", b"b")
        _, root = self.restore()
        self.assertEqual(len(self.files(root)), 1)

    def test_a_link_that_leaves_the_directory_is_not_made(self):
        Index(self.jobs, JOB, 0, 1).write({path: entry(path, link=link) for path, link in (("a", "/etc/passwd"), ("b", "../../x"), ("c", "d"))})
        _, root = self.restore()
        self.assertEqual(self.files(root), ["c"])

    def test_a_link_through_another_one_is_not_made(self):
        entries = {path: entry(path, link=link) for path, link in (("a", "."), ("a/b", "../x"), ("c", "d"))}
        Index(self.jobs, JOB, 0, 1).write(entries)
        _, root = self.restore()
        self.assertEqual(self.files(root), ["a", "c"])

    def test_names_that_no_file_can_have_are_told(self):
        for name in ("../a", "b" * 256, "c\0", "d/"):
            self.bucket.put(f"{JOB}/outputs/{name}", b"x")
        _, root = self.restore()
        self.assertEqual((self.files(root), len(self.said)), ([], 1))
        self.assertRegex(self.said[0], r"^3 outputs are not restored, because no file can have their names: ../a, b{199}\u2026, 'c\\x00'$")

    def test_hosts(self):
        self.write("a", b"0")
        self.save(self.keeper(host=0))
        self.write("a", b"1 has another one")
        self.write("b", b"1")
        lost = self.save(self.keeper(host=1))
        self.assertEqual([(one.path, one.why) for one in lost], [("a", f"host 0 has written gs://{BUCKET}/{JOB}/outputs/a, too: each host needs names of its own")])
        self.assertEqual((self.listed(0), self.listed(1), self.stored("a")), (["a"], ["b"], b"0"))
        found, root = self.restore(host=1)
        self.assertEqual((self.files(root), sorted(found.entries)), (["a", "b"], ["b"]))
        with open(os.path.join(root, "a"), "wb") as file:
            file.write(b"changed")
        self.assertEqual([one.path for one in self.save(self.keeper(2, 1, found, root))], ["a"])

    def test_a_later_attempt_is_not_disturbed(self):
        self.write("a", b"late")
        late, new = self.keeper(1), self.keeper(2)
        self.save(new)
        with self.assertRaises(Superseded):
            self.save(late)


class Rounds(KeeperCase):
    def test_what_changes_between_scan_and_round_waits(self):
        keeper = self.keeper()
        self.write("a", b"1")
        keeper.round()
        self.write("a", b"22")
        keeper.round()
        self.assertEqual(self.bucket.names(JOB), [])
        keeper.round()
        self.assertEqual((self.listed(), self.stored("a")), (["a"], b"22"))

    def test_a_unit_stays_one_in_the_index(self):
        os.makedirs(os.path.join(self.root, "10/d"))
        self.write("10/d/a", b"1")
        self.write("10/b", b"1")
        keeper = self.keeper()
        for _ in range(5):
            keeper.round()
        self.assertEqual({one.unit for one in read_index(self.jobs, index_name(JOB, 0)).values()}, {"10"})
        self.assertEqual(len(self.bucket.asked("POST .*ifGenerationMatch=0$")), 3, "the index is written once")

    def link(self, target):
        """Makes last lead to another file."""
        last = os.path.join(self.root, "last")
        if os.path.lexists(last):
            os.unlink(last)
        os.symlink(target, last)

    def test_a_link_waits_for_what_it_leads_to(self):
        keeper = self.keeper()
        for target, path in (("a.pt", "a.pt"), ("d", "d/b.pt")):
            with self.subTest(target):
                os.makedirs(os.path.join(self.root, "d"), exist_ok=True)
                with open(os.path.join(self.root, path), "wb") as file:
                    self.link(target)
                    for _ in range(units.PATIENCE + 2):
                        keeper.round()
                    self.assertNotEqual(self.links().get("last"), target)
                    file.write(b"1")
                for _ in range(units.PATIENCE + 2):
                    keeper.round()
                self.assertEqual(self.links(), {"last": target})

    def links(self):
        try:
            return {path: one.link for path, one in read_index(self.jobs, index_name(JOB, 0)).items() if one.link is not None}
        except NotFound:
            return {}

    def test_what_a_link_leads_to_stays_until_the_link_leads_elsewhere(self):
        keeper = self.keeper()
        self.write("1.ckpt", b"1")
        self.link("1.ckpt")
        keeper.round()
        keeper.round()
        with open(os.path.join(self.root, "2.ckpt"), "wb") as file:
            self.link("2.ckpt")
            os.unlink(os.path.join(self.root, "1.ckpt"))
            for _ in range(units.PATIENCE + 2):
                keeper.round()
            self.assertEqual((self.listed(), self.links()), (["1.ckpt", "last"], {"last": "1.ckpt"}))
            file.write(b"2")
        for _ in range(units.PATIENCE + 2):
            keeper.round()
        self.assertEqual((self.listed(), self.links()), (["2.ckpt", "last"], {"last": "2.ckpt"}))

    def test_a_link_to_nothing_is_saved_as_it_is(self):
        self.link("nothing")
        keeper = self.keeper()
        keeper.round()
        keeper.round()
        self.assertEqual(self.links(), {"last": "nothing"})

    def test_an_open_file_waits(self):
        keeper = self.keeper()
        self.write("a", b"1")
        with open(os.path.join(self.root, "a"), "ab"):
            for _ in range(3):
                keeper.round()
            self.assertEqual(self.bucket.names(JOB), [])
        keeper.round()
        keeper.round()
        self.assertEqual(self.listed(), ["a"])

    def test_a_log_is_saved_while_it_grows(self):
        keeper = self.keeper()
        with open(os.path.join(self.root, "log"), "w", buffering=1) as file:
            for number in range(units.LOG_ROUNDS + 4):
                file.write(f"{number}\n")
                keeper.round()
            self.assertEqual(self.stored("log"), b"0\n1\n2\n3\n4\n5\n")

    def test_the_call_was_killed(self):
        keeper = self.keeper()
        self.write("done", b"1")
        with open(os.path.join(self.root, "open"), "wb") as half:
            half.write(b"half")
            half.flush()
            keeper.round()
        self.write("late", b"1")
        lost = keeper.last_round(False)
        self.assertEqual(self.listed(), ["done"])
        self.assertEqual([(one.path, one.why) for one in sorted(lost)], [(name, "it changed shortly before the call was killed, so it may be incomplete") for name in ("late", "open")])

    def test_objects_without_an_index_are_not_restored(self):
        self.write("a", b"1")
        self.bucket.fail(403, 2, "GET .*sync")
        with self.assertRaisesRegex(RunnerError, "403"):
            self.save()
        self.assertEqual(self.stored("a"), b"1")
        self.assertEqual(self.files(self.restore()[1]), [])
        self.save(self.keeper(2))
        self.assertEqual(self.listed(), ["a"])

    def test_what_cannot_be_an_output(self):
        os.symlink("/etc/passwd", os.path.join(self.root, "out"))
        os.mkfifo(os.path.join(self.root, "fifo"))
        self.write("two\nlines", b"")
        self.write(b"caf\xe9".decode("utf-8", "surrogateescape"), b"")
        self.write("fine.tmp", b"the call has ended, so that this is a name as any other")
        reasons = {one.path: one.why for one in self.save()}
        self.assertEqual(reasons, {
            "out": "it is a link to '/etc/passwd', which is not in the directory of outputs", "fifo": "it is not a file",
            "two\nlines": "its name has a line break", "caf\udce9": "its name is not UTF-8",
        })  # fmt: skip
        self.assertEqual(self.listed(), ["fine.tmp"])


if __name__ == "__main__":
    unittest.main()
