"""A workspace that is swept before its next bundle is known."""

import marshal
import os
import shutil
import time
import unittest
from unittest import mock

import test_update
from fixture import RUNNER, TIMEOUT, pack, sha256
from hosting import Hosting
from kinetic_runner.bundle.tree import read_index
from kinetic_runner.bundle.update import mounted_below, recall, update_bundle
from kinetic_runner.errors import RunnerError
from kinetic_runner.inotify import Inotify
from kinetic_runner.warm.swept import Swept as OneSwept
from kinetic_runner.warm.swept import sweep_ahead
from test_update import Workspace, content

FILES = {"a.py": "a", "deep/b.py": "b", "deep/er/c.py": "c"}


class Reading(Workspace):
    def read(self, name, swept):
        """An index, with what is known of the workspace."""
        return read_index(self.stored, name, swept and swept.take_earlier())


class UpdateOfSwept(test_update.Update, Reading):
    """All tests of an update, for a workspace that was swept before it."""

    def go_to(self, index, blobs):
        before = self.seals()
        swept = sweep_ahead(self.workspace)
        self.assertEqual(swept is None, not recall(self.memory)[1] or os.path.islink(self.workspace))
        update_bundle(self.stored, self.read(self.put_index(index, blobs), swept), self.workspace, swept)
        return {path for path, mark in self.seals().items() if mark != before.get(path)}


