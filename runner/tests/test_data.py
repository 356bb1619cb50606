"""The inputs of a job are where its call looks for them, whole and unchanged, or the job ends."""

import hashlib
import os
import shutil
import tempfile
import types
import unittest
import unittest.mock

from bucket import Bucket, RealBucket, real_program
from fixture import JOB, RunnerCase, function, program, script

from kinetic_runner.data import Progress, disk, provide
from kinetic_runner.errors import BadData

SHOW = """
    import os
    def f(images):
        found = {}
        for folder, _, names in os.walk(images):
            for name in names:
                path = os.path.join(folder, name)
                found[os.path.relpath(path, images)] = os.path.getsize(path)
        return [found, os.environ["KINETIC_DATA_IMAGES"] == images]
    """


def from_bucket(url, name="images", **rest):
    return dict({"name": name, "source": url, "access": "copy", "url": url}, **rest)


def mounted(path, **rest):
    return dict({"name": "images", "source": "gs://b/f", "access": "fuse", "path": path}, **rest)


class AgainCase(RunnerCase):
    def forget(self):
        """Let the same job run again."""
        shutil.rmtree(os.path.join(self.store, JOB))


class DataCase(AgainCase):
    make_bucket = Bucket

    def setUp(self):
        super().setUp()
        self.bucket = self.make_bucket()
        self.addCleanup(self.bucket.close)
        self.environ = {"STORAGE_EMULATOR_HOST": self.bucket.host}

    def run_with(self, *data, source=SHOW, changed=""):
        argv = self.argv(function(data=list(data)), {"train.py": source})
        if changed:
            argv[2:3] = ["-c", program(changed)]
        return self.finish(self.start(argv, self.environ))


class Round:
    """What both servers can do."""

    def test_a_folder_is_copied(self):
        files = {"a.txt": b"a", "deep/er/b.bin": os.urandom(5000), "empty": b"", "with space \u00fc": b"x" * 10}
        for name, data in files.items():
            self.bucket.put("set/" + name, data)
        self.bucket.put("set/marker/", b"")
        self.bucket.put("settings/not-this", b"n")
        for url in ("gs://bucket/set", "gs://bucket/set/"):
            with self.subTest(url):
                ran = self.run_with(from_bucket(url))
                self.assertEqual(ran.result["value"], [{name: len(data) for name, data in files.items()}, True], ran.err)
                self.assertRegex(ran.stderr, r"data: 1 source, 4.9 KiB in \d+\.\d s")
                self.forget()

    def test_an_object_arrives_as_a_file(self):
        data = os.urandom(100_000)
        self.bucket.put("set/weights.h5", data)
        ran = self.run_with(from_bucket("gs://bucket/set/weights.h5"), source="""
            import hashlib
            def f(images):
                return [images.rpartition("/")[2], hashlib.sha256(open(images, "rb").read()).hexdigest()]
            """)  # fmt: skip
        self.assertEqual(ran.result["value"], ["weights.h5", hashlib.sha256(data).hexdigest()], ran.err)

    def test_large_objects_come_in_ranges(self):
        data = os.urandom(1_000_001)
        self.bucket.put("set/large", data)
        ran = self.run_with(from_bucket("gs://bucket/set"), changed="import kinetic_runner.data.bucket as b; b.RANGE_BYTES = 300_000", source="""
            import hashlib
            def f(images):
                return hashlib.sha256(open(images + "/large", "rb").read()).hexdigest()
            """)  # fmt: skip
        self.assertEqual(ran.result["value"], hashlib.sha256(data).hexdigest(), ran.err)

    def test_more_objects_than_are_remembered(self):
        for number in range(12):
            self.bucket.put(f"set/{number}", b"x")
        ran = self.run_with(from_bucket("gs://bucket/set"), changed="import kinetic_runner.data.bucket as b; b.KEPT_OBJECTS, b.PAGE = 5, 2")
        self.assertEqual(len(ran.result["value"][0]), 12, ran.err)

    def test_nothing_there_is_final(self):
        self.bucket.put("setting", b"x")
        for url, said in (("gs://bucket/set", "neither an object nor a folder"), ("gs://bucket/setting/", "neither an object nor a folder"), ("gs://nobucket/x", "no bucket nobucket")):
            with self.subTest(url):
                ran = self.run_with(from_bucket(url))
                self.assertEqual((ran.code, ran.end["reason"]), (1, "BadData"), ran.err)
                self.assertIn(url, ran.end["message"])
                self.assertIn(said, ran.end["message"])
                self.forget()


