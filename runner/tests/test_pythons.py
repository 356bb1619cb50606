"""The same few calls with every Python that the runner promises to work with."""

import glob
import os
import shutil
import signal
import subprocess
import unittest

from fixture import RunnerCase, command, function, script

SOURCE = """
import asyncio, typing

class Array:
    def tolist(self): return [1, float("nan")]

def values(): return {"t": (1, 2), "a": Array(), "big": 10 ** 30, "s": "\\udc80"}

async def awaited():
    await asyncio.sleep(0)
    return "awaited"

def generator(): yield 1

def fails():
    try:
        {}["x"]
    except KeyError as e:
        raise ValueError("chained") from e

def leaves():
    raise SystemExit(7)
"""


def pyenv_folders(version):
    """Where pyenv keeps interpreters of this version, whichever of them it shows on PATH."""
    pyenv = shutil.which("pyenv")
    if pyenv is None:
        return []
    root = subprocess.run([pyenv, "root"], capture_output=True, text=True).stdout.strip()
    return sorted(glob.glob(os.path.join(glob.escape(root), "versions", version + "*", "bin"))) if root else []


def interpreter(version):
    """The path of a python of this version that really starts, or None; shims may be there and fail."""
    for folder in os.environ.get("PATH", "").split(os.pathsep) + pyenv_folders(version):
        path = os.path.join(folder, f"python{version}")
        if os.path.exists(path) and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0:
            return path
    return None


class Smoke:
    """Mixed into one class for each version."""

    version = ""

    def setUp(self):
        super().setUp()
        self.python = interpreter(self.version)
        if self.python is None:
            self.skipTest(f"python{self.version} is neither on PATH nor known to pyenv")

    def run_function(self, name):
        return self.run_call(function(name), {"train.py": SOURCE}, python=self.python)

    def run_call(self, call, files, *flags, python=None):
        return self.finish(self.start(self.argv(call, files, *flags, python=python or self.python)))

    def test_values(self):
        ran = self.run_function("values")
        self.assertEqual((ran.code, ran.err), (0, ""), ran.out)
        self.assertEqual(ran.result["value"], {"t": [1, 2], "a": [1, None], "big": 10**30, "s": "\udc80"})

    def test_coroutine(self):
        self.assertEqual(self.run_function("awaited").result["value"], "awaited")

    def test_generator(self):
        self.assertEqual(self.run_function("generator").end["reason"], "BadResult")

    def test_exception(self):
        ran = self.run_function("fails")
        self.assertEqual((ran.code, ran.end["reason"], ran.result["error"]["type"]), (1, "Exception", "ValueError"))
        self.assertIn("KeyError: 'x'", ran.result["error"]["traceback"])
        self.assertNotIn("remote_runner", ran.result["error"]["traceback"])
        self.assertIn('File "train.py"', ran.result["error"]["traceback"])

    def test_exit(self):
        self.assertEqual(self.run_function("leaves").code, 7)

    def test_script(self):
        self.assertEqual(self.run_call(script(), {"train.py": "print(1)"}).out, "1\n")

    def test_command(self):
        self.assertEqual(self.run_call(command("echo", "2"), {"x": ""}).out, "2\n")

    def test_termination(self):
        process = self.start(self.argv(script(), {"train.py": "import signal\nprint('ready')\nsignal.pause()"}, python=self.python))
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process).code, 143)


def add_classes():
    for minor in range(9, 14):
        name = f"Python3{minor}"
        globals()[name] = type(name, (Smoke, RunnerCase), {"version": f"3.{minor}"})


add_classes()

if __name__ == "__main__":
    unittest.main()
