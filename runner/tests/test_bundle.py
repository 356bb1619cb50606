"""Nothing that was changed, cut off or made up is unpacked, and nothing leaves the workspace."""

import gzip
import io
import json
import os
import unittest

from fixture import JOB, RunnerCase, command, function, pack, script, sha256
from kinetic_runner.bundle import parse_index
from kinetic_runner.errors import RunnerError


def file_entry(path, **rest):
    return dict({"path": path, "size": 0, "blob": 0, "offset": 0}, **rest)


def index_of(*entries, dirs=()):
    return {"version": 1, "blobs": [{"sha256": "0" * 64, "size": 10, "encoding": "gzip"}], "files": list(entries), "dirs": list(dirs)}


def parse(document):
    return parse_index(json.dumps(document).encode(), "the index")


class HostileIndex(unittest.TestCase):
    """parse_index, which decides before anything is written."""

    def test_paths(self):
        bad = ["", "/etc/passwd", "..", "../x", "a/../x", "a/..", ".", "./a", "a/./b", "a//b", "a/", "//a", "a\\b", "..\\x", "C:\\x", "a\0b", "\udc80"]
        for path in bad:
            for name, document in (("file", index_of(file_entry(path))), ("dir", index_of(dirs=[path]))):
                with self.subTest(path=path, kind=name), self.assertRaises(RunnerError) as caught:
                    parse(document)
                self.assertIn("the index", str(caught.exception))

    def test_good_paths(self):
        good = ["top", "..a", "a..", "...", "a/b.c/d", "with space", "ünï", ".hidden/.x", "a:b", "-rf"]
        index = parse(index_of(*(file_entry(path) for path in good), dirs=["empty/one"]))
        self.assertEqual([file.path for file in index.files], good)
        self.assertEqual(index.dirs, ["empty/one"])

    def test_conflicts(self):
        cases = {
            "file twice": index_of(file_entry("a"), file_entry("a")),
            "file below a file": index_of(file_entry("a"), file_entry("a/b/c")),
            "file below a file, other order": index_of(file_entry("a/b/c"), file_entry("a")),
            "directory below a file": index_of(file_entry("a"), dirs=["a/b"]),
            "directory that is a file": index_of(file_entry("a/b"), dirs=["a/b"]),
            "directory twice": index_of(dirs=["a", "a"]),
        }
        for name, document in cases.items():
            with self.subTest(name), self.assertRaises(RunnerError):
                parse(document)

    def test_malformed(self):
        blob = {"sha256": "0" * 64, "size": 10}
        cases = {
            "no object": [],
            "newer version": {"version": 2},
            "no version": {"blobs": [], "files": []},
            "files no list": {"version": 1, "files": {}},
            "file no object": {"version": 1, "blobs": [blob], "files": ["a"]},
            "size is text": {"version": 1, "blobs": [blob], "files": [file_entry("a", size="1")]},
            "size is true": {"version": 1, "blobs": [blob], "files": [file_entry("a", size=True)]},
            "negative size": {"version": 1, "blobs": [blob], "files": [file_entry("a", size=-1)]},
            "negative offset": {"version": 1, "blobs": [blob], "files": [file_entry("a", offset=-1)]},
            "no such blob": {"version": 1, "blobs": [blob], "files": [file_entry("a", blob=1)]},
            "negative blob": {"version": 1, "blobs": [blob], "files": [file_entry("a", blob=-1)]},
            "outside of its blob": {"version": 1, "blobs": [blob], "files": [file_entry("a", size=6, offset=5)]},
            "hash that is a path": {"version": 1, "blobs": [{"sha256": "../../../etc/passwd", "size": 1}], "files": []},
            "upper-case hash": {"version": 1, "blobs": [{"sha256": "A" * 64, "size": 1}], "files": []},
            "unknown encoding": {"version": 1, "blobs": [dict(blob, encoding="zstd")], "files": []},
            "negative blob size": {"version": 1, "blobs": [dict(blob, size=-1)], "files": []},
            "executable is a number": {"version": 1, "blobs": [blob], "files": [file_entry("a", executable=1)]},
        }
        for name, document in cases.items():
            with self.subTest(name), self.assertRaises(RunnerError) as caught:
                parse(document)
            self.assertIn("the index", str(caught.exception))

    def test_null_lists_are_empty(self):
        self.assertEqual(parse({"version": 1, "blobs": None, "files": None, "dirs": None}), ([], [], []))


