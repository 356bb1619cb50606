"""Nothing that was changed, cut off or made up is unpacked, and nothing leaves the workspace."""

import base64
import gzip
import io
import json
import os
import unittest

from fixture import JOB, RunnerCase, command, file_entry, function, pack, pickled, script, sha256


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

    def test_parts_in_which_one_is_not_as_it_was_made(self):
        data = [os.urandom(100_000) for _ in range(4)]
        index, blobs = pack(self.FILES)
        index["blobs"] += [{"sha256": sha256(part), "size": len(part)} for part in data]
        index["files"].append({"path": "zz/large", "size": 400_000, "parts": [1, 2, 3, 4]})
        for number in range(4):
            with self.subTest(part=number):
                self.setUp()
                bundle = self.put_index(index, blobs + data)
                changed = self.put_blob(data[number][:-1] + bytes([data[number][-1] ^ 1]), name=sha256(data[number]))
                self.refuse(script(), bundle, f"file://{changed}", "submit the job again")

    def test_pack_too_large_for_memory(self):
        index, blobs = pack(self.FILES)
        index["files"][0]["offset"] = 33 << 20
        self.refuse(script(), self.put_index(index, blobs), "holds several files and more than 32.0 MiB")

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
        self.refuse(script(), sha256(buffer.getvalue()), "decompresses to more than 64.0 MiB")

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
            "unknown kind": (dict(script(), kind="notebook"), "kind is 'notebook', expected one of file, module, function, command, pickle"),
            "file outside": (script("../train.py"), "'../train.py'"),
            "absolute file": (script("/bin/sh"), "'/bin/sh'"),
            "directory outside": (script(cwd="../.."), "'../..'"),
            "sys_path outside": (script(sys_path=["/etc"]), "'/etc'"),
            "nothing to run": (command(), "a command call does not say what to run"),
            "no function": (function(""), "a function call does not say what to run"),
            "pickle without a name": (pickled(""), "a pickle call does not say what to run"),
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
        self.assertEqual(sorted(os.listdir(os.path.join(self.work, "scratch"))), ["log", "place.json"])

    def test_equal_large_files_share_a_blob(self):
        data = os.urandom(3 << 20)
        blob = {"sha256": sha256(data), "size": len(data)}
        files = [file_entry("a", size=len(data)), file_entry("b", size=len(data), mode=0o755), file_entry("tail", size=10, offset=len(data) - 10)]
        self.check({"version": 2, "blobs": [blob], "files": files}, [data], {"a": data, "b": data, "tail": data[-10:]})

    def test_files_of_a_pack_in_any_order(self):
        index, blobs = pack({"a": "1" * 10, "b": "", "c": "3" * 10, "d/e": "4"})
        index["files"].reverse()
        self.check(index, blobs, {"a": b"1" * 10, "b": b"", "c": b"3" * 10, "d/e": b"4"})

    def test_many_packs_and_an_empty_file_alone(self):
        blobs = [gzip.compress(b"%d" % n) for n in range(20)] + [b""]
        files = [file_entry(f"f{n:02}", size=len(b"%d" % n), blob=n) for n in range(20)] + [file_entry("none", blob=20)]
        entries = [{"sha256": sha256(blob), "size": len(blob), "encoding": "gzip" if blob else ""} for blob in blobs]
        self.check({"version": 2, "blobs": entries, "files": files}, blobs, {"f07": b"7", "f19": b"19", "none": b""})

    def test_parts(self):
        first, last = os.urandom(3 << 20), os.urandom(1000)
        blobs = [{"sha256": sha256(data), "size": len(data)} for data in (first, last)]
        files = [
            {"path": "d/large", "size": 2 * len(first) + len(last), "parts": [0, 0, 1], "mode": 0o755},
            {"path": "d/same", "size": len(first) + len(last), "parts": [0, 1]},
            file_entry("part", size=len(last), blob=1),
            file_entry("slice", size=5, blob=1, offset=7),
        ]
        want = {"d/large": first + first + last, "d/same": first + last, "part": last, "slice": last[7:12]}
        self.check({"version": 2, "blobs": blobs, "files": files}, [first, last], want)
        self.assertEqual(self.workspace(), ["d", "d/large", "d/same", "part", "slice"])
        modes = {path: os.stat(os.path.join(self.work, "workspace", path)).st_mode & 0o777 for path in want}
        self.assertEqual(modes, {"d/large": 0o755, "d/same": 0o644, "part": 0o644, "slice": 0o644})

    def test_many_files_of_one_blob(self):
        data = os.urandom(1 << 10)
        files = [file_entry(f"f{number}", size=len(data)) for number in range(100)]
        index = {"version": 2, "blobs": [{"sha256": sha256(data), "size": len(data)}], "files": files}
        self.check(index, [data], {f"f{number}": data for number in range(100)})

    def test_stored_pack(self):
        data = b"abcdef"
        files = [file_entry("a", size=2), file_entry("b", size=4, offset=2, mode=0o600), file_entry("none", offset=6)]
        self.check({"version": 2, "blobs": [{"sha256": sha256(data), "size": 6}], "files": files}, [data], {"a": b"ab", "b": b"cdef", "none": b""})

    def test_links_and_names_of_any_bytes(self):
        def name(text):
            return base64.b64encode(text).decode()

        index, blobs = pack({"x": "data"})
        index["files"][0]["path"] = name(b"d/\xff\\\n")
        index.update(names="base64", dirs=[name(b"empty")], links=[{"path": name(b"e/link"), "target": name(b"../d/\xff\\\n")}, {"path": name(b"broken"), "target": name(b"no/where")}])
        self.check(index, blobs, {"e/link": b"data", b"d/\xff\\\n".decode("utf-8", "surrogateescape"): b"data"})
        workspace = os.path.join(self.work, "workspace")
        self.assertEqual(os.readlink(os.path.join(workspace, "broken")), "no/where")
        self.assertTrue(os.path.isdir(os.path.join(workspace, "empty")))

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
