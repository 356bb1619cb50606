"""Returned values: what JSON makes of them, and what is said about that."""

import array
import base64
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import json
import math
import os
import pathlib
import subprocess
import sys
import types
import typing
import unittest
import uuid
from unittest import mock

RUNNER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, RUNNER)
from kinetic_runner.child import values
from kinetic_runner.child.values import convert

Point = collections.namedtuple("Point", "x y")
UTC = datetime.timezone.utc
DAY = datetime.date(2026, 4, 17)


class Level(enum.IntEnum):
    HIGH = 3


class Name(str, enum.Enum):
    A = "a"


class Shape(enum.Enum):
    SQUARE = (1, 1)


class Version(tuple):
    _fields = ("major", "minor")  # no namedtuple


class Text(str):
    pass


@dataclasses.dataclass
class Run:
    name: str
    best: Point = None
    kind: typing.ClassVar[str] = "run"


class Array:
    """Like NumPy's: plain data by tolist()."""

    def __init__(self, data, nbytes=8):
        self.data, self.nbytes = data, nbytes

    def tolist(self):
        return self.data

    def __repr__(self):
        return "Array()"


class Scalar:
    """Like the scalars of frameworks."""

    def item(self):
        return 2.5


class Tensor:
    """Like TensorFlow's, which has no tolist."""

    def numpy(self):
        return Array([1, 2])


class Itself:
    """Like numpy.longdouble, whose item() is no plain number."""

    def item(self):
        return self

    def __repr__(self):
        return "1.5"


class Endless:
    def tolist(self):
        return [Endless()]

    def __repr__(self):
        return "Endless()"


class Raising:
    """Like a tensor on a device, or a proxy of a library in Rust."""

    def __init__(self, error=RuntimeError("on another\ndevice")):
        self.error = error

    def tolist(self):
        raise self.error

    def __repr__(self):
        return "Raising()"


class Panic(BaseException):
    pass


class NoRepr:
    def __repr__(self):
        raise Panic


def numbers():
    yield 1


def nested(levels, value):
    for _ in range(levels):
        value = [value]
    return value


