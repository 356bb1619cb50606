"""Each input of a map has its own outputs."""

import gzip
import os
import signal
import sys
import unittest

from bucket import BUCKET
from fixture import JOB, RunnerCase, program
from test_map import MapCase

from kinetic_runner.outputs.directory import FIRST_SECONDS

SEES = """
    import os
    def f(n):
        names = ("KINETIC_INPUT", "KINETIC_OUTPUT_DIR", "KINETIC_OUTPUT_PATH")
        here = os.environ["KINETIC_OUTPUT_DIR"]
        found = os.listdir(here)
        with open(here + "/last", "w") as file:
            file.write(str(n))
        return [os.environ[name] for name in names] + found
"""


class Outputs(MapCase):
    def file(self, *names):
        with open(os.path.join(self.work, "outputs", *names)) as file:
            return file.read()

    def release(self, pod, number, name, go):
        """Lets an input go on, by the file go, once the bucket has an output of it."""
        index = f"{JOB}/sync/{number}.json"
        self.eventually(lambda: self.bucket.names(index) and f'"{name}"'.encode() in gzip.decompress(self.bucket.read(index)), pod)
        open(go, "w").close()

    def test_each_input_finds_an_empty_directory(self):
        ran = self.chunk(SEES, [7, 7, 7])
        path = os.path.join(self.work, "outputs")
        want = [[str(n), f"gs://{BUCKET}/{JOB}/outputs/{n}", f"{path}/{n}"] for n in range(3)]
        self.assertEqual((ran.code, self.values(3)), (0, want), ran.out)
        self.assertEqual([self.read(f"outputs/{n}/last") for n in range(3)], [b"7"] * 3)
        self.assertEqual(ran.out, "")

    def test_the_numbers_are_those_of_the_map(self):
        self.chunk(SEES, list(range(10)), "--only", "2-2,4-9", chunk=1, size=2)
        self.assertEqual([value and value[0] for value in self.values(10)], [None] * 5 + ["5", "6"] + [None] * 3)

    def test_a_directory_of_ones_own(self):
        path = os.path.join(self.root, "mine")
        self.chunk(SEES, [7, 8], "--output-dir", path)
        self.assertEqual(self.values(2), [[str(n), f"{path}/{n}", f"{path}/{n}"] for n in range(2)])

    def test_a_mounted_bucket(self):
        path = os.path.join(self.root, "mount")
        os.mkdir(path)
        self.chunk(SEES, [7, 8], "--output-mount", path)
        self.assertEqual(self.values(2), [[str(n), f"gs://{BUCKET}/{JOB}/outputs/{n}", f"{path}/{n}"] for n in range(2)])

    def test_a_bucket_of_ones_own(self):
        self.chunk(SEES, [7, 8], "--output-dir", f"gs://{BUCKET}/mine/")
        self.assertEqual([value[1] for value in self.values(2)], [f"gs://{BUCKET}/mine/{n}" for n in range(2)])
        self.assertEqual(self.bucket.read("mine/1/last"), b"8")

    def test_the_next_try_finds_what_the_one_before_left(self):
        source = """
            import os, time
            def f(n):
                path = os.path.join(os.environ["KINETIC_OUTPUT_PATH"], "last")
                if os.path.exists(path):
                    return open(path).read()
                with open(path, "w") as file:
                    file.write(f"of {n}")
                FAIL
        """
        for fail in ("os._exit(9)", "raise ValueError"):
            with self.subTest(fail):
                self.setUp()
                go = os.path.join(self.root, "go")
                failing = f"while not os.path.exists({go!r} + os.environ['KINETIC_INPUT']): time.sleep(0.01)\n                {fail}"
                pod = self.start_chunk(source.replace("FAIL", failing), [5, 6], "--retry-on", "error", "--retries", "1", "--output-sync", "0.5")
                for number in range(2):
                    self.release(pod, number, "last", f"{go}{number}")
                ran = self.finish(pod)
                self.assertEqual((ran.code, self.values(2)), (0, ["of 5", "of 6"]), ran.out)

    def test_the_next_process_finds_what_the_killed_one_had_finished(self):
        go = os.path.join(self.root, "go")
        source = f"""
            import os, time
            def f(n):
                os.chdir(os.environ["KINETIC_OUTPUT_PATH"])
                found = {{name: os.path.getsize(name) for name in os.listdir(".")}}
                if n == 1 and not found:
                    with open("first.tmp", "w") as file:
                        file.write("whole")
                    os.rename("first.tmp", "first.pt")
                    while not os.path.exists({go!r}): time.sleep(0.01)
                    last = open("last.pt", "w")
                    last.write("half")
                    last.flush()
                    os.kill(os.getpid(), 9)
                return found
        """
        pod = self.start_chunk(source, [0, 1], "--output-sync", "0.5")
        self.release(pod, 1, "first.pt", go)
        ran = self.finish(pod)
        self.assertEqual((ran.code, self.values(2)), (0, [{}, {"first.pt": 5}]), ran.out)

    def test_what_is_renamed_just_before_an_input_fails(self):
        """The directory is watched before anybody has looked at it, also after inputs with and without outputs."""
        source = """
            import os, time
            def is_watched():
                fds, inode = f"/proc/{os.getppid()}/fdinfo/", f" ino:{os.stat('.').st_ino:x} "
                for fd in os.listdir(fds):
                    try:
                        if inode in open(fds + fd).read(): return True
                    except FileNotFoundError: pass
            def f(n):
                os.chdir(os.environ["KINETIC_OUTPUT_PATH"])
                if n == 0 or os.path.exists("last.pt"): return os.listdir(".")
                while not is_watched(): time.sleep(0.01)
                with open("last.pt.tmp", "w") as file: file.write("whole")
                os.replace("last.pt.tmp", "last.pt")
                END
        """
        start = self.start
        change = "from kinetic_runner.outputs import directory, inputs; directory.FIRST_SECONDS = inputs.FIRST_SECONDS = 3600"
        for end, value in (("raise ValueError('of ' + str(n))", None), ("os.kill(os.getpid(), 9)", ["last.pt"])):
            with self.subTest(end):
                self.setUp()
                self.start = lambda argv, env: start([sys.executable, "-u", "-c", program(change)] + argv[3:], env)
                ran = self.chunk(source.replace("END", end), [0, 1, 2, 0, 3])
                values = [[] if n == 0 else value or f"of {n}" for n in (0, 1, 2, 0, 3)]
                saved = [name for name in self.bucket.names(f"{JOB}/outputs/")]
                self.assertEqual((ran.code, self.values(5), sorted(saved)), (0, values, [f"{JOB}/outputs/{number}/last.pt" for number in (1, 2, 4)]), ran.out)

    def test_directories_that_stay_empty_are_removed(self):
        self.chunk("import os\ndef f(n): return os.path.isdir(os.environ['KINETIC_OUTPUT_PATH'])", [1, 2])
        self.assertEqual((self.values(2), os.listdir(os.path.join(self.work, "outputs"))), ([True, True], []))

    def test_an_input_without_outputs_needs_no_room_for_them(self):
        self.chunk("import os, shutil\nshutil.rmtree(os.environ['KINETIC_OUTPUT_PATH'])\nopen(os.environ['KINETIC_OUTPUT_PATH'], 'w').close()\ndef f(n): return n", [1, 2])
        self.assertEqual(self.values(2), [1, 2])


