"""KINETIC_CACHE_DIR of a pod: what one job leaves there, the next one finds."""

import gzip
import json
import math
import os
import shutil
import signal
import tempfile
import time
import unittest

from fixture import JOB, RunnerCase, function, script, sha256
from group import GroupCase
from test_pod import PodCase
from kinetic_runner.cache import versions
from kinetic_runner.cache.folder import Folder

WRITE = """
import os, sys
top = os.environ["KINETIC_CACHE_DIR"]
def names():
    return sorted(os.path.relpath(os.path.join(folder, name), top) for folder, _, found in os.walk(top) for name in found)
def write(path, size=1000):
    path = os.path.join(top, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(path.encode() * (size // len(path) + 1))
"""
FLAGS = ("--cache", "me/project/l4")


def blob_of(pack):
    return f"blobs/sha256/{pack['sha256'][:2]}/{pack['sha256']}"


class CacheCase(PodCase):
    def index(self):
        (name,) = [name for name in self.bucket.names("data/") if name.endswith(".json")]
        return name, json.loads(gzip.decompress(self.bucket.read(name)))

    def saved(self):
        """The paths that the index names, after a look at each blob."""
        packs = self.index()[1]["packs"]
        for pack in packs:
            self.assertEqual(len(self.bucket.read(blob_of(pack))), pack["size"])
        return sorted(file["path"] for pack in packs for file in pack["files"])

    def forget_job(self):
        for name in self.bucket.names(JOB):
            self.bucket.remove(name)


class Jobs(CacheCase):
    """Whole jobs."""

    def run_job(self, source, *flags, call=None, env=None):
        self.forget_job()
        return self.run_call(call or script(), {"train.py": WRITE + source}, *(flags or FLAGS), env=env)

    def test_next_job_finds_what_one_has_left(self):
        ran = self.run_job("write('jax/jit_f-1-cache'); write('own/a b')")
        self.assertEqual((ran.code, ran.err), (0, ""))
        self.assertEqual(self.saved(), ["jax/jit_f-1-cache", "own/a b"])
        ran = self.run_job("print(names(), os.environ['KINETIC_CACHE_DIR'])")
        self.assertEqual(ran.stdout, f"['jax/jit_f-1-cache', 'own/a b'] {self.work}/cache\n")
        self.assertRegex(ran.stderr, r"kinetic: restored KINETIC_CACHE_DIR \(me/project/l4\): \S+ KiB in \S+ s\n")
        self.assertEqual(self.run_job("print(names())", "--cache", "me/project/a100").stdout, "[]\n")

    def test_functions_find_it_too(self):
        source = "def f(): write('jax/x-cache'); return names()"
        self.assertEqual(self.run_job(source, call=function()).result["value"], ["jax/x-cache"])
        self.assertEqual(self.run_job("def f(): return names()", call=function()).result["value"], ["jax/x-cache"])

    def test_variables(self):
        source = "print(*(os.environ.get(name, '-') for name in ('JAX_COMPILATION_CACHE_DIR', 'TORCHINDUCTOR_CACHE_DIR', 'TRITON_CACHE_DIR')))"
        ours = f"{self.work}/cache/jax {self.work}/cache/inductor {self.work}/cache/triton\n"
        self.assertEqual(self.run_job(source).stdout, ours)
        self.assertEqual(self.run_job(source, env={"TRITON_CACHE_DIR": "/mine"}).stdout.split()[2], "/mine")
        self.forget_job()
        ran = self.run_call(script(), {"train.py": "import os; print(os.environ.get('KINETIC_CACHE_DIR'))"})
        self.assertEqual(ran.stdout, "None\n")

    def test_second_attempt_finds_what_the_first_has_left(self):
        source = "print(names()); write('jax/x-cache'); sys.exit(200 if os.environ['KINETIC_ATTEMPT'] == '1' else 0)"
        more = (*FLAGS, "--retries", "3", "--retry-on", "error")
        for uid, found in (("a", "[]"), ("b", "['jax/x-cache']")):
            ran = self.run_call(script(), {"train.py": WRITE + source}, *more, env={"KINETIC_POD_UID": uid})
            self.assertEqual(ran.stdout.splitlines()[-1], found)

    def test_call_that_is_killed_leaves_only_what_it_has_finished(self):
        source = "write('old'); write('new'); [os.utime(os.path.join(top, name), (at, at)) for name, at in (('old', 1e9), ('new', 4e9))]; os.kill(os.getpid(), 9)"
        self.assertEqual(self.run_job(source).code, 137)
        self.assertEqual(self.saved(), ["old"])

    def test_call_that_fails_leaves_it(self):
        self.assertEqual(self.run_job("write('a'); 1 / 0").code, 1)
        self.assertEqual(self.saved(), ["a"])

    def test_end_is_published_before_it_is_saved(self):
        """And a store that takes nothing more does not keep the runner beyond its grace."""
        ended = []

        def refuse_blobs(handler):
            data = handler.body()
            handler.body = lambda: data
            if b'"name":"blobs/' not in data:
                return handler.serve()
            ended.append(self.exists("end.json"))
            return handler.reset()

        argv = self.argv(script(), {"train.py": WRITE + "write('a', 9 << 20)"}, *FLAGS, "--grace", "3")
        self.bucket.fail(refuse_blobs, math.inf, "POST .*/upload/")
        process = self.start(argv)
        while len(ended) < 2:
            self.assertIsNone(process.poll())
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        ran = self.finish(process)
        self.assertEqual((ran.code, ran.end["state"], ran.said_end, set(ended)), (0, "SUCCEEDED", True, {True}))

    def test_map_saves_once(self):
        inputs = b"1\n2\n"
        self.put_blob(inputs)
        source = WRITE + "def f(n): write(f'made-by-{n}'); return names()"
        for chunk in ("1", "0"):
            argv = self.argv(function(), {"train.py": source}, *FLAGS, "--map", sha256(inputs), "--inputs", "2")
            self.assertEqual(self.finish(self.start(argv, {"JOB_COMPLETION_INDEX": chunk})).code, 0)
        self.assertEqual(self.saved(), ["made-by-1"])

    def test_store_that_refuses_costs_a_line(self):
        self.bucket.fail(403, math.inf, r"GET .*/data/\w+\.json")
        ran = self.run_job("write('a'); print('ran')")
        self.assertEqual((ran.code, ran.stdout), (0, "ran\n"))
        self.assertRegex(ran.stderr, "kinetic: warning: KINETIC_CACHE_DIR is not restored: .* needs the permission storage.objects.get")


