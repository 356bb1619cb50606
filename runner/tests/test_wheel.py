"""Wheels in a virtual environment: as pip installs them, or refused."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

from wheels import HAS_PIP, SITE, MadeWheel, archive, row
from kinetic_runner.errors import BadEnvironment
from kinetic_runner.packages.venv import Venv
from kinetic_runner.packages.wheel import install


def rich():
    """A wheel with something of everything that a wheel may have."""
    data = "demo-1.0.data"
    files = {
        "demo/__init__.py": "def main():\n  print('main', __import__('sys').argv[1:])\n  return 3\nclass Tool:\n  run = staticmethod(main)\n",
        "demo/native.so": bytes(range(256)) * 10,
        "space/part/module.py": "NAME = 'part'\n",  # no __init__.py: a namespace
        "enum_like.py": "",
        f"{data}/purelib/pure.py": "PURE = 1\n",
        f"{data}/platlib/plat.py": "PLAT = 1\n",
        f"{data}/data/share/demo/data.txt": "data\n",
        f"{data}/headers/demo.h": "int demo;\n",
        f"{data}/scripts/demo-python": "#!python\nimport demo\nprint('a script of', demo.__name__)\n",
        f"{data}/scripts/demo-shell": "#!/bin/sh\necho shell\n",
    }
    commands = "[console_scripts]\ndemo = demo:main\ndemo-tool = demo:Tool.run [extra]\n\n# more\n[gui_scripts]\ndemo-gui = demo:main\n[other.group]\nx = y\n"
    return MadeWheel(files=files, executable=[f"{data}/scripts/demo-python", f"{data}/scripts/demo-shell", "demo/native.so"],
                     tag=f"cp3{sys.version_info[1]}-abi3-manylinux_2_17_x86_64.any".split(".")[0], info={"entry_points.txt": commands, "INSTALLER": "builder\n", "RECORD.jws": "{}"})


class InstallCase(unittest.TestCase):
    """A test with a virtual environment."""

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="kinetic-packages-")
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.venv = Venv(os.path.join(self.root, "env"))
        self.venv.make()

    def put(self, wheel):
        path = os.path.join(self.root, wheel.file)
        with open(path, "wb") as file:
            file.write(wheel.data)
        return path

    def install(self, *wheels):
        for wheel in wheels:
            install(self.put(wheel), f"the wheel {wheel.file}", self.venv)

    def python(self, *args, code=0, path="python"):
        ran = subprocess.run([os.path.join(self.venv.bin, path), *args], capture_output=True, text=True, cwd=self.root)
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        return ran.stdout.strip()


def tree(root):
    """The mode and content of each file, by its path, without what may differ between installers."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if "__pycache__" not in path and not os.path.islink(path) and name not in ("RECORD", "INSTALLER", "direct_url.json", "REQUESTED"):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, root)] = (os.stat(path).st_mode & 0o777, file.read())
    return found


def rows(root):
    """RECORD of demo, by path."""
    with open(os.path.join(root, SITE, "demo-1.0.dist-info/RECORD"), encoding="utf-8") as file:
        return {line[0]: line[1:] for line in csv.reader(file)}


