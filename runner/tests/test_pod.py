"""The runner as it runs in a pod: everything by way of a bucket."""

import json
import math
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time
import unittest

from bucket import BUCKET, Bucket, Fault, Handler, RealBucket, real_program
from fixture import JOB, RUNNER, RunnerCase, command, function, pack, program, script, sha256
from kinetic_runner import options

DAY = 86_400


def first_upload():
    """No fault of the first upload, which records the attempt before the call begins."""
    return Fault(Handler.serve, 1, "POST")


class PodCase(RunnerCase):
    """RunnerCase on a bucket."""

    prefix = ""

    def setUp(self):
        super().setUp()
        self.bucket = self.make_bucket()
        self.addCleanup(self.bucket.close)
        self.environment = {"KINETIC_POD_UID": "uid"}

    def make_bucket(self):
        return Bucket()

    @property
    def store_url(self):
        return f"gs://{BUCKET}"

    def put(self, name, data):
        self.bucket.put(name, data)

    def argv(self, call, files, *flags, **kwargs):
        return super().argv(call, files, "--emulator", self.bucket.host, *flags, **kwargs)

    def start(self, argv, env=None):
        return super().start(argv, dict(self.environment, **env or {}))

    def start_changed(self, change, argv):
        """Starts the runner with something in it changed."""
        return self.start([sys.executable, "-u", "-c", program(change)] + argv[3:])

    def exists(self, name):
        return f"{JOB}/{name}" in self.bucket.names(JOB)

    def read(self, name):
        return self.bucket.read(f"{JOB}/{name}")

    def part_names(self):
        prefix = f"{JOB}/logs/0/"
        return [name[len(prefix) :] for name in self.bucket.names(prefix)]


class Round:
    """What runs on every bucket."""

    def test_function(self):
        source = "import os\ndef f(n):\n  print('on', os.environ['KINETIC_HOST'])\n  return [n, os.environ['KINETIC_OUTPUT_DIR']]"
        ran = self.call(source, kwargs={"n": 3})
        self.assertEqual((ran.code, ran.out, ran.err), (0, "on 0\n", ""))
        self.assertEqual((ran.result["value"], ran.end["state"]), ([3, f"gs://{BUCKET}/{JOB}/outputs"], "SUCCEEDED"))
        self.assertRegex(ran.log, r"^\S{27} on 0\n$")
        self.assertEqual(self.document("attempts/1.json")["uid"], "uid")
        want = {name: ran.end[name] for name in ("state", "reason", "started", "finished")}
        self.assertEqual(self.bucket.metadata(f"{JOB}/end.json"), want)
        self.assertEqual(json.loads(self.termination())["value"], ran.result["value"])

    def test_only_final_outcomes_write_the_end(self):
        cases = {"exit 0": 0, "exit 7": 7, "exit 200": 1, "kill -9 $$": 137, "kill -11 $$": 137}
        for line, code in cases.items():
            with self.subTest(line):
                self.setUp()
                ran = self.run_call(command("sh", "-c", line), {"x": ""})
                self.assertEqual((ran.code, self.exists("end.json")), (code, code < 125))
                self.assertEqual(json.loads(self.termination())["exit_code"], code)

    def test_attempts_are_counted_by_pod(self):
        for uid, number in (("a", 1), ("b", 2), ("b", 2), ("c", 3)):
            ran = self.run_call(command("sh", "-c", "kill -9 $$"), {"x": ""}, env={"KINETIC_POD_UID": uid})
            self.assertEqual((ran.code, ran.result["attempt"]), (137, number))
        self.assertEqual(len(self.bucket.names(f"{JOB}/attempts/")), 3)

    def test_job_that_has_ended_is_not_run_again(self):
        self.put(f"{JOB}/end.json", b'{"version":1,"state":"FAILED","reason":"Cancelled","exit_code":143}')
        ran = self.run_call(script(), {"train.py": "print('it ran')"})
        self.assertEqual((ran.code, ran.out, self.exists("attempts/1.json")), (143, "", False))
        self.assertIn("has ended already: FAILED, Cancelled", ran.err)

    def test_large_result(self):
        ran = self.call("def f(): return ['é' * 1000] * 5000 + [float('nan')]")
        self.assertEqual((ran.code, len(ran.result["value"]), ran.result["pickle"]), (0, 5001, "result.pkl"))
        self.assertEqual(len(pickle.loads(self.read("result.pkl"))), 5001)


