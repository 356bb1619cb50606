"""--output-sync 0: nothing is saved while the call runs, and from SIGTERM on all that is finished."""

import gzip
import json
import math
import os
import signal
import textwrap
import threading
import unittest

from fixture import JOB, script
from test_map import MapCase
from test_outputs import OutputCase

# A handler of SIGTERM that writes a file, and ends the call when it is told that all is saved.
HANDLER = """
import os, signal, time
def put(name):
    with open(os.path.join(os.environ["KINETIC_OUTPUT_PATH"], name), "w") as file: file.write(name)
def end(*_):
    put("handler.pt")
    while not os.path.exists(GO): time.sleep(0.01)
    os._exit(143)
signal.signal(signal.SIGTERM, end)
"""
READY = "print('ready', flush=True)\nwhile True: signal.pause()\n"
FLAGS = ("--output-sync", "0", "--grace", "60")


class Terminated:
    """Ends calls by SIGTERM."""

    def handler(self):
        """The source of the handler; it waits for the file go."""
        self.go = os.path.join(self.root, "go")
        return HANDLER.replace("GO", repr(self.go))

    def wait_until_ready(self, process):
        while process.stdout.readline() != b"ready\n":
            self.assertIsNone(process.poll())

    def terminate(self, process, *names):
        """Sends SIGTERM, lets the call end when these files are saved, and returns how it went."""
        process.send_signal(signal.SIGTERM)
        self.eventually(lambda: self.indexed() == sorted(names), process)
        with open(self.go, "w"):
            pass
        return self.finish(process)

    def indexed(self):
        """The files that a restore of host or input 0 brings."""
        name = f"{JOB}/sync/0.json"
        index = json.loads(gzip.decompress(self.bucket.read(name))) if self.bucket.names(name) else {"files": []}
        return sorted(entry["path"] for entry in index["files"] if "directory" not in entry)


class Forgotten(OutputCase):
    """The store forgets an upload, as Cloud Storage may at any time: nothing comes after the last save that could repeat it."""

    SOURCE = """
    import os
    top = os.environ["KINETIC_OUTPUT_PATH"]
    with open(top + "/model.bin", "wb") as file: file.truncate(20 << 20)
    with open(top + "/metrics.json", "w") as file: file.write("{}")
    """

    def run_script(self, status, times):
        self.setUp()
        self.bucket.fail(status, times, r"PUT .*upload_id")
        return self.run_call(script(), {"train.py": textwrap.dedent(self.SOURCE)}, *FLAGS)

    def test_the_upload_starts_over(self):
        for status in (404, 410):
            with self.subTest(status):
                ran = self.run_script(status, 2)
                self.assertEqual((ran.code, ran.result["warnings"], sorted(self.saved())), (0, [], ["metrics.json", "model.bin"]), ran.out)

    def test_while_the_call_runs_a_state_is_saved_as_a_whole(self):
        """A new state of which a file can't be sent is not saved in part: the last one stays what a restore brings."""
        commit = """
        import kinetic
        def put(name, text):
            with open(top + "/new", "w") as file: file.write(text)
            os.replace(top + "/new", top + "/" + name)
        os.remove(top + "/model.bin")
        put("latest", "1")
        kinetic.commit()
        with open(top + "/new", "wb") as file: file.truncate(20 << 20)
        os.replace(top + "/new", top + "/model.bin")
        put("latest", "2")
        try:
            kinetic.commit()
        except OSError as exc:
            print(exc, flush=True)
        os.kill(os.getpid(), 9)
        """
        self.bucket.fail(410, math.inf, r"PUT .*upload_id")
        ran = self.run_call(script(), {"train.py": textwrap.dedent(self.SOURCE) + textwrap.dedent(commit)}, *FLAGS)
        self.assertIn("the server has forgotten the upload", ran.out)
        self.assertEqual((ran.code, self.saved()["latest"]), (137, b"1"))

    def test_the_other_files_are_saved(self):
        ran = self.run_script(410, math.inf)
        self.assertEqual((ran.code, ran.end["state"], sorted(self.saved())), (0, "SUCCEEDED", ["metrics.json"]))
        self.assertRegex(ran.out, "model.bin.*the server has forgotten the upload")