class Refused(RunnerCase):
    """The real runner on stores that are not as they were made."""

    FILES = {"train.py": "print('it ran')", "data.txt": "x" * 5000}

    def refuse(self, call, bundle, *words):
        ran = self.run_call(call, bundle, "--final")
        self.assertEqual((ran.code, ran.end["reason"], ran.end["exit_code"]), (125, "RunnerFailure", 125), ran.out)
        self.assertNotIn("it ran", ran.out)
        self.assertEqual(self.workspace(), [])
        self.assertFalse(ran.result["ok"])
        for word in words:
            self.assertIn(word, ran.end["message"])
            self.assertIn(word, ran.out)
            self.assertIn(word, ran.log)
        return ran

    def bundle(self):
        """A stored bundle of a pack and a large file; the path and URL of the blob that is named last."""
        index, blobs = pack(self.FILES)
        large = os.urandom(1000)
        index["blobs"].append({"sha256": sha256(large), "size": len(large)})
        index["files"].append({"path": "zz/large", "size": len(large), "blob": 1, "offset": 0})
        bundle = self.put_index(index, blobs + [large])
        return bundle, [self.blob_path(sha256(blob)) for blob in blobs + [large]]

    def blob_path(self, name):
        return os.path.join(self.store, "blobs/sha256", name[:2], name)

    def test_blobs(self):
        changes = {
            "tampered": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
            "truncated": lambda data: data[:-5],
            "emptied": lambda data: b"",
            "extended": lambda data: data + b"more",
        }
        for name, change in changes.items():
            for which in (0, 1):
                with self.subTest(name, blob=which):
                    self.setUp()
                    bundle, paths = self.bundle()
                    with open(paths[which], "rb") as file:
                        data = file.read()
                    with open(paths[which], "wb") as file:
                        file.write(change(data))
                    self.refuse(script(), bundle, f"file://{paths[which]}", "submit the job again")

    def test_untouched_bundle_runs(self):
        bundle, _ = self.bundle()
        ran = self.run_call(script(), bundle)
        self.assertEqual((ran.code, ran.out), (0, "it ran\n"))
        self.assertEqual(self.workspace(), ["data.txt", "train.py", "zz", "zz/large"])

    def test_missing_blob(self):
        bundle, paths = self.bundle()
        os.unlink(paths[1])
        self.refuse(script(), bundle, f"file://{paths[1]} does not exist")

    def test_missing_index(self):
        name = "1" * 64
        self.refuse(script(), name, f"{name} does not exist")

    def test_tampered_index(self):
        bundle, _ = self.bundle()
        self.put_blob(gzip.compress(json.dumps(pack({"train.py": "print('other')"})[0]).encode()), name=bundle)
        self.refuse(script(), bundle, self.blob_path(bundle), "was changed")

    def test_index_that_is_no_gzip(self):
        data = b"not compressed"
        self.put_blob(data)
        self.refuse(script(), sha256(data), "cannot be decompressed")

    def test_truncated_gzip_in_index(self):
        data = gzip.compress(b'{"version":1}')[:-9]
        self.put_blob(data)
        self.refuse(script(), sha256(data), "cannot be decompressed")

    def test_index_that_decompresses_without_end(self):
        buffer = io.BytesIO()
        with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=1) as file:
            for _ in range(65):
                file.write(bytes(1 << 20))
        self.put_blob(buffer.getvalue())
        self.refuse(script(), sha256(buffer.getvalue()), "decompresses to more than 67108864 bytes")

    def test_path_out_of_the_workspace(self):
        index, blobs = pack({"train.py": "print('it ran')", "../outside": "x"})
        self.refuse(script(), self.put_index(index, blobs), "'../outside'")
        self.assertFalse(os.path.exists(os.path.join(self.work, "outside")))

    def test_call(self):
        argv = self.argv(script(), self.FILES, "--final")
        self.put(f"{JOB}/call.json", json.dumps(command("echo", "it ran")).encode())
        ran = self.finish(self.start(argv))
        self.assertEqual((ran.code, self.workspace()), (125, []))
        self.assertIn(f"file://{self.store}/{JOB}/call.json has SHA-256", ran.end["message"])

    def test_missing_call(self):
        argv = self.argv(script(), self.FILES, "--final")
        os.unlink(os.path.join(self.store, JOB, "call.json"))
        ran = self.finish(self.start(argv))
        self.assertEqual(ran.code, 125)
        self.assertIn("call.json does not exist", ran.end["message"])

    def test_malformed_calls(self):
        cases = {
            "newer version": (dict(script(), version=2), "version 2"),
            "unknown kind": (dict(script(), kind="pickle"), "kind is 'pickle', expected one of file, module, function, command"),
            "file outside": (script("../train.py"), "'../train.py'"),
            "absolute file": (script("/bin/sh"), "'/bin/sh'"),
            "directory outside": (script(cwd="../.."), "'../..'"),
            "sys_path outside": (script(sys_path=["/etc"]), "'/etc'"),
            "nothing to run": (command(), "a command call does not say what to run"),
            "no function": (function(""), "a function call does not say what to run"),
            "odd module": (function(module="a..b"), "module is 'a..b'"),
            "arguments that are numbers": (command("echo", 1), "args contains 1"),
            "NUL in an argument": (command("echo", "a\0b"), "without NUL"),
            "kwargs that are a list": (function(kwargs=[1]), "kwargs is [1], expected dict"),
        }
        for name, (call, word) in cases.items():
            with self.subTest(name):
                self.setUp()
                self.refuse(call, self.put_index(*pack(self.FILES)), word, "call.json")

    def test_pack_shorter_than_its_files(self):
        index, blobs = pack(self.FILES)
        index["files"][-1]["size"] += 1
        ran = self.run_call(script(), self.put_index(index, blobs), "--final")
        self.assertEqual(ran.code, 125)
        self.assertIn("does not contain train.py: it ends 1 bytes early", ran.end["message"])


