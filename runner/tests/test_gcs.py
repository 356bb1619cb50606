"""The gs:// store: what it reads and writes, and what it does when the network or the bucket fails."""

import base64
import hashlib
import math
import os
import shutil
import ssl
import subprocess
import tempfile
import threading
import time
import tracemalloc
import unittest
import unittest.mock
import warnings

from bucket import BUCKET, Bucket, Handler, RealBucket, real_program
from fixture import RUNNER  # noqa: F401  which makes the package known
from kinetic_runner.errors import AlreadyExists, NotFound, RunnerError, Unreachable
from kinetic_runner.spool import LogParts, Spool
from kinetic_runner.store import gcs, in_parallel

MIB = 1 << 20
DAY = 86_400


class StoreCase(unittest.TestCase):
    """A test with a bucket and a store on it that loses no time between tries."""

    def setUp(self):
        warnings.simplefilter("ignore", ResourceWarning)  # a store keeps its connections until its process ends
        self.bucket = self.make_bucket()
        self.addCleanup(self.bucket.close)
        self.change(gcs, "FIRST_PAUSE", 0.001)
        self.settings = {"emulator": self.bucket.host}
        self.store = self.open_store()

    def open_store(self, url=f"gs://{BUCKET}", **settings):
        return gcs.GCSStore(url, **(settings or self.settings))

    def make_bucket(self):
        return Bucket()

    def change(self, module, name, value):
        patch = unittest.mock.patch.object(module, name, value)
        patch.start()
        self.addCleanup(patch.stop)

    def environ(self, values):
        patch = unittest.mock.patch.dict(os.environ, values)
        patch.start()
        self.addCleanup(patch.stop)

    def read(self, name, size=MIB):
        data = b""
        with self.store.open(name) as file:
            while block := file.read(size):
                data += block
        return data

    def put(self, name="a", data=b"data"):
        self.store.create(name, lambda: [data])


class Round:
    """What every bucket does."""

    def test_what_is_written_is_read(self):
        for size in (0, 1, 3 * MIB + 1):
            data = os.urandom(size)
            self.store.write(f"x/{size}", lambda: [data[:7], data[7:]])
            self.assertEqual(self.read(f"x/{size}", 100_000), data)
            self.assertEqual(self.bucket.read(f"x/{size}"), data)

    def test_write_replaces_and_create_does_not(self):
        self.store.write("a", lambda: [b"1"])
        self.store.write("a", lambda: [b"2"])
        with self.assertRaisesRegex(AlreadyExists, "gs://bucket/a already exists"):
            self.store.create("a", lambda: [b"3"])
        self.assertEqual(self.read("a"), b"2")

    def test_write_replaces_one_generation(self):
        self.store.write("a", lambda: [b"1"])
        with self.store.open("a") as file:
            self.store.write("a", lambda: [b"2"], file.generation)
            with self.assertRaises(AlreadyExists):
                self.store.write("a", lambda: [b"3"], file.generation)
        self.assertEqual(self.read("a"), b"2")

    def test_missing_object(self):
        with self.assertRaisesRegex(NotFound, "gs://bucket/no/such does not exist"):
            self.store.open("no/such")

    def test_missing_bucket(self):
        store = self.open_store("gs://nobucket")
        with self.assertRaisesRegex(RunnerError, "cannot write gs://nobucket/a: there is no bucket nobucket that the emulator's user can see .*--store"):
            store.create("a", lambda: [b""])

    def test_metadata(self):
        self.store.create("end", lambda: [b"{}"], {"state": "SUCCEEDED"})
        self.assertEqual(self.bucket.metadata("end"), {"state": "SUCCEEDED"})

    def test_generation_and_metadata_of_what_is_replaced(self):
        self.assertEqual(self.store.generation("a"), (0, {}))
        self.store.write("a", lambda: [b"1"], 0, {"attempt": "1"})
        generation, metadata = self.store.generation("a")
        self.assertEqual(metadata, {"attempt": "1"})
        self.store.write("a", lambda: [b"2"], generation, {"attempt": "2"})
        with self.assertRaises(AlreadyExists):
            self.store.write("a", lambda: [b"3"], generation)
        self.assertEqual((self.read("a"), self.store.generation("a")[1]), (b"2", {"attempt": "2"}))

    def test_prefix(self):
        store = self.open_store(f"gs://{BUCKET}/team a/x/")
        store.create("b", lambda: [b"1"])
        self.assertEqual(self.bucket.read("team a/x/b"), b"1")
        self.assertEqual((store.url("b"), store.outputs("job")), ("gs://bucket/team a/x/b", "gs://bucket/team a/x/job/outputs"))

    def test_young_object_is_not_renewed(self):
        self.put()
        before = self.bucket.names("")
        self.store.renew("a")
        self.store.renew("no such object")
        self.assertEqual((self.bucket.names(""), self.read("a")), (before, b"data"))


class OnOurServer(Round, StoreCase):
    pass


@unittest.skipUnless(real_program(os.environ), "no fake-gcs-server on PATH or in FAKE_GCS_SERVER")
class OnFakeGCSServer(Round, StoreCase):
    def make_bucket(self):
        return RealBucket(real_program(os.environ))


