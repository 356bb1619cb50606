"""Data sets arrive whole, in little memory, and what is wrong with one is refused."""

import gzip
import json
import math
import os
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

from bucket import Bucket
from fixture import PEAK, RUNNER, file_entry, sha256
from kinetic_runner.data import mounted
from kinetic_runner.data.dataset import fetch_set, renew_set, set_size
from kinetic_runner.data.mounted import renew_mounted
from kinetic_runner.errors import RunnerError
from kinetic_runner.store import open_store
from kinetic_runner.store.names import blob_name, mounted_folder, mounted_record

DAY = 86_400


class DataSetCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kinetic-data-")
        self.addCleanup(folder.cleanup)
        self.root = os.path.join(folder.name, "store")
        self.target = os.path.join(folder.name, "target")
        os.makedirs(self.root)
        self.store = open_store(f"file://{self.root}")

    def put(self, data, name=None):
        path = os.path.join(self.root, blob_name(name or sha256(data)))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return sha256(data)

    def put_shard(self, contents, links=(), **rest):
        """Stores an index with all files in one stored pack; returns its entry in the document."""
        body, files = b"".join(contents.values()), []
        for path, data in contents.items():
            files.append(file_entry(path, size=len(data), offset=sum(file["size"] for file in files)))
        links = [{"path": path, "target": target} for path, target in links]
        index = dict({"version": 2, "blobs": [{"sha256": self.put(body), "size": len(body)}], "files": files, "links": links}, **rest)
        packed = gzip.compress(json.dumps(index).encode(), mtime=0)
        return {"sha256": self.put(packed), "size": len(packed), "files": len(files), "bytes": len(body)}

    def put_set(self, *shards, **rest):
        document = {"version": 1, "files": sum(s["files"] for s in shards), "bytes": sum(s["bytes"] for s in shards), "shards": list(shards)}
        return self.put(json.dumps(dict(document, **rest)).encode())

    def tree(self):
        found = {}
        for folder, dirs, files in os.walk(self.target):
            for name in dirs + files:
                path = os.path.join(folder, name)
                relative = os.path.relpath(path, self.target)
                if os.path.islink(path):
                    found[relative] = "-> " + os.readlink(path)
                elif os.path.isfile(path):
                    with open(path, "rb") as file:
                        found[relative] = file.read()
        return found


class Fetched(DataSetCase):
    def test_shards_and_progress(self):
        one = self.put_shard({"a": b"1", "d/b": b"22"}, [("link", "d/c"), ("d/up", "../a")])
        two = self.put_shard({"d/c": b"333", "none": b""}, dirs=["empty/deep"])
        name = self.put_set(one, two)
        self.assertEqual(set_size(self.store, name), 6)
        done, lock = [], threading.Lock()

        def progress(size):
            with lock:
                done.append(size)

        os.makedirs(os.path.join(self.target, "left/over"))
        fetch_set(self.store, name, self.target, progress)
        self.assertEqual(self.tree(), {"a": b"1", "d/b": b"22", "d/c": b"333", "none": b"", "link": "-> d/c", "d/up": "-> ../a"})
        self.assertTrue(os.path.isdir(os.path.join(self.target, "empty/deep")))
        self.assertFalse(os.path.exists(os.path.join(self.target, "left")))
        self.assertEqual(sum(done), 6)

    def test_empty(self):
        name = self.put_set()
        self.assertEqual(set_size(self.store, name), 0)
        fetch_set(self.store, name, self.target)
        self.assertEqual(os.listdir(self.target), [])


