"""Two attempts of one job at the same time: the one that was taken for lost never has the last word."""

import contextlib
import os
import pickle
import tempfile
import textwrap
import types
import unittest
from unittest import mock

from fixture import JOB, command, function, script
from kinetic_runner import losses
from kinetic_runner.place import Place
from test_pod import PodCase

# Attempt 1 goes on when the test opens the fifo, and how it ends is read from there.
CALL = """
    import os, sys
    def f():
        attempt = int(os.environ["KINETIC_ATTEMPT"])
        if attempt == 1:
            print("ready", flush=True)
            exec(open(FIFO).read())
        return {attempt}
"""
LAST_WORDS = ("result.json", "end.json", "result-2.pkl")


def hold(step, fifo):
    """A change that lets a step of publish wait until the test opens a fifo."""
    return f"def hold(*args, step=publish.{step}):\n  open({fifo!r}).read()\n  return step(*args)\npublish.{step} = hold\n"


class StaleAttempt(PodCase):
    def setUp(self):
        super().setUp()
        self.first, self.second = os.path.join(self.root, "first"), os.path.join(self.root, "second")
        os.mkfifo(self.first)
        os.mkfifo(self.second)
        self.files = {"train.py": CALL.replace("FIFO", repr(self.first))}

    def argv_of(self, number, call=None):
        return self.argv(call or function(), self.files, "--work", os.path.join(self.root, f"work-{number}"))

    def start_first(self):
        """Starts attempt 1; returns when its call runs."""
        process = self.start(self.argv_of(1), {"KINETIC_POD_UID": "first"})
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def finish_first(self, process, ending):
        with open(self.first, "w") as fifo:
            fifo.write(ending)
        return self.finish(process)

    def run_second(self):
        ran = self.finish(self.start(self.argv_of(2), {"KINETIC_POD_UID": "second"}))
        self.assertEqual((ran.code, ran.end["attempt"], ran.result["attempt"], ran.result["pickle"]), (0, 2, 2, "result-2.pkl"))
        return ran

    def test_attempt_that_ends_after_the_job_has_changes_nothing(self):
        endings = "pass", "raise ValueError('stale')", "sys.exit(7)", "os.kill(os.getpid(), 9)", "os.kill(os.getppid(), 15); import time; time.sleep(100)"
        for ending in endings:
            with self.subTest(ending):
                self.setUp()
                process = self.start_first()
                self.run_second()
                before = [self.read(name) for name in LAST_WORDS]
                ran = self.finish_first(process, ending)
                self.assertEqual((ran.code, ran.said_end), (143, False))
                self.assertIn("kinetic: attempt 2 has started in the meantime, so this one ends without a result\n", ran.out)
                self.assertEqual([self.read(name) for name in LAST_WORDS], before)
                self.assertEqual((self.end["state"], pickle.loads(self.read("result-2.pkl"))), ("SUCCEEDED", {2}))
                self.assertIn("finished", self.document("attempts/1.json"))

    @property
    def end(self):
        return self.document("end.json")

    def test_attempt_that_ends_between_the_result_and_the_end_changes_nothing(self):
        for ending in ("pass", "raise ValueError('stale')"):
            with self.subTest(ending):
                self.setUp()
                process = self.start_first()
                self.environment["KINETIC_POD_UID"] = "second"
                second = self.start_changed(hold("publish_end", self.second), self.argv_of(2))
                with open(self.second, "w"):  # returns when the second one is there
                    result = self.read("result.json")
                    self.finish_first(process, ending)
                    self.assertFalse(self.exists("end.json"))
                ran = self.finish(second)
                self.assertEqual((ran.code, ran.end["state"], ran.end["attempt"]), (0, "SUCCEEDED", 2), ran.err)
                self.assertEqual((self.read("result.json"), pickle.loads(self.read("result-2.pkl"))), (result, {2}))

    def test_attempt_that_is_held_up_while_it_publishes_changes_nothing(self):
        """It has seen no other result yet when it was stopped."""
        self.environment["KINETIC_POD_UID"] = "first"
        process = self.start_changed(hold("publish_result", self.second), self.argv_of(1))
        self.assertEqual(process.stdout.readline(), b"ready\n")
        with open(self.first, "w"):
            pass
        with open(self.second, "w"):
            self.run_second()
            before = [self.read(name) for name in LAST_WORDS]
        self.finish(process)
        self.assertEqual([self.read(name) for name in LAST_WORDS], before)

    def test_attempt_that_ends_the_job_has_its_result_there(self):
        """Attempt 2 crashes, and replaces the result, between the result of attempt 1 and its end."""
        self.files["train.py"] = self.files["train.py"].replace("attempt == 1", "attempt == 2")
        self.environment["KINETIC_POD_UID"] = "first"
        third = os.path.join(self.root, "third")
        os.mkfifo(third)
        change = hold("publish_result", self.second) + hold("publish_end", third) + "publish.SLOW_SECONDS = 0"
        first = self.start_changed(change, self.argv_of(1))
        with open(self.second, "w"):  # returns when attempt 1 has seen no other
            second = self.start(self.argv_of(2), {"KINETIC_POD_UID": "second"})
            self.assertIn(b"ready\n", second.stdout)
        with open(third, "w"):  # returns when the result of attempt 1 is there
            self.assertEqual(self.finish_first(second, "os.kill(os.getpid(), 9)").code, 137)
            self.assertEqual(self.document("result.json")["attempt"], 2)
        self.assertEqual(self.finish(first).code, 0)
        self.assertEqual((self.end["state"], self.document("result.json")["attempt"], self.document("result.json")["ok"]), ("SUCCEEDED", 1, True))

    def test_attempt_that_begins_between_the_result_and_the_end_writes_the_end(self):
        for body, state, code in (("return 1", "SUCCEEDED", 0), ("raise ValueError('boom' * 9999)", "FAILED", 1)):
            with self.subTest(state):
                self.setUp()
                self.files = {"train.py": f"def f():\n  {body}"}
                self.environment["KINETIC_POD_UID"] = "first"
                first = self.start_changed(hold("publish_end", self.second), self.argv_of(1))
                with open(self.second, "w"):
                    second = self.finish(self.start(self.argv_of(2), {"KINETIC_POD_UID": "second"}))
                    self.assertEqual((second.code, self.end["state"], self.end["attempt"]), (code, state, 1), second.out)
                    self.assertIn(f"has ended already: {state}", second.out)
                    before = self.read("end.json")
                self.assertEqual((self.finish(first).code, self.read("end.json")), (code, before))

    def test_later_attempt_replaces_the_result_of_one_that_failed(self):
        process = self.start_first()
        ran = self.finish_first(process, "os.kill(os.getpid(), 9)")
        self.assertEqual((ran.code, ran.result["attempt"], self.exists("end.json")), (137, 1, False))
        self.run_second()
        self.assertEqual(self.bucket.metadata(f"{JOB}/result.json")["attempt"], "2")

    def test_earlier_attempt_that_ended_the_job_keeps_its_result(self):
        """Attempt 2 was started while attempt 1 still ran, and comes second."""
        self.files["train.py"] = self.files["train.py"].replace("attempt == 1", "attempt == 2")
        self.environment["KINETIC_POD_UID"] = "first"
        first = self.start_changed(hold("publish_result", self.second), self.argv_of(1))
        with open(self.second, "w"):  # returns when attempt 1 has seen no other: one that saw attempt 2 has no result
            second = self.start(self.argv_of(2), {"KINETIC_POD_UID": "second"})
            self.assertIn(b"ready\n", second.stdout)
        self.assertEqual(self.finish(first).code, 0)
        before = self.read("result.json"), self.read("end.json")
        ran = self.finish_first(second, "raise ValueError('late')")
        self.assertIn(f"kinetic: job {JOB} has ended in the meantime, and its result is kept\n", ran.out)
        self.assertEqual((self.read("result.json"), self.read("end.json")), before)
        self.assertEqual((self.end["attempt"], ran.result["attempt"], ran.result["pickle"]), (1, 1, "result.pkl"))
        self.assertEqual(pickle.loads(self.read("result.pkl")), {1})


