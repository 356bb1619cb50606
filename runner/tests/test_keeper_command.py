"""The command line of hack/outputs/keeper, which other judges call with programs of their own."""

import os
import subprocess
import sys
import tempfile
import unittest

from fixture import RUNNER

KEEPER = os.path.join(os.path.dirname(RUNNER), "hack", "outputs", "keeper")


@unittest.skipUnless(sys.platform == "linux", "the judge takes Linux")
class KeeperCommand(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name

    def keeper(self, *words):
        return subprocess.run([KEEPER, *words], cwd=self.root, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def run_program(self, *words):
        flags = ["--interval", "1", "--quiet", "0.5", "--grace", "5", "--throttle", "1000000", "--fail-rate", "0", "--seed", "7"]
        return self.keeper("run", "--out", "the out/", "--store", "a/store", *flags, *words)

    def test_what_a_program_of_the_current_directory_writes_comes_back(self):
        with open(os.path.join(self.root, "write.sh"), "w") as file:
            file.write('pwd; cd "$KINETIC_OUTPUT_DIR"; echo whole > new; mv new last; exit 7\n')
        ran = self.run_program("--", "sh", "write.sh")
        self.assertEqual((ran.returncode, ran.stdout.splitlines()[0]), (7, os.path.realpath(self.root)), ran)
        brought = self.keeper("restore", "--store", "a/store", "--out", "back")
        self.assertEqual(brought.returncode, 0, brought)
        with open(os.path.join(self.root, "back", "last")) as file:
            self.assertEqual(file.read(), "whole\n")

    def test_a_program_commits_wherever_the_outputs_are(self):
        for name in ("out", "o" * 100):
            with self.subTest(name):
                program = 'echo whole > "$KINETIC_OUTPUT_DIR/last"; $KINETIC_COMMIT || exit 3; kill -9 $$'
                ran = self.keeper("run", "--out", name, "--store", f"{name}-store", "--", "sh", "-c", program)
                self.assertEqual(ran.returncode, 137, ran)
                self.keeper("restore", "--store", f"{name}-store", "--out", f"{name}-back")
                self.assertEqual(os.listdir(os.path.join(self.root, f"{name}-back")), ["last"])

    def test_no_program_is_refused_before_anything_is_made(self):
        ran = self.run_program("--")
        self.assertEqual((ran.returncode, os.listdir(self.root)), (2, []), ran)
        self.assertIn("run needs a command", ran.stderr)


if __name__ == "__main__":
    unittest.main()
