"""--output-sync 0: nothing is saved while the call runs, and from SIGTERM on all that is finished."""

import gzip
import json
import os
import signal
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