class Installed(InstallCase):
    @unittest.skipUnless(HAS_PIP, "needs pip")
    def test_equals_what_pip_installs(self):
        wheel = rich()
        theirs = os.path.join(self.root, "pip")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", theirs], check=True)
        before = tree(theirs)
        pip = [sys.executable, "-m", "pip", "--python", os.path.join(theirs, "bin/python"), "install", "--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check"]
        if subprocess.run([sys.executable, "-m", "pip", "--python", sys.executable, "--version"], capture_output=True).returncode:
            self.skipTest("this pip has no --python")
        plain = self.put(wheel)
        # A tag of this machine's own, so that pip takes it.
        path = os.path.join(self.root, "demo-1.0-py3-none-any.whl")
        os.rename(plain, path)
        subprocess.run([*pip, path], check=True, capture_output=True)
        self.install(wheel)
        ours, want = tree(self.venv.path), {path: file for path, file in tree(theirs).items() if path not in before}
        generated = ["bin/demo", "bin/demo-gui", "bin/demo-tool"]
        for name in generated:  # their text is each installer's own
            self.assertEqual((ours.pop(name)[0], b"from demo import"), (want[name][0], b"from demo import" if b"from demo import" in want.pop(name)[1] else b""))
        script = "bin/demo-python"
        self.assertEqual(ours[script][1].replace(self.venv.path.encode(), theirs.encode()), want[script][1])
        ours[script] = want[script]
        del ours["pyvenv.cfg"]
        self.assertEqual(sorted(ours), sorted(path for path in want if not path.endswith("RECORD.jws")))
        self.assertEqual(ours, {path: file for path, file in want.items() if not path.endswith("RECORD.jws")})
        our_rows, pips = rows(self.venv.path), rows(theirs)
        same = {path: listed for path, listed in our_rows.items() if os.path.basename(path) not in ("INSTALLER", script[4:], "demo", "demo-gui", "demo-tool")}
        self.assertEqual(same, {path: pips.get(path) for path in same})

    def test_record_is_true_of_each_file(self):
        self.install(rich())
        listed = rows(self.venv.path)
        site = self.venv.site
        files = {os.path.relpath(os.path.join(self.venv.path, path), site) for path in tree(self.venv.path)} - {"../../../pyvenv.cfg"}
        own = {"demo-1.0.dist-info/RECORD", "demo-1.0.dist-info/INSTALLER"}
        self.assertEqual(set(listed), files | own)
        for path, (digest, size) in listed.items():
            if path != "demo-1.0.dist-info/RECORD":
                with open(os.path.join(site, path), "rb") as file:
                    data = file.read()
                self.assertEqual(f"{path},{digest},{size}\n", row(path, data))

    def test_file_that_the_wheels_record_does_not_list(self):
        wheel = MadeWheel(info={"RECORD": ""})
        self.install(wheel)
        self.assertEqual(rows(self.venv.path)["demo.py"][1], "16")

    def test_commands(self):
        self.install(rich())
        for name in ("demo", "demo-tool", "demo-gui"):
            self.assertEqual(self.python("x", code=3, path=name), "main ['x']")
        self.assertEqual(self.python(path="demo-python"), "a script of demo")
        self.assertEqual(self.python(path="demo-shell"), "shell")

    @unittest.skipUnless(HAS_PIP, "needs pip")
    def test_pip_knows_them(self):
        self.install(rich(), MadeWheel("other", requires=["demo>=1"]))
        listed = {line["name"]: line["version"] for line in json.loads(self.python("-m", "pip", "list", "--format", "json", "--disable-pip-version-check"))}
        self.assertEqual((listed["demo"], listed["other"]), ("1.0", "1.0"))
        check = subprocess.run([os.path.join(self.venv.bin, "python"), "-m", "pip", "check"], capture_output=True, text=True)
        self.assertNotIn("demo", check.stdout)
        self.python("-m", "pip", "uninstall", "--yes", "other", "demo")
        self.assertEqual(list(tree(self.venv.path)), ["pyvenv.cfg"])

    def test_modules(self):
        namespace = MadeWheel("space_more", files={"space/more/module.py": "NAME = 'more'"})
        late = MadeWheel("late", files={"json.py": "raise SystemExit('not the standard library')", "shared/__init__.py": "", "shared/late.py": ""})
        early = MadeWheel("early", files={"shared/__init__.py": "", "shared/early.py": ""})
        path = MadeWheel("path", files={"path.pth": "import sys; sys.of_pth = 1\n"})
        self.install(rich(), namespace, early, late, path)
        code = "import json, sys, shared.late, shared.early, pure, plat; from space.part import module as a; from space.more import module as b; print(a.NAME, b.NAME, sys.of_pth)"
        self.assertEqual(self.python("-c", code), "part more 1")
        code = "from importlib.metadata import version, files; print(version('demo'), len(files('demo')) > 10)"
        self.assertEqual(self.python("-c", code), "1.0 True")

    def test_of_two_wheels_with_one_file_the_later_wins(self):
        self.install(MadeWheel("one", files={"both.py": "NAME = 1"}), MadeWheel("two", files={"both.py": "NAME = 2"}))
        self.assertEqual(self.python("-c", "import both; print(both.NAME)"), "2")

    def test_of_two_files_for_one_place_the_later_wins(self):
        data = "demo-1.0.data"
        self.install(MadeWheel(files={f"{data}/purelib/a.py": "NAME = 2", "a.py": "NAME = 1", "b.py": "NAME = 1"}, more=[("b.py", b"NAME = 3")]))
        self.assertEqual(self.python("-c", "import a, b; print(a.NAME, b.NAME)"), "2 3")
        self.assertEqual((rows(self.venv.path)["a.py"][1], rows(self.venv.path)["b.py"][1]), ("8", "8"))

    def test_packages_of_the_image_are_beneath(self):
        image = os.path.join(self.root, "image")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", image], check=True)
        for name, value in (("theirs", 1), ("demo", 0)):
            with open(os.path.join(image, SITE, f"{name}.py"), "w") as file:
                file.write(f"VERSION = {value}")
        wheel, venv = self.put(MadeWheel()), os.path.join(self.root, "above")
        make = (
            "import sys; sys.path.insert(0, sys.argv[1])\nfrom kinetic_runner.packages import venv, wheel\n"
            "made = venv.Venv(sys.argv[2]); made.make(); wheel.install(sys.argv[3], 'it', made)"
        )
        runner = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        subprocess.run([os.path.join(image, "bin/python"), "-c", make, runner, venv, wheel], check=True)
        seen = subprocess.run([os.path.join(venv, "bin/python"), "-c", "import theirs, demo, sys; print(theirs.VERSION, demo.VERSION, sys.prefix)"], capture_output=True, text=True)
        self.assertEqual(seen.stdout, f"1 1.0 {venv}\n", seen.stderr)