class Swept(Reading):
    def setUp(self):
        super().setUp()
        self.update(FILES)

    def finish(self, swept, files):
        """Goes to this bundle with what is known of the workspace."""
        update_bundle(self.stored, self.read(self.put_index(*pack(files)), swept), self.workspace, swept)
        self.assertEqual(content(self.workspace), files)

    def holds(self, swept):
        """Whether nothing was changed, if the next bundle is the same."""
        return swept.holds(self.workspace, self.read(self.put_index(*pack(FILES)), swept))

    def test_what_a_call_has_left_goes_before_the_next_one(self):
        self.touch("left/over.txt")
        self.touch("a.py", "A")
        os.symlink("a.py", os.path.join(self.workspace, "link"))
        self.assertEqual(sweep_ahead(self.workspace).files, {"deep/b.py", "deep/er/c.py"})
        self.assertEqual(content(self.workspace), {name: FILES[name] for name in FILES if name != "a.py"})

    def test_no_second_sweep(self):
        for name, files in (("the same", FILES), ("an edit", dict(FILES, **{"deep/b.py": "B"})), ("a new file", dict(FILES, **{"deep/b.py": "B", "new/d.py": "d"}))):
            with self.subTest(name):
                swept = sweep_ahead(self.workspace)
                with mock.patch("kinetic_runner.bundle.update.sweep", side_effect=AssertionError("it is swept again")):
                    self.finish(swept, files)

    def test_a_file_less(self):
        """Its directory goes, too."""
        swept = sweep_ahead(self.workspace)
        self.finish(swept, {"a.py": "a"})
        self.assertEqual(sorted(os.listdir(self.workspace)), ["a.py"])

    def test_every_change_after_the_sweep_is_noticed(self):
        def in_place(path):
            with open(path, "r+") as file:
                file.write("!")

        def replaced(path):
            with open(path + ".new", "w") as file:
                file.write("!")
            os.replace(path + ".new", path)

        def moved(path):
            os.rename(os.path.dirname(path), os.path.join(self.root, "elsewhere"))

        def deleted(path):
            os.unlink(path)

        def beside(path):
            os.mkdir(os.path.join(os.path.dirname(path), "new"))

        def other_mode(path):
            os.chmod(path, 0o600)

        def another_directory(path):
            folder = os.path.dirname(path)
            os.rename(folder, os.path.join(self.root, "aside"))
            shutil.copytree(os.path.join(self.root, "aside"), folder)
            shutil.rmtree(os.path.join(self.root, "aside"))

        for change in (in_place, replaced, moved, deleted, beside, other_mode, another_directory):
            with self.subTest(change.__name__):
                swept = sweep_ahead(self.workspace)
                change(os.path.join(self.workspace, "deep/er/c.py"))
                shutil.rmtree(os.path.join(self.root, "elsewhere"), ignore_errors=True)
                self.assertFalse(self.holds(swept))
                self.finish(sweep_ahead(self.workspace), FILES)

    def test_byte_code_that_comes_after_the_sweep_is_noticed(self):
        self.touch("deep/er/__pycache__/c.cpython-311.pyc")
        swept = sweep_ahead(self.workspace)
        self.touch("deep/er/__pycache__/d.cpython-311.pyc")
        self.assertFalse(self.holds(swept))

    def test_a_change_after_the_sweep_does_not_reach_the_call(self):
        swept = sweep_ahead(self.workspace)
        self.touch("a.py", "A")
        self.finish(swept, FILES)

    def test_another_workspace_in_its_place(self):
        swept = sweep_ahead(self.workspace)
        os.rename(self.workspace, os.path.join(self.root, "elsewhere"))
        os.mkdir(self.workspace)
        self.touch("a.py", "A")
        self.finish(swept, FILES)

    def test_another_tree_with_the_same_names_in_its_place(self):
        swept = sweep_ahead(self.workspace)
        parent = self.root + ".aside"
        os.rename(self.root, parent)
        self.addCleanup(shutil.rmtree, parent)
        shutil.copytree(parent, self.root)
        self.touch("a.py", "A")
        self.assertFalse(self.holds(swept))

    def test_a_directory_that_appears_between_the_sweeps(self):
        shutil.rmtree(os.path.join(self.workspace, "deep"))
        changed, questions = OneSwept._changed, []

        def appears(swept):
            questions.append(swept)
            if len(questions) == 2:  # after the first sweep
                os.mkdir(os.path.join(self.workspace, "deep"))
            return changed(swept)

        with mock.patch.object(OneSwept, "_changed", appears):
            swept = sweep_ahead(self.workspace)
        self.touch("deep/new.py")
        self.assertFalse(self.holds(swept))

    def test_what_a_call_has_forged(self):
        for known in ({b"a.py": ["o", None, ""]}, {"a.py": [5, None, 5]}, {"\udcff\ud800.py": ["o", None, ""]}, {"a.py": ["o", [1, 2, 3], ""], "../x": ["o", None, ""]}):
            with self.subTest(known):
                packed, marks = recall(self.memory)
                for memory in ((packed, known), (packed, {name: mark for name, mark in marks.items() if name != "a.py"}), (b"", known), known, (packed, FILES), ("", {})):
                    with open(self.memory, "wb") as file:
                        file.write(marshal.dumps(memory))
                    self.finish(sweep_ahead(self.workspace), FILES)

    def test_a_tree_too_deep_to_remove(self):
        with mock.patch("kinetic_runner.warm.swept.sweep", side_effect=RecursionError):
            self.assertIsNone(sweep_ahead(self.workspace))

    def test_a_mounted_volume_is_never_emptied(self):
        with open("/proc/self/mountinfo", encoding="utf-8") as file:
            line = file.readline().split(" ")
        line[4] = os.path.join(os.path.realpath(self.workspace), "deep")
        with mock.patch("builtins.open", mock.mock_open(read_data=" ".join(line))):
            self.assertEqual(mounted_below(self.workspace), [line[4]])
        with mock.patch("kinetic_runner.warm.swept.mounted_below", return_value=["/x"]), mock.patch("kinetic_runner.bundle.update.mounted_below", return_value=["/x"]):
            self.assertIsNone(sweep_ahead(self.workspace))
            with self.assertRaisesRegex(RunnerError, "^/x is mounted in the directory of the code, which is emptied between calls"):
                self.finish(None, {})
        self.assertEqual(content(self.workspace), FILES)

    def test_the_watch_ends_with_the_question(self):
        swept = sweep_ahead(self.workspace)
        before = len(os.listdir("/proc/self/fd"))
        self.assertTrue(self.holds(swept))
        self.eventually(lambda: len(os.listdir("/proc/self/fd")) == before - 1)

    def test_a_watch_without_a_thread(self):
        swept = sweep_ahead(self.workspace)
        before = len(os.listdir("/proc/self/fd"))
        with mock.patch("kinetic_runner.warm.swept.start_threads", return_value=[]):
            self.assertTrue(self.holds(swept))
        self.assertEqual(len(os.listdir("/proc/self/fd")), before - 1)

    def test_a_file_that_the_call_and_its_author_have_changed(self):
        self.touch("a.py", "by the call")
        self.finish(sweep_ahead(self.workspace), dict(FILES, **{"a.py": "edited"}))

    def test_a_large_file_whose_parts_change(self):
        def parted(text):
            blobs = [b"xx", text[:2].encode(), text[2:].encode()]
            files = [{"path": "a", "size": 2, "blob": 0, "offset": 0}, {"path": "large", "size": 4, "parts": [1, 2]}]
            return {"version": 2, "blobs": [{"sha256": sha256(blob), "size": len(blob)} for blob in blobs], "files": files}, blobs

        for text in ("AABB", "CCBB", "CCDD"):
            swept = sweep_ahead(self.workspace)
            update_bundle(self.stored, self.read(self.put_index(*parted(text)), swept), self.workspace, swept)
            self.assertEqual(content(self.workspace), {"a": "xx", "large": text})

    def test_a_large_project(self):
        """Its index is not read ahead."""
        with mock.patch("kinetic_runner.warm.swept.MOST_FILES", len(FILES) - 1):
            for files in (FILES, dict(FILES, **{"a.py": "edited"}), {"a.py": "a"}):
                swept = sweep_ahead(self.workspace)
                self.assertIsNone(swept.take_earlier())
                self.finish(swept, files)

    def test_nothing_is_kept(self):
        os.unlink(self.memory)
        self.assertIsNone(sweep_ahead(self.workspace))
        self.assertEqual(content(self.workspace), FILES)

    def test_a_link_in_its_place(self):
        """What it leads to stays as it is."""
        other = os.path.join(self.root, "other")
        os.rename(self.workspace, other)
        os.symlink(other, self.workspace)
        self.touch("mine")
        before = os.stat(other)
        self.assertIsNone(sweep_ahead(self.workspace))
        self.assertEqual(os.stat(other), before)
        self.assertIn("mine", os.listdir(other))

    def test_a_system_that_tells_of_no_changes(self):
        with mock.patch.object(Inotify, "read", return_value=b""):
            self.assertIsNone(sweep_ahead(self.workspace))
        with mock.patch.object(Inotify, "add", side_effect=OSError(28, "no more watches")):
            self.assertIsNone(sweep_ahead(self.workspace))


