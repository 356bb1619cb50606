# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""How a call ends that was started several times on a host: each process counts as a single one would."""

import contextlib
import os
import signal
import unittest

from fixture import RunnerCase, script

HOLDS = """
import os, subprocess, sys
if os.environ["RANK"] == "1":
    held = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
    with open(HELD, "w") as file:
        file.write(str(held.pid))
    for stream in sys.stdout, sys.stderr:
        stream.write("last words")
"""


class RankEnds(RunnerCase):
    def test_last_line_of_one_that_has_left_a_process(self):
        path = os.path.join(self.root, "held")
        self.addCleanup(self.kill, path)
        ran = self.run_call(script(), {"train.py": HOLDS.replace("HELD", repr(path))}, "--processes", "2")
        self.assertEqual((ran.code, ran.stdout, ran.stderr), (0, "[rank 1] last words\n", "[rank 1] last words\n"), ran.err)

    @staticmethod
    def kill(path):
        with contextlib.suppress(OSError), open(path) as file:
            os.kill(int(file.read()), signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