class Unpacked(RunnerCase):
    def check(self, index, blobs, want):
        ran = self.run_call(command("true"), self.put_index(index, blobs))
        self.assertEqual(ran.code, 0, ran.out)
        for path, data in want.items():
            with open(os.path.join(self.work, "workspace", path), "rb") as file:
                self.assertEqual(file.read(), data, path)
        self.assertEqual(os.listdir(os.path.join(self.work, "scratch")), ["log"])

    def test_equal_large_files_share_a_blob(self):
        data = os.urandom(3 << 20)
        blob = {"sha256": sha256(data), "size": len(data)}
        files = [file_entry("a", size=len(data)), file_entry("b", size=len(data), executable=True), file_entry("tail", size=10, offset=len(data) - 10)]
        self.check({"version": 1, "blobs": [blob], "files": files}, [data], {"a": data, "b": data, "tail": data[-10:]})

    def test_files_of_a_pack_in_any_order(self):
        index, blobs = pack({"a": "1" * 10, "b": "", "c": "3" * 10, "d/e": "4"})
        index["files"].reverse()
        self.check(index, blobs, {"a": b"1" * 10, "b": b"", "c": b"3" * 10, "d/e": b"4"})

    def test_many_packs_and_an_empty_file_alone(self):
        blobs = [gzip.compress(b"%d" % n) for n in range(20)] + [b""]
        files = [file_entry(f"f{n:02}", size=len(b"%d" % n), blob=n) for n in range(20)] + [file_entry("none", blob=20)]
        entries = [{"sha256": sha256(blob), "size": len(blob), "encoding": "gzip" if blob else ""} for blob in blobs]
        self.check({"version": 1, "blobs": entries, "files": files}, blobs, {"f07": b"7", "f19": b"19", "none": b""})

    def test_leftovers_of_an_earlier_attempt_are_removed_and_links_not_followed(self):
        outside = os.path.join(self.root, "outside")
        os.makedirs(os.path.join(self.work, "workspace/old/deep"))
        os.mkdir(outside)
        with open(os.path.join(outside, "precious"), "w"):
            pass
        os.symlink(outside, os.path.join(self.work, "workspace/link"))
        os.symlink(outside, os.path.join(self.work, "scratch"))
        self.check(*pack({"link/new": "x"}), {"link/new": b"x"})
        self.assertEqual(os.listdir(outside), ["precious"])
        self.assertEqual(self.workspace(), ["link", "link/new"])

    def test_workspace_that_is_a_link(self):
        outside = os.path.join(self.root, "outside")
        os.makedirs(outside)
        os.mkdir(self.work)
        os.symlink(outside, os.path.join(self.work, "workspace"))
        self.check(*pack({"new": "x"}), {"new": b"x"})
        self.assertEqual(os.listdir(outside), [])

    def test_read_only_work_directory(self):
        with open(self.work, "w"):
            pass  # a file where the directory should be fails for root too
        ran = self.run_call(command("true"), {"x": ""}, "--final")
        self.assertEqual((ran.code, ran.end["reason"]), (125, "RunnerFailure"))
        self.assertIn(self.work, ran.end["message"])


if __name__ == "__main__":
    unittest.main()
