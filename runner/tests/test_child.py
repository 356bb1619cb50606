"""The child imports nothing of the runner: what both have is the same."""

import os
import tempfile
import unittest

from fixture import RUNNER  # noqa: F401  which makes the package known
from kinetic_runner import outcome, process, text
from kinetic_runner.child import inputs, outcomes, report, wording


def quietly(function, *args):
    """What a function returns that tells the user something on stderr, too."""
    with tempfile.TemporaryFile() as file:
        stderr = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            return function(*args)
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


class Child(unittest.TestCase):
    def test_descriptors(self):
        self.assertEqual((report.REPORT_FD, inputs.CREDIT_FD, inputs.EXIT_CLOSED), (process.REPORT_FD, process.CREDIT_FD, process.EXIT_CLOSED))

    def test_fields_of_an_outcome(self):
        described = outcomes.outcome_of("Completed", 0)
        self.assertEqual(set(described), set(outcome.Outcome.FIELDS))
        self.assertEqual(outcome.Outcome.from_json(described).to_json(), described)
        self.assertEqual(outcomes.MESSAGE_LIMIT, outcome.MESSAGE_LIMIT)

    def test_reasons(self):
        call = {"title": "t.py:f", "workspace": "/w", "scratch": "/s"}
        for reason, found in {
            outcome.COMPLETED: outcomes.of_value(1, call),
            outcome.BAD_RESULT: quietly(outcomes.of_generator, (x for x in ()), call),
            outcome.EXCEPTION: quietly(outcomes.of_exception, ValueError("v"), call),
            outcome.EXIT_CODE: outcomes.of_missing(call),
        }.items():
            self.assertEqual(found["reason"], reason)

    def test_exit_codes(self):
        for code in (0, 1, 123, 124, 255, 256, -1):
            with self.subTest(code=code):
                ours = outcome.outcome_of_exit("t.py", code)
                childs = outcome.Outcome.from_json(outcomes.of_exit(SystemExit(code), {"title": "t.py"}))
                self.assertEqual(
                    (childs.reason, childs.exit_code, childs.message), (ours.reason, ours.exit_code, ours.message)
                )

    def test_shortened_texts(self):
        for length in (9, 10, 11):
            self.assertEqual(wording.shorten("x" * length, 10), text.shorten("x" * length, 10))


if __name__ == "__main__":
    unittest.main()