# Notes how many files of an index are checked that is read after another one.
COUNTING = """import sys
sys.path.insert(0, %r)
from kinetic_runner.bundle import tree
def parse_files(document, path_of, blobs, where, earlier, before=tree.parse_files):
    files, new = before(document, path_of, blobs, where, earlier)
    if earlier:
        with open(%r, "a") as file:
            file.write(f"{len(new)} of {len(files)}\\n")
    return files, new
tree.parse_files = parse_files
import runpy
runpy.run_path(%r, run_name="__main__")
"""


class OnHost(Hosting):
    def test_the_next_call_checks_nothing_again(self):
        counts, program = os.path.join(self.root, "counts"), os.path.join(self.root, "program.py")
        with open(program, "w") as file:
            file.write(COUNTING % (RUNNER, counts, RUNNER))
        _, port = self.warm("preloaded", change=f"from kinetic_runner.warm import calls; calls.PROGRAM = {program!r}")
        self.values(port, "def f(): pass", files={"a.py": "", "b.py": ""})
        if os.path.exists(counts):  # of the files of the call before
            os.unlink(counts)
        until, pause = time.monotonic() + TIMEOUT, 0.1
        while not os.path.exists(counts) or not os.path.getsize(counts):  # a call that comes early is not swept for
            self.assertLess(time.monotonic(), until)
            self.assertEqual(self.values(port, "def f(): return 1", files={"a.py": "a", "b.py": "b"})[0], [1])
            pause *= 2  # on a busy machine it takes long to sweep
            time.sleep(pause)
        with open(counts) as file:
            self.assertEqual(set(file), {"0 of 3\n"})


if __name__ == "__main__":
    unittest.main()