class Outputs(PodCase):
    """A program that takes another gs:// URL for a directory writes into the workspace."""

    WRITE = """
        import os
        folder = "gs://other/model"
        os.makedirs(folder)
        with open(os.path.join(folder, "model.bin"), "wb") as file:
            file.write(bytes(3 << 20))
    """

    def test_what_is_lost_is_told(self):
        files = {"train.py": self.WRITE + "    def f(): return 1", "sub/train.py": self.WRITE}
        calls = {
            "function": (function(), "workspace"),
            "script": (script(), "workspace"),
            "command": (command("python3", "train.py"), "workspace"),
            "working directory": (script("sub/train.py", cwd="sub"), "workspace/sub"),
        }
        for name, (call, folder) in calls.items():
            with self.subTest(name):
                self.setUp()
                ran = self.run_call(call, files)
                self.assertEqual((ran.code, ran.end["state"]), (0, "SUCCEEDED"), ran.err)
                (warning,) = ran.result["warnings"]
                self.assertIn(f"1 file (3.0 MiB) below {os.path.join(self.work, folder)}/gs: will be lost: open() and", warning)
                self.assertEqual(ran.stderr, f"kinetic: warning: {warning}\n")
                self.assertIn(f"kinetic: warning: {warning}\n", ran.log)

    def test_small_files_are_told_with_their_size(self):
        for size, want in ((0, "0 B"), (5, "5 B"), (1536, "1.5 KiB"), (1 << 20, "1.0 MiB"), (300 << 20, "300.0 MiB")):
            with self.subTest(want), tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "model.bin"), "wb") as file:
                    file.truncate(size)
                (sentence,) = losses.written_below_gs(folder)
                self.assertIn(f"1 file ({want}) below {folder} will be lost", sentence)

    def test_nothing_that_is_mounted_is_touched(self):
        """Neither below a mount, nor by way of a link: it may never answer."""
        top = os.path.join(self.root, "top")
        for folder in ("workspace/gs:/bucket", "workspace/deep/gs:/bucket", "workspace/mount/gs:/bucket", "home/gs:/bucket", "other"):
            os.makedirs(os.path.join(top, folder))
            open(os.path.join(top, folder, "file"), "w").close()
        os.symlink(os.path.join(top, "workspace/mount"), os.path.join(top, "workspace/link"))
        os.symlink(os.path.join(top, "workspace/mount"), os.path.join(top, "workspace/gs:/link"))
        mounted, scan, touched = {"/", os.path.join(top, "workspace/mount"), os.path.join(top, "home")}, os.scandir, []

        class Entry:
            def __init__(self, entry):
                self._entry, self.name, self.path = entry, entry.name, entry.path

            def __getattr__(self, name):
                def ask(**kwargs):
                    if kwargs.get("follow_symlinks", name != "is_symlink") and self._entry.is_symlink() or name == "stat" and self.path in mounted:
                        touched.append((name, self.path))
                    return getattr(self._entry, name)(**kwargs)

                return ask

        class Found(contextlib.nullcontext):
            def __init__(self, path):
                super().__init__(self)
                self._entries = map(Entry, scan(path))
                if path in mounted - {"/"}:
                    touched.append(("scandir", path))

            def __iter__(self):
                return self

            def __next__(self):
                return next(self._entries)

        place = types.SimpleNamespace(workspace=os.path.join(top, "workspace"), environ={"HOME": os.path.join(top, "home"), "KINETIC_OUTPUT_PATH": top + "/outputs"})
        with mock.patch.object(losses.os, "scandir", Found):
            folders = [folder for folder in losses.gs_directories(place, True, mounted) if folder.startswith(top)]
            sentences = [sentence for folder in folders for sentence in losses.written_below_gs(folder, mounted)]
        self.assertEqual(touched, [])
        self.assertEqual([sentence.split(" will be")[0] for sentence in sentences], [f"1 file (0 B) below {top}/workspace/{folder}gs:" for folder in ("", "deep/")])

    def test_files_beside_the_code_are_named(self):
        code = """
            import os
            os.makedirs("results/__pycache__")
            os.makedirs(".cache")
            for name in "results/model.pt", "results/__pycache__/x.pyc", ".cache/x", "d", "c", "b", os.environ["KINETIC_OUTPUT_PATH"] + "/kept":
                with open(name, "w") as file:
                    file.write("12345")
            def f(): return 1
        """
        ran = self.run_call(function(), {"train.py": code, "conf.json": "{}"})
        self.assertEqual((ran.code, ran.result["warnings"]), (0, []), ran.err)
        self.assertEqual(ran.out, "kinetic: not kept: b (5 B), c (5 B), d (5 B) and 1 more: write files to KINETIC_OUTPUT_DIR to keep them\n")

    def test_files_written_at_once_are_named(self):
        for _ in range(50):
            with tempfile.TemporaryDirectory() as workspace:
                for name in "packaged", "looked at":
                    with open(os.path.join(workspace, name), "w") as file:
                        os.fstat(file.fileno())
                        file.write("now")  # with a fine time
                place = Place(workspace, workspace, {})
                with open(os.path.join(workspace, "written"), "w"):
                    self.assertTrue(losses.not_kept(place).startswith("not kept: written (0 B): "), losses.not_kept(place))

    def test_directory_without_files_is_nothing_lost(self):
        ran = self.call("import os\nos.makedirs('gs://other')\ndef f(): return 1")
        self.assertEqual((ran.code, ran.result["warnings"], ran.out), (0, [], ""))


if __name__ == "__main__":
    unittest.main()
