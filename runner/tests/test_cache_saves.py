"""What a runner saves of KINETIC_CACHE_DIR and restores, and for how long a call waits for that."""

import gzip
import json
import math
import os
import threading
import time
import types
import unittest

from bucket import Handler
from test_cache import CacheCase, blob_of
from kinetic_runner.cache import bucket as cached
from kinetic_runner.cache.folder import files_in
from kinetic_runner.data import disk
from kinetic_runner.errors import RunnerError
from kinetic_runner.store.gcs import GCSStore

MIB = 1 << 20


class RunnerPart(CacheCase):
    """One runner's part, without a call."""

    def make(self, folder="work", restored=True, **options):
        """A cache, as an attempt has it."""
        options = dict(dict(work=os.path.join(self.root, folder), cache="me", cache_size=2 << 30, map="", warm=False), **options)
        said = []
        attempt = types.SimpleNamespace(
            options=types.SimpleNamespace(**options), store=GCSStore(self.store_url, self.bucket.host), host=0, in_pod=True, said=said, say=said.append,
            signals=types.SimpleNamespace(listen=lambda action: None), leave_by=math.inf,
        )  # fmt: skip
        cache = cached.Cache(attempt)
        cache.said, cache._called = said, True
        cache.begin(())
        while not cache._index or restored and cache._missing or not restored and not cache._missing:
            time.sleep(0.001)
        return cache

    def change(self, name, value, module=cached):
        self.addCleanup(setattr, module, name, getattr(module, name))
        setattr(module, name, value)

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
        return sorted(files_in(cache.path))


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
        before = len(self.bucket.asked("uploadType"))
        cache._save(0.0)
        self.assertEqual(len(self.bucket.asked("uploadType")), before)

    def test_index_that_could_not_be_written_is_written_later(self):
        cache = self.make()
        self.write(cache, "a")
        self.bucket.fail(403, 1, "POST .*ifGenerationMatch=0")  # the pack
        with self.assertRaisesRegex(RunnerError, "needs the permission"):
            cache._save(0.0)
        self.bucket.fail(Handler.serve, 1, "POST")
        self.bucket.fail(403, 1, "POST")  # the index
        with self.assertRaisesRegex(RunnerError, "needs the permission"):
            cache._save(0.0)
        cache._save(0.0)
        self.assertEqual(self.saved(), ["a"])

    def test_warm_host_keeps_no_more_than_the_store(self):
        before = types.SimpleNamespace(path=os.path.join(self.root, "work", "cache"))
        for number, name in enumerate("abc"):
            os.utime(self.write(before, name, 9 * MIB), (1e9 + number, 1e9 + number))
        self.assertEqual(self.found(self.make(warm=True, cache_size=20 * MIB)), ["b", "c"])

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
        self.change("room_for", lambda *_: MIB, disk)
        cache = self.make("other")
        while not cache._told:
            time.sleep(0.001)
        cache.wait()
        self.assertEqual(self.found(cache), [])
        self.assertRegex(cache.said[0], "not restored: it takes 9.0 MiB, and 1.0 MiB of the disk can be used")

    def test_warm_host_keeps_its_directory_and_the_next_call_saves(self):
        cache = self.make(warm=True)
        os.utime(self.write(cache, "a"), (1e9, 1e9))
        began = len(self.bucket.requests)
        cache.finish()
        self.assertEqual(self.bucket.requests[began:], [])
        cache = self.make(warm=True)
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


if __name__ == "__main__":
    unittest.main()
