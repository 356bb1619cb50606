"""When outputs are looked at."""

import threading
import time
import unittest

from fixture import RUNNER  # noqa: F401  which makes the package known
from kinetic_runner.outputs.worker import Commit, Worker


class Keeper:
    """Counts what it is asked for."""

    moment = None

    def __init__(self):
        self.looks = 0

    def watch(self):
        return set()

    def start(self):
        self.looks += 1
        return False

    def commit(self):
        time.sleep(0.05)  # as long as it takes to send
        return []

    def finish(self, everything, left_open):
        pass


class Commits(unittest.TestCase):
    def test_a_program_that_always_commits_keeps_no_look_from_coming(self):
        keeper = Keeper()
        worker = Worker(keeper, 1.0, lambda: None, self.fail)
        thread = threading.Thread(target=worker.run)
        thread.start()
        for _ in range(30):
            commit = Commit()
            worker.commit(commit)
            self.assertTrue(commit.done.wait(60))
            time.sleep(0.5)
            if keeper.looks > 3:
                break
        worker.finish(True, frozenset())
        thread.join()
        self.assertGreater(keeper.looks, 3)

    def test_a_mistake_of_the_runner_is_an_answer(self):
        keeper = Keeper()
        keeper.commit = lambda: {}["missing"]
        worker, commit = Worker(keeper, 1.0, lambda: None, self.fail), Commit()
        thread = threading.Thread(target=worker.run)
        thread.start()
        worker.commit(commit)
        self.assertTrue(commit.done.wait(60))
        self.assertEqual(commit.failure, "KeyError('missing')")
        worker.finish(True, frozenset())
        thread.join()


if __name__ == "__main__":
    unittest.main()
