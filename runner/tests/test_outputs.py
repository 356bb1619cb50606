"""What a call writes below KINETIC_OUTPUT_DIR is durable, however it writes it and however it ends."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import unittest

from bucket import BUCKET, RealBucket, real_program
from fixture import JOB, RUNNER, command, function, script, sha256
from test_pod import PodCase, first_upload

OUTPUTS = f"{JOB}/outputs/"
IMPATIENT = "import kinetic_runner.store as o; o.FIRST_SECONDS = 0"
AWAY = rf"kinetic: gs://{BUCKET} has not answered for 0 seconds \(\S+ answered 503\): trying again\n"
EXIT, AGAIN = "import sys; sys.exit(200)", ("--retries", "9", "--retry-on", "error", "--output-sync", "0.1")  # another attempt follows
# Ask the runner to save what is there: a call that is killed at once has no time to be seen.
WAIT_UNTIL_SAVED = """
import socket
with socket.socket(socket.AF_UNIX) as peer:
    peer.connect(os.environ["KINETIC_COMMIT_SOCKET"])
    peer.sendall(b"commit\\n")
    assert b'"error": null' in peer.recv(1000)
"""
WAIT = "\nimport signal\nprint('ready', flush=True)\nwhile True: signal.pause()"
RENAMED = """
import os
top = os.environ["KINETIC_OUTPUT_DIR"]
os.makedirs(top + "/ck.tmp")
open(top + "/ck.tmp/a.bin", "w").write("data")
os.rename(top + "/ck.tmp", top + "/ck")
open(top + "/b.txt.tmp", "w").write("hello")
os.replace(top + "/b.txt.tmp", top + "/b.txt")
"""
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

    def index(self, host=0):
        return json.loads(gzip.decompress(self.read(f"sync/{host}.json")))

    def indexed(self, host=0):
        """The files that a restore brings."""
        return [entry["path"] for entry in self.index(host)["files"] if "directory" not in entry]

    def attempt(self, number, source, *flags, **kwargs):
        return self.run_call(script(**kwargs), {"train.py": source}, *flags, env={"KINETIC_POD_UID": str(number)})

    def stop(self, source, *more):
        process = self.start(self.argv(script(), {"train.py": source}, *more))
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
                self.assertEqual((self.index()["done"], [entry for entry in self.index()["files"] if "object" in entry]), (True, []))
                self.assertEqual(self.bucket.names(f"{JOB}/sync/"), [f"{JOB}/sync/0.json"])
                self.assertNotIn("unsaved", ran.end)

    def test_a_retry_begins_with_what_was_saved(self):
        self.assertEqual(self.attempt(1, RENAMED + WAIT_UNTIL_SAVED + EXIT, *AGAIN).code, 1)
        ran = self.attempt(2, "import os; print(open(os.environ['KINETIC_OUTPUT_DIR'] + '/ck/a.bin').read(), os.environ['KINETIC_ATTEMPT'])")
        self.assertEqual((ran.code, ran.stdout), (0, "data 2\n"))
        self.assertRegex(ran.stderr, r"^kinetic: restored 2 outputs \(9 B\), as of \S+Z\n$")

    def test_resume_from_another_job(self):
        self.bucket.put("job-b/outputs/ck/a", b"whole")
        self.bucket.put("job-b/outputs/ck/b", b"whole, too")
        ran = self.attempt(1, "import os; print(sorted(os.listdir(os.environ['KINETIC_OUTPUT_DIR'] + '/ck')))", "--resume-from", "job-b")
        self.assertEqual((ran.code, ran.stdout), (0, "['a', 'b']\n"))
        self.assertIn("kinetic: resuming from job job-b\nkinetic: restored 2 outputs (15 B)\n", ran.stderr)
        self.assertEqual(self.saved(), {"ck/a": b"whole", "ck/b": b"whole, too"})

    def resumed(self, end):
        entry = {"path": "a", "mode": 0o644, "mtime_ns": 1, "size": 5, "sha256": sha256(b"whole"), "object": "sync/0/1-aa/1"}
        self.bucket.put("job-b/sync/0/1-aa/1", b"whole")
        index = {"version": 2, "attempt": 1, "at": "2026-01-02T03:04:05.000000Z", "done": False, "files": [entry]}
        self.bucket.put("job-b/sync/0.json", json.dumps(index).encode())
        if end:
            self.bucket.put("job-b/end.json", json.dumps({"version": 1, "state": "FAILED", "reason": end}).encode())
        ran = self.attempt(1, "import os; print(os.listdir(os.environ['KINETIC_OUTPUT_DIR']))", "--resume-from", "job-b")
        self.assertEqual((ran.code, ran.stdout), (0, "['a']\n"))
        return ran.stderr

    def test_resume_from_a_job_that_runs_says_which_state_it_takes(self):
        self.assertIn("kinetic: resuming from job job-b, which had not ended, as of 2026-01-02T03:04:05.000000Z\n", self.resumed(""))

    def test_resume_from_a_job_that_was_cancelled(self):
        self.assertIn("kinetic: resuming from job job-b, which was cancelled, as of 2026-01-02T03:04:05.000000Z\n", self.resumed("Cancelled"))

    def test_resume_from_a_job_that_was_lost(self):
        self.assertIn("kinetic: resuming from job job-b, which had ended before it saved all, as of 2026-01-02", self.resumed("Evicted"))

    def test_resume_from_a_job_that_has_saved_nothing(self):
        ran = self.attempt(1, "", "--resume-from", "job-b")
        self.assertEqual((ran.code, ran.stderr), (0, "kinetic: warning: job job-b has saved no outputs: this job begins without any\n"))


@unittest.skipUnless(real_program(os.environ), "there is no fake-gcs-server")
class OnARealServer(Plain, OutputCase):
    def make_bucket(self):
        return RealBucket(real_program(os.environ))


class OnOurServer(Plain, OutputCase):
    def test_resume_from_a_job_whose_output_somebody_has_replaced(self):
        index = {"version": 2, "attempt": 1, "done": True, "files": []}
        for name in ("config.json", "model"):
            data = f"saved {name}".encode()
            self.bucket.put(f"job-b/outputs/{name}", data, {"kinetic-sync": "job-b/0/1", "kinetic-sha256": sha256(data)})
            index["files"].append({"path": name, "mode": 0o644, "mtime_ns": 1, "size": len(data), "sha256": sha256(data)})
        self.bucket.put("job-b/sync/0.json", json.dumps(index).encode())
        self.bucket.put("job-b/outputs/config.json", b"another")
        ran = self.attempt(1, "import os\nos.chdir(os.environ['KINETIC_OUTPUT_PATH'])\nprint([open(name).read() for name in sorted(os.listdir('.'))])", "--resume-from", "job-b")
        self.assertEqual((ran.code, ran.stdout.splitlines()[-1]), (0, "['another', 'saved model']"), ran.err)
        self.assertIn("warning: outputs of job job-b were replaced since it ended, and are taken as they are: config.json\n", ran.stderr)

    def save(self, number):
        """Saves a state of job-b instead of the one before."""
        name, data = f"sync/0/1-aa/{number}", b"state %d" % number
        entry = {"path": "ckpt/a", "mode": 0o644, "mtime_ns": 1, "size": len(data), "sha256": sha256(data), "object": name}
        self.bucket.put(f"job-b/{name}", data)
        self.bucket.put("job-b/sync/0.json", json.dumps({"version": 2, "attempt": 1, "at": f"2026-01-02T03:04:0{number}Z", "files": [entry]}).encode())
        self.bucket.remove(f"job-b/sync/0/1-aa/{number - 1}")

    def resumed_while_it_saves(self, states):
        """Resumes from a job that saves so many states, each when the one before is asked for."""
        self.save(1)
        for number in range(2, states + 1):
            self.bucket.fail(lambda handler, number=number: (self.save(number), handler.serve()), 1, f"GET .*/job-b/sync/0/1-aa/{number - 1}")
        return self.attempt(1, "import os\nos.chdir(os.environ['KINETIC_OUTPUT_PATH'])\nprint([open(name + '/a').read() for name in os.listdir('.')])", "--resume-from", "job-b")

    def test_resume_from_a_job_that_saves_another_state_meanwhile(self):
        ran = self.resumed_while_it_saves(3)
        self.assertEqual((ran.code, ran.stdout.splitlines()[-1]), (0, "['state 3']"), ran.err)
        self.assertNotIn("warning", ran.stderr)

    def test_resume_from_a_job_that_saves_too_often(self):
        ran = self.resumed_while_it_saves(9)
        self.assertEqual((ran.code, ran.stdout.splitlines()[-1]), (0, "[]"), ran.err)
        self.assertIn("warning: not restored, because their objects are missing: ckpt\n", ran.stderr)

    def test_resume_from_a_job_that_lacks_an_object(self):
        self.save(1)
        self.bucket.remove("job-b/sync/0/1-aa/1")
        ran = self.attempt(1, "", "--resume-from", "job-b")
        self.assertEqual(ran.stderr.count("resuming from job job-b"), 1)
        self.assertIn("warning: not restored, because their objects are missing: ckpt\n", ran.stderr)


class Costs(OutputCase):
    def test_a_job_without_outputs_asks_for_nothing(self):
        ran = self.attempt(1, "import os; print(os.path.isdir(os.environ['KINETIC_OUTPUT_PATH']))")
        self.assertEqual((ran.code, ran.stdout), (0, "True\n"))
        self.assertEqual(self.bucket.asked("outputs|sync"), [])

    def test_the_modules_are_imported_when_they_are_needed(self):
        change = "import atexit; atexit.register(lambda: print(sorted(name for name in sys.modules if 'outputs.' in name), file=sys.stderr))"
        ran = self.finish(self.start_changed(change, self.argv(script(), {"train.py": "pass"})))
        self.assertIn("['kinetic_runner.outputs.commit', 'kinetic_runner.outputs.directory', 'kinetic_runner.outputs.watch']", ran.err)


class Endings(OutputCase):
    def test_a_call_that_fails_keeps_what_it_had_finished(self):
        """A file that was written in place just before may be half: it is kept apart."""
        ran = self.attempt(1, RENAMED + "open(top + '/half', 'w').write('ha'); raise SystemExit(3)")
        self.assertEqual((ran.code, sorted(self.saved()), self.bucket.read(f"{JOB}/incomplete/0/half")), (3, ["b.txt", "ck/a.bin"], b"ha"))
        self.assertEqual([file["path"] for file in ran.end["unsaved"]], ["half"])
        self.assertEqual(self.index()["incomplete"][0]["object"], "incomplete/0/half")

    def test_a_function_that_chooses_to_end_has_finished_its_files(self):
        source = "import os\ndef f():\n  open(os.environ['KINETIC_OUTPUT_DIR'] + '/a', 'w').write('a')\n  raise SystemExit(3)"
        ran = self.run_call(function(), {"train.py": source})
        self.assertEqual((ran.code, self.saved()), (3, {"a": b"a"}))

    def test_what_a_thread_still_wrote_when_its_process_was_killed_is_not_finished(self):
        go = os.path.join(self.root, "go")
        source = f"""
            import os, signal, threading
            def save():
                with open(os.environ["KINETIC_OUTPUT_PATH"] + "/last.pt", "wb") as file:
                    file.write(b"half")
                    file.flush()
                    begun.set()
                    threading.main_thread().join()  # the function has returned
                    open({go!r}, "w").close()
                    threading.Event().wait()
            def f():
                global begun
                begun = threading.Event()
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                threading.Thread(target=save).start()
                begun.wait()
                return 1
        """
        over = f"import os; attempt.Attempt.deadline = property(lambda self: 1.0 if os.path.exists({go!r}) else None)"
        ran = self.finish(self.start_changed(over, self.argv(function(), {"train.py": source}, "--max-runtime", "1000", "--grace", "0.2")))
        self.assertEqual((ran.code, ran.result["value"], self.indexed()), (0, 1, []), ran.out)
        self.assertEqual([file["path"] for file in self.index()["incomplete"]], ["last.pt"])

    def test_the_result_comes_after_the_outputs(self):
        self.attempt(1, PLAIN)
        order = [line for line in self.bucket.requests if re.search("rewriteTo|DELETE|/upload/", line)]
        copied = [number for number, line in enumerate(order) if "rewriteTo" in line]
        deleted = [number for number, line in enumerate(order) if line.startswith("DELETE")]
        between = [line for line in order[max(copied) : min(deleted)] if "/upload/" in line]
        self.assertGreaterEqual(len(between), 3, "result.json, end.json, and the index with the plain names")

    def test_what_is_finished_is_saved_while_the_call_runs(self):
        go = os.path.join(self.root, "go")
        os.mkfifo(go)
        process = self.start(self.argv(script(), {"train.py": RENAMED + f"open({go!r}).read()"}, "--output-sync", "0.1"))
        while not self.exists("sync/0.json") or len(self.indexed()) < 2 or len(self.saved()) < 2:
            os.sched_yield()
        self.assertIsNone(process.poll())
        with open(go, "wb"):
            pass
        self.assertEqual(self.finish(process).code, 0)

    def test_a_store_that_does_not_answer_a_restore_is_named(self):
        self.attempt(1, RENAMED + WAIT_UNTIL_SAVED + EXIT, *AGAIN)
        self.bucket.fail(503, 1, "sync/0/.*alt=media")
        argv = self.argv(script(), {"train.py": "pass"})
        self.environment = {"KINETIC_POD_UID": "2"}
        ran = self.finish(self.start_changed(IMPATIENT, argv))
        self.assertRegex(ran.stderr, AWAY + "kinetic: restored 2 outputs")

    def test_a_store_that_does_not_take_outputs_is_named_while_the_call_runs(self):
        reached = os.path.join(self.root, "reached")
        os.mkfifo(reached)
        self.bucket.faults.append(first_upload())
        self.bucket.fail(503, 1, "POST")
        argv = self.argv(script(), {"train.py": RENAMED + f"open({reached!r}).read(); print('the end', file=__import__('sys').stderr)"}, "--output-sync", "0.1")
        process = self.start_changed(IMPATIENT, argv)
        said = process.stdout.readline()
        while b"trying again" not in said:
            said = process.stdout.readline()
        with open(reached, "wb"):
            pass
        ran = self.finish(process)
        self.assertEqual((ran.code, ran.stderr, len(self.saved())), (0, "the end\n", 2))

    def test_what_a_handler_of_sigterm_saves(self):
        source = PLAIN + "import signal, sys\ndef save(*_):\n  open(top + '/last', 'w').write('saved')\n  sys.exit(0)\nsignal.signal(signal.SIGTERM, save)" + WAIT
        ran = self.stop(source)
        self.assertEqual((ran.code, sorted(self.saved())), (143, ["b.txt", "ck/a.bin", "last"]))

    def test_a_call_that_is_killed_keeps_what_was_finished(self):
        ran = self.stop(RENAMED + WAIT_UNTIL_SAVED + "open(top + '/new', 'w').write('new')" + WAIT, "--output-sync", "0")
        self.assertEqual((ran.code, self.indexed()), (143, ["b.txt", "ck/a.bin"]))
        self.assertIn("kinetic: warning: 1 output (3 B) is not saved: new (3 B): ", ran.stderr)
        self.assertEqual(self.bucket.read(f"{JOB}/incomplete/0/new"), b"new")

    def test_a_call_that_is_killed_early_keeps_checkpoints_in_a_new_directory(self):
        source = """
