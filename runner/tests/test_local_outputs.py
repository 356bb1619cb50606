"""The outputs of a local job, which its program writes where they stay."""

import os
import subprocess
import unittest

from fixture import RunnerCase, script
from test_outputs import PLAIN


class Local(RunnerCase):
    def test_the_path_is_the_directory(self):
        ran = self.run_call(script(), {"train.py": PLAIN + "assert top == os.environ['KINETIC_OUTPUT_PATH']"})
        self.assertEqual((ran.code, self.read("outputs/b.txt"), os.path.exists(os.path.join(self.work, "outputs"))), (0, b"hello", False))

    def test_resume(self):
        os.makedirs(os.path.join(self.store, "job-b/outputs/ck"))
        with open(os.path.join(self.store, "job-b/outputs/ck/a"), "w") as file:
            file.write("whole")
        ran = self.run_call(script(), {"train.py": "import os; print(open(os.environ['KINETIC_OUTPUT_DIR'] + '/ck/a').read())"}, "--resume-from", "job-b")
        self.assertEqual((ran.code, ran.stdout), (0, "whole\n"))
        self.assertIn("resuming from job job-b: copied 1 output (5 B)", ran.stderr)

    def test_resume_without_what_is_not_finished(self):
        top = os.path.join(self.store, "job-b/outputs")
        os.makedirs(os.path.join(top, "new.tmp"))
        for name in ("whole", "next.pt.tmp", "new.tmp/a", "train.log", "last.pt"):
            with open(os.path.join(top, name), "w") as file:
                file.write("x")
        os.mkfifo(os.path.join(top, "fifo"))
        os.symlink("/etc/passwd", os.path.join(top, "outside"))
        os.symlink("whole", os.path.join(top, "latest"))
        writer = subprocess.Popen(["sh", "-c", 'exec 3>>"$0/train.log" 4<>"$0/last.pt"; echo ready; read line', top], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(writer.communicate)
        self.assertEqual(writer.stdout.readline(), b"ready\n")
        ran = self.run_call(script(), {"train.py": "import os; print(sorted(os.listdir(os.environ['KINETIC_OUTPUT_DIR'])))"}, "--resume-from", "job-b")
        self.assertEqual((ran.code, ran.stdout), (0, "['latest', 'train.log', 'whole']\n"), ran.stderr)
        self.assertIn("warning: not copied from job job-b: fifo, last.pt, new.tmp and 2 more: it has a temporary name; it is a link to", ran.stderr)

    def test_resume_leads_to_no_file_of_the_other_job(self):
        top = os.path.join(self.store, "job-b/outputs")
        os.makedirs(os.path.join(top, "1000/links"))
        for name, target in {"latest": f"{top}/1000", "1000/links/up": f"{top}/1000/a", "1000/links/around": "../../../outputs/1000/a", "1000/links/b": "../a"}.items():
            os.symlink(target, os.path.join(top, name))
        show = "import os; os.chdir(os.environ['KINETIC_OUTPUT_DIR']); print([os.readlink(name) for name in ('latest', '1000/links/up', '1000/links/around', '1000/links/b')])"
        ran = self.run_call(script(), {"train.py": show}, "--resume-from", "job-b")
        self.assertEqual((ran.code, ran.stdout), (0, str(["1000", *["../a"] * 3]) + "\n"), ran.stderr)

    def test_resume_keeps_the_order_of_directories(self):
        top = os.path.join(self.store, "job-b/outputs")
        for number, name in enumerate(("checkpoint-500", "checkpoint-1000/state", "checkpoint-1000")):
            os.makedirs(os.path.join(top, name), exist_ok=True)
            with open(os.path.join(top, name, "a"), "w"):
                pass
            os.utime(os.path.join(top, name), (number, number))
        show = "import os; os.chdir(os.environ['KINETIC_OUTPUT_DIR']); print([os.stat(name).st_mtime for name in ('checkpoint-500', 'checkpoint-1000/state', 'checkpoint-1000')])"
        ran = self.run_call(script(), {"train.py": show}, "--resume-from", "job-b")
        self.assertEqual((ran.code, ran.stdout), (0, "[0.0, 1.0, 2.0]\n"), ran.stderr)

    def test_resume_from_a_job_without_outputs(self):
        ran = self.run_call(script(), {"train.py": "import os; print(os.listdir(os.environ['KINETIC_OUTPUT_DIR']))"}, "--resume-from", "job-b")
        self.assertEqual((ran.code, ran.stdout), (0, "[]\n"), ran.stderr)
        self.assertIn("warning: job job-b has left no outputs", ran.stderr)


if __name__ == "__main__":
    unittest.main()
