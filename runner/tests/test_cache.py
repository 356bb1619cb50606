"""KINETIC_CACHE_DIR of a pod: what one job leaves there, the next one finds."""

import gzip
import json
import math
import os
import shutil
import signal
import tempfile
import threading
import time
import types
import unittest

from fixture import JOB, RunnerCase, function, script, sha256
from group import GroupCase
from test_pod import PodCase
from kinetic_runner.cache import bucket as cached
from kinetic_runner.cache import versions
from kinetic_runner.cache.folder import Folder
from kinetic_runner.store.gcs import GCSStore

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
MIB = 1 << 20


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
        source = "print(names()); write('triton/k/x.cubin'); sys.exit(200 if os.environ['KINETIC_ATTEMPT'] == '1' else 0)"
        more = (*FLAGS, "--retries", "3", "--retry-on", "error")
        for uid, found in (("a", "[]"), ("b", "['triton/k/x.cubin']")):
            ran = self.run_call(script(), {"train.py": WRITE + source}, *more, env={"KINETIC_POD_UID": uid})
            self.assertEqual(ran.stdout.splitlines()[-1], found)

    def test_call_that_is_killed_leaves_only_what_it_has_finished(self):
        source = "write('old'); write('new'); os.utime(os.path.join(top, 'old'), (1e9, 1e9)); os.kill(os.getpid(), 9)"
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