class Hosts(GroupCase, CacheCase):
    """Several hosts of a job."""

    HOSTS = 2

    def test_each_saves_what_the_others_have_not(self):
        source = WRITE + "def f(): write('both'); write('of-' + os.environ['KINETIC_HOST']); return names()"
        ran = self.parked(*self.hosts(function(), {"train.py": source}, *FLAGS))
        self.assertEqual([one.code for one in ran], [0, 0])
        self.assertEqual(self.saved(), ["both", "of-0", "of-1"])


class Versions(unittest.TestCase):
    def test_of_what_is_there_and_what_is_to_be_installed(self):
        with tempfile.TemporaryDirectory() as top:
            for name in ("jaxlib-0.8.3.dist-info", "torch-2.9.0+cu128.dist-info", "jax-0.8.3.dist-info", "numpy-2.0.dist-info"):
                os.mkdir(os.path.join(top, name))
            self.assertEqual(versions((), [top, "/no/such"]), ["jaxlib-0.8.3", "torch-2.9.0+cu128"])
            self.assertEqual(versions(["jaxlib-0.9.0-cp312-cp312-manylinux_2_27_x86_64.whl", "libtpu-0.0.30-py3-none-any.whl"], [top])[:2], ["jaxlib-0.9.0", "libtpu-0.0.30"])


class Local(RunnerCase):
    """A job on this machine, whose store is a directory."""

    def test_directory_in_the_store(self):
        for found in ("[]", "['a', 'b']"):
            shutil.rmtree(os.path.join(self.store, JOB), ignore_errors=True)
            ran = self.run_call(script(), {"train.py": WRITE + "print(names()); write('a'); write('b'); print(top)"}, *FLAGS, "--log-file", self.root + "/log", "--final")
            self.assertEqual(ran.code, 0)
            with open(self.root + "/log", encoding="utf-8") as file:
                lines = [line[28:] for line in file.read().replace("\x1d", "").splitlines()]
            self.assertEqual(lines[-2], found)
            self.assertTrue(lines[-1].startswith(self.store + "/data/"), lines)

    def test_oldest_use_goes_first(self):
        folder = Folder(os.path.join(self.root, "cache"), 2500)
        folder.begin(())
        for number, name in enumerate("abc"):
            path = os.path.join(folder.path, name)
            with open(path, "wb") as file:
                file.write(bytes(1000))
            os.utime(path, (1e9 + number, 1e9))
        os.utime(os.path.join(folder.path, "a"), (2e9, 1e9))
        folder.finish()
        self.assertEqual(sorted(os.listdir(folder.path)), ["a", "c"])


if __name__ == "__main__":
    unittest.main()