class OnOurServer(Round, PodCase):
    pass


@unittest.skipUnless(real_program(os.environ), "no fake-gcs-server on PATH or in FAKE_GCS_SERVER")
class OnFakeGCSServer(Round, PodCase):
    def make_bucket(self):
        return RealBucket(real_program(os.environ))


class OutputDir(PodCase):
    SHOW = "import os\ndef f(): return os.environ['KINETIC_OUTPUT_DIR']"

    def test_flag(self):
        local = os.path.join(self.root, "out")
        for flag, want in ((f"gs://{BUCKET}/x", f"gs://{BUCKET}/x"), (local, local), (f"file://{local}", local)):
            self.setUp()
            self.assertEqual(self.call(self.SHOW, "--output-dir", flag).result["value"], want)
        self.assertTrue(os.path.isdir(local))

    def test_unknown_kind(self):
        ran = self.call(self.SHOW, "--output-dir", "s3://x")
        self.assertEqual(ran.code, 125)
        self.assertIn("--output-dir s3://x: expected gs://", ran.out)


class Bundles(PodCase):
    def bundle(self, count):
        """A bundle of so many blobs; returns its index's hash and those of the blobs."""
        index, blobs = {"version": 2, "files": [], "blobs": []}, []
        for number in range(count):
            one, (blob,) = pack({f"f{number}": os.urandom(1000)})
            index["files"].append(dict(one["files"][0], blob=number))
            index["blobs"] += one["blobs"]
            blobs.append(blob)
        return self.put_index(index, blobs), [sha256(blob) for blob in blobs]

    def test_blobs_are_read_several_at_a_time(self):
        bundle, hashes = self.bundle(20)
        meet = threading.Barrier(4)

        def together(handler):
            meet.wait(30)
            handler.serve()

        self.bucket.fail(together, times=4, pattern="|".join(hashes))
        ran = self.run_call(command("sh", "-c", "ls f*"), bundle)
        self.assertEqual((ran.code, len(ran.out.split()), meet.broken), (0, 20, False), ran.err)

    def test_changed_blob_is_named(self):
        bundle, hashes = self.bundle(5)
        self.bucket.put(f"blobs/sha256/{hashes[3][:2]}/{hashes[3]}", b"other")
        ran = self.run_call(command("ls"), bundle)
        self.assertEqual(ran.code, 125)
        self.assertIn(f"gs://{BUCKET}/blobs/sha256/{hashes[3][:2]}/{hashes[3]} has SHA-256", ran.out)
        self.assertEqual(self.workspace(), [])

    def test_function_sees_no_thread_and_no_connection_of_the_runner(self):
        source = """
            import os, socket, threading
            def f():
                def is_socket(fd):
                    try:
                        return bool(socket.socket(fileno=os.dup(int(fd))).getpeername())
                    except OSError:
                        return False
                return [threading.active_count(), [fd for fd in os.listdir("/proc/self/fd") if is_socket(fd)]]
        """
        if not os.path.isdir("/proc/self/fd"):
            self.skipTest("no /proc here")
        self.assertEqual(self.call(source).result["value"], [1, []])

    def test_modules_of_the_workspace_win_over_those_of_the_store(self):
        files = {"train.py": "import http, email, ssl\ndef f(): return [http.mine, email.mine, ssl.mine]"}
        files.update({f"{name}.py": "mine = True" for name in ("http", "email", "ssl")})
        self.assertEqual(self.run_call(function(), files).result["value"], [True] * 3)


