"""How long a store in a bucket may be away, on a clock that nobody waits for."""

import math
import os
import unittest

from bucket import BUCKET, Handler
from fixture import RUNNER  # noqa: F401  which makes the package known
from kinetic_runner import store
from kinetic_runner.errors import Unreachable
from kinetic_runner.store import Outage, gcs
from test_gcs import StoreCase

MIB = 1 << 20
FIRST_PAUSE = gcs.FIRST_PAUSE  # as it is when no test has changed it


class Clock:
    """Stands in for the module time: who sleeps moves it."""

    def __init__(self):
        self.now = 0.0
        self.pauses = []

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.pauses.append(seconds)
        self.now += seconds


class Outages(StoreCase):
    def setUp(self):
        super().setUp()
        self.clock = Clock()
        self.change(gcs, "time", self.clock)
        self.change(gcs, "FIRST_PAUSE", FIRST_PAUSE)

    def away(self, seconds, *kinds):
        """The store answers with faults for so long."""
        kinds = kinds or (lambda handler: handler.error(503, ""), Handler.reset, Handler.lose_answer)

        def fault(handler):
            if self.clock.now >= seconds:
                return handler.serve()
            return kinds[len(self.clock.pauses) % len(kinds)](handler)

        self.bucket.fail(fault, times=math.inf)

    def test_outage_is_waited_for(self):
        data = os.urandom(3 * MIB)
        for action in ("read", "create", "write"):
            with self.subTest(action):
                self.bucket.faults.clear()
                self.clock.now = 0.0
                if action == "read":
                    self.bucket.put("read", data)
                self.away(50)
                if action == "read":
                    self.assertEqual(self.read("read"), data)
                else:
                    getattr(self.store, action)(action, lambda: [data])
                    self.assertEqual(self.bucket.read(action), data)
                self.assertGreaterEqual(self.clock.now, 50)

    def test_outage_in_the_middle_of_a_read(self):
        data = os.urandom(3 * MIB)
        self.bucket.put("a", data)
        self.bucket.fail(Handler.cut)
        self.away(50)
        self.assertEqual(self.read("a", 64 << 10), data)

    def test_store_that_is_away_for_minutes_is_waited_for_from_the_start(self):
        self.bucket.put("call.json", b"data")
        self.away(590)
        self.assertEqual(self.read("call.json"), b"data")
        self.assertGreaterEqual(self.clock.now, 590)

    def test_longer_outage_ends_it(self):
        self.away(math.inf)
        with self.assertRaisesRegex(Unreachable, r"tries in (59\d|600) seconds"):
            self.put()

    def test_it_is_said_after_some_seconds_and_then_from_time_to_time(self):
        said = []
        self.store.outage = Outage(lambda text: said.append((self.clock.now, text)))
        self.away(200, Handler.reset)
        self.put()
        moments = [moment for moment, _ in said]
        self.assertTrue(store.FIRST_SECONDS <= moments[0] <= store.FIRST_SECONDS + gcs.LONGEST_PAUSE, moments)
        self.assertTrue(all(later >= moment + store.NEXT_SECONDS for moment, later in zip(moments, moments[1:])), moments)
        self.assertIn(len(moments), (6, 7))
        self.assertRegex(said[0][1], rf"^gs://{BUCKET} has not answered for \d+ seconds \(.+\): trying again$")

    def test_a_short_outage_is_not_worth_a_line(self):
        said = []
        self.store.outage = Outage(said.append)
        self.away(2)
        self.put()
        self.assertEqual(said, [])

    def test_grace_cuts_the_wait_short(self):
        self.away(500)
        self.store.hurry(14.5)
        with self.assertRaises(Unreachable):
            self.put()
        self.assertTrue(9 < self.clock.now < 14.5, self.clock.now)

    def test_pauses_grow_and_differ(self):
        self.away(50)
        self.put()
        self.assertLess(self.clock.pauses[0], 0.3)
        self.assertGreater(max(self.clock.pauses), 2)
        self.assertLessEqual(max(self.clock.pauses), gcs.LONGEST_PAUSE)
        self.assertGreater(len(set(self.clock.pauses[6:])), 1)


if __name__ == "__main__":
    unittest.main()