class OnOurBucket(Round, DataCase):
    """With faults."""

    def test_one_source_is_copied_once(self):
        self.bucket.put("set/a", b"12345")
        call = script(data=[from_bucket("gs://bucket/set"), from_bucket("gs://bucket/set", "again"), from_bucket("gs://bucket/set", "", mount="/mnt/x")])
        ran = self.finish(self.start(self.argv(call, {"train.py": "import os; print(os.environ['KINETIC_DATA_AGAIN'] == os.environ['KINETIC_DATA_IMAGES'])"}), self.environ))
        self.assertIn("True", ran.stdout)
        self.assertEqual(len(self.bucket.asked("set%2Fa|set/a.*alt=media")), 1)

    def test_what_changes_meanwhile_is_not_mixed(self):
        self.bucket.put("set/a", b"old")
        bucket = self.bucket

        def replace(handler):
            bucket.put("set/a", b"new")
            handler.serve()

        self.bucket.fail(replace, 1, "alt=media")
        ran = self.run_with(from_bucket("gs://bucket/set"))
        self.assertEqual(ran.end["reason"], "BadData", ran.err)
        self.assertIn("replaced", ran.end["message"])

    def test_a_cut_transfer_is_resumed(self):
        self.bucket.put("set/a", b"0123456789" * 100)
        self.bucket.fail(lambda handler: handler.cut(), 1, "alt=media")
        ran = self.run_with(from_bucket("gs://bucket/set"))
        self.assertEqual(ran.result["value"][0], {"a": 1000}, ran.err)

    def test_a_store_that_does_not_answer_is_named(self):
        self.bucket.put("set/a", b"12345")
        self.bucket.fail(503, 1, "alt=media")
        ran = self.run_with(from_bucket("gs://bucket/set"), changed="import kinetic_runner.store as o; o.FIRST_SECONDS = 0")
        self.assertEqual(ran.result["value"][0], {"a": 5}, ran.err)
        self.assertRegex(ran.stderr, r"gs://bucket has not answered for 0 seconds \(\S+ answered 503\): trying again\n(.*\n)*kinetic: data: 1 source")

    def test_a_changed_byte_is_noticed(self):
        self.bucket.put("set/a", b"0123456789")
        bucket = self.bucket

        def corrupt(handler):
            stored = bucket.objects["set/a"]
            handler.answer(200, b"9876543210", headers=[("x-goog-generation", str(stored.generation))])

        self.bucket.fail(corrupt, 1, "alt=media")
        ran = self.run_with(from_bucket("gs://bucket/set"))
        self.assertEqual(ran.end["reason"], "BadData", ran.err)
        self.assertIn("corrupted", ran.end["message"])

    def test_hostile_names(self):
        for name in ("../x", "a/../../x", "a//b", "/x", "./x"):
            with self.subTest(name):
                self.bucket.objects.clear()
                self.bucket.put("set/" + name, b"x")
                ran = self.run_with(from_bucket("gs://bucket/set"))
                self.assertEqual(ran.end["reason"], "BadData", ran.err)
                self.assertIn("no file can have", ran.end["message"])
                self.forget()

    def test_an_object_that_is_also_a_folder(self):
        self.bucket.put("set/a", b"x")
        self.bucket.put("set/a/b", b"x")
        ran = self.run_with(from_bucket("gs://bucket/set"))
        self.assertEqual(ran.end["reason"], "BadData", ran.err)
        self.assertIn("the same name", ran.end["message"])

    def test_too_much_data(self):
        self.bucket.put("set/a", b"x" * 10_000)
        ran = self.run_with(from_bucket("gs://bucket/set"), changed="import kinetic_runner.data.disk as d, os, types; d.os = types.SimpleNamespace(statvfs=lambda _: types.SimpleNamespace(f_bavail=1, f_frsize=4096, f_blocks=10))")
        self.assertEqual((ran.code, ran.end["reason"]), (1, "BadData"), ran.err)
        self.assertIn("larger --disk", ran.end["message"])
        self.assertEqual(self.bucket.asked("alt=media"), [])

    def test_no_permission(self):
        self.bucket.fail(403, 9, "/o/set")
        ran = self.run_with(from_bucket("gs://bucket/set"))
        self.assertEqual(ran.end["reason"], "BadData", ran.err)
        self.assertIn("storage.objects.get", ran.end["message"])


@unittest.skipUnless(real_program(os.environ), "no fake-gcs-server on PATH or in FAKE_GCS_SERVER")
class OnFakeGCSServer(Round, DataCase):
    @staticmethod
    def make_bucket():
        return RealBucket(real_program(os.environ))


