"""A workspace that goes from one bundle to the next."""

import contextlib
import importlib.util
import os
import shutil
import time
import unittest
import unittest.mock

from fixture import RunnerCase, pack, sha256
from kinetic_runner.bundle.tree import read_index
from kinetic_runner.bundle.update import memory_of, seal, update_bundle
from kinetic_runner.store import open_store

NOBODY = 65534


def content(root):
    """All files below a directory, with their content; links with their target; empty directories."""
    found = {}
    for parent, folders, names in os.walk(root):
        for name in names + [name for name in folders if os.path.islink(os.path.join(parent, name))]:
            path = os.path.join(parent, name)
            if os.path.islink(path):
                found[os.path.relpath(path, root)] = "-> " + os.readlink(path)
            else:
                with open(path) as file:
                    found[os.path.relpath(path, root)] = file.read()
        if not names and not folders:
            found[os.path.relpath(parent, root) + "/"] = ""
    return found


def apart(files, path, text):
    """The index and the blobs of a bundle in which a file with a new text is a blob of its own, stored as it is."""
    index, blobs = pack({name: files[name] for name in files if name != path})
    data = text.encode()
    index["files"].append({"path": path, "size": len(data), "blob": 1, "offset": 0})
    index["files"].sort(key=lambda entry: entry["path"])
    index["blobs"].append({"sha256": sha256(data), "size": len(data)})
    return index, [*blobs, data]


class Workspace(RunnerCase):
    """A workspace that bundles fill."""

    def setUp(self):
        super().setUp()
        self.workspace = os.path.join(self.root, "workspace")
        self.memory = memory_of(self.workspace)
        os.mkdir(self.workspace)
        self.stored = open_store(self.store_url, "", "", "")

    def update(self, files, **kwargs):
        """Goes to this bundle; returns the files that were written for it."""
        return self.go_to(*pack(files, **kwargs))

    def go_to(self, index, blobs):
        before = self.seals()
        update_bundle(self.stored, read_index(self.stored, self.put_index(index, blobs)), self.workspace)
        return {path for path, mark in self.seals().items() if mark != before.get(path)}

    def seals(self):
        return {path: seal(os.path.join(self.workspace, path)) for path in content(self.workspace)}

    def touch(self, path, text="x"):
        path = os.path.join(self.workspace, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)


