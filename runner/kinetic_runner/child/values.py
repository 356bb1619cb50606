# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A value that a function returned, as JSON."""

import binascii
import enum
import errno
import math
import os
import sys
from collections import abc, namedtuple
from json import dumps  # by name: a call may put another one in its place

from .wording import INTERRUPTIONS, listing, message_of, quoted, repr_of, shorten, type_name

MAX_ARRAY_BYTES = 64 << 20  # an array beyond this belongs in a file, not in JSON
MAX_DEPTH = 200  # of nesting; few enough for Python's recursion limit
MAX_WARNINGS = 10
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
MAX_NAMED = 3  # places or keys that one warning names

# Types that have an obvious form in JSON, and how to get it. They are listed by name, so
# that no module is imported unless the call uses it.
FORMS = {
    "complex": lambda value: str(complex(value)),  # NumPy's has a different repr
    "datetime.date": lambda value: value.isoformat(),  # and datetime.datetime
    "datetime.time": lambda value: value.isoformat(),
    "datetime.timedelta": lambda value: value.total_seconds(),
    "decimal.Decimal": str,
    "fractions.Fraction": str,
    "numpy.datetime64": str,  # with nanoseconds, its tolist returns a bare number
    "uuid.UUID": str,
}
ARRAY_METHODS = ("tolist", "item", "numpy")  # of NumPy, JAX and PyTorch; "numpy" of TensorFlow


class Converted(namedtuple("Converted", "data warnings lossy")):
    """A value as JSON in UTF-8, warnings about differences, and whether only a pickle has the exact value."""


class TooLarge(Exception):
    """The JSON of a value is larger than the limit."""


def convert(value, limit=math.inf):
    """Convert any value to JSON. Parts without a JSON form become their repr, with a warning.

    Raise TooLarge as soon as it is clear that the JSON has more than limit bytes.
    """
    converter = Converter(limit)
    digits = remove_digit_limit()
    try:
        data = encode(converter.plain(value))
    finally:
        if digits is not None:
            sys.set_int_max_str_digits(digits)
    if len(data) > limit:
        raise TooLarge
    return Converted(data, converter.warnings(), converter.lossy)


def remove_digit_limit():
    """Allow integers of any length to become text. Return the previous limit, or None in a Python without one."""
    if not hasattr(sys, "set_int_max_str_digits"):
        return None
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    return limit


def encode(data):
    """Return plain data as compact JSON in UTF-8, with lone surrogates as \\u escapes."""
    return dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False).encode("utf-8", "backslashreplace")


