"""Attempts, signals, clocks, and what is published in the end."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest

from fixture import JOB, RUNNER, RunnerCase, command, function, make_zip, script

READY = "print('ready', flush=True)"
CATCH = """
    import signal, sys
    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(1))
    def f():
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        print('ready', flush=True)
        signal.sigwait([signal.SIGTERM])
        return 'saved'
"""
IGNORE = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('ready', flush=True)\nwhile True: signal.pause()"
WAIT = "import signal\nprint('ready', flush=True)\nwhile True: signal.pause()"


class Signals(RunnerCase):
    def stop(self, call, files, *flags, number=signal.SIGTERM):
        """Runs until the call says ready, sends the signal, and waits."""
        process = self.start(self.argv(call, files, *flags))
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.send_signal(number)
        return self.finish(process)

    def test_termination_is_passed_on(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                self.setUp()
                ran = self.stop(script(), {"train.py": WAIT}, number=number)
                self.assertEqual(ran.code, 143)
                self.assertEqual(ran.result["error"]["type"], "Terminated")
                self.assertIn("ready", ran.log)
                self.assertIn("kinetic: train.py was terminated", ran.out)
                self.assertFalse(self.exists("end.json"), "another attempt may follow")
                self.assertTrue(self.exists("attempts/1.json"))
                self.assertEqual(json.loads(self.termination())["reason"], "Terminated")

    def test_last_attempt_writes_the_end(self):
        ran = self.stop(script(), {"train.py": WAIT}, "--final")
        self.assertEqual((ran.end["state"], ran.end["reason"], ran.end["exit_code"]), ("FAILED", "Terminated", 143))

    def test_call_that_ends_well_within_the_grace_has_succeeded(self):
        ran = self.stop(function(), {"train.py": CATCH})
        self.assertEqual((ran.code, ran.end["reason"], ran.result["value"]), (0, "Completed", "saved"))

    def test_call_that_ends_badly_within_the_grace_was_terminated(self):
        source = "import signal, sys\ndef f():\n  signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n  print('ready', flush=True)\n  while True: signal.pause()"
        ran = self.stop(function(), {"train.py": source})
        self.assertEqual((ran.code, ran.result["error"]["type"]), (143, "SystemExit"))

    def test_call_that_saves_and_leaves_has_not_finished(self):
        source = "import signal, sys\ndef f():\n  signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n  print('ready', flush=True)\n  while True: signal.pause()"
        self.assertEqual(self.stop(function(), {"train.py": source}).code, 143)

    def test_finally_runs_if_the_signal_is_handled(self):
        source = """
            import signal, sys
            def f():
                signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
                try:
                    print('ready', flush=True)
                    while True: signal.pause()
                finally:
                    print('saved')
            if __name__ == '__main__': f()
        """
        for name, call in (("function", function()), ("script", script())):
            with self.subTest(name):
                self.setUp()
                ran = self.stop(call, {"train.py": source})
                self.assertEqual(ran.code, 143)
                self.assertIn("saved", ran.log)

    def test_call_that_does_not_listen_is_killed_after_the_grace(self):
        ran = self.stop(script(), {"train.py": IGNORE}, "--grace", "0.2", "--final")
        self.assertEqual((ran.code, ran.end["reason"]), (143, "Terminated"))

    def test_log_is_saved_at_the_signal_not_only_at_the_end(self):
        source = f"""
            import os, signal
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            {READY}
            while not os.path.exists({os.path.join(self.store, JOB, "logs/0/1-1.log")!r}):
                os.sched_yield()
            print("seen")
        """
        ran = self.stop(script(), {"train.py": source})
        self.assertEqual((ran.code, len(self.parts(1))), (143, 2))
        self.assertIn("seen", ran.log)

    def test_termination_before_the_call(self):
        argv = self.argv(script(), {"train.py": "print('it ran')"}, "--final")
        path = os.path.join(self.store, JOB, "call.json")
        os.unlink(path)
        os.mkfifo(path)
        process = self.start(argv)
        with open(path, "wb"):  # returns when the runner is reading the call
            while process.poll() is None:  # Python does not see a signal that arrives just before it waits in a read
                process.send_signal(signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=1)
        ran = self.finish(process)
        self.assertEqual((ran.code, ran.end["reason"]), (143, "Terminated"))
        self.assertIn("before its call started", ran.end["message"])
        self.assertNotIn("it ran", ran.out)

    def test_killed_call(self):
        for name in ("KILL", "SEGV", "TERM"):
            with self.subTest(name):
                self.setUp()
                ran = self.call(f"import os, signal\ndef f(): os.kill(os.getpid(), signal.SIG{name})", "--final")
                self.assertEqual((ran.code, ran.end["reason"], ran.end["exit_code"]), (137, "Killed", 137))
                self.assertIn(f"train.py:f was killed by SIG{name}", ran.end["message"])

    def test_max_runtime(self):
        for name, source in (("listens", WAIT), ("does not listen", IGNORE)):
            with self.subTest(name):
                ran, limit = self.out_of_time(lambda *limit: self.run_call(script(), {"train.py": source}, *limit, "--grace", "0.2"), "ready")
                self.assertEqual((ran.code, ran.end["reason"], ran.end["exit_code"]), (124, "DeadlineExceeded", 124))
                self.assertIn(f"{limit} seconds of --max-runtime", ran.end["message"])
                self.assertIn("ready", ran.log)

    def test_max_runtime_that_is_not_reached(self):
        ran = self.run_call(script(), {"train.py": ""}, "--max-runtime", "1000")
        self.assertEqual(ran.code, 0)


class Stragglers(RunnerCase):
    """What a local job, which is not alone on its machine, leaves there."""

    def local(self):
        return "--log-file", os.path.join(self.root, "log")

    def test_what_the_call_left_running_is_not_waited_for_and_ended(self):
        fifo = os.path.join(self.root, "fifo")
        os.mkfifo(fifo)
        source = f"""
            import subprocess
            def f():
                with open({fifo!r}, "w") as alive:
                    subprocess.Popen(["sleep", "1000"], pass_fds=[alive.fileno()])
                return 1
        """
        process = self.start(self.argv(function(), {"train.py": source}, *self.local()))
        with open(fifo, "rb") as alive:
            ran = self.finish(process)
            self.assertEqual((ran.code, ran.result["value"]), (0, 1))
            self.assertEqual(alive.read(), b"")  # ends when the straggler does

    def abandoned(self, source, *signals, byte=b"", go=None):
        """What a call leaves whose caller ends after its first line, and after these signals to the runner. Then there is the file go."""
        read, write = os.pipe()
        process = self.start(self.argv(function(), {"train.py": source}, "--caller", str(read), "--final"), pass_fds=[read])
        os.close(read)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        for number in signals:
            process.send_signal(number)
            self.assertEqual(process.stdout.readline(), b"told\n")
        with open(write, "wb", buffering=0) as caller:
            caller.write(byte)
        if go:
            open(go, "w").close()
        return self.finish(process)

    def test_without_its_caller_a_call_has_little_time(self):
        told = "import signal\nsignal.signal(signal.SIGTERM, lambda *_: print('told', flush=True))\n"
        source = told + "def f():\n    print('ready', flush=True)\n    while True: signal.pause()"
        for signals in (), (signal.SIGTERM,):
            with self.subTest(signals=signals):
                self.setUp()
                ran = self.abandoned(source, *signals)
                self.assertEqual((ran.code, ran.end["reason"]), (143, "Terminated"))
                self.assertEqual(ran.end["message"], "train.py:f was terminated: the program that waited for it has ended")

    def test_result_outlives_the_caller(self):
        ran = self.abandoned(CATCH)
        self.assertEqual((ran.code, ran.result["value"]), (0, "saved"))

    def test_caller_that_lets_go(self):
        go = os.path.join(self.root, "go")
        source = f"import os\ndef f():\n    print('ready', flush=True)\n    while not os.path.exists({go!r}): os.sched_yield()\n    return 1"
        ran = self.abandoned(source, byte=b"\n", go=go)
        self.assertEqual((ran.code, ran.result["value"]), (0, 1))

    def test_output_without_end_is_not_waited_for(self):
        ran = self.call("import subprocess\ndef f(): subprocess.Popen(['yes'])")
        self.assertEqual((ran.code, ran.end["reason"]), (0, "Completed"))

    def test_group_of_somebody_else_is_left_alone(self):
        argv = self.argv(command("true"), {"x": ""}, *self.local())
        ran = self.finish(self.start(["sh", "-c", '"$@"; echo still here', "sh"] + argv))
        self.assertEqual((ran.code, ran.out.splitlines()[-1:]), (0, ["still here"]))

    def test_as_pid_1_orphans_are_reaped(self):
        unshare = [shutil.which("unshare") or "", "--pid", "--fork", "--kill-child"]
        if subprocess.run(unshare[:1] and unshare + ["true"], capture_output=True).returncode:
            self.skipTest("no right to make a PID namespace here")
        source = """
            import os, subprocess
            read, write = os.pipe()
            wait = ["sh", "-c", f"cat <&{read} >/dev/null & echo $!"]
            orphan = int(subprocess.check_output(wait, pass_fds=[read]))
            os.close(write)
            def gone():
                try:
                    os.kill(orphan, 0)
                except ProcessLookupError:
                    return True
            while not gone():
                os.sched_yield()
            print("reaped by", os.getppid())
        """
        ran = self.finish(self.start(unshare + self.argv(script(), {"train.py": source})))
        self.assertEqual((ran.code, ran.out), (0, "reaped by 1\n"))


class Attempts(RunnerCase):
    FILES = {"train.py": "import os; print('attempt', os.environ['KINETIC_ATTEMPT']); os.kill(os.getpid(), 9)"}

    def run_as(self, uid, *flags):
        return self.run_call(script(), self.FILES, *flags, env={"KINETIC_POD_UID": uid} if uid else {})

    def test_each_start_has_its_number(self):
        for number in (1, 2, 3):
            ran = self.run_as(f"uid-{number}")
            self.assertEqual((ran.code, ran.result["attempt"]), (137, number))
            self.assertIn(f"attempt {number}\n", ran.out)
            record = self.document(f"attempts/{number}.json")
            self.assertEqual((record["version"], record["attempt"], record["uid"]), (1, number, f"uid-{number}"))
        self.assertEqual([len(self.parts(number)) for number in (1, 2, 3)], [1, 1, 1])
        self.assertFalse(self.exists("end.json"))

    def test_same_pod_keeps_its_number_and_its_log(self):
        self.run_as("uid-1")
        ran = self.run_as("uid-1")
        self.assertEqual(ran.result["attempt"], 1)
        self.assertFalse(self.exists("attempts/2.json"))
        self.assertEqual(ran.log.count("attempt 1\n"), 2)

    def test_without_a_pod_each_process_is_its_own(self):
        self.run_as("")
        self.assertEqual(self.run_as("").result["attempt"], 2)

    def test_later_attempt_replaces_the_result(self):
        self.run_as("uid-1")
        self.assertFalse(self.document("result.json")["ok"])
        ran = self.run_call(function(), {"train.py": "def f(): return 5"}, env={"KINETIC_POD_UID": "uid-2"})
        self.assertEqual((ran.result["value"], ran.result["attempt"], ran.end["attempt"]), (5, 2, 2))


class End(RunnerCase):
    def test_job_that_has_ended_is_not_run_again(self):
        self.put(f"{JOB}/end.json", b'{"version":1,"state":"FAILED","reason":"Cancelled","exit_code":143}')
        ran = self.run_call(script(), {"train.py": "print('it ran')"})
        self.assertEqual(ran.code, 143)
        self.assertIn(f"kinetic: job {JOB} has ended already: FAILED, Cancelled; nothing to run", ran.out + ran.err)
        self.assertNotIn("it ran", ran.out)
        self.assertFalse(self.exists("attempts/1.json"))

    def test_end_that_somebody_else_wrote_stays(self):
        theirs = '{"version":1,"state":"FAILED","reason":"Cancelled"}'
        source = f"open({os.path.join(self.store, JOB, 'end.json')!r}, 'w').write({theirs!r})"
        ran = self.run_call(script(), {"train.py": source})
        self.assertEqual((ran.code, self.read("end.json")), (0, theirs.encode()))

    def test_documents(self):
        ran = self.call("def f(): return 1")
        self.assertEqual(set(ran.end), {"version", "state", "reason", "message", "exit_code", "host", "attempt", "started", "called", "finished", "by"})
        self.assertEqual((ran.end["by"], ran.end["host"], ran.end["version"]), ("runner", 0, 1))
        names = "version ok value pickle error warnings differs host attempt started finished"
        self.assertEqual(set(ran.result), set(names.split()))
        self.assertRegex(ran.end["started"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
        self.assertLessEqual(ran.end["started"], ran.end["finished"])
        self.assertEqual(os.listdir(os.path.join(self.store, ".tmp")), [])

    def test_store_that_cannot_be_written(self):
        source = f"import os, shutil\nshutil.rmtree({self.store!r}); open({self.store!r}, 'w').close()"
        ran = self.run_call(script(), {"train.py": source})
        self.assertEqual(ran.code, 125)
        self.assertIn("kinetic: cannot store the result", ran.out)
        self.assertEqual(json.loads(self.termination())["reason"], "RunnerFailure")

    def test_termination_message(self):
        ran = self.run_call(command("sh", "-c", "exit 4"), {"x": ""})
        summary = json.loads(self.termination())
        self.assertEqual((summary["state"], summary["reason"], summary["exit_code"], summary["attempt"]), ("FAILED", "ExitCode", 4, 1))
        self.assertEqual(summary["error"]["message"], ran.end["message"])
        self.assertNotIn("value", summary)

    def test_termination_message_can_be_switched_off(self):
        ran = self.run_call(command("true"), {"x": ""}, "--termination-log", "")
        self.assertEqual((ran.code, ran.out, ran.err), (0, "", ""))


class CommandLine(RunnerCase):
    def test_refused(self):
        good = self.argv(script(), {"train.py": "print('it ran')"})

        def changed(flag, value):
            argv = list(good)
            argv[argv.index(flag) + 1] = value
            return argv

        cases = {
            "unknown flag": (good + ["--unknown"], "--unknown"),
            "abbreviated flag": (good + ["--fin"], "--fin"),
            "id with a path": (changed("--job", "../../etc"), "'../../etc' is not a job ID"),
            "reserved id": (changed("--job", "blobs"), "'blobs' is not a job ID"),
            "id with a newline": (changed("--job", "abc\n"), "is not a job ID"),
            "hash with a path": (changed("--call", "../x"), "--call"),
            "short hash": (changed("--bundle", "abc"), "--bundle"),
            "other store": (changed("--store", "s3://bucket"), "s3://bucket: expected gs://BUCKET, file:///DIR or /DIR"),
            "relative store": (changed("--store", "file://x"), "expected gs://BUCKET, file:///DIR or /DIR"),
            "bucket with a space": (changed("--store", "gs://a b"), "gs://a b: expected gs://BUCKET or gs://BUCKET/PREFIX"),
            "no store": (changed("--store", "file:///no/such/dir"), "the directory does not exist"),
            "runtime": (good + ["--max-runtime", "1h"], "'1h' is not a number of seconds"),
            "negative grace": (good + ["--grace=-1"], "--grace"),
            "endless grace": (good + ["--grace", "inf"], "--grace"),
            "missing flags": (good[:3], "--job"),
        }
        for name, (argv, word) in cases.items():
            with self.subTest(name):
                ran = self.finish(self.start(argv))
                self.assertEqual((ran.code, ran.out), (125, ""))
                self.assertIn(word, ran.err)
                self.assertTrue(ran.err.startswith("kinetic: "))
        self.assertFalse(self.exists("attempts/1.json"))


class Program(RunnerCase):
    """The ways to start the program."""

    SOURCE = {"train.py": "import json, os\ndef f(): return json.dumps([os.getpid() != os.getppid()])"}

    def zipped(self):
        """The zip that pods have, in a folder whose files must not shadow modules of Python."""
        folder = os.path.join(self.root, "app")
        os.mkdir(folder)
        for name in ("json", "signal", "select", "marshal"):
            with open(os.path.join(folder, f"{name}.py"), "w") as file:
                file.write("raise SystemExit(9)")
        path = os.path.join(folder, "remote_runner.py")
        make_zip(path, "kinetic_runner")
        return path

    def test_zip(self):
        path = self.zipped()
        calls = {"function": function(), "file": script()}
        for name, call in calls.items():
            with self.subTest(name):
                argv = self.argv(call, self.SOURCE)
                argv[argv.index(RUNNER)] = path
                ran = self.finish(self.start(argv, {"KINETIC_POD_UID": name}))
                self.assertEqual((ran.code, ran.out, ran.err), (0, "", ""))
                os.unlink(os.path.join(self.store, JOB, "end.json"))

    def test_traceback_from_the_zip_has_only_the_users_frames(self):
        argv = self.argv(function(), {"train.py": "def f(): raise ValueError('bad')"})
        argv[argv.index(RUNNER)] = self.zipped()
        ran = self.finish(self.start(argv))
        self.assertEqual(re.findall('File "(.*)"', ran.result["error"]["traceback"]), ["train.py"])

    def test_help_of_the_zip(self):
        ran = subprocess.run([sys.executable, self.zipped(), "--help"], capture_output=True, text=True, cwd=self.root)
        self.assertEqual((ran.returncode, ran.stdout.splitlines()[0], ran.stderr), (0, "usage: remote_runner.py FLAGS", ""))

    def test_started_by_another_program(self):
        boot = "import runpy, sys\ndel sys.argv[0]\nrunpy.run_path(sys.argv[0], run_name='__main__')"
        for name, path in (("folder", RUNNER), ("zip", self.zipped())):
            with self.subTest(name):
                argv = self.argv(function(), self.SOURCE)
                ran = self.finish(self.start([sys.executable, "-u", "-c", boot, path] + argv[3:], {"KINETIC_POD_UID": name}))
                self.assertEqual((ran.code, ran.result["value"]), (0, "[true]"), ran.err)
                os.unlink(os.path.join(self.store, JOB, "end.json"))


if __name__ == "__main__":
    unittest.main()
