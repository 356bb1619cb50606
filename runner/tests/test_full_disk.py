"""A full disk below --work: the call continues, keeps its value, and says what is lost."""

import os
import pickle
import subprocess
import unittest

from fixture import JOB, RunnerCase, command, function, pack, script, sha256
from kinetic_runner.text import readable
from test_data import DataCase, from_bucket
from test_outputs import OutputCase

MIB = 1 << 20
SIZE = 4 * MIB  # of the disk
ROOM = "submit the job with a larger --disk"
FILL = """
    import os
    def fill(path="../fill"):
        with open(path, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 65536)
            except OSError:
                pass
            try:
                while True:
                    file.write(b"x")  # the last page is full too
            except OSError as exc:
                return exc.errno
"""


class SmallDisk(RunnerCase):
    def setUp(self):
        super().setUp()
        os.mkdir(self.work)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", self.work], capture_output=True)
        if mounted.returncode:
            self.skipTest("no right to mount a small disk here")
        self.addCleanup(subprocess.run, ["umount", "-l", self.work], check=True)


class FullDisk(SmallDisk):
    def call(self, source, *flags, **kwargs):
        return super().call(FILL + source, *flags, **kwargs)

    def test_call_goes_on_and_the_lost_lines_are_told_once(self):
        source = """
    def f():
        assert fill() == 28
        for number in range(10_000):
            print("while it is full", number)
        os.unlink("../fill")
        for number in range(10_000):
            print("after that", number)
        return "done"
        """
        ran = self.call(source)
        self.assertEqual((ran.code, ran.end["state"], ran.result["value"]), (0, "SUCCEEDED", "done"), ran.err)
        # The pod's output has all of it.
        want = [f"while it is full {number}" for number in range(10_000)] + [f"after that {number}" for number in range(10_000)]
        self.assertEqual(ran.stdout.splitlines(), want)
        told = ran.stderr.splitlines()
        self.assertEqual(len(told), 2, told)
        self.assertEqual(told[0], f"kinetic: warning: no room for the log in {self.work}/scratch/log: the rest is only in this pod's output; {ROOM}")
        self.assertRegex(told[1], r"^kinetic: warning: \S+ [KM]iB of the log are not in the store: no room in /")
        # The log in the store has whole lines, and says where some are missing, and how much.
        lines = [line[28:] for line in ran.log.splitlines()]
        printed = set(want)
        stored, others = [line for line in lines if line in printed], [line for line in lines if line not in printed]
        kept = set(stored)
        self.assertEqual(stored, [line for line in want if line in kept], "in order, and each once")
        self.assertEqual(stored[-1], "after that 9999")
        self.assertEqual(others.pop(), told[1])
        self.assertTrue(others)
        missing = 0
        for line in others:
            self.assertRegex(line, r"^kinetic: \d+ bytes of the log are missing here$")
            missing += int(line.split()[1])
        lost = sum(len(line) + 29 for line in want) - sum(len(line) + 29 for line in stored)
        self.assertEqual(missing, lost)
        self.assertEqual(ran.result["warnings"], [f"{readable(lost)} of the log are not in the store: no room in {self.work}/scratch/log"])

    def test_function_that_returns_keeps_its_value_and_is_not_repeated(self):
        source = """
    import atexit
    def f():
        fill()
        open(RAN, "a").write("x")
        atexit.register(print, "at exit " * 20_000)
        return {"loss": 0.5}
        """.replace("RAN", repr(os.path.join(self.root, "ran")))
        for _ in range(2):
            ran = self.call(source)
            self.assertEqual((ran.code, ran.end["state"], ran.result["value"]), (0, "SUCCEEDED", {"loss": 0.5}), ran.err)
        with open(os.path.join(self.root, "ran")) as file:
            self.assertEqual(file.read(), "x")

    def test_value_of_a_megabyte_needs_no_disk(self):
        ran = self.call("    def f():\n        fill()\n        return 'x' * 1_000_000")
        self.assertEqual((ran.code, len(ran.result["value"])), (0, 1_000_000), ran.out)

    def test_larger_value_is_lost_for_good(self):
        ran = self.call("    def f():\n        fill()\n        return 'x' * (2 << 20)")
        self.assertEqual((ran.code, ran.end["state"], ran.end["reason"]), (1, "FAILED", "BadResult"), ran.out)
        message = f"cannot write the value (2.0 MiB of JSON) to {self.work}/scratch/value.json: No space left on device: {ROOM}"
        self.assertEqual(ran.end["message"], message)
        self.assertIn(f"kinetic: {message}\n", ran.out)

    def test_larger_value_that_finds_room(self):
        ran = self.call("    def f(): return 'x' * (2 << 20)")
        self.assertEqual((ran.code, len(ran.result["value"])), (0, 2 * MIB), ran.out)

    def test_exact_value_that_finds_no_room_is_told(self):
        for value in ("b'x' * 9000", "{1, 2}"):
            with self.subTest(value):
                self.setUp()
                ran = self.call(f"    def f():\n        fill()\n        return {value}")
                self.assertEqual((ran.code, ran.result["ok"], ran.result["pickle"]), (0, True, None), ran.out)
                self.assertRegex(ran.result["warnings"][-1], f"the exact value is lost: cannot write {self.work}/scratch/result.pkl: No space left on device: {ROOM}")

    def test_exact_value_that_finds_room(self):
        ran = self.call("    def f(): return {1, 2}")
        self.assertEqual(pickle.loads(self.read(ran.result["pickle"])), {1, 2})

    def test_script_and_command_go_on(self):
        body = "fill()\nfor number in range(10_000): print('line', number)"
        for name, call in (("script", script()), ("command", command("python3", "train.py"))):
            with self.subTest(name):
                self.setUp()
                source = "".join(line[4:] + "\n" for line in FILL.splitlines()) + body
                ran = self.run_call(call, {"train.py": source})
                self.assertEqual((ran.code, ran.end["state"]), (0, "SUCCEEDED"), ran.err)
                self.assertIn("line 9999\n", ran.out)
                self.assertIn("iB of the log are not in the store", ran.result["warnings"][0])


