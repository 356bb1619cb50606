"""Whatever an index says, nothing leaves the tree, and what is wrong is refused before anything is written."""

import base64
import contextlib
import copy
import gzip
import json
import os
import random
import tempfile
import unittest

from fixture import file_entry, sha256
from kinetic_runner.errors import RunnerError
from kinetic_runner.store import open_store
from kinetic_runner.bundle.tree import Earlier, parse_index, read_index
from kinetic_runner.bundle.unpack import Tree


def index_of(*entries, dirs=(), links=()):
    blobs = [{"sha256": "0" * 64, "size": 10, "encoding": "gzip"}]
    return {"version": 2, "blobs": blobs, "files": list(entries), "dirs": list(dirs), "links": [{"path": path, "target": target} for path, target in links]}


def parse(document):
    return parse_index(json.dumps(document).encode(), "the index")


def encoded(document):
    """The same index with names in base64."""

    def name(text):
        return base64.b64encode(text.encode("utf-8", "surrogateescape")).decode()

    links = [{key: name(text) for key, text in link.items()} for link in document["links"]]
    files = [dict(file, path=name(file["path"])) for file in document["files"]]
    return dict(document, names="base64", files=files, links=links, dirs=[name(path) for path in document["dirs"]])


class HostileIndex(unittest.TestCase):
    def refuse(self, document):
        with self.assertRaises(RunnerError) as caught:
            parse(document)
        self.assertIn("the index", str(caught.exception))

    def test_paths(self):
        relative = ["", "/etc/passwd", "..", "../x", "a/../x", "a/..", ".", "./a", "a/./b", "a//b", "a/", "//a", "a\0b"]
        for path in relative + ["a\\b", "..\\x", "C:\\x", "\udc80"]:
            for name, document in (("file", index_of(file_entry(path))), ("dir", index_of(dirs=[path])), ("link", index_of(links=[(path, "x")]))):
                with self.subTest(path=path, kind=name):
                    self.refuse(document)
                    if path in relative:
                        self.refuse(encoded(document))

    def test_good_paths(self):
        good = ["top", "..a", "a..", "...", "a/b.c/d", "with space", "ünï", ".hidden/.x", "a:b", "-rf"]
        index = parse(index_of(*(file_entry(path) for path in good), dirs=["empty/one"]))
        self.assertEqual([file.path for file in index.files], good)
        self.assertEqual(index.dirs, ["empty/one"])
        odd = good + ["a\\b", "\udc80"]
        self.assertEqual([file.path for file in parse(encoded(index_of(*(file_entry(path) for path in odd)))).files], odd)

    def test_links(self):
        good = [("a", "b"), ("a", "."), ("a/b", "../c"), ("a/b/c", "../../d/e"), ("a/b", ".."), ("a", "b/c"), ("a", "..."), ("x/y", "a:b")]
        for path, target in good:
            for document in (index_of(links=[(path, target)]), encoded(index_of(links=[(path, target)]))):
                with self.subTest(path=path, target=target):
                    self.assertEqual(parse(document).links, [(path, target)])
        bad = ["", "/", "/etc", "..", "../x", "../../x", "a/../../x", "a/..", "a/../b", "./a", "a/", "a//b", "./..", "a\0"]
        for path, target in [("a", target) for target in bad] + [("a/b", "../.."), ("a/b", "../../c"), ("a/b", "../c/../../.."), ("a", "b\\c"), ("a", "\udc80")]:
            with self.subTest(path=path, target=target):
                self.refuse(index_of(links=[(path, target)]))
                if "\\" not in target and "\udc80" not in target:
                    self.refuse(encoded(index_of(links=[(path, target)])))

    def test_conflicts(self):
        cases = {
            "file twice": index_of(file_entry("a"), file_entry("a")),
            "file below a file": index_of(file_entry("a"), file_entry("a/b/c")),
            "file below a file, other order": index_of(file_entry("a/b/c"), file_entry("a")),
            "directory below a file": index_of(file_entry("a"), dirs=["a/b"]),
            "directory that is a file": index_of(file_entry("a/b"), dirs=["a/b"]),
            "directory twice": index_of(dirs=["a", "a"]),
            "link twice": index_of(links=[("a", "x"), ("a", "y")]),
            "link that is a file": index_of(file_entry("a"), links=[("a", "x")]),
            "link that is a directory": index_of(dirs=["a"], links=[("a", "x")]),
            "file below a link": index_of(file_entry("a/b"), links=[("a", "x")]),
            "directory below a link": index_of(dirs=["a/b/c"], links=[("a", "x")]),
            "link below a link": index_of(links=[("a", "x"), ("a/b", "x")]),
        }
        for name, document in cases.items():
            with self.subTest(name):
                self.refuse(document)
                self.refuse(encoded(document))

    def test_malformed(self):
        blob = {"sha256": "0" * 64, "size": 10}
        file = file_entry("a")
        part = {"path": "a", "size": 20}
        cases = {
            "no object": [],
            "older version": {"version": 1},
            "newer version": {"version": 3},
            "no version": {"blobs": [], "files": []},
            "files no list": {"version": 2, "files": {}},
            "file no object": {"version": 2, "blobs": [blob], "files": ["a"]},
            "size is text": {"version": 2, "blobs": [blob], "files": [file_entry("a", size="1")]},
            "size is true": {"version": 2, "blobs": [blob], "files": [file_entry("a", size=True)]},
            "negative size": {"version": 2, "blobs": [blob], "files": [file_entry("a", size=-1)]},
            "negative offset": {"version": 2, "blobs": [blob], "files": [file_entry("a", offset=-1)]},
            "no such blob": {"version": 2, "blobs": [blob], "files": [file_entry("a", blob=1)]},
            "no blobs": {"version": 2, "files": [{"path": "a", "size": 0}]},
            "negative blob": {"version": 2, "blobs": [blob], "files": [file_entry("a", blob=-1)]},
            "outside of its blob": {"version": 2, "blobs": [blob], "files": [file_entry("a", size=6, offset=5)]},
            "hash that is a path": {"version": 2, "blobs": [{"sha256": "../../../etc/passwd", "size": 1}], "files": []},
            "upper-case hash": {"version": 2, "blobs": [{"sha256": "A" * 64, "size": 1}], "files": []},
            "unknown encoding": {"version": 2, "blobs": [dict(blob, encoding="zstd")], "files": []},
            "negative blob size": {"version": 2, "blobs": [dict(blob, size=-1)], "files": []},
            "mode is text": {"version": 2, "blobs": [blob], "files": [dict(file, mode="755")]},
            "negative mode": {"version": 2, "blobs": [blob], "files": [dict(file, mode=-1)]},
            "mode with setuid": {"version": 2, "blobs": [blob], "files": [dict(file, mode=0o4755)]},
            "parts no list": {"version": 2, "blobs": [blob], "files": [dict(part, parts={"0": 0})]},
            "part is text": {"version": 2, "blobs": [blob], "files": [dict(part, parts=["0", "0"])]},
            "part is true": {"version": 2, "blobs": [blob, blob], "files": [dict(part, parts=[True, True])]},
            "no such part": {"version": 2, "blobs": [blob], "files": [dict(part, parts=[0, 1])]},
            "negative part": {"version": 2, "blobs": [blob], "files": [dict(part, parts=[-1, 0])]},
            "parts too short": {"version": 2, "blobs": [blob], "files": [dict(part, parts=[0])]},
            "parts too long": {"version": 2, "blobs": [blob], "files": [dict(part, parts=[0, 0, 0])]},
            "compressed part": {"version": 2, "blobs": [dict(blob, encoding="gzip")], "files": [dict(part, parts=[0, 0])]},
            "parts and a blob": {"version": 2, "blobs": [blob, blob], "files": [dict(part, parts=[0, 0], blob=1)]},
            "parts and an offset": {"version": 2, "blobs": [blob], "files": [dict(part, parts=[0, 0], offset=1)]},
            "names in another code": {"version": 2, "names": "hex"},
            "name not in base64": {"version": 2, "names": "base64", "dirs": ["a b"]},
            "name in half of base64": {"version": 2, "names": "base64", "dirs": ["YQ"]},
            "links no list": {"version": 2, "links": {}},
            "link no object": {"version": 2, "links": ["a"]},
            "link without a target": {"version": 2, "links": [{"path": "a"}]},
        }
        for name, document in cases.items():
            with self.subTest(name):
                self.refuse(document)

    def test_null_lists_are_empty(self):
        self.assertEqual(parse({"version": 2, "blobs": None, "files": None, "dirs": None, "links": None})[:4], ([], [], [], []))