class Faults(StoreCase):
    PASSING = {
        "503": 503, "429": 429, "500": 500, "408": 408,
        "reset": Handler.reset, "lost answer": Handler.lose_answer, "answer cut off": Handler.cut,
    }

    def test_passing_fault_is_not_noticed(self):
        for name, fault in self.PASSING.items():
            for action in ("create", "write", "read"):
                with self.subTest(name, action=action):
                    self.bucket.objects.clear()
                    if action == "read":
                        self.bucket.put("a", b"data")
                    self.bucket.fail(fault, times=3)
                    if action == "read":
                        self.assertEqual(self.read("a"), b"data")
                    else:
                        getattr(self.store, action)("a", lambda: [b"data"])
                    self.assertEqual(self.bucket.read("a"), b"data")
                    self.assertFalse(any(fault.times for fault in self.bucket.faults))

    def test_read_goes_on_where_it_was(self):
        data = os.urandom(5 * MIB)
        self.bucket.put("a", data)
        self.bucket.fail(Handler.cut, times=2)
        self.assertEqual(self.read("a", 64 << 10), data)
        self.assertEqual(len(self.bucket.asked("generation=")), 2)

    def test_object_that_is_replaced_while_it_is_read(self):
        self.bucket.put("a", bytes(4 * MIB))
        self.bucket.fail(Handler.cut)
        with self.store.open("a") as file:
            file.read(MIB)
            self.bucket.put("a", bytes(4 * MIB))
            with self.assertRaisesRegex(RunnerError, "gs://bucket/a was replaced while it was read"):
                while file.read(MIB):
                    pass

    def test_lost_answer_of_somebody_elses_upload_is_a_conflict(self):
        def overtaken(handler):
            handler.server.put("a", b"theirs")
            handler.reset()

        self.bucket.fail(overtaken)
        with self.assertRaises(AlreadyExists):
            self.put()

    def test_upload_that_arrived_before_it_was_given_up_is_no_conflict(self):
        self.change(gcs, "RETRY_SECONDS", 0)
        self.store = self.open_store()
        self.bucket.fail(Handler.lose_answer)
        with self.assertRaises(Unreachable):
            self.put()
        self.put()
        self.assertEqual(self.bucket.names(""), ["a"])

    def test_part_of_the_log_that_arrived_before_it_was_given_up_is_not_doubled(self):
        self.change(gcs, "RETRY_SECONDS", 0)
        with tempfile.NamedTemporaryFile() as file:
            spool = Spool(file.name, keep=False)
            parts = LogParts(self.open_store(), "job", 0, 1)
            for number in range(5):
                spool.append(b"line %d\n" % number)
                self.bucket.fail(Handler.lose_answer)
                with self.assertRaises(Unreachable):
                    parts.publish_all(spool)
            parts.publish_all(spool)
        names = self.bucket.names("job/logs/0/1-")
        lines = b"".join(self.bucket.read(name) for name in names).decode().splitlines()
        self.assertEqual(lines, [f"line {number}" for number in range(5)])

    def test_body_is_made_anew_for_each_try(self):
        made = []

        def source():
            made.append(1)
            yield from (b"x" * MIB for _ in range(4))

        self.bucket.fail(503, times=2)
        self.store.write("a", source)
        self.assertEqual((len(made), len(self.bucket.read("a"))), (4, 4 * MIB))

    def test_refusal_in_the_middle_of_a_body_is_heard(self):
        def refuse(handler):
            handler.rfile.read(10)
            handler.error(403, "no")
            handler.close_connection = True
            handler.connection.shutdown(1)
            handler.rfile.read()

        self.bucket.fail(refuse)
        with self.assertRaisesRegex(RunnerError, "403: no"):
            self.store.write("a", lambda: [bytes(MIB)] * 20)

    def test_upload_that_was_changed_on_its_way(self):
        def change(handler):
            handler.body()
            handler.answer(200, b'{"md5Hash":"AAAA"}')

        self.bucket.fail(change)
        with self.assertRaisesRegex(RunnerError, "cannot write gs://bucket/a: it was corrupted in transit"):
            self.put()

    def test_errors_that_stay_are_not_repeated(self):
        for status in (400, 403, 404):
            self.bucket.requests.clear()
            self.bucket.fail(status)
            with self.assertRaisesRegex(RunnerError, f"cannot write gs://bucket/a: .*{status}: fault"):
                self.put()
            self.assertEqual(len(self.bucket.requests), 1)

    def test_patience_ends(self):
        self.change(gcs, "RETRY_SECONDS", 0.05)
        self.bucket.fail(503, times=math.inf)
        with self.assertRaisesRegex(Unreachable, r"cannot write gs://bucket/a: .* answered 503 \(\d+ tries"):
            self.put()

    def test_hurry_ends_it_at_once(self):
        self.change(gcs, "RETRY_SECONDS", math.inf)
        self.bucket.fail(503, times=math.inf)
        self.store.hurry(time.monotonic())
        with self.assertRaises(Unreachable):
            self.put()
        self.store.hurry(math.inf)  # an earlier moment stays
        with self.assertRaises(Unreachable):
            self.put()

    def test_server_that_says_nothing(self):
        self.change(gcs, "REQUEST_SECONDS", 0.05)
        self.addCleanup((hold := threading.Event()).set)
        self.bucket.fail(lambda handler: hold.wait(), times=2)
        self.put()

    def test_idle_connection_that_was_closed(self):
        def bye(handler):
            handler.serve()
            handler.close_connection = True  # without having said so

        self.bucket.fail(bye, times=2)
        self.put("a")
        self.put("b")
        self.assertEqual(self.bucket.names(""), ["a", "b"])