class Logs(PodCase):
    def test_output_flows_while_the_store_is_silent(self):
        silent = threading.Event()
        self.addCleanup(silent.set)

        def hold(handler):
            silent.wait()
            handler.serve()

        argv = self.argv(command("sh", "-c", "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done"), {"x": ""})
        # The first part is not answered before all lines were seen.
        self.bucket.fail(hold, times=math.inf, pattern="POST")
        self.bucket.faults.insert(0, attempt := first_upload())
        process = self.start_changed("spool.PART_BYTES = 1000; errands.PART_SECONDS = 0.01", argv)
        seen = [process.stdout.readline() for _ in range(2000)]
        self.assertEqual(attempt.times, 0)
        silent.set()
        ran = self.finish(process)
        self.assertEqual((ran.code, seen[-1]), (0, b"line 1999\n"), ran.err)
        lines = [line[28:] for line in ran.log.splitlines()]
        self.assertEqual(lines, [f"line {n}" for n in range(2000)])

    def test_output_waits_when_too_much_is_pending_and_nothing_is_lost(self):
        argv = self.argv(script(), {"train.py": "for n in range(200_000): print('line', n)"})
        self.bucket.fail(503, times=4, pattern="POST .*uploadType")
        self.bucket.faults.insert(0, first_upload())
        ran = self.finish(self.start_changed("spool.PART_BYTES = 300_000; spool.SPOOL_BYTES = 400_000", argv))
        self.assertEqual(ran.code, 0, ran.err)
        lines = [line[28:] for line in ran.log.splitlines()]
        self.assertEqual(lines[:-1], [f"line {n}" for n in range(200_000)])
        self.assertRegex(lines[-1], "kinetic: warning: the call was slowed down")

    def test_call_that_has_taken_all_threads(self):
        argv = self.argv(script(), {"train.py": "for n in range(10_000): print('line', n)"})
        change = """
            import threading
            def refuse(thread):
                raise RuntimeError("can't start new thread")
            threading.Thread.start = refuse
            spool.PART_BYTES, errands.PART_SECONDS = 1000, 0.01
        """
        ran = self.finish(self.start_changed(textwrap.dedent(change), argv))
        self.assertEqual((ran.code, ran.log.count("\n")), (0, 10_000), ran.err)

    def test_part_whose_answer_was_lost_is_not_doubled(self):
        argv = self.argv(command("echo", "hello"), {"x": ""})
        self.bucket.faults.append(first_upload())
        self.bucket.fail(Handler.lose_answer, times=3, pattern="POST")
        ran = self.finish(self.start(argv))
        self.assertEqual((ran.code, self.part_names(), ran.log[28:]), (0, ["1-1.log"], "hello\n"))

    def test_old_blobs_are_renewed_while_the_call_runs(self):
        until = os.path.join(self.root, "until")
        os.mkfifo(until)
        index = {"version": 2, "blobs": [{"sha256": sha256(b"data"), "size": 4}], "files": [{"path": "a", "size": 4}]}
        shard = {"sha256": self.put_index(index, [b"data"]), "files": 1, "bytes": 4}
        document = json.dumps({"version": 1, "files": 1, "bytes": 4, "shards": [shard]}).encode()
        self.put_blob(document)
        data = [{"name": "x", "source": "x", "access": "copy", "set": sha256(document)}]
        data.append({"name": "y", "source": "y", "access": "fuse", "set": sha256(b"y"), "path": self.root})
        self.put(f"data/{sha256(b'y')}/a", b"a")
        self.put(f"data/{sha256(b'y')}.json", b"{}")
        argv = self.argv(command("cat", until, data=data), {"x": ""})
        self.put(f"{JOB}/handle.json", b"{}")
        self.put(f"{JOB}/attempts/1.json", b'{"version":1,"uid":"before"}')
        needed = self.bucket.names("")
        for stored in self.bucket.objects.values():
            stored.created -= 25 * DAY
        process = self.start_changed("errands.RENEW_SECONDS = 0.05", argv)
        with open(until, "wb"):  # the call ends when this is closed
            while any(self.bucket.objects[name].created < time.time() - DAY for name in needed):
                self.assertIsNone(process.poll())
                os.sched_yield()
        self.assertEqual(self.finish(process).code, 0)
        self.assertEqual(len(needed), 10)


