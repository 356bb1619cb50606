"""A warm host while its store is away: each call runs once and is whole, or fails with a reason, and the next one has its own value.

KINETIC_MANY is how many calls; by default they are few.
"""

import json
import math
import os
import random
import signal
import time
import unittest

from bucket import Bucket, Handler, RealBucket, real_program
from fixture import RUNNER, TIMEOUT, function, limit_time, read_log
from hosting import Hosting, Ring
from kinetic_runner.warm import frames
from test_pod import PodCase

MANY = int(os.environ.get("KINETIC_MANY", "12"))
LEVELS = ("clean", "preloaded", "process")
SOURCE = """import heavy, os, time
def f():
  with open(%r, "a") as file:
    file.write("%d\\n")
  print("begun", flush=True)
  time.sleep(%r)
  with open(os.environ["KINETIC_OUTPUT_DIR"] + "/made", "w") as file:
    file.write("made by %d")
  return %d"""
# The runner of each call gives up early.
IMPATIENT = """import sys
sys.path.insert(0, %r)
if sys.argv[1] == "ready":
    from kinetic_runner.store import gcs
    gcs.RETRY_SECONDS, gcs.FIRST_PAUSE = 0.05, 0.01
import runpy
runpy.run_path(%r, run_name="__main__")
"""


def unavailable(handler):
    handler.body()
    handler.error(503, "")


FAULTS = {"503": unavailable, "reset": Handler.reset, "lost answer": Handler.lose_answer, "answer cut off": Handler.cut}


class StoreCase(PodCase, Hosting):
    def setUp(self):
        super().setUp()
        self.ran = os.path.join(self.root, "ran")

    def order(self, *args, **more):
        flags = ("--emulator", self.bucket.host, *more.pop("flags", ()))
        return super().order(*args, flags=flags, **more)

    def document_of(self, job, name):
        return json.loads(self.bucket.read(f"{job}/{name}"))

    def result(self, job):
        return self.document_of(job, "result.json")

    def ring(self, port, number, first=lambda: None, *flags, seconds=0.0):
        """Gives the host a call whose value is its number; first is done before that, when the store has the call. Returns its ID and connection."""
        limit_time()  # many calls may take longer than one test
        job, ring = f"job-{number}", Ring(self, port)
        order = self.order(job, function(), {"train.py": SOURCE % (self.ran, number, seconds, number, number)}, flags=flags)
        first()
        ring.send(frames.CALL, order)
        self.assertEqual(ring.receive()[1]["state"], "started")
        return job, ring

    def check(self, job, number, code):
        """The call ran once, and all of it is in the store."""
        self.assertEqual(code, 0)
        result, end = self.result(job), self.document_of(job, "end.json")
        self.assertEqual((result["value"], result["attempt"], result["warnings"], end["state"]), (number, 1, [], "SUCCEEDED"))
        self.assertEqual(self.bucket.read(f"{job}/outputs/made"), b"made by %d" % number)
        self.assertEqual(self.bucket.names(f"{job}/attempts/"), [f"{job}/attempts/1.json"])
        parts = sorted(self.bucket.names(f"{job}/logs/"))
        self.assertEqual(read_log(b"".join(map(self.bucket.read, parts)), stamped=True)[1], "begun\n")
        self.assertEqual(self.times_run(number), 1)

    def times_run(self, number):
        if not os.path.exists(self.ran):
            return 0
        with open(self.ran) as file:
            return file.read().splitlines().count(str(number))

    def end_of(self, ring):
        """How the call of a connection ended. The store serves again from then on."""
        while (frame := ring.receive())[0] != frames.END:
            pass
        ring.close()
        if isinstance(self.bucket, Bucket):
            self.bucket.faults.clear()
        return frame[1]

    def until(self, condition):
        end = time.monotonic() + TIMEOUT
        while not condition():
            self.assertLess(time.monotonic(), end, "it never happened")
            os.sched_yield()