class Connections(StoreCase):
    def test_connections_are_used_again(self):
        for number in range(5):
            self.put(str(number))
            self.read(str(number))
            with self.assertRaises(NotFound):
                self.store.open("no")
        self.assertEqual(self.bucket.connections, 1)

    def test_large_objects_are_not_held_in_memory(self):
        block = bytes(MIB)
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)

        def swallow(handler):
            left, digest = int(handler.headers["Content-Length"]), hashlib.md5()
            while left:
                left -= len(handler.rfile.read(min(left, MIB)))
            for _ in range(64):
                digest.update(block)
            handler.answer(200, b'{"md5Hash":"%s"}' % base64.b64encode(digest.digest()))

        self.bucket.fail(swallow)
        self.store.write("a", lambda: (block for _ in range(64)))
        self.assertLess(tracemalloc.get_traced_memory()[1], 16 * MIB)

    def test_emulator_with_a_scheme_and_a_proxy_that_is_not_asked(self):
        self.environ({"http_proxy": "http://127.0.0.1:1", "no_proxy": ""})
        self.open_store(emulator=f"http://{self.bucket.host}/").create("a", lambda: [b"1"])
        self.assertEqual(self.bucket.read("a"), b"1")

    def test_objects_come_as_they_are_stored(self):
        seen = []

        def look(handler):
            seen.append(handler.headers["Accept-Encoding"])
            handler.serve()

        self.put()
        self.bucket.fail(look)
        self.read("a")
        self.assertEqual(seen, ["gzip"])

    def test_certificate_of_a_stranger(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        key, cert = os.path.join(folder, "key"), os.path.join(folder, "cert")
        make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-keyout", key, "-out", cert]
        subprocess.run(make, check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        self.bucket.socket = context.wrap_socket(self.bucket.socket, server_side=True)
        with self.assertRaisesRegex(RunnerError, "cannot verify the certificate of .*: add ca-certificates to the image"):
            self.open_store(emulator=f"https://{self.bucket.host}").open("a")


class Renewal(StoreCase):
    def test_old_object_gets_young_where_it_is(self):
        self.bucket.put("old", b"data", {"k": "v"}, age=21 * DAY)
        self.bucket.put("young", b"data", age=19 * DAY)
        for name in ("old", "young"):
            self.store.renew(name)
        self.assertLess(time.time() - self.bucket.objects["old"].created, DAY)
        self.assertEqual((self.bucket.read("old"), self.bucket.metadata("old")), (b"data", {"k": "v"}))
        self.assertEqual(self.bucket.asked("rewriteTo.*young"), [])

    def test_age_is_by_the_clock_of_the_server(self):
        for skew in (-30 * DAY, 30 * DAY):
            self.bucket.skew = skew
            self.bucket.put("old", b"data", age=21 * DAY)
            self.bucket.put("young", b"data", age=19 * DAY)
            self.bucket.requests.clear()
            for name in ("old", "young"):
                self.store.renew(name)
            self.assertEqual([bool(self.bucket.asked("rewriteTo.*" + name)) for name in ("old", "young")], [True, False])

    def test_object_that_somebody_else_renews(self):
        def overtaken(handler):
            handler.server.put("old", b"data")
            handler.serve()

        self.bucket.put("old", b"data", age=21 * DAY)
        self.bucket.fail(overtaken, pattern="rewriteTo")
        self.store.renew("old")

    def test_refusal(self):
        self.bucket.put("old", b"data", age=21 * DAY)
        self.bucket.fail(403, pattern="rewriteTo")
        with self.assertRaisesRegex(RunnerError, "cannot renew gs://bucket/old: .*storage.objects.create"):
            self.store.renew("old")


class InParallel(unittest.TestCase):
    def test_everything_is_done_and_no_thread_is_left(self):
        before = set(threading.enumerate())  # of other tests, too, and may end meanwhile
        for items, count in ((0, 3), (1, 3), (10, 3), (3, 10), (5, 1)):
            done = []
            in_parallel(done.append, range(items), count)
            self.assertEqual((sorted(done), set(threading.enumerate()) - before), (list(range(items)), set()))

    def test_several_at_a_time(self):
        meet = threading.Barrier(3)
        in_parallel(lambda _: meet.wait(60), range(3), 3)

    def test_failure_of_any_is_raised(self):
        def fail(item):
            if item == 7:
                raise ValueError(item)

        with self.assertRaisesRegex(ValueError, "7"):
            in_parallel(fail, range(20), 4)


if __name__ == "__main__":
    unittest.main()
