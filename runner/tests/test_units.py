"""Which files are finished, and which belong together: scans of two rounds, and what is saved after them."""

import unittest

from fixture import RUNNER  # noqa: F401
from kinetic_runner.outputs import units
from kinetic_runner.outputs.index import Entry
from kinetic_runner.outputs.scan import Stamp


def stamp(version=1, size=10, mode=0o644, inode=None):
    return Stamp(size, version, version, inode, mode, None)


def tree(*paths, **versions):
    """Files by path; a path like a:2 is the second version of a."""
    files = {}
    for text in paths:
        path, _, version = text.partition(":")
        files[path] = stamp(int(version or 1), inode=path)
    return files


def view(*rounds, writing=()):
    """The view after scans with these files, each a string of paths. In the last one, some are open."""
    seen = None
    for number, text in enumerate(rounds):
        seen = units.observe(seen, tree(*text.split()), writing if number == len(rounds) - 1 else ())
    return seen


def index(*paths, unit=None):
    entries = {}
    for path in paths:
        folder = path.rpartition("/")[0]
        entries[path] = Entry(path, 10, 0o644, 1, "md5", "1", None, folder if unit is None else unit)
    return entries


def saved(*args, **kwargs):
    return {path for unit in units.decide(*args, **kwargs) for path in unit.paths}


TRAINER = "checkpoint-5/model.bin checkpoint-5/training_args.bin"
ACCELERATE = "checkpoint-5/model.safetensors checkpoint-5/optimizer.bin"

DECISIONS = (  # what it is about, the scans, open files, what the index has, what is saved
    ("a first scan saves nothing", ["a"], "", "", ""),
    ("a file that did not change", ["a", "a"], "", "", "a"),
    ("a file that changed", ["a", "a:2"], "", "", ""),
    ("a file that changed and stayed", ["a", "a:2", "a:2"], "", "", "a"),
    ("an open file", ["a", "a"], "a", "", ""),
    ("an open file below the root holds up its neighbours", ["a b", "a b"], "a", "", ""),
    ("a new directory is one unit", ["d/a", "d/a d/b"], "", "", ""),
    ("a new directory with all below it is one unit", ["d/a d/e/b", "d/a d/e/b:2"], "", "", ""),
    ("a new directory that is finished", ["d/a d/e/b", "d/a d/e/b"], "", "", "d/a d/e/b"),
    ("a new directory does not hold up another one", ["d/a", "d/a e/b"], "", "", "d/a"),
    ("a directory that appears by a rename waits for a round", ["t/a", "d/a"], "", "", ""),
    ("known directories are units of their own", ["d/a d/e/b", "d/a d/e/b:2"], "", "d/a d/e/b", "d/a"),
    ("a new directory in a known one", ["d/1/a d/2/a", "d/1/a d/2/a d/2/b"], "", "d/1/a", "d/1/a"),
    ("a directory that is being removed", ["d/a d/b", "d/a"], "", "", ""),
    ("a directory from which something was removed before", ["d/a d/b", "d/a", "d/a"], "", "", "d/a"),
    ("the Trainer has not finished", [TRAINER] * 9, "", "", ""),
    ("the Trainer has not finished, in a known directory", ["hf/a " + TRAINER.replace("ch", "hf/ch")] * 2, "", "hf/a", "hf/a"),
    ("the Trainer has finished", [TRAINER + " checkpoint-5/trainer_state.json"] * 2, "", "", TRAINER + " checkpoint-5/trainer_state.json"),
    ("another program's checkpoint-5 waits", [ACCELERATE] * 4, "", "", ""),
    ("another program's checkpoint-5 is finished some time", [ACCELERATE] * 5, "", "", ACCELERATE),
    ("a file that is still for long does not wait for the rest", ["a b", "a b:2", "a b:3", "a b:4", "a b:5"], "", "", "a"),
    ("a file that is still for less waits", ["a b", "a b:2", "a b:3", "a b:4"], "", "", ""),
    ("a part of several waits for long", [f"m-1-of-2 m-2-of-2:{n}" for n in range(1, 9)], "", "", ""),
    ("half of a new directory waits for long", [f"d/1/a d/2/b:{n}" for n in range(1, 9)], "", "", ""),
)  # fmt: skip


