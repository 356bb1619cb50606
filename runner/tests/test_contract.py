"""contract.json, which the client reads too: from the folder, and from the zip."""

import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

from fixture import RUNNER
from kinetic_runner import contract, outcome

SHOW = "import sys; sys.path.insert(0, sys.argv[1]); from kinetic_runner import contract; print(contract.OBJECTS == eval(sys.argv[2]), contract.__file__)"


class Contract(unittest.TestCase):
    def test_in_a_zip(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "runner")
            with zipfile.ZipFile(path, "w") as archive:
                for name in ("__init__.py", "contract/__init__.py", "contract/contract.json"):
                    archive.write(os.path.join(RUNNER, "kinetic_runner", name), f"kinetic_runner/{name}")
            ran = subprocess.run([sys.executable, "-I", "-c", SHOW, path, repr(contract.OBJECTS)], capture_output=True, text=True)
            self.assertEqual(ran.stdout, f"True {path}/kinetic_runner/contract/__init__.py\n", ran.stderr)

    def test_reasons_and_codes(self):
        """The runner gives each reason the exit code that the contract has for it."""
        codes = {outcome.DEADLINE_EXCEEDED: outcome.EXIT_DEADLINE, outcome.RUNNER_FAILURE: outcome.EXIT_RUNNER, outcome.KILLED: outcome.EXIT_KILLED, outcome.TERMINATED: outcome.EXIT_TERMINATED}
        self.assertEqual({reason: contract.REASONS[reason] for reason in codes}, codes)
        self.assertEqual({contract.REASONS[reason] for reason in outcome.ERRORS}, {1})

    def test_names_differ(self):
        """No object has the place of another."""
        self.assertEqual(len(set(contract.OBJECTS.values())), len(contract.OBJECTS))


if __name__ == "__main__":
    unittest.main()
