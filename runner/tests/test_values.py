"""Returned values: what JSON makes of them, and what is kept beside it."""

import collections
import enum
import json
import math
import pickle
import unittest

from fixture import RunnerCase, function, remote_runner

Point = collections.namedtuple("Point", "x y")


class Level(enum.IntEnum):
    HIGH = 3


class Name(str, enum.Enum):
    A = "a"


class Array:
    """Like numpy's: plain data by tolist()."""

    def __init__(self, data, nbytes=8):
        self.data, self.nbytes = data, nbytes

    def tolist(self):
        return self.data


class Scalar:
    """Like the scalars of frameworks."""

    def item(self):
        return 2.5


class Endless:
    def tolist(self):
        return Endless()


class Broken:
    def tolist(self):
        raise RuntimeError("on another device")


def encode(value):
    """The JSON text of a value and the warnings about it."""
    values = remote_runner.Values()
    data = remote_runner.encode_json(remote_runner.convert_all(values, value, None))
    return data.decode(), values.warnings


class PlainValues(unittest.TestCase):
    CASES = {
        "null": (None, "null"),
        "booleans": ([True, False], "[true,false]"),
        "unicode": ("né 漢 😀", '"né 漢 😀"'),
        "controls and quotes": ('\x00\n"\\', '"\\u0000\\n\\"\\\\"'),
        "lone surrogate": ("\udc80", '"\\udc80"'),
        "big integer": (10**30, "1" + "0" * 30),
        "floats": ([0.1, -0.0, 1e300], "[0.1,-0.0,1e+300]"),
        "nesting": ({"a": [{"b": []}, {}]}, '{"a":[{"b":[]},{}]}'),
        "tuple": ((1, (2,)), "[1,[2]]"),
        "namedtuple": (Point(1, 2), "[1,2]"),
        "enums of numbers and text": ([Level.HIGH, Name.A, {Name.A: 1}], '[3,"a",{"a":1}]'),
        "ordered dict": (collections.OrderedDict(b=1, a=2), '{"b":1,"a":2}'),
        "array": ({"w": Array([[1.0], [2.0]])}, '{"w":[[1.0],[2.0]]}'),
        "scalar": (Scalar(), "2.5"),
        "array of objects": (Array([Scalar()]), "[2.5]"),
        "one list in two places": ([[1]] * 2, "[[1],[1]]"),
    }

    def test_plain(self):
        for name, (value, want) in self.CASES.items():
            with self.subTest(name):
                self.assertEqual(encode(value), (want, []))

    def test_lossy(self):
        cases = {
            "nan": ({"loss": [1, 2, 3, math.nan]}, '{"loss":[1,2,3,null]}', "value.loss[3] is nan"),
            "infinities": ([math.inf, -math.inf], "[null,null]", "value[1] is -inf"),
            "nan in an array": (Array([math.nan]), "[null]", "value[0] is nan"),
            "odd member name": ({"a b": math.nan}, '{"a b":null}', 'value["a b"] is nan'),
            "int key": ({1: 2}, '{"1":2}', "the value has the key 1, which is the text '1' here"),
            "bool and none keys": ({"x": {True: 1, None: 2}}, '{"x":{"true":1,"null":2}}', "value.x has the key None"),
            "float key": ({1.5: 0}, '{"1.5":0}', "the value has the key 1.5"),
        }
        for name, (value, want, warning) in cases.items():
            with self.subTest(name):
                text, warnings = encode(value)
                self.assertEqual(text, want)
                self.assertTrue(any(warning in line for line in warnings), warnings)

    def test_warnings_are_few(self):
        _, warnings = encode([math.nan] * 1000)
        self.assertEqual(len(warnings), 11)
        self.assertEqual(warnings[-1], "and 990 more values like these")

    def test_refused(self):
        loop = []
        loop.append({"again": loop})
        deep = []
        for _ in range(5000):
            deep = [deep]
        cases = {
            "object": ({"model": object()}, "value.model is of type object, which has no JSON form"),
            "type": ([Array], "value[0] is of type type, which has no JSON form"),
            "bytes": ([b"x"], "value[0] is of type bytes"),
            "set": ({1, 2}, "the value is of type set"),
            "complex": (1j, "the value is of type complex"),
            "tuple key": ({(1, 2): 3}, "the value has a key of type tuple"),
            "keys that collide": ({1: "a", "1": "b"}, "two keys that are both '1'"),
            "cycle": (loop, "value[0].again contains itself"),
            "depth": (deep, "nested more than 200 levels"),
            "array that never ends": (Endless(), "nested more than 200 levels"),
            "array that raises": (Broken(), "RuntimeError: on another device"),
            "array too large": (Array([], nbytes=1 << 30), "is of type test_values.Array and has 1024 MiB, too large to return"),
        }
        for name, (value, message) in cases.items():
            with self.subTest(name):
                with self.assertRaises(remote_runner.ValueProblem) as caught:
                    encode(value)
                self.assertIn(message, str(caught.exception))

    def test_what_cannot_be_returned_can_be_saved(self):
        with self.assertRaises(remote_runner.ValueProblem) as caught:
            encode(object())
        # In a pod that is a URL, which no plain file is opened by.
        self.assertTrue(str(caught.exception).endswith("and save other things below KINETIC_OUTPUT_DIR"), caught.exception)


