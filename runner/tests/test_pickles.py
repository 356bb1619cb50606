"""The pickle of a returned value."""

import hashlib
import os
import pickle
import sys
import tempfile
import threading
import types
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from kinetic_runner.child.pickled import Kept
from kinetic_runner.child.pickles import Sink, save


class Panic(BaseException):
    """Like that of a library in Rust."""


class Unpicklable:
    def __reduce__(self):
        raise Panic


class Pickles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "result.pkl")
        blocked = mock.patch.dict(sys.modules, {"cloudpickle": None})
        blocked.start()
        self.addCleanup(blocked.stop)

    def sink(self):
        return Sink(self.path)

    def read(self):
        with open(self.path, "rb") as file:
            return file.read()

    def test_exact_value(self):
        value = {"loss": float("inf"), "set": {1}, (1, 2): b"x"}
        self.assertTrue(save(value, self.sink, protocol=4))
        self.assertEqual(pickle.loads(self.read()), value)
        self.assertEqual(self.read()[:2], b"\x80\x04")  # protocol 4
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o600)

    def test_file_that_is_there_already_is_replaced(self):
        with open(self.path, "wb") as file:
            file.write(b"x" * 1000)
        os.chmod(self.path, 0o644)
        self.assertTrue(save(1, self.sink))
        self.assertEqual((pickle.loads(self.read()), os.stat(self.path).st_mode & 0o777), (1, 0o600))

    def test_unpicklable(self):
        deep = []
        for _ in range(100_000):
            deep = [deep]
        cases = {"lock": threading.Lock(), "generator": (n for n in [1]), "panic": ["x" * 100_000, Unpicklable()], "too deep": deep}
        for name, value in cases.items():
            with self.subTest(name):
                self.assertIsNone(save(value, self.sink))
                self.assertFalse(os.path.exists(self.path))

    def test_by_value_what_only_this_process_finds_by_name(self):
        def double(number):
            return 2 * number

        double.__module__, double.__qualname__ = "__main__", "double"
        with mock.patch.object(sys.modules["__main__"], "double", double, create=True):
            self.assertEqual(pickle.loads(pickle.dumps(double)), double)
            self.assertIsNone(save([double], self.sink))

    def test_cloudpickle_is_used_where_the_image_has_it(self):
        module = types.ModuleType("cloudpickle")

        class CloudPickler:
            def __init__(self, file, protocol):
                self.dump = lambda value: file.write(b"by cloudpickle %d" % protocol)

        module.CloudPickler = CloudPickler
        with mock.patch.dict(sys.modules, {"cloudpickle": module}):
            self.assertTrue(save(lambda: 0, self.sink, protocol=4))
            self.assertEqual(self.read(), b"by cloudpickle 4")
            self.assertTrue(save(1, self.sink))
            self.assertEqual(pickle.loads(self.read()), 1)

    def test_small_ones_stay_in_memory(self):
        small, large = (save(b"x" * 1000, lambda: Kept(self.path, inline)) for inline in (2000, 1000))
        self.assertEqual((pickle.loads(small.data), large.data), (b"x" * 1000, b""))
        self.assertEqual((small.sha256, large.sha256), (hashlib.sha256(small.data).hexdigest(), hashlib.sha256(self.read()).hexdigest()))
        self.assertEqual((small.size, large.size, self.read()), (len(small.data), len(self.read()), small.data))

    def test_disk_is_full(self):
        class Full(Sink):
            def write(self, data):
                super().write(b"part")
                self.problem = OSError(28, "No space left on device")
                raise self.problem

        with self.assertRaises(OSError):
            save(1, lambda: Full(self.path))
        self.assertFalse(os.path.exists(self.path))

    def test_the_directory_is_made(self):
        path = os.path.join(self.path, "result.pkl")
        save(1, lambda: Sink(path))
        self.assertTrue(os.path.exists(path))

    def test_no_directory(self):
        open(self.path, "w").close()
        with self.assertRaises(OSError):
            save(1, lambda: Sink(os.path.join(self.path, "result.pkl")))

    def test_interruptions_get_through(self):
        class Interrupted:
            def __reduce__(self):
                raise SystemExit(143)

        with self.assertRaises(SystemExit):
            save(["x" * 100_000, Interrupted()], self.sink)
        self.assertFalse(os.path.exists(self.path))


if __name__ == "__main__":
    unittest.main()