class Decisions(unittest.TestCase):
    def test_table(self):
        for name, rounds, writing, known, want in DECISIONS:
            with self.subTest(name):
                seen = view(*rounds, writing=set(writing.split()))
                self.assertEqual(saved(seen, index(*known.split())), set(want.split()))

    def test_everything_is_finished_when_the_call_has_ended(self):
        seen = view("d/a checkpoint-1/training_args.bin", "d/a:2 d/b checkpoint-1/training_args.bin", writing={"d/a"})
        self.assertEqual(saved(seen, {}, everything=True), {"d/a", "d/b", "checkpoint-1/training_args.bin"})

    def test_files_of_a_known_directory_do_not_wait_for_each_other_when_nothing_is_saved_later(self):
        seen = view("a b known/a known/b new/a new/b", "a b:2 known/a known/b:2 new/a new/b:2")
        entries = index("known/a", "known/b")
        self.assertEqual((saved(seen, entries), saved(seen, entries, last=True)), (set(), {"a", "known/a"}))

    def test_an_old_file_needs_no_second_scan(self):
        files = {"new": stamp(100 * 10**9), "old": stamp(60 * 10**9)}
        seen = units.observe(None, files, (), now=100)
        self.assertEqual(seen.still, {"new": 0, "old": 1})

    def test_read_only_files_are_finished_at_once(self):
        files = {"d/a": stamp(mode=0o444), "d/b": stamp(mode=0o400)}
        self.assertEqual(saved(units.observe(None, files, ()), {}), {"d/a", "d/b"})
        files["d/c"] = stamp(mode=0o644)
        self.assertEqual(saved(units.observe(None, files, ()), {}), set())

    def test_a_log_holds_nothing_up(self):
        seen = view("a log", "a log:2", writing={"log"})
        self.assertEqual(saved(seen, {}, logs={"log"}), {"a", "log"})

    def test_a_file_that_was_closed_waits_as_a_new_one(self):
        """Its writer may have been killed."""
        seen = units.observe(None, tree("a"), {"a"})
        for want in (set(), {"a"}):
            seen = units.observe(seen, tree("a"), ())
            self.assertEqual(saved(seen, {}), want)

    def test_small_units_come_first_and_then_the_newest(self):
        big = units.SMALL_BYTES + 1
        files = {"old/a": stamp(1), "new/a": stamp(3), "big/a": stamp(9, big), "mid/a": stamp(2)}
        order = [unit.name for unit in units.decide(units.observe(units.observe(None, files, ()), files, ()), {})]
        self.assertEqual(order, ["new", "mid", "old", "big"])


class Records(unittest.TestCase):
    def test_a_directory_of_directories_stands_for_each_of_them(self):
        cases = (
            ("hf", ["hf/c-1/a", "hf/c-1/s/b", "hf/c-2/a"], ["hf/c-1", "hf/c-1", "hf/c-2"]),
            ("hf", ["hf/config", "hf/c-1/a"], ["hf", "hf"]),
            ("", ["a", "b"], ["", ""]),
        )
        for name, paths, want in cases:
            with self.subTest(paths):
                found = units.record_units(units.Unit(name, paths), known=set())
                self.assertEqual([found[path] for path in paths], want)


class Removed(unittest.TestCase):
    CASES = (  # the scans, what the index has, what leaves it
        (["d/a", ""], "d/a", ""),
        (["d/a", "", ""], "d/a", "d/a"),
        (["d/a d/b", "d/a"], "d/a d/b", ""),
        (["d/a d/b d/c", "d/a d/b", "d/a"], "d/a d/b d/c", ""),
        (["d/a d/b", "d/a", "d/a"], "d/a d/b", "d/b"),
        (["d/a e/b", "d/a e/b", "d/a e/b"], "d/a e/b f/never", "f/never"),
    )

    def test_table(self):
        for rounds, known, want in self.CASES:
            with self.subTest(rounds):
                self.assertEqual(units.removed(view(*rounds), index(*known.split()), ()), want.split())

    def test_what_was_never_restored_stays(self):
        entries = index("d/a")
        self.assertEqual(units.removed(view("b"), entries, {"d/a"}), [])
        self.assertEqual(units.removed(view("b"), entries, {"d/a"}, everything=True), [])

    def test_what_cannot_be_looked_at_stays(self):
        entries = index("a", "d/a", "d/e/b", "de/c")
        for left_out, want in (("", ["a", "d/a", "d/e/b", "de/c"]), ("d", ["a", "de/c"]), ("d/e", ["a", "d/a", "de/c"]), ("a", ["d/a", "d/e/b", "de/c"])):
            for everything in (False, True):
                with self.subTest(left_out, everything=everything):
                    seen = units.observe(units.observe(None, {}, ()), {}, (), left_out={left_out: "Input/output error"})
                    self.assertEqual(units.removed(seen, entries, (), everything), want if left_out else [])

    def test_the_end_waits_for_nothing(self):
        self.assertEqual(units.removed(view("d/a d/b", "d/a"), index("d/a", "d/b"), (), everything=True), ["d/b"])


class Log(unittest.TestCase):
    """A log is a small file that only grows."""

    def look(self, name, *contents, writing=False):
        """What of scans with these contents of a file is a log in the end."""
        held = [b""]
        logs = units.Logs(lambda path, size: held[0][:size][:3] + held[0][:size][-3:])
        seen = found = None
        for number, data in enumerate(contents):
            held[0] = data
            seen = units.observe(seen, {name: stamp(len(data) if not writing else 1, len(data), inode=7)}, {7} if writing else ())
            found = logs.look(seen)
        return bool(found)

    def test_table(self):
        growing = [b"a" * size for size in (3, 6, 9, 12)]
        for name, path, contents, want in (
            ("it grows", "train.log", growing, True),
            ("for too short a time", "train.log", growing[:3], False),
            ("a format that is nothing before it is complete", "model.pt", growing, False),
            ("its beginning changes", "a.json", growing[:3] + [b"b" * 12], False),
            ("it shrinks", "a.json", growing[:3] + [b"a"], False),
        ):
            with self.subTest(name):
                self.assertEqual(self.look(path, *contents), want)

    def test_an_open_file_may_pause(self):
        self.assertTrue(self.look("train.log", *[b"abcdef"] * 4, writing=True))

    def test_a_large_file_is_no_log(self):
        limit = units.LOG_BYTES
        try:
            units.LOG_BYTES = 5
            self.assertFalse(self.look("train.log", *[b"a" * size for size in (3, 6, 9, 12)]))
        finally:
            units.LOG_BYTES = limit


if __name__ == "__main__":
    unittest.main()