class PublishedValues(RunnerCase):
    def test_nan_is_null_with_the_exact_value_in_the_pickle(self):
        ran = self.call("def f(): return {'loss': [1.0, float('nan')]}")
        self.assertEqual((ran.code, ran.result["value"], ran.result["pickle"]), (0, {"loss": [1.0, None]}, "result.pkl"))
        self.assertIn("value.loss[1] is nan", ran.result["warnings"][0])
        self.assertIn("kinetic: warning: the result: value.loss[1] is nan", ran.out)
        self.assertTrue(math.isnan(pickle.loads(self.read("result.pkl"))["loss"][1]))

    def test_nan_beside_something_unpicklable(self):
        ran = self.call("class A:\n  def tolist(self): return [float('nan')]\n  def __reduce__(self): raise TypeError\ndef f(): return A()")
        self.assertEqual((ran.code, ran.result["value"], ran.result["pickle"]), (0, [None], None))
        self.assertIn("cannot be pickled", ran.result["warnings"][-1])
        self.assertFalse(self.exists("result.pkl"))

    def test_unserialisable_value_is_kept(self):
        ran = self.call("def f(): return {'when': {1, 2}}")
        error = ran.result["error"]
        self.assertEqual((ran.code, ran.end["reason"], error["type"], ran.result["pickle"]), (1, "BadResult", "TypeError", "result.pkl"))
        self.assertIn("value.when is of type set", error["message"])
        self.assertEqual(error["repr"], "{'when': {1, 2}}")
        self.assertEqual(pickle.loads(self.read("result.pkl")), {"when": {1, 2}})
        self.assertIsNone(ran.result["value"])

    def test_unserialisable_and_unpicklable(self):
        ran = self.call("class A:\n  def __reduce__(self): raise TypeError\ndef f(): return [A(), 'x' * 30000]")
        self.assertEqual((ran.code, ran.end["reason"], ran.result["pickle"]), (1, "BadResult", None))
        self.assertEqual(len(ran.result["error"]["repr"]), 20_000)

    def test_cloudpickle_is_used_where_the_image_has_it(self):
        files = {"train.py": "def f(): return lambda: 0", "cloudpickle.py": "def dump(value, file, protocol): file.write(b'by cloudpickle %d' % protocol)"}
        ran = self.run_call(function(), files)
        self.assertEqual((ran.code, ran.result["pickle"]), (1, "result.pkl"))
        self.assertEqual(self.read("result.pkl"), b"by cloudpickle 4")

    def test_broken_repr(self):
        ran = self.call("class A:\n  def __repr__(self): raise ValueError\ndef f(): return A()")
        self.assertEqual(ran.result["error"]["repr"], "<repr raised ValueError>")

    def test_five_megabytes(self):
        ran = self.call("def f(n): return ['x' * 1024] * n", kwargs={"n": 5120})
        self.assertEqual(ran.code, 0, ran.out)
        self.assertEqual(ran.result["value"], ["x" * 1024] * 5120)
        self.assertNotIn("value", json.loads(self.termination()))
        self.assertLess(len(self.termination()), 4096)

    def test_termination_message_has_small_values_only(self):
        for size, there in ((3069, True), (3070, False)):  # and two quotes
            with self.subTest(size):
                self.setUp()
                self.call("def f(n): return 'v' * n", kwargs={"n": size})
                self.assertEqual(json.loads(self.termination()).get("value"), "v" * size if there else None)
                self.assertLess(len(self.termination()), 4096)


if __name__ == "__main__":
    unittest.main()