class Values(unittest.TestCase):
    def check(self, cases, warnings=(), lossy=False):
        for name, (value, want) in cases.items():
            with self.subTest(name):
                self.assertEqual(convert(value), (want.encode("utf-8"), list(warnings), lossy))

    def test_held_by_json(self):
        self.check({
            "null": (None, "null"),
            "booleans": ([True, False], "[true,false]"),
            "unicode": ("né 漢 😀", '"né 漢 😀"'),
            "controls and quotes": ('\x00\n"\\', '"\\u0000\\n\\"\\\\"'),
            "lone surrogate": ("\udc80", '"\\udc80"'),
            "integer": (10**30, "1" + "0" * 30),
            "integer of more digits than int() reads": ([10**5000], "[1" + "0" * 5000 + "]"),
            "floats": ([0.1, -0.0, 1e300], "[0.1,-0.0,1e+300]"),
            "nesting": ({"a": [{"b": []}, {}]}, '{"a":[{"b":[]},{}]}'),
            "tuple": ((1, (2,)), "[1,[2]]"),
            "text of another class": ({Text("k"): Text("v"), Name.A: 1}, '{"k":"v","a":1}'),
            "tuple of another class": (Version((1, 2, 3)), "[1,2,3]"),
            "ordered dict": (collections.OrderedDict(b=1, a=2), '{"b":1,"a":2}'),
            "scalar": (Scalar(), "2.5"),
            "array without dimensions": (Array(7), "7"),
            "one list in two places": ([[1]] * 2, "[[1],[1]]"),
            "as deep as it may be": (nested(199, 1), "[" * 199 + "1" + "]" * 199),
        })

    def test_converted(self):
        day = "2026-04-17"
        self.check({
            "namedtuple": (Point(1, (2,)), '{"x":1,"y":[2]}'),
            "dataclass": (Run("a", Point(1, 2)), '{"name":"a","best":{"x":1,"y":2}}'),
            "enums": ([Level.HIGH, Name.A, Shape.SQUARE], '[3,"a",[1,1]]'),
            "set": ({3, 1, 2}, "[1,2,3]"),
            "frozenset in a set": ({frozenset("ba")}, '[["a","b"]]'),
            "datetime": (datetime.datetime(2026, 4, 17, 15, 30, tzinfo=UTC), f'"{day}T15:30:00+00:00"'),
            "date and time": ([DAY, datetime.time(15, 30)], f'["{day}","15:30:00"]'),
            "timedelta": (datetime.timedelta(minutes=1.5), "90.0"),
            "decimal": (decimal.Decimal("0.10"), '"0.10"'),
            "fraction": (fractions.Fraction(1, 3), '"1/3"'),
            "complex": (1 + 2j, '"(1+2j)"'),
            "uuid": (uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
            "path": (pathlib.PurePosixPath("/data/a"), '"/data/a"'),
            "array": ({"w": Array([[1.0], [2.0]])}, '{"w":[[1.0],[2.0]]}'),
            "array of the standard library": (array.array("d", [1, 2]), "[1.0,2.0]"),
            "array of objects": (Array([Scalar(), DAY]), f'[2.5,"{day}"]'),
            "tensor": (Tensor(), "[1,2]"),
            "structured scalar": (Array((1, "a")), '[1,"a"]'),
            "mapping": (types.MappingProxyType({"a": {1}}), '{"a":[1]}'),
            "views of a dict": ([{"a": 1}.keys(), {"a": 1}.values(), {"a": 1}.items()], '[["a"],[1],[["a",1]]]'),
            "sequences": ([range(2), collections.deque([1]), collections.UserList("a")], '[[0,1],[1],["a"]]'),
        }, lossy=True)

    def test_set_that_cannot_be_sorted(self):
        data, warnings, _ = convert({1, "a", None})
        self.assertEqual((set(json.loads(data)), warnings), ({1, "a", None}, []))

    def test_bytes_are_base64(self):
        for value in (b"\x00\xff", bytearray(b"\x00\xff"), memoryview(b"\x00\xff")):
            self.check({"bytes": ({"raw": value}, '{"raw":"AP8="}')}, ["value.raw is bytes: base64 in JSON"], lossy=True)

    def test_a_date_that_is_none(self):
        """As pandas.NaT, which is a kind of datetime."""

        class Missing(datetime.datetime):
            def isoformat(self):
                return "NaT"

        self.check({"missing": ([Missing(2026, 4, 17)], "[null]")}, ["value[0] is NaN: null in JSON"], lossy=True)

    def test_not_finite(self):
        nan, inf = math.nan, math.inf
        cases = {
            "nan": ({"loss": [1, 2, 3, nan]}, '{"loss":[1,2,3,null]}', "value.loss[3] is NaN: null in JSON"),
            "alone": (nan, "null", "the value is NaN: null in JSON"),
            "two": (
                {"loss": nan, "inf": -inf}, '{"loss":null,"inf":null}', "value.loss is NaN, value.inf is -Infinity: null in JSON",
            ),
            "in an array": (Array([inf]), "[null]", "value[0] is Infinity: null in JSON"),
            "odd member name": ({'a "b': nan}, '{"a \\"b":null}', 'value["a \\"b"] is NaN: null in JSON'),
            "many": (
                [nan] * 1000, json.dumps([None] * 1000, separators=(",", ":")),
                "value[0] is NaN, value[1] is NaN, value[2] is NaN and 997 more: null in JSON",
            ),
        }
        for name, (value, want, warning) in cases.items():
            self.check({name: (value, want)}, [warning], lossy=True)

    def test_keys(self):
        cases = {
            "integer": ({"x": {1: 2}}, '{"x":{"1":2}}', 'value.x has keys that are not strings: in JSON 1 is "1"'),
            "booleans and None": (
                {True: 1, None: 2}, '{"true":1,"null":2}', 'the value has keys that are not strings: in JSON True is "true", None is "null"',
            ),
            "many": (
                {n: 0 for n in range(5)}, '{"0":0,"1":0,"2":0,"3":0,"4":0}',
                'the value has keys that are not strings: in JSON 0 is "0", 1 is "1", 2 is "2" and 2 more',
            ),
            "tuple": ({(1, "a"): 0}, '{"[1,\\"a\\"]":0}', 'the value has keys that are not strings: in JSON (1, \'a\') is "[1,\\"a\\"]"'),
            "date": (
                {DAY: 0}, '{"2026-04-17":0}', 'the value has keys that are not strings: in JSON datetime.date(2026, 4, 17) is "2026-04-17"',
            ),
            "same text, before": (
                {1: "a", "1": "b"}, '{"1 (int)":"a","1":"b"}', 'the value has keys that are not strings: in JSON 1 is "1 (int)"',
            ),
            "same text, after": (
                {"1": "b", "1 (int)": "c", 1: "a"}, '{"1":"b","1 (int)":"c","1 (int) (int)":"a"}',
                'the value has keys that are not strings: in JSON 1 is "1 (int) (int)"',
            ),
            "same text of two types": (
                {None: 1, math.nan: 2}, '{"null":1,"null (float)":2}',
                'the value has keys that are not strings: in JSON None is "null", nan is "null (float)"',
            ),
        }
        for name, (value, want, warning) in cases.items():
            self.check({name: (value, want)}, [warning], lossy=True)

    def test_no_json_form(self):
        loop = []
        loop.append({"again": loop})
        run = Run("a")
        run.best = run
        here = Array.__module__
        cases = {
            "object": ({"model": Run, "loss": 1}, {"model": repr(Run), "loss": 1}, "value.model is of type type, which has no JSON form"),
            "no plain number": ([Itself()], ["1.5"], f"value[0] is of type {here}.Itself, which has no JSON form"),
            "list that contains itself": (loop, [{"again": repr(loop)}], "value[0].again contains itself"),
            "dataclass that contains itself": (
                run, {"name": "a", "best": repr(run)}, "value.best contains itself",
            ),
            "array that raises": (
                [1, Raising()], [1, "Raising()"], f"value[1] is of type {here}.Raising, and converting it raised RuntimeError: on another device",
            ),
            "panic": ([Raising(Panic())], ["Raising()"], f"value[0] is of type {here}.Raising, and converting it raised {here}.Panic"),
            "inside an array that raises": (
                Array([{"x": Raising()}]), [{"x": "Raising()"}],
                f"value[0].x is of type {here}.Raising, and converting it raised RuntimeError: on another device",
            ),
            "array too large": (
                [Array([], nbytes=1 << 30)], ["Array()"], f"value[0] is of type {here}.Array and takes 1.0 GiB, too large for JSON",
            ),
            "repr that raises": ({"x": NoRepr()}, {"x": f"<{here}.NoRepr object>"}, f"value.x is of type {here}.NoRepr, which has no JSON form"),
        }
        for name, (value, want, warning) in cases.items():
            with self.subTest(name):
                data, warnings, lossy = convert(value)
                self.assertEqual((json.loads(data), warnings, lossy), (want, [warning + "; JSON has its repr"], True))

    def test_generators(self):
        async def stream():
            yield 1

        for value, kind in ((numbers(), "generator"), (stream(), "async_generator")):
            data, warnings, lossy = convert(value)
            want = f"the value is of type {kind}, which runs only when it is iterated: return a list instead; JSON has its repr"
            self.assertEqual((json.loads(data), warnings, lossy), (repr(value), [want], True))

    def test_too_deep(self):
        for levels in (200, 300):
            with self.subTest(levels):
                data, warnings, lossy = convert(nested(levels + 1, 1))
                self.assertEqual(json.loads(data), nested(200, repr(nested(levels - 199, 1))))
                self.assertTrue(warnings[0].endswith("\u2026 is nested more than 200 levels deep; JSON has its repr"), warnings)
                self.assertTrue(lossy)

    def test_deeper_than_python_goes(self):
        for name, value in (("lists", nested(100_000, 1)), ("dataclasses", nested_runs(5000)), ("arrays", Endless())):
            with self.subTest(name):
                data, warnings, lossy = convert(value)
                self.assertEqual((len(warnings), lossy), (1, True))
                self.assertIn("; JSON has its repr", warnings[0])
                json.loads(data)

    def test_nesting_as_deep_as_it_may_be_needs_no_higher_recursion_limit(self):
        for name, value in (("dicts", nested_dicts(199)), ("dataclasses", nested_runs(199)), ("arrays", nested_arrays(99))):
            with self.subTest(name):
                self.assertEqual(convert(value).warnings, [])

    def test_long_repr_is_cut(self):
        class Long:
            def __repr__(self):
                return "x" * 30_000

        self.assertEqual(json.loads(convert(Long()).data), "x" * 20_000)

    def test_large_bytes(self):
        with mock.patch.object(values, "MAX_ARRAY_BYTES", 4):
            data, warnings, _ = convert([b"1234", b"12345"])
        self.assertEqual(json.loads(data), [base64.b64encode(b"1234").decode(), "b'12345'"])
        self.assertIn("value[1] is of type bytes and takes 5 B, too large for JSON; JSON has its repr", warnings)

    def test_warnings_are_few(self):
        many = [b""] * 30
        self.assertEqual(convert(many).warnings[-2:], ["value[9] is bytes: base64 in JSON", "and 20 more values like these"])
        self.assertEqual(len(convert(many).warnings), 11)
        mixed = convert(many + [math.nan] * 5).warnings
        self.assertEqual(mixed[0], "value[30] is NaN, value[31] is NaN, value[32] is NaN and 2 more: null in JSON")
        self.assertEqual(mixed[-2:], ["value[8] is bytes: base64 in JSON", "and 21 more values like these"])

    def test_a_conversion_that_fails_half_way_leaves_the_place_right(self):
        value = [Array([[1, Raising()]]), {"a": HalfList("ab")}, b""]
        _, warnings, _ = convert(value)
        self.assertEqual([line.split(" ")[0] for line in warnings], ["value[0][0][1]", "value[1].a", "value[2]"])

    def test_interruptions_get_through(self):
        for error in (KeyboardInterrupt, SystemExit(143)):
            with self.assertRaises((KeyboardInterrupt, SystemExit)):
                convert([Raising(error)])

    def test_digit_limit_is_restored(self):
        if not hasattr(sys, "get_int_max_str_digits"):
            self.skipTest("this Python has no such limit")
        before = sys.get_int_max_str_digits()
        self.addCleanup(sys.set_int_max_str_digits, before)
        sys.set_int_max_str_digits(5000)
        convert([10**6000, Raising()])
        with self.assertRaises(SystemExit):
            convert(Raising(SystemExit()))
        self.assertEqual(sys.get_int_max_str_digits(), 5000)

    def test_imports_nothing_for_types_that_are_not_used(self):
        code = "import sys; from kinetic_runner.child.values import convert; convert([1, b'', {2}]); print(*sys.modules)"
        loaded = subprocess.run([sys.executable, "-S", "-c", code], cwd=RUNNER, check=True, capture_output=True, text=True).stdout.split()
        self.assertEqual(set(loaded) & {"dataclasses", "datetime", "decimal", "fractions", "pathlib", "uuid", "typing"}, set())


class HalfList(list):
    """A list that can be read only in part."""

    def __iter__(self):
        yield self[0]
        raise OSError


def nested_dicts(levels):
    value = 1
    for _ in range(levels):
        value = {"x": value}
    return value


def nested_runs(levels):
    value = 1
    for _ in range(levels):
        value = Run("x", value)
    return value


def nested_arrays(levels):
    value = 1
    for _ in range(levels):
        value = Array([value])
    return value


if __name__ == "__main__":
    unittest.main()
