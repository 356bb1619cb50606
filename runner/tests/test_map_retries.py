"""--retry-on error with a map: an input whose call fails is tried again."""

import signal
import unittest

from fixture import JOB, pickled, sha256
from payloads import Payloads, payload
from test_map import MapCase
from test_map_payload import line

AGAIN = ("--retry-on", "error", "--retries", "2")
FAILS = """
    import os, sys
    count = {}
    def f(n):
        count[n] = count.get(n, 0) + 1
        print("call", n, flush=True)
        if n == 1 and count[n] <= 2: raise ValueError("one")
        if n == 2 and count[n] <= 1: sys.exit(3)
        if n == 3: raise KeyError("three")
        return count[n]
"""


class Retried(MapCase):
    def test_an_input_whose_call_fails_is_tried_again(self):
        ran = self.chunk(FAILS, [0, 1, 2, 3, 4], *AGAIN)
        self.assertEqual((ran.code, self.values(5)), (0, [1, 3, 2, "'three'", 1]), ran.out)
        self.assertEqual([ran.out.count(f"call {n}\n") for n in range(5)], [1, 3, 2, 3, 1])
        told = [row for row in ran.stderr.splitlines() if row.startswith("kinetic: ")]
        again = "kinetic: input {} has failed and is tried again: retry {} of 2".format
        self.assertEqual(told, [again(1, 1), again(1, 2), again(2, 1), again(3, 1), again(3, 2)])

    def test_the_last_failure_is_the_result(self):
        self.chunk("count = []\ndef f(n):\n  count.append(n)\n  raise ValueError(len(count))", [0], *AGAIN)
        self.assertEqual(self.values(1), ["3"])

    def test_without_the_flag_nothing_is_tried_again(self):
        for flags in (("--retries", "2"), ("--retry-on", "error", "--retries", "0")):
            with self.subTest(flags):
                self.setUp()
                ran = self.chunk(FAILS, [3], *flags)
                self.assertEqual((ran.code, self.values(1), ran.out.count("call 3\n")), (0, ["'three'"], 1))

    def test_a_process_that_was_told_to_end_tries_nothing_again(self):
        source = """
            import os, signal
            def leave(*_): raise ValueError("told to end")
            signal.signal(signal.SIGTERM, leave)
            def f(n):
                print("call", n, flush=True)
                if os.environ["KINETIC_ATTEMPT"] == "1":
                    while True: signal.pause()
                return n
        """
        process = self.start_chunk(source, [5, 6], *AGAIN)
        self.assertEqual(process.stdout.readline(), b"call 5\n")
        process.send_signal(signal.SIGTERM)
        ran = self.finish(process)
        self.assertEqual((ran.code, self.values(2), ran.out.count("call 5\n")), (143, [None, None], 0), ran.out)
        self.assertEqual((self.chunk(source, [5, 6], *AGAIN).code, self.values(2)), (0, [5, 6]))


class RetriedPickles(Payloads, MapCase):
    def test_a_pickled_function(self):
        source = "count = []\ndef f(n):\n  count.append(n)\n  if len(count) == 1: raise ValueError(n)\n  return n"
        data = payload(source)
        self.put(f"{JOB}/payload.pkl", data)
        ran = self.chunk(source, line(7), "--payload", sha256(data), *AGAIN, call=pickled())
        self.assertEqual((ran.code, self.values(1)), (0, [7]), ran.out)
        self.assertIsNone(self.results(1)[0]["error"])


if __name__ == "__main__":
    unittest.main()