class Saved(MapCase):
    """Inputs whose outputs are saved in the bucket."""

    SOURCE = """
        import os
        def f(n):
            with open(os.path.join(os.environ["KINETIC_OUTPUT_PATH"], "m.json"), "w") as file:
                file.write("{}")
            runner, found = f"/proc/{os.getppid()}/fd", 0
            for name in os.listdir(runner):
                try:
                    found += "inotify" in os.readlink(os.path.join(runner, name))
                except FileNotFoundError:
                    pass  # closed meanwhile
            return found
    """

    def test_outputs_that_cannot_be_tidied_up_cost_no_result(self):
        """As with a retention policy, or without the permission to delete."""
        self.bucket.fail(403, times=1000, pattern="^DELETE")
        ran = self.chunk(self.SOURCE.replace("return ", "return n or "), [1, 2, 3], "--output-sync", "0.3")
        self.assertEqual((ran.code, self.values(3)), (0, [1, 2, 3]), ran.out)

    @unittest.skipUnless(os.path.isdir("/proc/self/fd"), "what is open is seen on Linux only")
    def test_what_watches_an_input_is_closed(self):
        source = self.SOURCE.replace("runner, found", "time.sleep(0.25)\n            runner, found").replace("import os", "import os, time")
        ran = self.chunk(source, list(range(20)), "--output-sync", "0.3")
        self.assertEqual(ran.code, 0, ran.out)
        self.assertLess(max(self.values(20)), 10)  # some inputs are just being saved