class Outages(PodCase):
    def test_outage_while_publishing_loses_nothing(self):
        faults = {"503": 503, "reset": Handler.reset, "lost": Handler.lose_answer}
        for name, fault in faults.items():
            with self.subTest(name):
                self.setUp()
                argv = self.argv(function(), {"train.py": "def f():\n  print('hello')\n  return float('inf')"})
                self.bucket.faults.append(first_upload())
                for kind in ("1-1.log", "result.pkl", "result.json", "end.json"):
                    self.bucket.fail(fault, times=3, pattern="POST")
                ran = self.finish(self.start_changed("gcs.FIRST_PAUSE = gcs.LONGEST_PAUSE = 0.001", argv))
                self.assertEqual((ran.code, ran.end["state"], ran.result["ok"]), (0, "SUCCEEDED", True))
                self.assertIn("hello", ran.log)
                self.assertTrue(self.exists("result.pkl"))

    def test_store_that_stays_away(self):
        argv = self.argv(function(), {"train.py": "def f():\n  print('hello')\n  return 1"})
        self.bucket.faults.append(first_upload())
        self.bucket.fail(503, times=math.inf, pattern="POST")
        ran = self.finish(self.start_changed("gcs.RETRY_SECONDS = 0.05", argv))
        self.assertEqual((ran.code, self.exists("end.json")), (125, False))
        self.assertRegex(ran.out, r"kinetic: cannot store the result: cannot write gs://bucket/.*/result.json: .* answered 503 \(")
        summary = json.loads(self.termination())
        self.assertEqual((summary["reason"], summary["exit_code"]), ("RunnerFailure", 125))

    def test_refusal_is_told(self):
        self.bucket.fail(403, times=math.inf, pattern="POST")
        ran = self.call("def f(): print('it ran')")
        self.assertEqual(ran.code, 125)
        self.assertNotIn("it ran", ran.out)
        self.assertRegex(ran.err, "kinetic: cannot write gs://bucket/.*/attempts/1.json: .*permission storage.objects.create on the bucket bucket")

    def test_bucket_that_does_not_exist(self):
        argv = self.argv(function(), {"train.py": "def f(): pass"})
        argv[argv.index(f"gs://{BUCKET}")] = "gs://nobucket"
        ran = self.finish(self.start(argv))
        self.assertEqual(ran.code, 125)
        self.assertIn("there is no bucket nobucket", ran.err)


class Flags(PodCase):
    def test_variables_of_the_image_are_ignored(self):
        nowhere = "127.0.0.1:1"
        environ = {"STORAGE_EMULATOR_HOST": nowhere, "GCE_METADATA_HOST": nowhere, "GOOGLE_APPLICATION_CREDENTIALS": "/no/such/file"}
        source = f"import os\ndef f(): return [os.environ.get(name) for name in {list(environ)}]"
        ran = self.finish(self.start(self.argv(function(), {"train.py": source}), environ))
        self.assertEqual((ran.code, ran.result["value"]), (0, list(environ.values())), ran.err)

    def test_help_has_all_flags(self):
        ran = subprocess.run([sys.executable, RUNNER, "--help"], capture_output=True, text=True, check=True)
        self.assertEqual([line.split()[0] for line in ran.stdout.splitlines()[2:]], list(options.FLAGS))
        self.assertEqual(ran.stderr, "")


if __name__ == "__main__":
    unittest.main()
