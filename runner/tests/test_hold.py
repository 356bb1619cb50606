"""The command line of a warm host."""

import unittest

from kinetic_runner.warm.hold import divide


class Divide(unittest.TestCase):
    def test_a_first_call_in_pieces(self):
        own, others = divide(["--warm-idle", "60", "--bucket", "b", "--warm-first", '{"id": ', "--warm-first", '"a"}'])
        self.assertEqual(own, {"--warm-idle": "60", "--warm-first": ['{"id": ', '"a"}']})
        self.assertEqual(others, ["--bucket", "b"])


if __name__ == "__main__":
    unittest.main()
