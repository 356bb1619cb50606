"""A call that fails because a bucket is no longer mounted, or never was readable, is told so behind its traceback."""

import errno
import os
import tempfile
import unittest
from unittest import mock

from fixture import RUNNER, RunnerCase, command, function, program, script

from kinetic_runner import mounts

TABLE = r"""
22 1 0:20 / / rw - overlay overlay rw
23 22 0:21 / /proc/cpuinfo rw - fuse.lxcfs lxcfs rw
36 22 0:39 / /kinetic-data/images ro,nosuid shared:1 - fuse images-bucket ro,user_id=0
37 22 0:40 / /mnt/with\040space rw,nosuid - fuse team rw,user_id=0
38 22 0:41 / /data rw - ext4 /dev/sda1 rw
"""
DEAD = "Cloud Storage FUSE no longer serves {}, where gs://{} was mounted: its sidecar has ended, most often because it ran out of memory: raise its limit, as with --annotation gke-gcsfuse/memory-limit=4Gi"
CLOSED = "Cloud Storage FUSE cannot use {}: check that there is a bucket gs://{}"

CASES = (  # what the call printed, the hint
    ("OSError: [Errno 107] Transport endpoint is not connected: '/kinetic-data/images/a.jpg'", DEAD.format("/kinetic-data/images", "images-bucket")),
    ("OSError: [Errno 107] Transport endpoint is not connected: '/kinetic-data/images'", DEAD.format("/kinetic-data/images", "images-bucket")),
    ("ConnectionAbortedError: [Errno 103] Software caused connection abort: '/kinetic-data/images'", DEAD.format("/kinetic-data/images", "images-bucket")),
    ("ls: cannot access '/mnt/with space/x': Transport endpoint is not connected", DEAD.format("/mnt/with space", "team")),
    ("Traceback:\nOSError: [Errno 107] Transport endpoint is not connected: '/mnt/with space/x'\nlater lines", DEAD.format("/mnt/with space", "team")),
    ("OSError: [Errno 5] Input/output error: '/mnt/with space/a'", CLOSED.format("/mnt/with space", "team")),
    ("OSError: [Errno 107] Transport endpoint is not connected: '/kinetic-data/images-2/a'", None),
    ("ConnectionAbortedError: [Errno 103] Software caused connection abort: '/data/a'", None),
    ("OSError: [Errno 5] Input/output error: '/data/a'", None),
    ("OSError: [Errno 107] Transport endpoint is not connected", None),  # of a socket: all mounts answer
    ("OSError: [Errno 5] Input/output error", None),
)


class Hints(unittest.TestCase):
    def setUp(self):
        file = tempfile.NamedTemporaryFile("w", suffix=".mountinfo")
        self.addCleanup(file.close)
        file.write(TABLE[1:])
        file.flush()
        self.table = file.name

    def test_table(self):
        for text, want in CASES:
            with self.subTest(text):
                found = mounts.meaning(text, self.table)
                self.assertEqual(found and found[: len(want or "")], want)

    def test_an_open_file_has_no_name(self):
        for text in ("OSError: [Errno 107] Transport endpoint is not connected", "ConnectionAbortedError: [Errno 103] Software caused connection abort"):
            for code in (errno.ENOTCONN, errno.ECONNABORTED):
                with self.subTest(text, code=code), mock.patch.object(mounts.os, "scandir", side_effect=OSError(code, "")):
                    self.assertEqual(mounts.meaning(text, self.table), DEAD.format("/kinetic-data/images", "images-bucket"))

    def test_the_client_gives_the_same_advice(self):
        with open(os.path.join(RUNNER, "../pkg/kube/diagnose/gcsfuse.go")) as file:
            self.assertIn(f'MoreMemory = "{DEAD.partition("memory: ")[2]}"', file.read())

    def test_without_mounts(self):
        for table in ("/dev/null", "/does/not/exist"):
            self.assertIsNone(mounts.meaning(CASES[0][0], table))


class Calls(RunnerCase):
    """Calls that print such errors."""

    def change(self):
        table = os.path.join(self.root, "mountinfo")
        with open(table, "w") as file:
            file.write(TABLE[1:])
        return f"import kinetic_runner.mounts as m; m.explain.__defaults__ = ({table!r},)"

    def run_changed(self, call, source):
        argv = self.argv(call, {"train.py": source})
        argv[2:3] = ["-c", program(self.change())]
        return self.finish(self.start(argv))

    def test_it_is_said_behind_the_traceback(self):
        error = "OSError(107, 'Transport endpoint is not connected', '/kinetic-data/images/a')"
        told = "'/kinetic-data/images/a'\nkinetic: " + DEAD.format("/kinetic-data/images", "images-bucket") + "\n"
        for call, source in (
            (function(), f"def f(): raise {error}"),
            (script(), f"raise {error}"),
            (command("python3", "train.py"), f"raise {error}"),
        ):
            with self.subTest(call["kind"]):
                self.setUp()
                self.assertIn(told, self.run_changed(call, source).stderr)

    def test_nothing_is_said_without_such_an_error(self):
        self.assertNotIn("Cloud Storage FUSE", self.run_changed(function(), "def f(): raise OSError(2, 'No such file', '/kinetic-data/images/a')").stderr)


if __name__ == "__main__":
    unittest.main()