class Strays(MapCase):
    """Inputs that write outside of their own outputs."""

    SHARES = "import os\nOUT = os.environ['KINETIC_OUTPUT_PATH']\ndef put(name):\n  with open(os.path.join(OUT, name), 'w') as file: file.write('x' * len(name))\n"

    def warnings(self, ran, count):
        told = [result["warnings"] for result in self.results(count)]
        for warning in sum(told, []):
            self.assertEqual(ran.stderr.count(f"kinetic: warning: {warning}\n"), 1, ran.out)
        return [len(warnings) for warnings in told], " ".join(sum(told, []))

    def test_a_file_that_all_inputs_share(self):
        ran = self.chunk(self.SHARES + "def f(n):\n  if n != 1: put(f'last-{n}')", [0, 1, 2])
        counts, text = self.warnings(ran, 3)
        self.assertEqual(counts, [1, 0, 1])
        self.assertIn("input 0 wrote outside of its own outputs: last-0: what is there is not saved; read KINETIC_OUTPUT_DIR", text)
        self.assertIn("input 2 wrote outside of its own outputs: last-2: ", text)

    def test_a_file_in_the_outputs_of_another_input(self):
        source = "import os\nhere = []\ndef f(n):\n  here.append(os.environ['KINETIC_OUTPUT_PATH'])\n  with open(here[0] + '/last', 'w') as file: file.write('x' * n)"
        counts, text = self.warnings(self.chunk(source, [1, 2, 3]), 3)
        self.assertEqual(counts, [0, 1, 1])
        self.assertIn("input 2 wrote outside of its own outputs: 0/last: ", text)

    def test_many_files_and_a_failure(self):
        ran = self.chunk(self.SHARES + "def f(n):\n  for k in range(5): put(f'part-{k}')\n  raise ValueError", [0])
        self.assertIn("part-0, part-1, part-2 and 2 more", self.warnings(ran, 1)[1])

    def test_the_outputs_of_other_pods(self):
        """Below a directory that pods share, the inputs of other chunks write meanwhile."""
        source = self.SHARES + "def f(n):\n  os.makedirs(OUT + '/2', exist_ok=True)\n  put('2/last')"
        ran = self.chunk(source, [0, 1, 2, 3], size=2)
        self.assertEqual(self.warnings(ran, 2), ([0, 0], ""))


class LocalOutputs(MapCase):
    """A local job, whose outputs are in the store at once."""

    store_url, put, argv, exists, read = (getattr(RunnerCase, name) for name in ("store_url", "put", "argv", "exists", "read"))

    def test_each_input_has_its_own(self):
        ran = self.chunk(SEES, [7, 8], "--final", "--log-file", os.path.join(self.root, "log"))
        path = os.path.join(self.store, JOB, "outputs")
        self.assertEqual((ran.code, self.values(2)), (0, [[str(n), f"{path}/{n}", f"{path}/{n}"] for n in range(2)]), ran.err)
        self.assertEqual([self.read(f"outputs/{n}/last") for n in range(2)], [b"7", b"8"])

    def test_nothing_is_saved_elsewhere_while_an_input_runs(self):
        """Each input takes longer than the runner waits before it looks for something to save."""
        source = SEES + "    import time\n    g = f\n    def f(n): return g(n), time.sleep(2 * SECONDS)\n".replace("SECONDS", str(FIRST_SECONDS))
        ran = self.chunk(source, [7, 8, 9], "--final", "--log-file", os.path.join(self.root, "log"))
        with open(os.path.join(self.root, "log"), encoding="utf-8") as log:
            self.assertEqual((ran.code, log.read()), (0, ""), ran.err)

    def test_an_input_that_is_computed_again_finds_its_own(self):
        """As in a job that --map-resume has made from another one."""
        self.put("old-1/outputs/1/last", b"half")
        source = "import os\ndef f(n): return os.listdir(os.environ['KINETIC_OUTPUT_PATH'])"
        self.chunk(source, [0, 1], "--final", "--resume-from", "old-1", "--log-file", os.path.join(self.root, "log"))
        self.assertEqual(self.values(2), [[], ["last"]])

    def test_what_inputs_write_elsewhere_is_kept(self):
        self.chunk(Strays.SHARES + "def f(n): put('shared')", [0], "--final", "--log-file", os.path.join(self.root, "log"))
        self.assertIn("shared: other inputs write there, too", self.results(1)[0]["warnings"][0])
        self.assertEqual(self.read("outputs/shared"), b"xxxxxx")


class Interrupted(MapCase):
    def test_what_sigterm_interrupts_is_finished_only_after_exit_code_0(self):
        source = """
            import os, signal, sys
            def leave(*_): LEAVES
            signal.signal(signal.SIGTERM, leave)
            def f(n):
                path = os.path.join(os.environ["KINETIC_OUTPUT_PATH"], "last.pt")
                if os.environ["KINETIC_ATTEMPT"] == "2":
                    return open(path).read() if os.path.exists(path) else None
                with open(path, "w") as file:
                    file.write("HALF")
                    file.flush()
                    print("ready", flush=True)
                    while True: signal.pause()
        """
        for leaves, want in (("sys.exit(143)", None), ("1 / 0", None), ("sys.exit(0)", "HALF")):
            with self.subTest(leaves):
                self.setUp()
                process = self.start_chunk(source.replace("LEAVES", leaves), [5])
                self.assertEqual(process.stdout.readline(), b"ready\n")
                process.send_signal(signal.SIGTERM)
                self.assertEqual(self.finish(process).code, 143)
                ran = self.chunk(source.replace("LEAVES", leaves), [5])
                self.assertEqual((ran.code, self.values(1)), (0, [want]), ran.out)


if __name__ == "__main__":
    unittest.main()