class AfterAnother(unittest.TestCase):
    """An index is read after another one as it is by itself."""

    CHANGES = {
        "an edit": lambda index, entry: entry.update(size=entry["size"] + 1),
        "another mode": lambda index, entry: entry.update(mode=0o755),
        "another blob": lambda index, entry: entry.update(blob=1 - entry.get("blob", 0)),
        "a file less": lambda index, entry: index["files"].remove(entry),
        "a file more": lambda index, entry: index["files"].append(dict(entry, path=entry["path"] + "x")),
        "a file twice": lambda index, entry: index["files"].append(entry),
        "a file that is a directory": lambda index, entry: index["files"].append(dict(entry, path=entry["path"] + "/x")),
        "a directory": lambda index, entry: index["dirs"].append(entry["path"] + "d"),
        "a directory that is a file": lambda index, entry: index["dirs"].append(entry["path"]),
        "a link": lambda index, entry: index["links"].append({"path": entry["path"] + "l", "target": "x"}),
        "a link that is a file": lambda index, entry: index["links"].append({"path": entry["path"], "target": "x"}),
        "a way out": lambda index, entry: entry.update(path="../x"),
        "no path": lambda index, entry: entry.pop("path"),
        "a list as its path": lambda index, entry: entry.update(path=["x"]),
        "no file": lambda index, entry: index["files"].append(5),
        "a part": lambda index, entry: entry.update(parts=[0]),
        "a smaller blob": lambda index, entry: index["blobs"][0].update(size=3),
        "a blob before": lambda index, entry: index["blobs"].insert(0, dict(index["blobs"][1], sha256="2" * 64)),
        "a blob less": lambda index, entry: index["blobs"].pop(),
        "another order": lambda index, entry: index["files"].reverse(),
        "other names": lambda index, entry: index.update(names="" if index.get("names") else "base64"),
    }

    def setUp(self):
        self.root = tempfile.TemporaryDirectory()
        self.addCleanup(self.root.cleanup)
        self.store = open_store(f"file://{self.root.name}", "", "", "")

    def stored(self, document):
        """Stores an index; returns its hash."""
        data = gzip.compress(json.dumps(document).encode(), mtime=0)
        name = sha256(data)
        os.makedirs(os.path.join(self.root.name, "blobs", "sha256", name[:2]), exist_ok=True)
        with open(os.path.join(self.root.name, "blobs", "sha256", name[:2], name), "wb") as file:
            file.write(data)
        return name

    def read(self, document, earlier=None):
        try:
            return read_index(self.store, self.stored(document), earlier)
        except RunnerError as exc:
            return str(exc)

    def test_it_is_the_same(self):
        chance, refused = random.Random(20261128), 0
        blobs = [{"sha256": "0" * 64, "size": 10}, {"sha256": "1" * 64, "size": 100, "encoding": "gzip"}]
        files = [{"path": f"d{n % 3}/f{n}", "size": 3, "blob": n % 2, "offset": n % 5} for n in range(12)]
        first = {"version": 2, "blobs": blobs, "files": files, "dirs": ["empty"], "links": [{"path": "link", "target": "d0/f0"}]}
        for base in (first, encoded(first)):
            earlier = Earlier(self.read(base).packed)
            for _ in range(400):
                document, names = copy.deepcopy(base), chance.sample(sorted(self.CHANGES), chance.randrange(3))
                for name in names:
                    entry = chance.choice([entry for entry in document["files"] if isinstance(entry, dict) and isinstance(entry.get("path"), str)])
                    self.CHANGES[name](document, entry)
                with self.subTest(names):
                    alone, after = self.read(document), self.read(document, earlier)
                    if isinstance(alone, str):
                        refused += 1
                        self.assertEqual(after, alone)
                    else:
                        self.assertEqual((after[:4], after.packed), (alone[:4], alone.packed))
                        self.assertLessEqual(set(after.new), set(alone.files))
                        if not names:
                            self.assertEqual(after.new, [])
        self.assertGreater(refused, 100)

    def test_other_names_for_the_same_paths(self):
        links = [{"path": "YQ==", "target": "YQ=="}]
        earlier = Earlier(self.read({"version": 2, "blobs": [{"sha256": "0" * 64, "size": 0}], "files": [{"path": "a", "size": 0}], "links": links}).packed)
        second = {"version": 2, "names": "base64", "blobs": [{"sha256": "0" * 64, "size": 0}], "files": [{"path": "YQ==", "size": 0}], "links": links}
        self.assertRegex(self.read(second, earlier), "a is listed twice")

    def test_what_is_not_checked_again(self):
        blobs = [{"sha256": "0" * 64, "size": 10, "encoding": "gzip"}, {"sha256": "1" * 64, "size": 100}]
        files = [{"path": "a", "size": 3}, {"path": "b", "size": 3, "blob": 1}, {"path": "c", "size": 3, "blob": 1}]
        first = {"version": 2, "blobs": blobs, "files": files}
        earlier = Earlier(self.read(first).packed)
        for blobs, want in ((first["blobs"], ["c"]), ([blobs[0], dict(blobs[1], size=101)], ["b", "c"])):
            second = {"version": 2, "blobs": blobs, "files": [*files[:2], {"path": "c", "size": 4, "blob": 1}]}
            self.assertEqual([file.path for file in self.read(second, earlier).new], want)


class TreeCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kinetic-tree-")
        self.addCleanup(folder.cleanup)
        self.store = os.path.join(folder.name, "store")
        self.outer = os.path.join(folder.name, "outer")
        self.root = os.path.join(self.outer, "root")
        self.blob = b"0123456789"
        path = os.path.join(self.store, "blobs/sha256", sha256(self.blob)[:2])
        os.makedirs(path)
        os.makedirs(self.root)
        with open(os.path.join(path, sha256(self.blob)), "wb") as file:
            file.write(self.blob)

    def document(self, files=(), links=(), dirs=()):
        links = [{"path": path, "target": target} for path, target in links]
        return {"version": 2, "blobs": [{"sha256": sha256(self.blob), "size": 10}], "files": list(files), "links": links, "dirs": list(dirs)}

    def write(self, *documents):
        """Writes indexes one after the other, as those of a data set, and then their links."""
        tree = Tree(open_store(f"file://{self.store}"), self.root)
        indexes = [parse(document) for document in documents]
        for index in indexes:
            tree.write_files(index, 4)
        for index in indexes:
            tree.write_links(index)


class Shards(TreeCase):
    """Conflicts between the indexes of one data set, each of which is right by itself."""

    def test_conflicts(self):
        whole, cut = file_entry("a", size=10), file_entry("a", size=3)
        cases = {
            "whole file twice": (self.document([whole]), self.document([whole])),
            "whole file over a cut one": (self.document([cut]), self.document([whole])),
            "cut file over a whole one": (self.document([whole]), self.document([cut])),
            "file below a file": (self.document([whole]), self.document([file_entry("a/b", size=3)])),
            "whole file below a file": (self.document([cut]), self.document([file_entry("a/b/c", size=10)])),
            "file that is a directory": (self.document([file_entry("a/b", size=10)]), self.document([whole])),
            "directory that is a file": (self.document([whole]), self.document(dirs=["a"])),
            "link that is a file": (self.document([whole]), self.document(links=[("a", "b")])),
            "link that is a directory": (self.document([file_entry("a/b")]), self.document(links=[("a", "b")])),
            "link twice": (self.document(links=[("a", "b")]), self.document(links=[("a", "c")])),
            "link below a link": (self.document([file_entry("z/y")], links=[("p/q", "../z")]), self.document(links=[("p/q/l", "../../secret")])),
        }
        for name, documents in cases.items():
            with self.subTest(name), self.assertRaises(RunnerError):
                self.setUp()
                self.write(*documents)
            self.assertEqual(os.listdir(self.outer), ["root"])

    def test_names_that_are_one_on_this_file_system(self):
        os.symlink("a", os.path.join(self.root, "A"))  # as if the file system ignored case
        for size in (3, 10):
            with self.subTest(size=size), self.assertRaises(RunnerError) as caught:
                self.write(self.document([file_entry("A", size=size)]))
            self.assertIn("another file in the package has the same name", str(caught.exception))
            self.assertTrue(os.path.islink(os.path.join(self.root, "A")))


