"""What the code of a job asks kinetic.pod, in a job and outside."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from fixture import RUNNER, RunnerCase, command, function, script
from kinetic import pod

# Waits, like a training loop, until it is to end. Says what it sees before and after.
LOOP = """
import sys, time
from kinetic import pod
def f():
    print(pod.is_preempted(), flush=True)
    while not pod.is_preempted():
        time.sleep(0.01)
    print("saved", flush=True)
    sys.exit()
if __name__ == "__main__":
    f()
"""


class InJob(RunnerCase):
    def test_answers(self):
        source = """
            import os
            from kinetic import pod
            def f():
                out, checkpoints = pod.output_dir(), pod.checkpoint_dir()
                return [pod.in_job(), pod.host(), pod.hosts(), pod.attempt(), pod.is_preempted(), os.path.isdir(out), out, checkpoints]
        """
        ran = self.call(source)
        out = os.path.join(self.store, "cpu-train-20261120-082019-abc1234", "outputs")
        self.assertEqual(ran.result["value"], [True, 0, 1, 1, False, True, out, os.path.join(out, "checkpoints")], ran.out)

    def test_a_program_that_submits_where_a_job_imports_it_is_refused(self):
        for submit in ("f.run_async()", "f.map([1])", "f.run_async_map([1])"):
            with self.subTest(submit):
                self.setUp()
                ran = self.call(f"import kinetic\n@kinetic.run()\ndef f(): return 1\n{submit}")
                self.assertEqual((ran.code, ran.result["error"]["type"]), (1, "kinetic.errors.UsageError"), ran.out)
                self.assertIn('put what submits jobs under `if __name__ == "__main__":`', ran.end["message"])

    def test_a_program_that_only_defines_jobs_is_imported(self):
        ran = self.call("import kinetic\n@kinetic.run()\ndef g(): return 2\nh = g.with_options(max_runtime='1h')\nn = g() + g()\n@kinetic.run()\ndef f(): return n + h()")
        self.assertEqual((ran.code, ran.result["value"]), (0, 6), ran.out)
        said = "kinetic: the job calls g() while it loads the program, before its own call: a call at the top level belongs under `if __name__ =="
        self.assertEqual(ran.out.count("kinetic: "), 1, ran.out)
        self.assertIn(said, ran.out)

    def stopped(self, call, source, *flags):
        """What a call leaves that gets SIGTERM after its first line."""
        process = self.start(self.argv(call, {"train.py": source}, *flags))
        self.assertEqual(process.stdout.readline(), b"False\n", process.poll() is not None and process.stderr.read())
        process.send_signal(signal.SIGTERM)
        return self.finish(process)

    def test_each_kind_of_call_can_save_and_leave(self):
        for name, call in {"function": function(), "file": script(), "command": command(sys.executable, "train.py")}.items():
            with self.subTest(name):
                self.setUp()
                ran = self.stopped(call, LOOP)
                self.assertEqual((ran.code, ran.out), (143, "saved\nkinetic: %s was terminated\n" % ("train.py:f" if name == "function" else call.get("file") or sys.executable)))

    def test_the_end_of_the_time(self):
        ran, _ = self.out_of_time(lambda *limit: self.call(LOOP, *limit, "--final"), "False")
        self.assertEqual((ran.code, ran.end["reason"]), (124, "DeadlineExceeded"))
        self.assertIn("saved\n", ran.out)

    def test_a_process_of_the_call_that_gets_no_signal(self):
        source = """
            import subprocess, sys
            WAIT = "import time; from kinetic import pod; print(pod.is_preempted(), flush=True)\\nwhile not pod.is_preempted(): time.sleep(0.01)\\nprint('left')"
            if __name__ == "__main__":
                subprocess.run([sys.executable, "-c", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\\n" + WAIT], start_new_session=True)
        """
        source = source.replace("import subprocess, sys", "import signal, subprocess, sys; signal.signal(signal.SIGTERM, lambda *_: None)")
        ran = self.stopped(script(), source, "--grace", "60")
        self.assertEqual((ran.code, ran.out), (143, "left\nkinetic: train.py was terminated\n"))

    def test_the_programs_own_handler_stays(self):
        source = """
            import signal, sys, time
            from kinetic import pod
            def own(*_):
                print("own", pod.is_preempted(), flush=True)
                sys.exit()
            signal.signal(signal.SIGTERM, own)
            print(pod.is_preempted(), flush=True)
            while True: time.sleep(0.01)
        """
        ran = self.stopped(script(), source)
        self.assertEqual((ran.code, ran.out), (143, "own True\nkinetic: train.py was terminated\n"))

    def test_a_thread_that_asks_first(self):
        source = """
            import threading
            from kinetic import pod
            def f():
                asked = []
                thread = threading.Thread(target=lambda: asked.append(pod.is_preempted()))
                thread.start()
                thread.join()
                return asked + [pod.is_preempted()]
        """
        self.assertEqual(self.call(source).result["value"], [False, False])

    def test_the_next_attempt_in_the_same_place(self):
        self.stopped(function(), LOOP)
        process = self.start(self.argv(function(), {"train.py": "from kinetic import pod\ndef f(): return pod.is_preempted()"}))
        self.assertEqual(self.finish(process).result["value"], False)


class Outside(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.realpath(folder.name)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.root)
        cleared = mock.patch.dict(os.environ, {}, clear=False)
        cleared.start()
        self.addCleanup(cleared.stop)
        for name in [name for name in os.environ if name.startswith("KINETIC_")]:
            del os.environ[name]

    def test_answers(self):
        self.assertEqual((pod.in_job(), pod.host(), pod.hosts(), pod.attempt(), pod.is_preempted()), (False, 0, 1, 1, False))
        self.assertIs(signal.getsignal(signal.SIGTERM), signal.SIG_DFL)

    def test_outputs(self):
        self.assertEqual(pod.checkpoint_dir(), os.path.join(self.root, "kinetic-outputs", "checkpoints"))
        self.assertEqual(sorted(os.listdir(pod.output_dir())), [".kinetic-outputs", "checkpoints"])

    def test_directory_that_is_there_already(self):
        os.mkdir("kinetic-outputs")
        self.assertEqual(os.listdir(pod.output_dir()), [])

    def test_outputs_in_a_directory_of_ones_own(self):
        os.environ["KINETIC_OUTPUT_DIR"] = "mine"
        self.assertEqual(pod.output_dir(), os.path.join(self.root, "mine"))
        self.assertEqual((pod.checkpoint_dir(), os.listdir("mine")), (os.path.join(self.root, "mine", "checkpoints"), ["checkpoints"]))

    def test_outputs_in_a_bucket(self):
        os.environ["KINETIC_OUTPUT_DIR"] = "gs://team/ckpt"
        with self.assertRaisesRegex(ValueError, "KINETIC_OUTPUT_DIR=gs://team/ckpt is a directory only in a job: set it to a local directory"):
            pod.output_dir()

    def test_import_needs_little(self):
        program = """if True:
            import importlib.util, os, sys
            before = set(sys.modules)
            spec = importlib.util.spec_from_file_location("pod", sys.argv[1])
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
            print(*sorted(set(sys.modules) - before))
        """
        argv = [sys.executable, "-I", "-S", "-c", program, os.path.join(RUNNER, "kinetic", "pod.py")]
        self.assertEqual(subprocess.run(argv, capture_output=True, text=True, check=True).stdout, "__future__\n")


if __name__ == "__main__":
    unittest.main()
