"""Whatever the names of objects are, and whatever an index says: files are only made below their directory, and errors are the runner's own.

The cases come from seeds, so that a failure can be repeated.
"""

import gzip
import os
import random
import shutil
import tempfile
import types
import unittest

from bucket import BUCKET, Bucket
from fixture import JOB, sha256
from kinetic_runner.data.bucket import Bucket as Source
from kinetic_runner.errors import BadData, RunnerError
from kinetic_runner.outputs.restore import Restore, items_of, read_indexes
from kinetic_runner.store.gcs import GCSStore
from kinetic_runner.store.names import index_name
from kinetic_runner.text import encode_json

ROUNDS = 150
SEGMENTS = (
    "a", "b", "c", "d.txt", "..", ".", "", "...", "~", "-rf", "a b", "a\nb", "a\0b", "\\", "..\\x", "\u00fc", "e\u0308", "\ud800", "\udcff", "%2e%2e", "#?", "x" * 255, "x" * 256,
    "\u00fc" * 128, "CON", "gs:", "checkpoint-1", "trainer_state.json", "\x1e", "\u202e",
)  # fmt: skip
ODD = (None, True, -1, 0, 1, 10**30, -(10**30), 1.5, "", "0", "a", "../x", [], {}, [[]], {"path": "a"}, "\ud800", "\0")


def name(chance):
    return ("/" if chance.random() < 0.05 else "") + "/".join(chance.choice(SEGMENTS) for _ in range(chance.randrange(1, 5)))


class Hostile(unittest.TestCase):
    def setUp(self):
        self.bucket = Bucket()
        self.addCleanup(self.bucket.close)
        self.top = tempfile.mkdtemp(prefix="kinetic-hostile-")
        self.addCleanup(shutil.rmtree, self.top)
        self.said = []

    def empty(self):
        """The directory to fill, deep in an otherwise empty one."""
        shutil.rmtree(self.top)
        root = os.path.join(self.top, "1/2/3/4/root")
        os.makedirs(root)
        return root

    def check(self, root):
        """All that there is lies below root, and no link leads out of it, wherever the directory of the link really is."""
        for folder, folders, files in os.walk(self.top):
            below = (folder + os.sep).startswith(root + os.sep)
            self.assertTrue(below or not files and len(folders) <= 1, (folder, folders, files))
            for each in folders + files:
                path = os.path.join(folder, each)
                if os.path.islink(path):
                    target = os.path.normpath(os.path.join(os.path.realpath(folder), os.readlink(path)))
                    self.assertTrue((target + os.sep).startswith(root + os.sep), path)


class Trees(Hostile):
    """gs:// as data."""

    def test_names(self):
        attempt = types.SimpleNamespace(options=types.SimpleNamespace(emulator=self.bucket.host, metadata_host="", credentials=""), outage=None)
        progress = types.SimpleNamespace(add=lambda size: None)
        refused = copied = 0
        for seed in range(ROUNDS):
            chance, root = random.Random(seed), self.empty()
            self.bucket.objects.clear()
            for _ in range(chance.randrange(1, 4)):
                self.bucket.put("set/" + name(chance), b"data")
            with self.subTest(seed, names=self.bucket.names("")):
                source = Source(attempt, f"gs://{BUCKET}/set")
                try:
                    source.look()
                    source.copy(root, progress)
                    copied += 1
                except BadData:
                    refused += 1
                self.check(root)
        self.assertGreater(min(copied, refused), ROUNDS // 10)


class Indexes(Hostile):
    """A restore."""

    def entry(self, chance):
        """An entry of an index, mostly with something wrong."""
        path = name(chance) if chance.random() < 0.3 else chance.choice(self.names)
        kind = chance.random()
        if kind < 0.4:
            fields = {"path": path, "link": chance.choice(["a", "../a", "..", ".", "/etc", "../../../x", "b/../..", "", "\0", "x" * 5000, name(chance)])}
        else:
            fields = {"path": path, "mode": chance.choice((0o644, 0o7777, -1, 1 << 40)), "mtime_ns": chance.choice((0, -1, 10**18, 10**30, -(10**30)))}
            if kind < 0.5:
                fields["directory"] = True
            else:
                fields.update(size=4, sha256=sha256(b"data"))
                if chance.random() < 0.5:
                    fields["object"] = chance.choice(("sync/0/1-aa/1", "sync/0/1-aa/1", "../x", "", name(chance)))
        if chance.random() < 0.1:
            fields[chance.choice(sorted(fields))] = chance.choice(ODD)
        return fields if chance.random() < 0.97 else chance.choice(ODD)

    def test_restore(self):
        home, plain = (GCSStore(f"gs://{BUCKET}/{JOB}{folder}", self.bucket.host) for folder in ("", "/outputs"))
        self.addCleanup(home.close)
        self.addCleanup(plain.close)
        refused = brought = 0
        for seed in range(2 * ROUNDS):
            chance, root = random.Random(seed), self.empty()
            self.bucket.objects.clear()
            self.names = [name(chance) for _ in range(chance.randrange(1, 5))] + ["a", "p/q"]
            for each in (f"{JOB}/sync/0/1-aa/1", *(f"{JOB}/outputs/{each}" for each in self.names)):
                self.bucket.put(each, b"data" if chance.random() < 0.95 else b"other")
            document = {"version": 2, "attempt": 1, "files": [self.entry(chance) for _ in range(chance.randrange(6))]}
            if chance.random() < 0.1:
                document = chance.choice((*ODD, dict(document, files=chance.choice(ODD)), dict(document, version=3)))
            data = encode_json(document)
            self.bucket.put(f"{JOB}/{index_name(0)}", gzip.compress(data) if chance.random() < 0.8 else data)
            with self.subTest(seed, names=self.names, document=document):
                found = Restore(root, self.said.append)
                try:
                    items = items_of(read_indexes(home, [0]), home, plain)
                    found.run(items)
                    found.remove_broken()
                    brought += bool(found.brought)
                except RunnerError:
                    refused += 1
                self.check(root)
                for path in found.brought:
                    self.assertTrue(os.path.lexists(os.path.join(root, path)), path)
        self.assertGreater(brought, ROUNDS // 5)
        self.assertGreater(refused, ROUNDS // 5)
        self.assertFalse([text for text in self.said if "\n" in text])


if __name__ == "__main__":
    unittest.main()
