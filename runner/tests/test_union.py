"""The plain names of outputs, and what the indexes of several hosts say together."""

import json
import unittest

from bucket import BUCKET
from fixture import JOB, sha256
from kinetic_runner.outputs.index import Document, Entry
from kinetic_runner.outputs.plain import Plain
from kinetic_runner.outputs.restore import items_of, read_indexes
from kinetic_runner.outputs.tree import FILE
from kinetic_runner.store.gcs import GCSStore
from kinetic_runner.store.names import index_folder, index_name
from test_keeper import KeeperCase


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


class Hosts(KeeperCase):
    """What the indexes of several hosts say together."""

    def put(self, number, *paths, pending=(), at=1, text=None):
        """The index of a host, and what it names."""
        files = []
        for path in paths:
            name = f"{index_folder(number)}1-aa/{path}"
            data = (text or f"{path} of {number}").encode()
            self.bucket.put(f"{JOB}/{name}", data)
            entry = {"path": path, "mode": 0o644, "mtime_ns": (at + number) * 10**9, "size": len(data), "object": name}
            files.append(dict(entry, sha256=sha256(data)))
            for folder in [path[:i] for i, sign in enumerate(path) if sign == "/"]:
                files.append({"path": folder, "mode": 0o755, "mtime_ns": at * 10**9, "directory": True})
        document = {"version": 2, "attempt": 1, "at": f"2026-01-01T00:00:{at:02}.000000Z", "files": files, "pending": list(pending)}
        self.bucket.put(f"{JOB}/{index_name(number)}", json.dumps(document).encode())

    def union(self):
        items, left_out = items_of(read_indexes(self.home), self.home, self.home)
        return sorted(path for path, item in items.items() if item.entry.size), left_out

    def test_each_gets_what_all_have(self):
        self.put(0, "ckpt/0.bin")
        self.put(1, "ckpt/1.bin", "own")
        self.assertEqual(self.union(), (["ckpt/0.bin", "ckpt/1.bin", "own"], set()))

    def test_a_directory_that_one_has_not_finished_is_left_out(self):
        self.put(0, "one/0", "two/0")
        self.put(1, "one/1", pending=["two"])
        self.assertEqual(self.union(), (["one/0", "one/1"], {"two", "two/0"}))

    def test_the_newer_one_of_a_name_that_two_write_counts(self):
        self.put(0, "both")
        self.put(1, "both")
        items, _ = items_of(read_indexes(self.home), self.home, self.home)
        self.assertEqual(items["both"].number, 1)

    def test_a_file_and_a_directory_of_one_name(self):
        self.put(0, "a")
        self.put(1, "a/b")
        self.assertNotIn("a/b", self.union()[0])


if __name__ == "__main__":
    unittest.main()