class Refused(DataSetCase):
    def refuse(self, name, *words):
        with self.assertRaises(RunnerError) as caught:
            fetch_set(self.store, name, self.target)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_malformed(self):
        good = self.put_shard({"a": b"1"})
        cases = {
            "newer version": {"version": 2},
            "files missing": {"files": None},
            "too many files": {"files": 2},
            "too few bytes": {"bytes": 0},
            "shards no list": {"shards": {}},
            "shard no object": {"shards": ["a"]},
            "hash that is a path": {"shards": [dict(good, sha256="../../x")]},
            "negative files": {"shards": [dict(good, files=-1), dict(good, files=2)]},
            "bytes are true": {"shards": [dict(good, bytes=True)]},
        }
        for what, rest in cases.items():
            with self.subTest(what):
                self.refuse(self.put_set(good, **rest), "data set file://")

    def test_shard_that_is_another(self):
        good = self.put_shard({"a": b"1"})
        for rest in ({"files": 2}, {"bytes": 2}):
            with self.subTest(rest):
                self.refuse(self.put_set(dict(good, **rest)), "but the data set says")

    def test_changed_objects(self):
        shard = self.put_shard({"a": b"12345"})
        name = self.put_set(shard)
        for changed in [blob_name(name), blob_name(shard["sha256"]), blob_name(sha256(b"12345"))]:
            with self.subTest(changed):
                path = os.path.join(self.root, changed)
                with open(path, "rb") as file:
                    data = file.read()
                self.put(data[:-1] + b"?", name=os.path.basename(changed))
                advice = "" if changed == blob_name(name) else f"delete file://{self.root}/{blob_name(name)} too"
                self.refuse(name, changed, "was changed", advice)
                os.unlink(path)
                self.refuse(name, changed, "does not exist", advice)
                self.put(data)
        fetch_set(self.store, name, self.target)

    def test_missing_part_leaves_no_file_of_that_name(self):
        parts = [os.urandom(1000) for _ in range(3)]
        blobs = [{"sha256": sha256(part), "size": 1000} for part in parts]
        for part in parts[:2]:
            self.put(part)
        packed = gzip.compress(json.dumps({"version": 2, "blobs": blobs, "files": [{"path": "large", "size": 3000, "parts": [0, 1, 2]}]}).encode())
        name = self.put_set({"sha256": self.put(packed), "size": len(packed), "files": 1, "bytes": 3000})
        self.refuse(name, sha256(parts[2]), "does not exist")
        self.assertNotIn("large", self.tree())

    def test_file_in_two_shards(self):
        self.refuse(self.put_set(self.put_shard({"a": b"1"}), self.put_shard({"a": b"2"})), "another file in the package has the same name")

    def test_link_of_one_shard_below_that_of_another(self):
        one, two = self.put_shard({"z/y": b""}, [("p/q", "../z")]), self.put_shard({}, [("p/q/l", "../../secret")])
        for shards in ((one, two), (two, one)):
            self.refuse(self.put_set(*shards), "another file in the package has the same name")


class Memory(DataSetCase):
    """A process of its own reads a set of many shards, with packs and parts."""

    PROGRAM = """
        import sys
        from kinetic_runner.data.dataset import fetch_set
        from kinetic_runner.store import open_store
        fetch_set(open_store(sys.argv[1]), sys.argv[2], sys.argv[3])
        print(peak())
    """

    def test_it_does_not_grow_with_the_set(self):
        shards = []
        for number in range(8):
            packs = [os.urandom(4 << 20) for _ in range(4)]
            blobs = [{"sha256": self.put(pack), "size": len(pack)} for pack in packs]
            files = [{"path": f"d{number}/{pack}/{file}", "size": 1 << 20, "blob": pack, "offset": file << 20} for pack in range(4) for file in range(4)]
            files.append({"path": f"d{number}/large", "size": 16 << 20, "parts": [0, 1, 2, 3]})
            files += [{"path": f"d{number}/a/rather/long/name/of/a/directory/and-a-file-{file}.jpg", "size": 0, "blob": 0} for file in range(4000)]
            packed = gzip.compress(json.dumps({"version": 2, "blobs": blobs, "files": files}).encode(), 1)
            shards.append({"sha256": self.put(packed), "size": len(packed), "files": len(files), "bytes": 32 << 20})
        name = self.put_set(*shards)
        program = [sys.executable, "-c", PEAK + textwrap.dedent(self.PROGRAM), f"file://{self.root}", name, self.target]
        out = subprocess.run(program, env=dict(os.environ, PYTHONPATH=RUNNER), stdout=subprocess.PIPE, check=True).stdout
        self.assertLess(int(out), 150 << 20)


