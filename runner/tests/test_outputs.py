"""What a call writes below KINETIC_OUTPUT_DIR is durable, however it writes it and however it ends."""

import json
import os
import signal
import unittest

from bucket import BUCKET, RealBucket, real_program
from fixture import JOB, RunnerCase, command, function, script, sha256
from test_pod import PodCase, first_upload

OUTPUTS = f"{JOB}/outputs/"
IMPATIENT = "import kinetic_runner.store.outage as o; o.FIRST_SECONDS = 0"
AWAY = rf"kinetic: gs://{BUCKET} has not answered for 0 seconds \(\S+ answered 503\): trying again\n"
WAIT = "\nimport signal\nprint('ready', flush=True)\nwhile True: signal.pause()"
PLAIN = """
import os, pathlib
top = os.environ["KINETIC_OUTPUT_DIR"]
os.makedirs(top + "/ck", exist_ok=True)
with open(os.path.join(top, "ck", "a.bin"), "wb") as file:
    file.write(b"data")
pathlib.Path(top, "b.txt").write_text("hello")
print(sorted(os.listdir(top)), open(os.environ["KINETIC_OUTPUT_PATH"] + "/b.txt").read())
"""


class OutputCase(PodCase):
    def saved(self):
        """The outputs in the store by path."""
        return {name[len(OUTPUTS) :]: self.bucket.read(name) for name in self.bucket.names(OUTPUTS)}

    def indexed(self, host=0):
        return [entry["path"] for entry in self.document(f"sync/{host}.json")["files"]]

    def attempt(self, number, source, *flags, **kwargs):
        return self.run_call(script(**kwargs), {"train.py": source}, *flags, env={"KINETIC_POD_UID": str(number)})

    def stop(self, source):
        process = self.start(self.argv(script(), {"train.py": source}))
        while process.stdout.readline() != b"ready\n":
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        return self.finish(process)


class Plain:
    """What runs on every bucket."""

    def test_open_makedirs_and_pathlib(self):
        for what, call in (("script", script()), ("elsewhere", script(cwd="sub/dir")), ("command", command("python3", "train.py"))):
            with self.subTest(what):
                self.setUp()
                ran = self.run_call(call, {"train.py": PLAIN, "sub/dir/x": ""})
                self.assertEqual((ran.code, ran.stdout, ran.err), (0, "['b.txt', 'ck'] hello\n", ""))
                self.assertEqual((self.saved(), self.indexed()), ({"b.txt": b"hello", "ck/a.bin": b"data"}, ["b.txt", "ck/a.bin"]))
                self.assertNotIn("unsaved", ran.end)

    def test_a_retry_begins_with_what_was_saved(self):
        self.assertEqual(self.attempt(1, PLAIN + "import sys; sys.exit(200)", "--retries", "9", "--retry-on", "error").code, 1)
        ran = self.attempt(2, "import os; print(open(os.environ['KINETIC_OUTPUT_DIR'] + '/ck/a.bin').read(), os.environ['KINETIC_ATTEMPT'])")
        self.assertEqual((ran.code, ran.stdout, ran.stderr), (0, "data 2\n", "kinetic: restored 2 outputs (9 B)\n"))

    def test_resume_from_another_job(self):
        self.bucket.put("job-b/outputs/ck/a", b"whole")
        self.bucket.put("job-b/outputs/ck/b", b"whole, too")
        ran = self.attempt(1, "import os; print(sorted(os.listdir(os.environ['KINETIC_OUTPUT_DIR'] + '/ck')))", "--resume-from", "job-b")
        self.assertEqual((ran.code, ran.stdout), (0, "['a', 'b']\n"))
        self.assertIn("kinetic: resuming from job job-b: copied 2 of its outputs\n", ran.stderr)
        self.assertEqual(self.saved(), {"ck/a": b"whole", "ck/b": b"whole, too"})


@unittest.skipUnless(real_program(os.environ), "there is no fake-gcs-server")
class OnARealServer(Plain, OutputCase):
    def make_bucket(self):
        return RealBucket(real_program(os.environ))


class OnOurServer(Plain, OutputCase):
    pass


class Costs(OutputCase):
    def test_a_job_without_outputs_asks_for_nothing(self):
        ran = self.attempt(1, "import os; print(os.path.isdir(os.environ['KINETIC_OUTPUT_PATH']))")
        self.assertEqual((ran.code, ran.stdout), (0, "True\n"))
        self.assertEqual(self.bucket.asked("outputs|sync"), [])

    def test_the_modules_are_imported_when_they_are_needed(self):
        change = "import atexit; atexit.register(lambda: print(sorted(name for name in sys.modules if 'outputs.' in name), file=sys.stderr))"
        ran = self.finish(self.start_changed(change, self.argv(script(), {"train.py": "pass"})))
        self.assertIn("['kinetic_runner.outputs.directory']", ran.err)