class Faults(StoreCase):
    """A server of ours goes wrong at a request that is chosen."""

    def away(self, moment, times, what):
        """From now on so many requests go wrong, after the first ones. Returns a list of those, which grows."""
        asked, wrong = [], []

        def fault(handler):
            asked.append(handler.path)
            if not moment < len(asked) <= moment + times:
                return handler.serve()
            wrong.append(handler.path)
            return what(handler)

        self.bucket.faults.clear()
        self.bucket.fail(fault, math.inf)
        return wrong

    def good_call(self, port, number):
        """Runs a call while the store serves; returns what it asked the store for."""
        asked = self.away(0, math.inf, Handler.serve)
        job, ring = self.ring(port, number)
        self.check(job, number, self.end_of(ring)["code"])
        return asked

    def test_short_faults_at_every_moment(self):
        chance, number = random.Random(20261127), 0
        for level in LEVELS:
            self.setUp()
            process, port = self.warm(level)
            moments = [(moment, name) for moment in range(len(self.good_call(port, number))) for name in FAULTS]
            for moment, name in chance.sample(moments, min(MANY // 3, len(moments))):
                number += 1
                with self.subTest(level, moment=moment, fault=name):
                    job, ring = self.ring(port, number, lambda: self.away(moment, 2, FAULTS[name]))
                    self.check(job, number, self.end_of(ring)["code"])
            process.kill()

    def impatient(self, level):
        """A warm host whose runners give up early."""
        program = os.path.join(self.root, "program.py")
        with open(program, "w") as file:
            file.write(IMPATIENT % (RUNNER, RUNNER))
        return self.warm(level, change=f"from kinetic_runner.warm import calls; calls.PROGRAM = {program!r}")

    def test_the_store_stays_away(self):
        """Without a result in the store, the call has failed, and says why."""
        chance, number = random.Random(20261128), 0
        for level in LEVELS:
            self.setUp()
            process, port = self.impatient(level)
            count = len(self.good_call(port, number))
            for moment in sorted(chance.sample(range(count), min(MANY // 3, count))):
                number += 2
                with self.subTest(level, moment=moment):
                    job, ring = self.ring(port, number, lambda: self.away(moment, math.inf, unavailable))
                    end = self.end_of(ring)
                    report = json.loads(end["report"])
                    stored = {name.partition("/")[2] for name in self.bucket.names(f"{job}/")}
                    if end["code"]:
                        self.assertEqual((end["code"], report["reason"]), (125, "RunnerFailure"))
                        self.assertRegex(report["message"], r"cannot (read|write) gs://.* answered 503 \(\d+ tries in \d+ seconds\)")
                        self.assertTrue(stored.isdisjoint({"result.json", "end.json"}))
                    else:
                        self.assertEqual((report["value"], self.result(job)["value"]), (number, number))
                        self.assertEqual(json.loads(self.bucket.metadata(f"{job}/result.json")["end"])["state"], "SUCCEEDED")
                    self.assertLessEqual(self.times_run(number), 1)
                    self.until(lambda: f"{job}/end.json" in self.bucket.names(job))  # the host records it when the store is back
                    recorded = self.document_of(job, "end.json")
                    self.assertEqual((recorded["state"], recorded["message"]), (report["state"], report["message"]))
                    self.good_call(port, number + 1)
            process.kill()

    def test_a_call_that_waits_for_the_store_is_cancelled(self):
        _, port = self.warm("preloaded")
        requests = self.good_call(port, 0)
        for number, name in enumerate(("call.json", "attempts%2F2.json")):  # and what comes just before the result
            with self.subTest(waits_for=name):
                moment, waits = next(place for place, path in enumerate(requests) if name in path), []
                job, ring = self.ring(port, 2 * number + 1, lambda: waits.append(self.away(moment, math.inf, unavailable)), "--grace", "0.1")
                self.until(lambda: waits[0])
                ring.send(frames.CANCEL, {"id": job})
                self.assertEqual(self.end_of(ring)["code"], 125)  # nor could the result be stored
                self.good_call(port, 2 * number + 2)


@unittest.skipUnless(real_program(os.environ), "no fake-gcs-server on PATH or in FAKE_GCS_SERVER")
class Kills(StoreCase):
    """The process of the store is killed, or stands still, at moments that are random. Nothing waits for them."""

    def make_bucket(self):
        return RealBucket(real_program(os.environ), os.path.join(self.root, "bucket"))

    def test_kills_at_random_moments(self):
        chance, number = random.Random(20261129), 0
        for level in LEVELS:
            self.setUp()
            process, port = self.warm(level)
            for _ in range(MANY // 3):
                number += 1
                with self.subTest(level, number=number):
                    job, ring = self.ring(port, number, seconds=0.05)
                    time.sleep(chance.random() * 0.4)
                    if chance.random() < 0.3:
                        self.bucket.signal(signal.SIGSTOP)
                        time.sleep(chance.random() * 0.4)
                        self.bucket.signal(signal.SIGCONT)
                    else:
                        self.bucket.close()
                        time.sleep(chance.random() * 0.4)
                        self.bucket.start()
                    self.check(job, number, self.end_of(ring)["code"])
            process.kill()


if __name__ == "__main__":
    unittest.main()