import os, time
ck = os.environ["KINETIC_OUTPUT_DIR"] + "/ck"
os.makedirs(ck)
fds, inode = f"/proc/{os.getppid()}/fdinfo/", f" ino:{os.stat(ck).st_ino:x} "
def is_watched():
    for fd in os.listdir(fds):
        try:
            if inode in open(fds + fd).read(): return True
        except FileNotFoundError: pass
def save(text):
    open(ck + "/last.new", "w").write(text)
    os.replace(ck + "/last.new", ck + "/last")
while not is_watched(): time.sleep(0.05)
save("1")
save("2")
""" + WAIT
        ran = self.stop(source, "--output-sync", "3600")
        self.assertEqual((ran.code, self.saved()), (143, {"ck/last": b"2"}), ran.stderr)

    def test_a_store_that_stays_away_delays_nothing_beyond_the_grace(self):
        argv = self.argv(script(), {"train.py": PLAIN + "import sys; signal = __import__('signal'); signal.signal(15, lambda *_: sys.exit(0))" + WAIT}, "--grace", "0.2", "--output-sync", "0")
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

    def test_a_plain_name_that_somebody_else_has_stays(self):
        self.bucket.put(f"{OUTPUTS}b.txt", b"of a program")
        ran = self.attempt(1, PLAIN)
        why = f"gs://{BUCKET}/{OUTPUTS}b.txt exists, and this job has neither written nor restored it"
        self.assertIn(f"warning: the output 'b.txt' is saved, but not under its plain name: {why}", ran.stderr)
        entries = {entry["path"]: entry.get("object") for entry in self.index()["files"]}
        self.assertEqual((self.saved()["b.txt"], self.bucket.read(f"{JOB}/{entries['b.txt']}")), (b"of a program", b"hello"))

    def test_a_name_of_many_that_are_not_saved(self):
        ran = self.attempt(1, "import os\nfor n in range(30): os.symlink('/etc', os.environ['KINETIC_OUTPUT_PATH'] + f'/{n:02}')")
        self.assertEqual((len(ran.end["unsaved"]), ran.end["unsaved_total"]), (20, 30))
        self.assertRegex(ran.stderr, r"warning: 30 outputs \(\S+ B\) are not saved: .*; and 27 more")
        self.assertNotIn("unsaved", json.loads(self.termination()))


class Commits(OutputCase):
    def test_a_file_in_place_survives_a_kill_at_once(self):
        self.attempt(1, "import os\ntop = os.environ['KINETIC_OUTPUT_PATH']\nopen(top + '/a', 'w').write('whole')" + WAIT_UNTIL_SAVED + "os.kill(os.getpid(), 9)", "--retries", "1")
        ran = self.attempt(2, "import os; print(open(os.environ['KINETIC_OUTPUT_PATH'] + '/a').read())")
        self.assertEqual(ran.stdout, "whole\n")

    def test_what_is_open_is_left_out_and_told(self):
        ran = self.attempt(1, "import kinetic, os\nfile = open(os.environ['KINETIC_OUTPUT_PATH'] + '/a', 'w')\nprint(kinetic.commit())\nfile.close()\nprint(kinetic.commit())")
        self.assertEqual(ran.stdout, "['a']\n[]\n")

    def test_the_command_of_the_runner(self):
        ran = self.run_call(command("sh", "-c", f'echo hello >"$KINETIC_OUTPUT_PATH/a"; {sys.executable} {RUNNER} commit; kill -9 $$'), {})
        self.assertEqual((ran.code, ran.stderr.count("rror")), (137, 0))
        self.assertEqual(self.indexed(), ["a"])


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


class Maps(OutputCase):
    def chunk(self, number, source, *flags, uid=""):
        lines = b"0\n1\n"
        self.put_blob(lines)
        argv = self.argv(function(), {"train.py": source}, "--map", sha256(lines), "--inputs", "2", *flags)
        return self.finish(self.start(argv, {"JOB_COMPLETION_INDEX": str(number), "KINETIC_POD_UID": uid or str(number)}))

    source = """
