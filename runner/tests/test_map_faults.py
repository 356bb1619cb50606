"""Maps whose function takes descriptors from its process, and pods that end at the wrong moment."""

import json
import os
import sys
import unittest

from fixture import JOB, program
from test_map import SQUARE, MapCase


class LostDescriptors(MapCase):
    """A function that closes descriptors that it does not own."""

    def closes(self, action, inputs=5, when="n == 1"):
        return self.chunk(f"import os\ndef f(n):\n  if {when}: {action}\n  return [n, os.getpid()]", list(range(inputs)))

    def check(self, ran, count=5):
        """Every input has its value; return how many processes computed them."""
        self.assertEqual(ran.code, 0, ran.out)
        values = self.values(count)
        self.assertEqual([value[0] for value in values], list(range(count)))
        return len({value[1] for value in values})

    def test_a_small_number_that_is_closed_changes_nothing(self):
        self.assertEqual(self.check(self.closes("os.close(3)", 200), 200), 1)

    def test_all_small_numbers_that_are_closed_change_nothing(self):
        self.assertEqual(self.check(self.closes("os.closerange(3, 256)")), 1)

    def test_another_process_computes_the_rest(self):
        ran = self.closes("os.closerange(3, 65536)", 200)
        self.assertEqual(self.check(ran, 200), 2)
        self.assertEqual(ran.out.count("has closed descriptors of the runner"), 1, ran.out)

    def test_the_credits_alone(self):
        self.assertEqual(self.check(self.closes(f"os.close({self.high('CREDIT_FD')})")), 2)

    def test_the_reports_alone(self):
        self.assertEqual(self.check(self.closes(f"os.close({self.high('REPORT_FD')})"), 5), 2)

    @staticmethod
    def high(name):
        """An expression for the number that our descriptor has in the child."""
        pipe = f"os.readlink('/proc/self/fd/%d' % __import__('kinetic_runner.process').process.{name})"
        return f"max(n for n in range(100, 1024) if os.path.lexists(f'/proc/self/fd/{{n}}') and os.readlink(f'/proc/self/fd/{{n}}') == {pipe})"

    def test_a_file_in_the_place_of_the_credits_is_not_read(self):
        action = f"os.dup2(os.open('/dev/zero', os.O_RDONLY), {self.high('CREDIT_FD')})"
        self.assertEqual(self.check(self.closes(action)), 2)

    def test_each_process_computes_one_input_at_least(self):
        ran = self.chunk("import os\nos.closerange(3, 65536)\ndef f(n): return [n, os.getpid()]", [0, 1, 2])
        self.assertEqual(self.check(ran, 3), 3)

    def test_a_process_that_dies_in_the_next_input_is_told_by_its_number(self):
        ran = self.closes("os.closerange(3, 65536); os._exit(9)")
        self.assertEqual(ran.code, 0, ran.out)
        self.assertEqual([isinstance(value, list) for value in self.values(5)], [True, False, True, True, True])
        self.assertIn("exit code 9", self.values(5)[1])


class FinishedChunks(MapCase):
    def test_a_chunk_that_is_done_is_not_a_crash(self):
        """Its success may never reach the API server, and the Job makes another pod."""
        for _ in range(3):
            ran = self.chunk(SQUARE, [1, 2], "--retries", "0")
            self.assertEqual((ran.code, self.values(2)), (0, [1, 4]), ran.out)

    def test_a_chunk_whose_results_are_all_there_is_done_however_often_it_crashed(self):
        for number in (1, 2):
            self.put(f"{JOB}/attempts/0-{number}.json", b'{"version":1,"uid":"other-%d","reason":"Killed"}' % number)
            self.put(f"{JOB}/results/{number - 1}.json", b'{"version":1,"ok":true,"value":7}')
        ran = self.chunk("print('imported')\n" + SQUARE, [1, 2], "--retries", "1")
        self.assertEqual((ran.code, self.values(2), ran.out), (0, [7, 7], ""))


class Moments(MapCase):
    """What the runner does when an input begins, and before its result is stored."""

    CHANGE = """
from kinetic_runner.maps import runner
def note(*what):
    with open(PATH, "a") as file: print(*what, file=file)
runner.MapAttempt.input_begun = lambda self, number: note("begun", number)
runner.MapAttempt.input_ended = lambda self, number, outcome: note("ended", number, outcome.reason, self.store.exists(runner.result_name(self.options.job, number)))
"""

    def test_each_input_begins_and_ends_before_its_result(self):
        path = os.path.join(self.root, "moments")
        self.start = lambda argv, env=None: super(Moments, self).start([sys.executable, "-u", "-c", program(self.CHANGE.replace("PATH", repr(path)))] + argv[3:], env)
        ran = self.chunk("import os\ndef f(n):\n  if n == 1: os._exit(9)\n  if n == 2: raise ValueError\n  return n", [0, 1, 2])
        self.assertEqual((ran.code, self.values(3)[::2]), (0, [0, ""]), ran.out)
        with open(path) as file:
            told = file.read().splitlines()
        self.assertEqual([line for line in told if line.startswith("begun")], ["begun 0", "begun 1", "begun 1", "begun 2"])
        self.assertEqual(sorted(line for line in told if line.startswith("ended")), ["ended 0 Completed False", "ended 1 ExitCode False", "ended 2 Exception False"])


class VanishedPods(MapCase):
    """Pods that end without a word: out of memory, or gone with their node."""

    def vanish(self, *attempts):
        for number in attempts:
            self.put(f"{JOB}/attempts/0-{number}.json", b'{"version":1,"uid":"other-%d"}' % number)
        self.put(f"{JOB}/results/1.try", json.dumps({"version": 1, "attempts": attempts}).encode())

    def test_an_input_has_as_many_tries_as_retries_and_one(self):
        for lost, retries, want in ((2, 0, None), (2, 1, None), (3, 3, 4), (4, 3, None)):
            with self.subTest(lost=lost, retries=retries):
                self.setUp()
                self.vanish(*range(1, lost + 1))
                ran = self.chunk(SQUARE, [1, 2, 3], "--retries", str(retries))
                self.assertEqual((ran.code, self.values(3)[::2]), (0, [1, 9]), ran.out)
                if want is None:
                    self.assertIn(f"was killed with its pod {lost} times on this input", self.values(3)[1])
                else:
                    self.assertEqual(self.values(3)[1], want)

    def test_two_tries_at_least(self):
        self.vanish(1)
        self.assertEqual((self.chunk(SQUARE, [1, 2], "--retries", "0").code, self.values(2)), (0, [1, 4]))


if __name__ == "__main__":
    unittest.main()
