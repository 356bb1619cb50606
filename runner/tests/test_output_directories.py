"""Directories that others have, too: a prefix that jobs share, what is mounted, and URLs that lead elsewhere."""

import os
import subprocess

from bucket import BUCKET
from fixture import JOB, script
from kinetic_runner.outputs.directory import clear_directory
from test_outputs import AGAIN, EXIT, OutputCase


class Directories(OutputCase):
    def test_a_prefix_that_jobs_share(self):
        self.bucket.put("team/ckpt/a", b"theirs")
        source = "import os\ntop = os.environ['KINETIC_OUTPUT_DIR']\nprint(top, os.listdir(top))\nopen(top + '/b', 'w').write('ours')"
        ran = self.attempt(1, source, "--output-dir", f"gs://{BUCKET}/team/ckpt")
        self.assertEqual((ran.code, ran.stdout), (0, f"gs://{BUCKET}/team/ckpt ['a']\n"))
        self.assertEqual((self.bucket.read("team/ckpt/a"), self.bucket.read("team/ckpt/b")), (b"theirs", b"ours"))
        self.assertEqual(self.bucket.names("team/ckpt/.kinetic/"), [f"team/ckpt/.kinetic/{JOB}/sync/0.json"])
        self.assertFalse(self.exists("sync/0.json"))

    def test_what_others_do_in_a_directory_that_is_also_theirs(self):
        """What was there at the first start has the plain names alone."""
        for name in ("ckpts/1", "metrics.json"):
            self.bucket.put(f"team/{name}", b"theirs")
        flags = ("--output-dir", f"gs://{BUCKET}/team", "--retries", "2", "--retry-on", "error")
        os_path = "import os, sys\nos.chdir(os.environ['KINETIC_OUTPUT_PATH'])\n"
        ran = self.attempt(1, os_path + "open('ckpts/2', 'w').write('ours')\nos.replace('ckpts/2', 'ckpts/3')\nsys.exit(200)", *flags)
        self.assertNotEqual(ran.code, 0)
        self.bucket.put("team/metrics.json", b"theirs, but newer")
        self.bucket.remove("team/ckpts/1")
        show = "print(sorted(os.listdir('ckpts')), open('metrics.json').read())\nsys.exit(0 if os.environ['KINETIC_ATTEMPT'] == '3' else 200)"
        for number in (2, 3):
            ran = self.attempt(number, os_path + show, *flags)
            self.assertEqual(ran.stdout, "['3'] theirs, but newer\n", ran.stderr)
            if number == 2:
                self.assertIn("were replaced since, and are taken as they are: metrics.json", ran.stderr)
                self.assertIn("were removed since: ckpts/1", ran.stderr)

    def test_what_was_restored_twice_can_still_be_replaced(self):
        """The first attempt ends before it has saved anything, so the second restores by the index of the first."""
        self.bucket.put("team/last.pt", b"theirs")
        flags = ("--output-dir", f"gs://{BUCKET}/team", *AGAIN)
        self.assertEqual(self.attempt(1, EXIT, *flags).code, 1)
        replace = "import os\nos.chdir(os.environ['KINETIC_OUTPUT_PATH'])\nassert open('last.pt').read() == 'theirs'\nopen('new', 'w').write('ours')\nos.replace('new', 'last.pt')"
        ran = self.attempt(2, replace, *flags)
        self.assertEqual((ran.code, self.bucket.read("team/last.pt")), (0, b"ours"), ran.stderr)
        self.assertNotIn("neither written nor restored", ran.stderr)

    def test_what_a_job_has_restored_and_removed_stays_for_others(self):
        for number in ("100", "200"):
            self.bucket.put(f"team/ckpt-{number}/a", b"theirs")
        rotate = "import os, shutil\nos.chdir(os.environ['KINETIC_OUTPUT_PATH'])\nshutil.rmtree('ckpt-100')\nos.mkdir('ckpt-300')\nopen('ckpt-300/a', 'w').write('ours')"
        ran = self.attempt(1, rotate, "--output-dir", f"gs://{BUCKET}/team")
        self.assertEqual((ran.code, sorted(self.bucket.names("team/ckpt"))), (0, [f"team/ckpt-{number}/a" for number in ("100", "200", "300")]), ran.stderr)

    def test_an_id_that_is_used_again(self):
        """The records of its earlier job, which had two attempts, are gone. Its index is with the outputs."""
        flags = ("--output-dir", f"gs://{BUCKET}/team", *AGAIN)
        append = "import os\nos.chdir(os.environ['KINETIC_OUTPUT_PATH'])\nopen('a', 'a').write('%s')\n"
        self.assertEqual(self.attempt(1, EXIT, *flags).code, 1)
        self.assertEqual(self.attempt(2, append % "old ", *flags).code, 0)
        for name in self.bucket.names(f"{JOB}/"):
            self.bucket.remove(name)
        ran = self.attempt(1, append % "new", *flags)
        self.assertEqual((ran.code, self.bucket.read("team/a")), (0, b"old new"), ran.stderr)

    def test_a_directory_of_the_container(self):
        mounted = os.path.join(self.root, "mnt")
        source = "import os\nassert os.environ['KINETIC_OUTPUT_DIR'] == os.environ['KINETIC_OUTPUT_PATH']\nopen(os.environ['KINETIC_OUTPUT_DIR'] + '/a', 'w')"
        ran = self.attempt(1, source, "--output-dir", mounted)
        self.assertEqual((ran.code, os.listdir(mounted), self.bucket.asked("outputs|sync")), (0, ["a"], []))

    def test_what_is_mounted_below_is_emptied_and_stays(self):
        top, other = os.path.join(self.root, "top"), os.path.join(self.root, "other")
        for path in (top + "/folder", top + "/mount", other):
            os.makedirs(path)
        if subprocess.run(["mount", "--bind", other, top + "/mount"], capture_output=True).returncode:
            self.skipTest("no right to mount here")
        self.addCleanup(subprocess.run, ["umount", top + "/mount"], check=True)
        for name in ("a", "folder/b", "mount/c"):
            with open(os.path.join(top, name), "w"):
                pass
        clear_directory(top)
        self.assertEqual((os.listdir(top), os.listdir(other)), (["mount"], []))

    def test_urls_that_lead_elsewhere_are_named(self):
        source = "import os\nos.makedirs('gs://other/x'); open('gs://other/x/a', 'w').write('12345')\nos.chdir(os.environ['KINETIC_OUTPUT_PATH'])\nopen('b', 'w')"
        ran = self.attempt(1, source)
        self.assertRegex(ran.stderr, r"warning: 1 file \(5 B\) below \S+/workspace/gs: will be lost: .*: write to KINETIC_OUTPUT_PATH")
        self.assertEqual(list(self.saved()), ["b"])

    def test_directories_that_programs_change_to(self):
        """Those right below HOME and TMPDIR, and beside the workspace."""
        home = os.path.join(self.root, "home")
        os.makedirs(os.path.join(home, "runs"))
        source = (
            "import os\nfor folder in (os.environ['HOME'] + '/runs', '..'):\n"
            "  os.chdir(folder); os.makedirs('gs://other'); open('gs://other/a', 'w').write('12345'); os.chdir(os.environ['KINETIC_OUTPUT_PATH'] + '/../workspace')"
        )
        argv = self.argv(script(), {"train.py": source})
        ran = self.finish(self.start(argv, {"HOME": home}))
        for folder in (os.path.join(home, "runs"), self.work):
            self.assertRegex(ran.stderr, rf"warning: 1 file \(5 B\) below {folder}/gs: will be lost: ")