import os
def f(n):
    top = os.environ["KINETIC_OUTPUT_DIR"]
    found = open(top + "/n").read() if os.path.exists(top + "/n") else None
    open(top + "/n", "w").write(str(n))
    END
    return [found, os.environ["KINETIC_INPUT"], top.rpartition("/")[2]]
"""

    def test_each_input_has_its_own(self):
        ran = self.chunk(0, self.source.replace("END", ""), "--chunk", "2")
        self.assertEqual((ran.code, self.saved()), (0, {"0/n": b"0", "1/n": b"1"}), ran.out)
        self.assertEqual([self.document(f"results/{number}.json")["value"] for number in (0, 1)], [[None, "0", "0"], [None, "1", "1"]])
        self.assertEqual([self.index(number)["done"] for number in (0, 1)], [True, True])

    def test_an_input_that_is_tried_again_finds_what_it_had_saved(self):
        end = "import kinetic; kinetic.commit()\n    if os.environ['KINETIC_ATTEMPT'] == '1' and n == 1: os.kill(os.getppid(), 9); os.kill(os.getpid(), 9)"
        source = self.source.replace("END", end)
        self.assertEqual(self.chunk(0, source, "--chunk", "2", "--retries", "2").code, -signal.SIGKILL)
        ran = self.chunk(0, source, "--chunk", "2", "--retries", "2", uid="again")
        self.assertEqual((ran.code, self.document("results/1.json")["value"]), (0, ["1", "1", "1"]), ran.out)


if __name__ == "__main__":
    unittest.main()