class Fuzz(TreeCase):
    """Indexes made up from few names: whatever they say, each is refused or stays in the tree."""

    GOOD = ["a", "b", "c", "d", "..a", "A", "a/b", "b/a", "c/a/b", "a/b/c", "d/e/f"]
    UP = ["..", "../..", "../a", "../../a", "../b/c", "../../d/e", "a", "b/c", "."]
    BAD = ["", ".", "/a", "a/..", "a/../../x", "/etc/passwd", "a\\b", "./a", "a//b"]

    def name(self, chance, *more):
        return chance.choice(chance.choices((self.GOOD, *more, self.BAD), (40,) + (20,) * len(more) + (1,))[0])

    def test_trees(self):
        written = 0
        for seed in range(300):
            chance = random.Random(seed)
            self.setUp()

            def shard():
                files = [file_entry(self.name(chance), size=chance.choice((0, 3, 9, 10, 10)), offset=chance.choice((0, 0, 0, 1))) for _ in range(chance.randint(0, 3))]
                return self.document(files, [(self.name(chance), self.name(chance, self.UP)) for _ in range(chance.randint(0, 3))], [self.name(chance)])

            documents = [shard() for _ in range(chance.randint(1, 2))]
            with self.subTest(seed=seed):
                with contextlib.suppress(RunnerError):
                    self.write(*documents)
                    written += 1
                self.assertEqual(os.listdir(self.outer), ["root"])
                self.check_links()
            self.doCleanups()
        self.assertGreater(written, 30)

    def check_links(self):
        inside = os.path.realpath(self.root)
        for folder, dirs, files in os.walk(self.root):
            for name in dirs + files:
                path = os.path.join(folder, name)
                if os.path.islink(path):
                    real = os.path.realpath(path)
                    self.assertTrue(real == inside or real.startswith(inside + "/"), f"{path} leads to {real}")


if __name__ == "__main__":
    unittest.main()
