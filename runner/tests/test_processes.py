"""A limit of processes and threads that is reached."""

import sys
import threading
import unittest
from unittest import mock

from fixture import RunnerCase, program
from kinetic_runner.errors import AT_LIMIT
from kinetic_runner.store import in_parallel
from test_map import SQUARE, MapCase

NO_PROCESS = "def refuse(): raise BlockingIOError(11, 'Resource temporarily unavailable')\nprocess.os.fork = refuse"
NO_THREAD = """
import threading
def refuse(thread): raise RuntimeError("can't start new thread")
threading.Thread.start = refuse
"""


class Refused(MapCase):
    """Runners that get no process, or no thread."""

    def start(self, argv, env=None):
        return super().start([sys.executable, "-u", "-c", program(self.change)] + argv[3:], env)

    def test_process(self):
        self.change = NO_PROCESS
        for ran in (self.call("def f(): pass"), self.chunk(SQUARE, [1, 2])):
            self.assertEqual((ran.code, ran.out), (125, f"kinetic: cannot start a process: {AT_LIMIT}\n"), ran.err)

    def test_thread_of_a_map(self):
        self.change = NO_THREAD
        ran = self.chunk(SQUARE, [1, 2])
        self.assertEqual((ran.code, ran.out), (125, f"kinetic: cannot start a thread: {AT_LIMIT}\n"), ran.err)

    def test_thread_of_a_log(self):
        self.change = NO_THREAD + "\nerrands.PART_SECONDS = 0"
        ran = self.call("def f(): print('printed')")
        self.assertEqual((ran.code, ran.out), (0, "printed\n"), ran.err)


class Child(RunnerCase):
    def test_thread_that_watches_the_others(self):
        source = """
    import threading, time
    def refuse(thread): raise RuntimeError("can't start new thread")
    def f():
        threading.Thread(target=time.sleep, args=(0.1,)).start()
        threading.Thread.start = refuse
        return 1
        """
        ran = self.call(source)
        self.assertEqual((ran.code, ran.out, ran.result["value"], ran.result["warnings"]), (0, "", 1, []))


class Fewer(unittest.TestCase):
    def test_threads_that_run_do_the_work(self):
        start = threading.Thread.start
        for most in (0, 1, 2, 9):
            with self.subTest(most=most):
                left, done = [most], []

                def limited(thread):
                    if not left[0]:
                        raise RuntimeError("can't start new thread")
                    left[0] -= 1
                    start(thread)

                with mock.patch("threading.Thread.start", limited):
                    in_parallel(done.append, range(20), 4)
                self.assertEqual((sorted(done), left[0]), (list(range(20)), max(0, most - 3)))


if __name__ == "__main__":
    unittest.main()