class Mounted(RunnerCase):
    """What Kubernetes has mounted is only looked at."""

    def test_a_mount(self):
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "a"), "w").close()
            ran = self.run_call(function(data=[mounted(folder)]), {"train.py": SHOW})
            self.assertEqual(ran.result["value"], [{"a": 0}, True], ran.err)

    def test_a_missing_file(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = self.run_call(function(data=[mounted(folder, file="a")]), {"train.py": SHOW})
            self.assertEqual(ran.end["reason"], "BadData", ran.err)
            self.assertIn(os.path.join(folder, "a"), ran.end["message"])

    def test_malformed(self):
        for entry in ({}, mounted("relative"), mounted("/x", file="../y"), {"name": "a", "source": "s", "access": "copy"}, from_bucket("s3://x"), from_bucket("", set="123")):
            with self.subTest(entry):
                ran = self.run_call(function(data=[entry]), {"train.py": SHOW})
                self.assertEqual(ran.code, 125, ran.err)


STAND_IN = """
import errno, json, os
class OfflineModeIsEnabled(ConnectionError): pass
class HTTPError(OSError): pass
class Answer: pass
def of_status(status, text):
    error = HTTPError(text)
    error.response = Answer()
    error.response.status_code = status
    return error
def tries_left():
    return os.path.getsize(os.environ["TRIES"]) < int(os.environ["COMES_BACK"])
def fail(path):
    if path == "o/away-503": raise of_status(503, "Service Unavailable")
    if path == "o/away-dns":
        try:
            raise OSError(-3, "Temporary failure in name resolution")
        except OSError as exc:
            raise ConnectionError("Couldn't reach the Hub") from exc
    if path == "o/away-wrapped":
        try:
            raise of_status(429, "Too Many Requests")
        except OSError as exc:
            raise ValueError("An error occurred while generating the dataset") from exc
    raise RuntimeError("CAS service error")
class Loaded:
    def __init__(self, options): self.options = options
    def save_to_disk(self, folder):
        with open(os.path.join(folder, "options.json"), "w") as file: json.dump(self.options, file)
def load_dataset(path, name=None, **more):
    caches = {name: os.environ[name] for name in ("HF_HUB_CACHE", "HF_DATASETS_CACHE", "HF_MODULES_CACHE", "HF_XET_CACHE")}
    for cache in caches.values():
        os.makedirs(cache, exist_ok=True)
        open(os.path.join(cache, "part"), "w").close()
    if path == "o/missing": raise FileNotFoundError("no such data set: o/missing")
    if path == "o/gated": raise of_status(403, "o/gated is gated")
    if path == "o/full": raise OSError(errno.ENOSPC, "No space left on device")
    if path == "o/offline":
        try:
            raise OfflineModeIsEnabled("offline mode is enabled")
        except OSError:
            raise ConnectionError("Couldn't reach o/offline")
    with open(os.environ["TRIES"], "a") as tries:
        tries.write("x")
    if path.startswith("o/away") and tries_left(): fail(path)
    return Loaded({"path": path, "name": name, "caches": caches, **more})
"""


class Hub(AgainCase):
    """hf://, with a stand-in for the package datasets."""

    def load(self, url, package=STAND_IN, **environ):
        modules = os.path.join(self.root, "modules")
        os.makedirs(modules, exist_ok=True)
        if package:
            with open(os.path.join(modules, "datasets.py"), "w") as file:
                file.write(package)
        source = """
            import json
            def f(images):
                return json.load(open(images + "/options.json"))
            """
        argv = self.argv(function(data=[from_bucket(url)]), {"train.py": source})
        argv[2:3] = ["-c", program("import kinetic_runner.data.hub as h; h.PAUSES = (0, 0)")]
        self.tries = os.path.join(self.root, "tries")
        return self.finish(self.start(argv, dict({"TRIES": self.tries, "COMES_BACK": "2"}, PYTHONPATH=modules, **environ)))

    def test_a_data_set(self):
        ran = self.load("hf://o/n?split=train&config_name=c&revision=r")
        value = ran.result["value"]
        self.assertIsNotNone(value, ran.err)
        caches = value.pop("caches")
        self.assertEqual(value, {"path": "o/n", "name": "c", "split": "train", "revision": "r"})
        for name, cache in caches.items():
            with self.subTest(name):
                self.assertTrue(cache.startswith(self.work + os.sep), cache)
                self.assertFalse(os.path.exists(cache))

    def test_a_cache_of_the_user(self):
        kept = os.path.join(self.root, "kept")
        ran = self.load("hf://o/n", HF_HUB_CACHE=kept)
        self.assertEqual(ran.result["value"]["caches"]["HF_HUB_CACHE"], kept, ran.err)
        self.assertEqual(os.listdir(kept), ["part"])

    def test_a_missing_one(self):
        ran = self.load("hf://o/missing")
        self.assertEqual((ran.code, ran.end["reason"]), (1, "BadData"), ran.err)
        self.assertIn("cannot load hf://o/missing: FileNotFoundError: no such data set: o/missing", ran.end["message"])
        self.assertIn("Traceback", ran.stderr)

    def test_what_trying_again_does_not_help(self):
        for name, said in (("gated", "o/gated is gated"), ("full", "No space left"), ("offline", "Couldn't reach o/offline")):
            with self.subTest(name):
                ran = self.load(f"hf://o/{name}")
                self.assertEqual((ran.code, ran.end["reason"]), (1, "BadData"), ran.err)
                self.assertIn(said, ran.end["message"])
                self.assertNotIn("trying again", ran.stderr)
                self.forget()

    def test_a_hub_that_comes_back(self):
        for name in ("503", "dns", "wrapped", "other"):
            with self.subTest(name):
                ran = self.load(f"hf://o/away-{name}")
                self.assertIsNotNone(ran.result["value"], ran.err)
                self.assertEqual(ran.stderr.count(f"cannot load hf://o/away-{name}: "), 1, ran.stderr)
                self.assertIn("trying again", ran.stderr)
                os.unlink(self.tries)
                self.forget()

    def test_a_hub_that_stays_away(self):
        ran = self.load("hf://o/away-503", COMES_BACK="9")
        self.assertEqual(ran.code, 125, ran.err)
        self.assertFalse(self.exists("end.json"))
        self.assertEqual(os.path.getsize(self.tries), 3)
        self.assertIn("cannot load hf://o/away-503: datasets.HTTPError: Service Unavailable (3 tries)", ran.stderr)
        self.assertIn("Traceback", ran.stderr)

    def test_without_the_package(self):
        ran = self.load("hf://o/n", package="")
        self.assertEqual((ran.code, ran.end["reason"]), (1, "BadData"), ran.err)
        self.assertIn("needs the Python package datasets", ran.end["message"])


class Room(unittest.TestCase):
    def test_a_tenth_and_a_gibibyte_stay_free(self):
        gib = 1 << 30
        self.addCleanup(setattr, disk, "os", os)
        disk.os = types.SimpleNamespace(statvfs=lambda _: types.SimpleNamespace(f_bavail=61 * gib, f_frsize=1, f_blocks=100 * gib))
        disk.check_room("/", 50 * gib, types.SimpleNamespace(log_file="", warm=False))
        with self.assertRaisesRegex(BadData, "the data takes 50.1 GiB, and 50.0 GiB"):
            disk.check_room("/", 50 * gib + (100 << 20), types.SimpleNamespace(log_file="", warm=False))
        disk.os = types.SimpleNamespace(statvfs=lambda _: types.SimpleNamespace(f_bavail=5 * gib, f_frsize=1, f_blocks=100 * gib))
        disk.check_room("/", gib, types.SimpleNamespace(log_file="", warm=False))
        disk.check_room("/", 5 * gib, types.SimpleNamespace(log_file="here", warm=False))

    def test_a_warm_host_removes_what_it_has_copied_before_it_looks_for_room(self):
        with tempfile.TemporaryDirectory() as work:
            copies = [os.path.join(work, "data", name) for name in ("0123456789abcdef", "of-somebody-else")]
            for folder in copies:
                os.makedirs(os.path.join(folder, "deep"))
            disk.os = types.SimpleNamespace(statvfs=lambda _: types.SimpleNamespace(f_bavail=1 - len(os.listdir(copies[0])), f_frsize=1, f_blocks=0))
            self.addCleanup(setattr, disk, "os", os)
            attempt = types.SimpleNamespace(options=types.SimpleNamespace(work=work, warm=True, log_file="here"), say=lambda _: None)
            source = types.SimpleNamespace(size=1, look=lambda: None, copy=lambda folder, _: "")
            with unittest.mock.patch("kinetic_runner.data.open_source", lambda *_: source):
                provide(attempt, types.SimpleNamespace(data=[from_bucket("gs://bucket/set")]), "call.json")
            self.assertEqual([os.listdir(folder) for folder in copies], [[], ["deep"]])


class Lines(unittest.TestCase):
    def test_progress(self):
        said = []
        progress = Progress(said.append, 1 << 20)
        progress.add(1 << 10)
        self.assertEqual(said, [])
        progress._next = progress._began = progress._began - 10
        progress.add(1 << 10)
        self.assertRegex(said[0], r"data: 2.0 KiB of 1.0 MiB, \d+ B/s, \d+ s left")


if __name__ == "__main__":
    unittest.main()
