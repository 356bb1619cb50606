"""The package kinetic, which every Python of a job can import from the runner's own zip."""

import json
import os
import sys
import unittest

from fixture import RUNNER, RunnerCase, command, function, make_zip, script
from kinetic_runner import environment

# Says where kinetic comes from, and whether that is behind the user's own modules.
WHERE = """
import json, os, sys
def f():
    import kinetic
    behind = os.environ["PYTHONPATH"].split(os.pathsep)
    place = sys.path.index(os.path.join(os.environ["WORK"], "workspace"))
    return [kinetic.__file__, behind, sys.path.index(behind[-1]) > place]
if __name__ == "__main__":
    print(json.dumps(f()))
"""


class Imported(RunnerCase):
    def setUp(self):
        super().setUp()
        self.zip = os.path.join(self.root, "remote_runner.py")
        make_zip(self.zip, "kinetic_runner", "kinetic")

    def ran(self, call, files, env=None):
        argv = self.argv(call, files)
        argv[2] = self.zip
        return self.finish(self.start(argv, dict(env or {}, WORK=self.work)))

    def test_in_each_kind_of_call(self):
        calls = {
            "function": function(),
            "file": script(),
            "module": {"version": 1, "kind": "module", "module": "train", "args": [], "cwd": "", "sys_path": [""]},
            "command": command(sys.executable, "train.py"),
        }
        for kind, call in calls.items():
            with self.subTest(kind):
                self.setUp()
                ran = self.ran(call, {"train.py": WHERE}, {"PYTHONPATH": "/of/the/image"})
                self.assertEqual(ran.code, 0, ran.out + ran.err)
                value = ran.result["value"] if kind == "function" else json.loads(ran.stdout)
                self.assertEqual((value[0], value[1][-2:]), (os.path.join(self.zip, "kinetic", "__init__.py"), ["/of/the/image", self.zip]))
                self.assertTrue(value[2])

    def test_in_processes_of_the_call(self):
        source = """
            import subprocess, sys
            def f():
                return subprocess.run([sys.executable, "-c", "import kinetic; print(kinetic.__file__)"], capture_output=True, text=True).stdout
        """
        ran = self.ran(function(), {"train.py": source})
        self.assertEqual(ran.result["value"], os.path.join(self.zip, "kinetic", "__init__.py") + "\n", ran.out)

    def test_a_module_of_the_package_comes_first(self):
        ran = self.run_call(function(), {"train.py": "import kinetic\ndef f(): return kinetic.MINE", "kinetic.py": "MINE = 7"})
        self.assertEqual(ran.result["value"], 7, ran.out)

    def test_path(self):
        cases = {
            "unset": ({}, {"PYTHONPATH": RUNNER}),
            "empty": ({"PYTHONPATH": ""}, {"PYTHONPATH": RUNNER}),
            "behind the user's own": ({"PYTHONPATH": "/a:/b"}, {"PYTHONPATH": f"/a:/b:{RUNNER}"}),
            "there already": ({"PYTHONPATH": f"/a:{RUNNER}"}, {}),
        }
        for name, (environ, want) in cases.items():
            with self.subTest(name):
                self.assertEqual(environment.kinetic_package(environ), want)


if __name__ == "__main__":
    unittest.main()