class Renewal(DataSetCase):
    """A client that finds a young document trusts it, and asks for nothing else."""

    def setUp(self):
        super().setUp()
        self.bucket = Bucket()
        self.addCleanup(self.bucket.close)
        self.store = open_store("gs://bucket", self.bucket.host)
        self.addCleanup(self.store.close)
        shard = self.put_shard({"a": b"12345"})
        self.name = self.put_set(shard)
        self.objects = [blob_name(sha256(b"12345")), blob_name(shard["sha256"]), blob_name(self.name)]

    def put(self, data, name=None):
        self.bucket.put(blob_name(name or sha256(data)), data)
        return sha256(data)

    def renewed(self, *days):
        """Renews the set whose blob, shard and document are this old; returns which of them were renewed."""
        for name, age in zip(self.objects, days):
            self.bucket.objects[name].created = time.time() - age * DAY
        self.bucket.requests.clear()
        renew_set(self.store, self.name)
        return [bool(self.bucket.asked("rewriteTo.*" + name[-64:])) for name in self.objects]

    def test_everything_gets_young_with_the_document(self):
        self.assertEqual(self.renewed(24, 20, 21), [True, True, True])
        self.assertEqual(self.renewed(10, 21, 21), [True, True, True])
        self.assertEqual(self.renewed(1, 5, 21), [False, True, True])

    def test_one_request_tells_that_nothing_is_due(self):
        self.assertEqual(self.renewed(24, 21, 19), [False, False, False])
        self.assertEqual(len(self.bucket.asked("")), 1)

    def test_the_document_stays_old_if_something_else_does(self):
        for name in self.objects[:2]:
            self.bucket.faults.clear()
            self.bucket.fail(403, math.inf, "rewriteTo.*" + name[-64:])
            with self.assertRaisesRegex(RunnerError, "cannot renew"):
                self.renewed(21, 21, 21)
            self.assertLess(self.bucket.objects[self.objects[2]].created, time.time() - 20 * DAY)


class RenewalOfMountedFiles(unittest.TestCase):
    """A pod that has a file open must open it again when it is renewed, so that happens late."""

    def setUp(self):
        self.bucket = Bucket()
        self.addCleanup(self.bucket.close)
        self.store = open_store("gs://bucket/some/folder", self.bucket.host)
        self.addCleanup(self.store.close)
        self.name = sha256(b"a set")
        self.record = f"some/folder/{mounted_record(self.name)}"
        self.folder = f"some/folder/{mounted_folder(self.name)}"

    def renewed(self, record, **files):
        """Renews a set whose record and files are so many days old; returns which of them were renewed, in order."""
        self.bucket.objects.clear()
        self.bucket.put(self.record, b"{}", age=record * DAY)
        for file, age in files.items():
            self.bucket.put(self.folder + file, b"x", {"gcsfuse_symlink_target": "y"}, age=age * DAY)
        self.bucket.put("some/folder/data/other/x", b"x", age=25 * DAY)
        self.bucket.requests.clear()
        renew_mounted(self.store, self.name)
        names = [line.partition("rewriteTo/b/bucket/o/")[2].partition("?")[0] for line in self.bucket.asked("rewriteTo.*rewriteToken")]
        for name in names:
            self.assertLess(self.bucket.objects[name].created, time.time() + 1)
            self.assertGreater(self.bucket.objects[name].created, time.time() - DAY)
        for file in files:
            self.assertEqual(self.bucket.metadata(self.folder + file), {"gcsfuse_symlink_target": "y"})
        return [name[len("some/folder/data/") :].replace(self.name, "") for name in names]

    def test_files_are_renewed_late(self):
        self.assertEqual(self.renewed(19, a=19, b=21), ["/b"])

    def test_many_files(self):
        files = {f"f{number}": 21 for number in range(10)}
        self.addCleanup(setattr, mounted, "PAGE", mounted.PAGE)
        mounted.PAGE = 4
        self.assertEqual(sorted(self.renewed(1, **files)), sorted("/" + name for name in files))

    def test_what_is_young_costs_only_a_list(self):
        self.assertEqual(self.renewed(19, a=19, b=1), [])
        self.assertEqual(len(self.bucket.asked("")), 2)

    def test_a_record_comes_last_and_no_file_is_much_older(self):
        self.assertEqual(self.renewed(21, a=15), ["/a", ".json"])
        self.assertEqual(self.renewed(21, a=13), [".json"])

    def test_a_record_stays_old_if_a_file_does(self):
        self.bucket.fail(403, math.inf, "rewriteTo.*/a")
        with self.assertRaisesRegex(RunnerError, "cannot renew"):
            self.renewed(21, a=15)
        self.assertLess(self.bucket.objects[self.record].created, time.time() - 20 * DAY)


if __name__ == "__main__":
    unittest.main()