class Update(Workspace):
    def test_only_what_the_call_touched_is_written_again(self):
        files = {"a.py": "a", "deep/b.py": "b", "deep/er/c.py": "c"}
        self.assertEqual(self.update(files), set(files))
        self.assertEqual(self.update(files), set())
        self.touch("deep/b.py", "B")  # of the same size
        os.utime(os.path.join(self.workspace, "deep/b.py"), ns=(1, 1))
        self.touch("left/over.txt")
        self.touch("deep/new.py")
        self.assertEqual(self.update(files), {"deep/b.py"})
        self.assertEqual(content(self.workspace), files)
        os.chmod(os.path.join(self.workspace, "a.py"), 0o777)
        os.unlink(os.path.join(self.workspace, "deep/er/c.py"))
        self.update(files)
        self.assertEqual(content(self.workspace), files)
        self.assertEqual(os.stat(os.path.join(self.workspace, "a.py")).st_mode & 0o777, 0o644)

    def test_whatever_stands_where_a_file_belongs(self):
        files = {"a": "a", "b/c": "c"}
        self.update(files)
        outside = os.path.join(self.root, "outside")
        os.mkdir(outside)
        with open(os.path.join(outside, "c"), "w") as file:
            file.write("c")
        os.unlink(os.path.join(self.workspace, "a"))
        self.touch("a/file")
        os.rename(os.path.join(self.workspace, "b"), os.path.join(self.workspace, "moved"))
        os.symlink(outside, os.path.join(self.workspace, "b"))
        self.update(files)
        self.assertEqual(content(self.workspace), files)
        self.assertFalse(os.path.islink(os.path.join(self.workspace, "b")))
        self.update({"a/b": "file in a directory that was a file", "b": "the other way round"})
        self.assertEqual(content(self.workspace), {"a/b": "file in a directory that was a file", "b": "the other way round"})
        self.assertEqual(content(outside), {"c": "c"})

    def test_whatever_stands_where_the_workspace_belongs(self):
        """What a link leads to stays as it is."""
        other = os.path.join(self.root, "other")
        os.mkdir(other)
        with open(os.path.join(other, "kept"), "w") as file:
            file.write("kept")
        for name in ("a link", "a link to nothing", "a file"):
            with self.subTest(name):
                os.rename(self.workspace, os.path.join(self.root, name))
                if name == "a file":
                    open(self.workspace, "w").close()
                else:
                    os.symlink(other if name == "a link" else "nothing", self.workspace)
                index, blobs = pack({"a.py": "1"})
                update_bundle(self.stored, read_index(self.stored, self.put_index(index, blobs)), self.workspace)
                self.assertEqual((content(self.workspace), content(other)), ({"a.py": "1"}, {"kept": "kept"}))
                self.assertFalse(os.path.islink(self.workspace))

    def test_byte_code_of_changed_files_goes(self):
        files = {"same.py": "1", "changed.py": "1", "sub/gone.py": "1", "own/changed.py": "1"}
        self.update(files)
        for name in ("same", "changed"):
            self.touch(f"__pycache__/{name}.cpython-311.pyc")
            self.touch(f"__pycache__/{name}.cpython-311.opt-1.pyc")
        self.touch("sub/__pycache__/gone.cpython-311.pyc")
        self.touch("own/__pycache__/changed.cpython-311.pyc")
        self.touch("__pycache__/deep/file")
        self.assertEqual(self.update({"same.py": "1", "changed.py": "2", "own/changed.py": "2"}), {"changed.py", "own/changed.py"})
        names = sorted(path for path in content(self.workspace) if path.endswith(".pyc"))
        self.assertEqual(names, ["__pycache__/same.cpython-311.opt-1.pyc", "__pycache__/same.cpython-311.pyc"])

    @unittest.skipUnless(hasattr(os, "fork") and os.geteuid() == 0, "needs root, to become somebody else")
    def test_modes_of_directories_that_a_call_has_changed(self):
        files = {"a.py": "1", "pk/b.py": "1", "pk/deep/c.py": "1"}
        self.update(files)
        shutil.chown(self.root, NOBODY)
        for folder, _, names in os.walk(self.root):
            for path in [folder, *(os.path.join(folder, name) for name in names)]:
                os.chown(path, NOBODY, NOBODY)
        child = os.fork()
        if child == 0:  # root may do anything in any directory
            with contextlib.suppress(Exception):
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                os.makedirs(os.path.join(self.workspace, "own/deep"))
                for folder in ("own/deep", "own", "pk/deep", "pk", "."):
                    os.chmod(os.path.join(self.workspace, folder), 0o500)
                self.update(dict(files, **{"pk/new.py": "1"}))
                os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(content(self.workspace), dict(files, **{"pk/new.py": "1"}))
        for folder in ("", "pk", "pk/deep"):
            self.assertEqual(os.stat(os.path.join(self.workspace, folder)).st_mode & 0o777, 0o755, folder)

    def test_byte_code_elsewhere(self):
        prefix = os.path.join(self.root, "prefix")
        with unittest.mock.patch.dict(os.environ, PYTHONPYCACHEPREFIX=prefix), unittest.mock.patch("sys.pycache_prefix", prefix):
            places = {name: importlib.util.cache_from_source(os.path.join(self.workspace, name)) for name in ("same.py", "own/changed.py")}
            self.update({"same.py": "1", "own/changed.py": "1"})
            for place in places.values():
                os.makedirs(os.path.dirname(place), exist_ok=True)
                open(place, "w").close()
            self.update({"same.py": "1", "own/changed.py": "2"})
        self.assertEqual([os.path.exists(place) for place in places.values()], [True, False])

    def test_byte_code_of_a_module_with_a_file_of_the_same_name_beside_it(self):
        files = {"a.py": "one", "a.txt": "text"}
        self.update(files)
        self.touch("__pycache__/a.cpython-311.pyc")
        self.update(files)
        self.assertIn("__pycache__/a.cpython-311.pyc", content(self.workspace))
        self.update(dict(files, **{"a.py": "two"}))
        self.assertNotIn("__pycache__/a.cpython-311.pyc", content(self.workspace))

    def test_a_file_that_becomes_a_blob_of_its_own(self):
        files = {"a.py": "one", "b.py": "two"}
        self.update(files)
        self.assertEqual(self.go_to(*apart(files, "a.py", "ONE")), {"a.py"})  # of the same size
        self.assertEqual(self.go_to(*apart(files, "a.py", "ONE")), set())
        self.touch("a.py", "123")
        self.assertEqual(self.go_to(*apart(files, "a.py", "ONE")), {"a.py"})
        self.assertEqual(self.update(files), {"a.py"})
        self.assertEqual(content(self.workspace), files)

    def test_byte_code_of_a_file_that_is_a_blob_of_its_own(self):
        files = {"config.py": "one", "config.prod.py": "two"}
        self.go_to(*apart(files, "config.py", "LR = 1"))
        self.touch("__pycache__/config.cpython-311.pyc")
        self.go_to(*apart(files, "config.py", "LR = 2"))
        self.assertNotIn("__pycache__/config.cpython-311.pyc", content(self.workspace))

    def test_a_linked_cache(self):
        index, blobs = pack({"a.py": "one", "kept/a.txt": "text"})
        index["links"] = [{"path": "__pycache__", "target": "kept"}]
        self.go_to(index, blobs)
        self.assertEqual(content(self.workspace)["kept/a.txt"], "text")

    def test_an_update_that_was_cut_off(self):
        files = {"a.py": "a", "b.py": "b"}
        self.update(files)
        os.unlink(self.memory)
        self.touch("a.py", "A")
        self.update(files)
        self.assertEqual(content(self.workspace), files)
        for text in ("", "[]", '{"a.py": 1}', "\0"):
            with open(self.memory, "w") as file:
                file.write(text)
            self.touch("a.py", "A")
            self.update(files)
            self.assertEqual(content(self.workspace), files)

    def test_a_file_that_is_touched_while_the_clock_stands_still(self):
        # ctime has the kernel's tick: a change within the one of the writing has the same, but another size or inode.
        self.update({"a.py": "a"})
        until = time.monotonic() + 1
        while time.monotonic() < until:
            self.touch("a.py", "A")
            self.update({"a.py": "a"})
            self.assertEqual(content(self.workspace), {"a.py": "a"})


if __name__ == "__main__":
    unittest.main()
