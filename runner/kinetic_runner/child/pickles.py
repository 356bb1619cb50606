# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pickle values of the user's code to files."""

import importlib
import os
import pickle
import sys
import types

from .values import NO_ROOM
from .wording import INTERRUPTIONS

PICKLERS = ("pickle", "cloudpickle")  # that of the image or of the payload, if there is one


class Plain(pickle.Pickler):
    """Pickles as pickle does, but not by name what only this process has in __main__: functions and classes of the client's script."""

    def reducer_override(self, value):
        """Refuse a function or a class of __main__."""
        if isinstance(value, (type, types.FunctionType)) and value.__module__ == "__main__":
            raise pickle.PicklingError(f"{value.__qualname__} is in __main__")
        return NotImplemented


class Sink:
    """A private file that a pickle is written to."""

    def __init__(self, path):
        self.path = path
        self.problem = None  # why the file could not be written
        self._file = None

    def write(self, data):
        """Add bytes, or a large buffer without a copy."""
        try:
            if self._file is None:
                remove(self.path)
                self._file = create_private(self.path)
            self._file.write(data)
        except OSError as exc:
            self.problem = exc
            raise

    def close(self):
        """Write what is buffered."""
        try:
            if self._file is not None:
                self._file.close()
        except OSError as exc:
            self.problem = exc
            raise

    def discard(self):
        """Remove the file."""
        if self._file is not None:
            try:
                self._file.close()
            except OSError:
                pass
            remove(self.path)


def create_private(path):
    """Create a file, and its directory, which most inputs of a map do not need."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def remove(path):
    try:
        os.unlink(path)
    except OSError:
        pass


def save(value, make_sink, protocol=5):
    """Pickle the value, with cloudpickle if needed. Return the Sink, or None if it can't be pickled.

    Raise OSError if the file can't be written.
    """
    return first_of(lambda name, sink: pickler(name)(sink, protocol=protocol).dump(value), make_sink)


def pickler(name):
    """Return the class of a pickler."""
    if name == "pickle":
        return Plain
    members = vars(sys.modules.get("dataclasses", object)).items()
    unique = {id(value): name for name, value in members if type(value).__module__ == "dataclasses"}  # which it compares by identity

    class Pickler(importlib.import_module(name).CloudPickler):
        def reducer_override(self, value):
            return unique.get(id(value)) or super().reducer_override(value)

    return Pickler


def first_of(dump, make_sink):
    """Return the Sink of the first pickler with which dump works."""
    for name in PICKLERS:
        sink = make_sink()
        try:
            dump(name, sink)
            sink.close()
            return sink
        except BaseException as exc:  # it can't be pickled
            sink.discard()
            if sink.problem or isinstance(exc, INTERRUPTIONS) or isinstance(exc, OSError) and exc.errno in NO_ROOM:
                raise
    return None
