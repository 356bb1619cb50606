"""A call that the kernel killed for want of memory says so; one that was killed otherwise doesn't."""

import os
import tempfile
import textwrap
import unittest
from unittest import mock

from fixture import function
from kinetic_runner import judge
from test_pod import PodCase

# Before it is killed, the call notes in the control group what the kernel would.
SOURCE = """
    import os, signal
    def f():
        counts = {path!r}
        if {count} is not None:
            with open(counts, "w") as file:
                file.write("low 0\\noom 1\\noom_kill {count}\\n")
        os.kill(os.getpid(), signal.SIGKILL)
"""


class Groups(unittest.TestCase):
    def test_both_versions(self):
        cases = {
            "version 2": ({"memory.events": "low 0\noom_kill %d\n", "memory.max": "104857600\n"}, "it used all of its 100Mi"),
            "version 1": ({"memory/memory.oom_control": "under_oom 0\noom_kill %d\n", "memory/memory.limit_in_bytes": "2147483648\n"}, "it used all of its 2Gi"),
            "no limit": ({"memory.events": "oom_kill %d\n", "memory.max": "max\n"}, "its node had none left"),
            "no limit in version 1": (
                {"memory/memory.oom_control": "oom_kill %d\n", "memory/memory.limit_in_bytes": "9223372036854771712\n"}, "its node had none left",
            ),
            "an odd limit": ({"memory.events": "oom_kill %d\n", "memory.max": "1500\n"}, "it used all of its 1500"),
        }
        for name, (files, want) in cases.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as group, mock.patch.object(judge, "CONTROL_GROUP", group):
                self.write(group, files, 3)
                before = judge.Memory(in_pod=True)
                self.assertEqual(before.ran_out(), "")
                self.write(group, files, 4)
                self.assertEqual(before.ran_out(), f"out of memory: {want}; request more with --memory")

    def test_of_this_machine(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(judge, "MACHINE", os.path.join(folder, "vmstat")):
            self.assertIsNone(judge.Memory(in_pod=False).ran_out())
            self.write(folder, {"vmstat": "nr_free_pages 9\noom_kill %d\n"}, 3)
            before = judge.Memory(in_pod=False)
            self.assertEqual(before.ran_out(), "")
            self.write(folder, {"vmstat": "nr_free_pages 9\noom_kill %d\n"}, 4)
            self.assertEqual(before.ran_out(), "killed while this machine, or a limit on it, was out of memory")

    def write(self, group, files, count):
        for name, text in files.items():
            path = os.path.join(group, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text.replace("%d", str(count)))

    def test_nobody_knows(self):
        for text in (None, "", "oom_kill many\n", "oom 3\n", "\0"):
            with self.subTest(text), tempfile.TemporaryDirectory() as group, mock.patch.object(judge, "CONTROL_GROUP", group):
                if text is not None:
                    self.write(group, {"memory.events": text}, 0)
                self.assertIsNone(judge.Memory(in_pod=True).ran_out())


class Killed(PodCase):
    def test_reason(self):
        for name, before, after, want in (
            ("out of memory", "oom_kill 0\n", 1, "out of memory: it used all of its 64Mi; request more with --memory"),
            ("by somebody", "oom_kill 0\n", 0, "train.py:f was killed by SIGKILL"),
            ("nobody knows", "", None, "train.py:f was killed by SIGKILL"),
        ):
            with self.subTest(name):
                self.setUp()
                group = os.path.join(self.root, "group")
                os.mkdir(group)
                counts = os.path.join(group, "memory.events")
                for path, text in ((counts, before), (os.path.join(group, "memory.max"), str(64 << 20))):
                    with open(path, "w") as file:
                        file.write(text)
                files = {"train.py": textwrap.dedent(SOURCE).format(path=counts, count=after)}
                change = f"from kinetic_runner import judge\njudge.CONTROL_GROUP = {group!r}"
                ran = self.finish(self.start_changed(change, self.argv(function(), files, "--final")))
                self.assertEqual((ran.code, self.document("end.json")["message"]), (137, want), ran.out)


if __name__ == "__main__":
    unittest.main()