class RunnerPart(CacheCase):
    """One runner's part, without a call."""

    def make(self, folder="work", restored=True, **options):
        """A cache, as an attempt has it."""
        options = dict(dict(work=os.path.join(self.root, folder), cache="me", cache_size=2 << 30, map="", keep_workspace=False), **options)
        said = []
        attempt = types.SimpleNamespace(
            options=types.SimpleNamespace(**options), store=GCSStore(self.store_url, self.bucket.host), host=0, in_pod=True, said=said, say=said.append,
            signals=types.SimpleNamespace(listen=lambda action: None), leave_by=math.inf,
        )  # fmt: skip
        cache = cached.Cache(attempt)
        cache.said = said
        cache.begin(())
        while not cache._index or restored and cache._missing or not restored and not cache._missing:
            time.sleep(0.001)
        return cache

    def change(self, name, value):
        self.addCleanup(setattr, cached, name, getattr(cached, name))
        setattr(cached, name, value)

    def write(self, cache, path, size=1000, data=None):
        full = os.path.join(cache.path, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(data or os.urandom(size))
        return full

    def save(self, *files, size=1000, **options):
        """What a job does that writes these files."""
        cache = self.make(**options)
        for path in files:
            self.write(cache, path, size)
        cache.finish()
        return cache

    def found(self, cache):
        return sorted(cached.files_in(cache.path))


class Saves(RunnerPart):
    """What is saved, and what of it is restored."""

    def test_small_files_are_packed_and_small_packs_packed_again(self):
        self.save(*(f"a/{number}" for number in range(50)))
        (first,) = self.index()[1]["packs"]
        self.save("b")
        (second,) = self.index()[1]["packs"]
        self.assertEqual((len(first["files"]), len(second["files"])), (50, 51))
        self.save("large", size=9 * MIB)
        self.assertEqual(sorted(len(pack["files"]) for pack in self.index()[1]["packs"]), [1, 51])
        cache = self.make("other")
        self.assertEqual(self.found(cache), self.saved())
        self.assertEqual(os.path.getsize(os.path.join(cache.path, "large")), 9 * MIB)

    def test_nothing_new_is_not_written(self):
        self.save("a")
        before = len(self.bucket.asked("uploadType"))
        self.save()
        self.assertEqual(len(self.bucket.asked("uploadType")), before)

    def test_temporary_files_locks_and_links_stay_out(self):
        cache = self.make()
        for name in ("x.tmp", "locks/y.lock", "bad\\name", "good"):
            self.write(cache, name)
        os.symlink("good", os.path.join(cache.path, "link"))
        cache.finish()
        self.assertEqual(self.saved(), ["good"])

    def test_two_that_save_at_once_lose_nothing(self):
        one, two = self.make("one"), self.make("two")
        self.write(one, "both", data=b"same"), self.write(two, "both", data=b"same")
        self.write(one, "a"), self.write(two, "b")
        one.finish(), two.finish()
        self.assertEqual(self.saved(), ["a", "b", "both"])

    def test_what_was_not_used_for_the_longest_time_goes_first(self):
        limit = 30 * MIB
        for number, name in enumerate("abc"):
            self.save(name, size=9 * MIB)
            path, document = self.index()
            for pack in document["packs"]:
                pack["used"] = min(pack["used"], 1_000_000 * (number + 1))
            self.bucket.put(path, gzip.compress(json.dumps(document).encode()))
        cache = self.make("reads", cache_size=limit)
        with open(os.path.join(cache.path, "a"), "rb") as file:
            file.read(1)
        self.write(cache, "d", 9 * MIB)
        cache.finish()
        self.assertEqual(self.saved(), ["a", "c", "d"])

    def test_one_job_that_leaves_too_much(self):
        cache = self.make(cache_size=20 * MIB)
        for number, name in enumerate("abc"):
            os.utime(self.write(cache, name, 9 * MIB), (1e9 + number, 1e9 + number))
        cache.finish()
        self.assertEqual(self.saved(), ["b", "c"])

    def test_damaged_part_is_told_once_and_replaced(self):
        content = {name: os.urandom(9 * MIB) for name in "ab"}
        cache = self.make()
        for name, data in content.items():
            self.write(cache, name, data=data)
        cache.finish()
        self.write(cache, "small")
        damaged = [blob_of(pack) for pack in self.index()[1]["packs"]]
        self.bucket.put(damaged[0], b"x" + self.bucket.read(damaged[0])[1:])
        cache = self.make("other")
        cache.wait()
        self.assertEqual(len(self.found(cache)), 1)
        (lost,) = set(content) - set(self.found(cache))
        self.write(cache, lost, data=content[lost])
        cache.ended(True)
        cache.finish()
        self.assertEqual(len([line for line in cache.said if "is lost and is made again" in line]), 1, cache.said)
        self.assertEqual(self.found(self.make("third")), ["a", "b"])

    def test_expired_and_broken(self):
        self.save("a", "b")
        name, document = self.index()
        self.bucket.remove(blob_of(document["packs"][0]))
        cache = self.make("second")
        self.assertEqual(self.found(cache), [])
        self.write(cache, "a")
        cache.finish()
        self.assertEqual(self.saved(), ["a"])
        self.bucket.put(name, b"no index")
        cache = self.make("third")
        cache.wait()
        self.assertIn("KINETIC_CACHE_DIR begins empty", cache.said[0])
        self.write(cache, "c")
        cache.finish()
        self.assertEqual(self.saved(), ["c"])

    def test_index_leads_nowhere_else(self):
        self.save("a")
        name, document = self.index()
        document["packs"][0]["files"][0]["path"] = "../outside"
        self.bucket.put(name, gzip.compress(json.dumps(document).encode()))
        cache = self.make("other")
        cache.wait()
        self.assertFalse(os.path.exists(os.path.join(self.root, "other", "outside")))
        self.assertRegex(cache.said[0], "begins empty: .*must be relative")

    def test_old_packs_are_renewed(self):
        self.save("a")
        name, document = self.index()
        blob = blob_of(document["packs"][0])
        self.bucket.put(blob, self.bucket.read(blob), age=25 * 86_400)
        document["renewed"] -= 25 * 86_400
        self.bucket.put(name, gzip.compress(json.dumps(document).encode()))
        self.save(folder="other")
        self.assertLess(time.time() - self.bucket.objects[blob].created, 86_400)
        self.assertLess(time.time() - self.index()[1]["renewed"], 86_400)

    def test_full_disk_restores_nothing(self):
        self.save("a", size=9 * MIB)
        self.change("room_for", lambda *_: MIB)
        cache = self.make("other")
        while not cache._told:
            time.sleep(0.001)
        cache.wait()
        self.assertEqual(self.found(cache), [])
        self.assertRegex(cache.said[0], "not restored: it takes 9.0 MiB, and 1.0 MiB of the disk can be used")

    def test_warm_host_keeps_its_directory_and_the_next_call_saves(self):
        cache = self.make(keep_workspace=True)
        os.utime(self.write(cache, "a"), (1e9, 1e9))
        began = len(self.bucket.requests)
        cache.finish()
        self.assertEqual(self.bucket.requests[began:], [])
        cache = self.make(keep_workspace=True)
        while not self.bucket.names("data/"):
            time.sleep(0.001)
        self.assertEqual((self.saved(), self.found(cache)), (["a"], ["a"]))


class Waits(RunnerPart):
    """For how long a call waits, while what it needs does not come before the gate opens."""

    def held(self, *files):
        self.save(*files)
        gate = threading.Event()

        def hold(handler):
            gate.wait(60)
            handler.serve()

        self.bucket.fail(hold, math.inf, "GET .*/blobs/")
        self.addCleanup(gate.set)
        return self.make("other", restored=False), gate

    def test_little_is_worth_no_wait(self):
        cache, gate = self.held("a")
        cache.wait()
        self.assertEqual((self.found(cache), cache.said), ([], ["1000 B of KINETIC_CACHE_DIR are still to come: the call does not wait for them"]))
        gate.set()
        while not self.found(cache):  # it comes beside the call
            time.sleep(0.001)

    def test_much_is(self):
        cache, gate = self.held("jax/f-cache", "jax/f-atime")
        self.assertEqual([cached.worth(path) for path in ("jax/f-cache", "jax/f-atime")], [1.0, 0.01])
        self.change("COMPILED_SECONDS", 1000.0)
        threading.Timer(0.2, gate.set).start()
        cache.wait()
        self.assertEqual((self.found(cache), cache._needed()), (["jax/f-atime", "jax/f-cache"], []))

    def test_what_comes_too_slowly_is_not(self):
        cache, _ = self.held("jax/f-cache")
        self.change("COMPILED_SECONDS", 1000.0)
        cache._fetched, cache._began = 1, time.monotonic() - 10
        cache.wait()
        self.assertEqual(self.found(cache), [])

    def test_what_nobody_used_lately_is_not(self):
        self.save("jax/old-cache", size=9 * MIB)
        name, document = self.index()
        document["packs"][0]["used"] -= 90_000
        self.bucket.put(name, gzip.compress(json.dumps(document).encode()))
        cache, _ = self.held("jax/new-cache")
        cache._missing.pop(next(pack.blob.sha256 for pack in cache._index.newest))
        self.assertEqual((len(cache._missing), cache._needed()), (1, []))


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


def blob_of(pack):
    return f"blobs/sha256/{pack['sha256'][:2]}/{pack['sha256']}"


if __name__ == "__main__":
    unittest.main()