class LargeArguments(SmallDisk):
    """They need no room."""

    def test_they_arrive(self):
        ran = self.run_call(function(kwargs={"text": "x" * (4 * SIZE)}), {"train.py": "def f(text): return len(text)"}, "--final")
        self.assertEqual((ran.code, ran.result["value"]), (0, 4 * SIZE))


class NoRoomToBegin(SmallDisk):
    """What does not even fit before the call begins is named."""

    def refused(self, call, files, name, **kwargs):
        ran = self.run_call(call, files, "--final", **kwargs)
        self.assertEqual((ran.code, ran.end["reason"]), (125, "RunnerFailure"))
        self.assertEqual(ran.end["message"], f"[Errno 28] No space left on device: '{self.work}/{name}': {ROOM}")

    def test_large_file(self):
        data = os.urandom(2 * SIZE)
        index, blobs = pack({"train.py": ""})
        index["blobs"].append({"sha256": sha256(data), "size": len(data)})
        index["files"].append({"path": "large", "size": 2 * len(data), "parts": [1, 1]})
        self.refused(script(), self.put_index(index, blobs + [data]), "workspace/large")

    def test_file(self):
        self.refused(script(), {"train.py": "", "data": bytes(2 * SIZE)}, "workspace/data")


class Outputs(SmallDisk, OutputCase):
    """The program fills the disk with its outputs."""

    def test_what_fitted_is_saved(self):
        source = """
            import os
            top = os.environ["KINETIC_OUTPUT_PATH"]
            try:
                for number in range(1000):
                    with open(f"{top}/step.tmp", "wb") as file:
                        file.write(b"x" * 500_000)
                    os.replace(file.name, f"{top}/step-{number}.bin")
            finally:
                os.unlink(file.name)
                with open(f"{top}/rest", "wb", buffering=0) as file:
                    while True:
                        file.write(b"x" * 4096)
            """
        ran = self.run_call(script(), {"train.py": source}, "--output-sync", "0.1", "--final")
        self.assertEqual((ran.code, "No space left on device" in ran.stderr), (1, True), ran.err)
        saved = self.bucket.names(f"{JOB}/outputs/")
        self.assertIn(f"{JOB}/outputs/step-3.bin", saved)
        self.assertEqual({len(self.bucket.read(name)) for name in saved if "step" in name}, {500_000})
        self.assertEqual(self.indexed(), sorted(name[len(f"{JOB}/outputs/") :] for name in saved))
        self.assertEqual([file["path"] for file in ran.end["unsaved"]], ["rest"])


class DataCopies(SmallDisk, DataCase):
    """The inputs do not fit."""

    def test_they_are_refused_before_they_are_copied(self):
        self.bucket.put("set/a", bytes(2 * SIZE))
        ran = self.run_with(from_bucket("gs://bucket/set"))
        self.assertEqual((ran.code, ran.end["reason"]), (1, "BadData"), ran.err)
        self.assertRegex(ran.end["message"], r"^the data takes 8.0 MiB, and \d.\d MiB of the disk can be used: submit the job with a larger --disk")
        self.assertEqual(self.bucket.asked("alt=media"), [])

    def test_a_disk_that_somebody_else_fills_meanwhile_is_final(self):
        self.bucket.put("set/a", bytes(2 * SIZE))
        ran = self.run_with(from_bucket("gs://bucket/set"), changed="import kinetic_runner.data as d; d.check_room = lambda *_: None")
        self.assertEqual((ran.code, ran.end["reason"]), (1, "BadData"), ran.err)
        self.assertRegex(ran.end["message"], rf"^gs://bucket/set: \[Errno 28\] No space left on device: '\S+/a': {ROOM}$")


if __name__ == "__main__":
    unittest.main()