class Away(OutputCase):
    CHANGE = "from kinetic_runner import errands, store; store.FIRST_SECONDS = errands.PART_SECONDS = 0.2"

    def test_it_is_said_after_the_call_too(self):
        """The store is away when a call without outputs ends: the log says so while the runner waits."""
        asked, back, go = threading.Event(), threading.Event(), os.path.join(self.root, "go")

        def fault(handler):
            asked.set()
            if back.is_set():
                return handler.serve()
            handler.body()
            return handler.error(503, "")

        source = f"import os\nprint('hello', flush=True)\nwhile not os.path.exists({go!r}): os.sched_yield()\n"
        process = self.start_changed(self.CHANGE, self.argv(script(), {"train.py": source}))
        while process.stdout.readline() != b"hello\n":
            self.assertIsNone(process.poll())
        self.bucket.fail(fault, math.inf, "POST")
        self.eventually(asked.is_set, process)
        open(go, "w").close()
        give_up = threading.Timer(60, back.set)
        give_up.start()
        self.addCleanup(give_up.cancel)
        while b"has not answered" not in (line := process.stdout.readline()):
            self.assertNotEqual(line, b"")
        self.assertFalse(back.is_set())
        back.set()
        self.assertEqual(self.finish(process).code, 0)


class Script(Terminated, OutputCase):
    def start_script(self, source):
        process = self.start(self.argv(script(), {"train.py": self.handler() + source + READY}, *FLAGS))
        self.wait_until_ready(process)
        return process

    def test_what_is_finished_after_sigterm_is_saved(self):
        ran = self.terminate(self.start_script("put('a.pt')\n"), "a.pt", "handler.pt")
        self.assertEqual((ran.code, self.indexed()), (143, ["a.pt", "handler.pt"]), ran.err)

    def test_what_is_first_written_after_sigterm_is_saved(self):
        ran = self.terminate(self.start_script(""), "handler.pt")
        self.assertEqual((ran.code, self.indexed()), (143, ["handler.pt"]), ran.err)

    def test_what_is_written_after_a_commit_is_saved(self):
        process = self.start_script("import kinetic\nput('a.pt')\nkinetic.commit()\n")
        self.assertEqual(self.indexed(), ["a.pt"])
        self.assertEqual(self.terminate(process, "a.pt", "handler.pt").code, 143)

    def test_a_crash_keeps_what_was_renamed_into_place(self):
        source = """
import os, sys, time
top = os.environ["KINETIC_OUTPUT_PATH"]
os.mkdir(top + "/new")
fds, inode = f"/proc/{os.getppid()}/fdinfo/", f" ino:{os.stat(top + '/new').st_ino:x} "
def is_watched():
    for fd in os.listdir(fds):
        try:
            if inode in open(fds + fd).read(): return True
        except FileNotFoundError: pass
while not is_watched(): time.sleep(0.05)
for name in ("/new/a", "/new/a", "/b"):
    open(top + name + ".tmp", "w").close()
    os.rename(top + name + ".tmp", top + name)
open(top + "/half", "w").close()
sys.exit(7)
"""
        ran = self.attempt(1, source, "--output-sync", "0")
        self.assertEqual((ran.code, self.indexed()), (7, ["b", "new/a"]), ran.err)


class Map(Terminated, MapCase):
    def test_what_is_finished_after_sigterm_is_saved(self):
        source = self.handler() + "def f(n):\n  put('a.pt')\n  print('ready', flush=True)\n  while True: signal.pause()"
        process = self.start_chunk(source, [0, 1], *FLAGS)
        self.wait_until_ready(process)
        self.terminate(process, "a.pt", "handler.pt")


if __name__ == "__main__":
    unittest.main()