class Refused(InstallCase):
    def refused(self, wheel, want):
        with self.assertRaises(BadEnvironment) as caught:
            self.install(wheel)
        self.assertIn(f"cannot install the wheel {wheel.file}: ", str(caught.exception))
        self.assertIn(want, str(caught.exception))

    def test_paths(self):
        for path in ("/etc/passwd", "../x", "a/../../x", "demo-1.0.data/data/../../x", "a\\b", "..\\x", "./a", "a//b", ".."):
            with self.subTest(path):
                self.refused(MadeWheel(files={path: "x"}), "path ")
        self.assertEqual(sorted(os.listdir(self.root)), ["demo-1.0-py3-none-any.whl", "env"])

    def test_nul(self):
        wheel = MadeWheel(files={"a!b": "x"})
        wheel.data = wheel.data.replace(b"a!b", b"a\0b")
        self.refused(wheel, "path 'a\\x00b'")

    def test_wheels(self):
        data = "demo-1.0.data"
        cases = {
            "two .dist-info": (MadeWheel(files={"other-1.dist-info/METADATA": ""}), "2 .dist-info directories"),
            "newer format": (MadeWheel(info={"WHEEL": "Wheel-Version: 2.0\n"}), "its format has version '2.0'"),
            "no format": (MadeWheel(info={"WHEEL": ""}), "its format has version 'unknown'"),
            "no WHEEL": (MadeWheel(info={"WHEEL": None}), "it has no demo-1.0.dist-info/WHEEL"),
            "place of RECORD": (MadeWheel(files={f"{data}/purelib/demo-1.0.dist-info/RECORD": ""}), "its own RECORD"),
            "interpreter": (MadeWheel(files={f"{data}/scripts/python": ""}), "belongs to the environment"),
            "interpreter, data": (MadeWheel(files={f"{data}/data/bin/python3": ""}), "belongs to the environment"),
            "interpreter, command": (MadeWheel(info={"entry_points.txt": "[console_scripts]\npython = a:b\n"}), "belongs to the environment"),
            "pyvenv.cfg": (MadeWheel(files={f"{data}/data/pyvenv.cfg": ""}), "belongs to the environment"),
            "file and folder": (MadeWheel(files={"a": "", "a/b": ""}), "a"),
            "below the interpreter": (MadeWheel(files={f"{data}/data/bin/python/a": ""}), "bin/python"),
            "unknown data": (MadeWheel(files={f"{data}/etc/x": ""}), "is not in one of the directories purelib, platlib"),
            "data without a kind": (MadeWheel(files={f"{data}/x": ""}), "is not in one of the directories"),
            "entry point": (MadeWheel(info={"entry_points.txt": "[console_scripts]\nbad = module\n"}), "'bad' = 'module' is not of the form"),
            "entry point's code": (MadeWheel(info={"entry_points.txt": "[console_scripts]\nx = a:b();import os\n"}), "is not of the form"),
            "entry point's name": (MadeWheel(info={"entry_points.txt": "[console_scripts]\n../bad = a:b\n"}), "is not of the form"),
            "entry point's dots": (MadeWheel(info={"entry_points.txt": "[gui_scripts]\n.. = a:b\n"}), "is not of the form"),
        }
        for name, (wheel, want) in cases.items():
            with self.subTest(name):
                self.venv.make()
                self.refused(wheel, want)
        self.assertTrue(os.path.samefile(os.path.join(self.venv.bin, "python"), sys.executable))

    def test_archives(self):
        empty, damaged = MadeWheel(), MadeWheel(files={"a.py": "x" * 100 + "y" * 1000})
        empty.data = archive([])
        self.refused(empty, "0 .dist-info directories")
        empty.data = b"no archive"
        self.refused(empty, "not a zip file")
        with zipfile.ZipFile(io.BytesIO(damaged.data)) as file:
            begin = file.getinfo("a.py").header_offset + 34
        damaged.data = damaged.data[:begin] + b"\xff" * 8 + damaged.data[begin + 8 :]
        self.refused(damaged, "")


if __name__ == "__main__":
    unittest.main()