class Endings(OutputCase):
    def test_a_call_that_fails(self):
        ran = self.attempt(1, PLAIN + "raise SystemExit(3)")
        self.assertEqual((ran.code, sorted(self.saved())), (3, ["b.txt", "ck/a.bin"]))

    def test_the_result_comes_after_the_outputs(self):
        self.attempt(1, PLAIN)
        order = [line for line in self.bucket.requests if line.startswith("POST")]
        result = [number for number, line in enumerate(order) if "ifGenerationMatch=0" in line][-2:]
        self.assertEqual(len(order) - 2, result[0], "result.json and end.json are the last")

    def test_finished_units_are_saved_while_the_call_runs(self):
        source = PLAIN + "print('ready', flush=True)\nimport sys; sys.stdin = open(0); os.open(%r, os.O_RDONLY)" % os.path.join(self.root, "go")
        os.mkfifo(os.path.join(self.root, "go"))
        process = self.start(self.argv(script(), {"train.py": source}, "--output-sync", "0.1"))
        while not self.exists("sync/0.json") or len(self.indexed()) < 2:
            os.sched_yield()
        self.assertIsNone(process.poll())
        with open(os.path.join(self.root, "go"), "wb"):
            pass
        self.assertEqual(self.finish(process).code, 0)

    def test_a_store_that_does_not_answer_a_restore_is_named(self):
        self.attempt(1, PLAIN + "import sys; sys.exit(200)", "--retries", "9", "--retry-on", "error")
        self.bucket.fail(503, 1, "outputs/b.txt.*alt=media")
        argv = self.argv(script(), {"train.py": "pass"})
        self.environment = {"KINETIC_POD_UID": "2"}
        ran = self.finish(self.start_changed(IMPATIENT, argv))
        self.assertRegex(ran.stderr, AWAY + "kinetic: restored 2 outputs")

    def test_a_store_that_does_not_take_outputs_is_named_while_the_call_runs(self):
        reached = os.path.join(self.root, "reached")
        os.mkfifo(reached)
        self.bucket.fail(503, 1, "sync/0.json$")
        argv = self.argv(script(), {"train.py": PLAIN + f"open({reached!r}).read(); print('the end', file=__import__('sys').stderr)"}, "--output-sync", "0.1")
        process = self.start_changed(IMPATIENT, argv)
        while not self.exists("sync/0.json") or len(self.indexed()) < 2:
            os.sched_yield()
        said = process.stdout.readline()
        while b"trying again" not in said:
            said = process.stdout.readline()
        with open(reached, "wb"):
            pass
        ran = self.finish(process)
        self.assertEqual((ran.code, ran.stderr), (0, "the end\n"))

    def test_what_a_handler_of_sigterm_saves(self):
        source = PLAIN + "import signal, sys\ndef save(*_):\n  open(top + '/last', 'w').write('saved')\n  sys.exit(0)\nsignal.signal(signal.SIGTERM, save)" + WAIT
        ran = self.stop(source)
        self.assertEqual((ran.code, sorted(self.saved())), (143, ["b.txt", "ck/a.bin", "last"]))

    def test_a_call_that_is_killed_keeps_what_was_finished(self):
        """Of what was written at last, nobody knows whether it is whole."""
        source = "import os\ntop = os.environ['KINETIC_OUTPUT_DIR']\nfor name in ('old', 'new'):\n  open(top + '/' + name, 'w').write(name)\nos.utime(top + '/old', (1, 1))" + WAIT
        ran = self.stop(source)
        self.assertEqual(ran.code, 143)
        self.assertRegex(ran.stderr, r"warning: 2 outputs \(6 B\) are not saved: \S+ \(3 B\): it changed shortly before the call was killed, so it may be incomplete")

    def test_a_store_that_stays_away_delays_nothing_beyond_the_grace(self):
        argv = self.argv(script(), {"train.py": PLAIN + "import sys; signal = __import__('signal'); signal.signal(15, lambda *_: sys.exit(0))" + WAIT}, "--grace", "0.2")
        process = self.start_changed("gcs.RETRY_SECONDS = gcs.math.inf; attempt.PUBLISH_GRACE = 2.2", argv)
        process.stdout.readline()
        process.stdout.readline()
        self.bucket.fail(503, 10**6, "POST")
        process.send_signal(signal.SIGTERM)
        ran = self.finish(process)
        self.assertRegex(ran.stderr, r"warning: 2 outputs \(9 B\) are not saved: .*: no time was left")

    def test_a_store_that_is_away_at_the_end_is_a_failure_of_the_runner(self):
        self.bucket.faults.append(first_upload())
        self.bucket.fail(503, 10**6, "POST")
        ran = self.finish(self.start_changed("gcs.RETRY_SECONDS = 0.1", self.argv(script(), {"train.py": PLAIN})))
        self.assertEqual((ran.code, self.exists("end.json")), (125, False))
        self.assertRegex(json.loads(self.termination())["message"], f"cannot write gs://{BUCKET}/{JOB}/")

    def test_outputs_that_are_refused_are_named(self):
        self.bucket.put(f"{OUTPUTS}b.txt", b"of a program")
        ran = self.attempt(1, PLAIN)
        why = f"gs://{BUCKET}/{OUTPUTS}b.txt exists, and this job has neither written nor restored it"
        self.assertEqual((ran.code, ran.end["unsaved"], ran.end["unsaved_total"]), (0, [{"path": "b.txt", "size": 5, "why": why}], 1))
        self.assertIn(f"warning: 1 output (5 B) is not saved: b.txt (5 B): {why}", ran.stderr)
        self.assertEqual(self.saved()["b.txt"], b"of a program")

    def test_a_name_of_many_that_are_not_saved(self):
        ran = self.attempt(1, "import os\nfor n in range(30): os.symlink('/etc', os.environ['KINETIC_OUTPUT_PATH'] + f'/{n:02}')")
        self.assertEqual((len(ran.end["unsaved"]), ran.end["unsaved_total"]), (20, 30))
        self.assertRegex(ran.stderr, r"warning: 30 outputs \(\S+ B\) are not saved: .*; and 27 more")
        self.assertNotIn("unsaved", json.loads(self.termination()))