class Converter:
    """Turns one value into dicts, lists, strings, numbers, booleans and None."""

    def __init__(self, limit=math.inf):
        self.lossy = False
        self._limit = self._left = limit  # bytes of JSON
        self._path = []  # of the current place: indices and member names
        self._open = set()  # ids of the objects around it
        self._lines, self._more_lines = [], 0
        self._not_finite, self._more_not_finite = [], 0

    def warnings(self):
        """Return at most MAX_WARNINGS sentences, and one that counts the rest."""
        lines, more = list(self._lines), self._more_lines
        if self._not_finite:
            lines.insert(0, listing(self._not_finite, self._more_not_finite) + ": null in JSON")
        more += len(lines[MAX_WARNINGS:])
        return lines[:MAX_WARNINGS] + ([f"and {more} more values like these"] if more else [])

    def plain(self, value):
        """Return the value as plain data, whatever it is."""
        kind = type(value)
        if value is None or kind is str or kind is int or kind is bool:
            self._spend(len(value) if kind is str else 1)
            return value
        if kind is float:
            return self._number(value)
        if id(value) in self._open:
            return self._text(value, "contains itself")
        if len(self._open) >= MAX_DEPTH:
            return self._text(value, f"is nested more than {MAX_DEPTH} levels deep")
        depth = len(self._path)
        self._open.add(id(value))
        try:
            return self._convert(value)
        except (*INTERRUPTIONS, TooLarge):
            raise
        except BaseException as exc:
            del self._path[depth:]
            return self._text(value, f"is of type {type_name(kind)}, and converting it raised {message_of(exc)}")
        finally:
            self._open.discard(id(value))

    def _convert(self, value):
        kind = type(value)
        if isinstance(value, dict):
            return self._members(value)
        if kind is list or kind is tuple:
            return self._items(value)
        if isinstance(value, enum.Enum):
            self.lossy = True
            return self.plain(value.value)
        if isinstance(value, (str, int)):
            self._spend(1)
            return value
        if isinstance(value, float):
            return self._number(value)
        if isinstance(value, (list, tuple)):
            fields = getattr(kind, "_fields", ())
            if fields and len(fields) == len(value):
                self.lossy = True
                return self._members(dict(zip(fields, value)))
            return self._items(value)
        return self._object(value)

    def _object(self, value):
        """Convert a value that is neither a JSON type nor derived from one."""
        kind = type(value)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self._bytes(value)
        for name in map(type_name, kind.__mro__):
            if name in FORMS:
                self.lossy = True
                form = FORMS[name](value)
                return self.plain(math.nan if form == "NaT" else form)
        for method in ARRAY_METHODS:
            if callable(getattr(kind, method, None)):
                return self._array(value, method)
        self.lossy = True
        if hasattr(kind, "__dataclass_fields__"):
            fields = sys.modules["dataclasses"].fields(value)
            return self._members({field.name: getattr(value, field.name) for field in fields})
        if hasattr(kind, "__fspath__"):
            return os.fsdecode(value)
        if isinstance(value, abc.Mapping):
            return self._members(value)
        if isinstance(value, (set, frozenset)):
            return self._items(in_order(value))
        if isinstance(value, (abc.Sequence, abc.Set, abc.ValuesView)):
            return self._items(value)
        if isinstance(value, (abc.Generator, abc.AsyncGenerator)):
            return self._text(value, f"is of type {type_name(kind)}, which runs only when it is iterated: return a list instead")
        return self._text(value, f"is of type {type_name(kind)}, which has no JSON form")

    def _spend(self, size):
        """Count bytes that the JSON has at least. A value costs one more, for what separates it from the next."""
        self._left -= size + 1
        if self._left < -1:
            raise TooLarge

    def _number(self, value):
        self._spend(1)
        if math.isfinite(value):
            return value
        self.lossy = True
        if len(self._not_finite) < MAX_NAMED:
            name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
            self._not_finite.append(f"{self._place()} is {name}")
        else:
            self._more_not_finite += 1
        return None

    def _bytes(self, value):
        self.lossy = True
        size = memoryview(value).nbytes
        self._spend(size)
        if size > MAX_ARRAY_BYTES:
            return self._too_large(value, size)
        self._warn("is bytes: base64 in JSON")
        return binascii.b2a_base64(value, newline=False).decode()

    def _array(self, value, method):
        """Convert an array or scalar of a framework through its own method."""
        size = getattr(value, "nbytes", 0)
        if isinstance(size, int):
            self._spend(size // 16)  # no number has more bytes
            if size > MAX_ARRAY_BYTES:
                return self._too_large(value, size)
        result = getattr(value, method)()
        if type(result) is type(value):
            return self._text(value, f"is of type {type_name(type(value))}, which has no JSON form")
        if not isinstance(result, (str, int, float)):
            self.lossy = True  # JSON has neither the type of an array's elements nor the shape of an empty array
        return self.plain(result)

    def _items(self, values):
        place = len(self._path)
        self._path.append(0)
        self._spend(1)
        result = []
        for number, item in enumerate(values):
            self._path[place] = number
            result.append(self.plain(item))
        self._path.pop()
        return result

    def _members(self, mapping):
        self._spend(1)
        result, other_keys = {}, []
        for key, item in mapping.items():
            if isinstance(key, str):
                name = str.__str__(key)
            else:
                name = key_text(key)
                while name in result or name in mapping:
                    name += f" ({type(key).__name__})"
                other_keys.append(f"{shorten(repr_of(key), 60)} is {shorten(quoted(name), 60)}")
            self._spend(len(name))
            self._path.append(name)
            result[name] = self.plain(item)
            self._path.pop()
        if other_keys:
            self.lossy = True
            self._warn("has keys that are not strings: in JSON " + listing(other_keys[:MAX_NAMED], len(other_keys[MAX_NAMED:])))
        return result

    def _too_large(self, value, size):
        from ..text import readable

        return self._text(value, f"is of type {type_name(type(value))} and takes {readable(size)}, too large for JSON")

    def _text(self, value, problem):
        """Return the repr of a value to stand in for it, with a warning."""
        self.lossy = True
        self._warn(f"{problem}; JSON has its repr")
        return repr_of(value)

    def _warn(self, what):
        if len(self._lines) < MAX_WARNINGS:
            self._lines.append(f"{self._place()} {what}")
        else:
            self._more_lines += 1

    def _place(self):
        """Return the current place in the form value.loss[3]."""
        text = "value" if self._path else "the value"
        for step in self._path:
            if isinstance(step, int):
                text += f"[{step}]"
            else:
                text += f".{step}" if step.isidentifier() else f"[{quoted(step)}]"
        return shorten(text, 200)


def key_text(key):
    """Return the name of a JSON member for a key that is not a string: the key's own JSON."""
    data = Converter().plain(key)
    return data if isinstance(data, str) else encode(data).decode()


def in_order(values):
    """Return the members of a set, sorted if they can be compared."""
    try:
        return sorted(values)
    except Exception:
        return list(values)