class Mounted(OutputCase):
    def test_a_mount_is_used_as_it_is(self):
        folder = os.path.join(self.root, "mounted")
        os.mkdir(folder)
        with open(os.path.join(folder, "earlier"), "w"):
            pass
        ran = self.run_call(script(), {"train.py": PLAIN}, "--output-mount", folder)
        self.assertEqual((ran.code, ran.stdout, ran.err), (0, "['b.txt', 'ck', 'earlier'] hello\n", ""))
        self.assertEqual(self.saved(), {})
        with open(os.path.join(folder, "ck", "a.bin")) as file:
            self.assertEqual(file.read(), "data")


class Directories(OutputCase):
    def test_a_prefix_that_jobs_share(self):
        self.bucket.put("team/ckpt/a", b"theirs")
        source = "import os\ntop = os.environ['KINETIC_OUTPUT_DIR']\nprint(top, os.listdir(top))\nopen(top + '/b', 'w').write('ours')"
        ran = self.attempt(1, source, "--output-dir", f"gs://{BUCKET}/team/ckpt")
        self.assertEqual((ran.code, ran.stdout), (0, f"gs://{BUCKET}/team/ckpt ['a']\n"))
        self.assertEqual((self.bucket.read("team/ckpt/a"), self.bucket.read("team/ckpt/b"), self.indexed()), (b"theirs", b"ours", ["b"]))

    def test_a_directory_of_the_container(self):
        mounted = os.path.join(self.root, "mnt")
        source = "import os\nassert os.environ['KINETIC_OUTPUT_DIR'] == os.environ['KINETIC_OUTPUT_PATH']\nopen(os.environ['KINETIC_OUTPUT_DIR'] + '/a', 'w')"
        ran = self.attempt(1, source, "--output-dir", mounted)
        self.assertEqual((ran.code, os.listdir(mounted), self.bucket.asked("outputs|sync")), (0, ["a"], []))

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


class Maps(OutputCase):
    def chunk(self, number, source, *flags):
        lines = b"0\n1\n"
        self.put_blob(lines)
        argv = self.argv(function(), {"train.py": source}, "--map", sha256(lines), "--inputs", "2", "--chunk", "1", *flags)
        return self.finish(self.start(argv, {"JOB_COMPLETION_INDEX": str(number), "KINETIC_POD_UID": str(number)}))

    def test_the_last_pod_wins(self):
        source = "import os\ndef f(n):\n  for name in (str(n), 'both'):\n    open(os.environ['KINETIC_OUTPUT_DIR'] + '/' + name, 'w').write(str(n))"
        first, second = (self.chunk(number, source) for number in (0, 1))
        self.assertEqual((first.code, first.stderr, second.code), (0, "", 0))
        self.assertEqual(second.stderr, "kinetic: warning: replaced outputs that other pods of the map have written under the same names: both\n")
        self.assertEqual(self.saved(), {"0": b"0", "1": b"1", "both": b"1"})
        self.assertEqual((self.indexed(0), self.indexed(1)), (["0", "both"], ["1", "both"]))


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


if __name__ == "__main__":
    unittest.main()
