# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pickle exceptions with what they were raised from."""

import builtins
import copyreg
import pickle
import types

from .pickles import first_of, pickler
from .wording import INTERRUPTIONS

EXCEPTION_LIMIT = 64 << 20  # bytes of an exception, which is in memory twice while it is checked
NOT_SET = {"args", "characters_written"}  # set otherwise, or not to be set
DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType)


def save_exception(exc, make_sink):
    """Pickle an exception, with its causes if they can be pickled, too. Return its Sink, or None unless it can be loaded again."""
    for reduce in (with_causes, lambda exc: NotImplemented):
        sink = first_of(lambda name, sink: asking(reduce, pickler(name))(sink, protocol=5).dump(exc), make_sink)
        if sink is None:
            continue
        if sink.size <= EXCEPTION_LIMIT and loads(sink):
            return sink
        sink.discard()
    return None


def loads(sink):
    """Return whether a pickle is one of an exception that can be loaded again."""
    try:
        with sink.open() as file:
            return isinstance(pickle.load(file), BaseException)
    except INTERRUPTIONS:
        raise
    except BaseException:
        return False


def asking(reduce, base):
    """Return a class of picklers that asks reduce about exceptions."""

    class Pickler(base):
        def reducer_override(self, value):
            reduced = reduce(value) if isinstance(value, BaseException) else NotImplemented
            return super().reducer_override(value) if reduced is NotImplemented else reduced

    return Pickler


def with_causes(exc):
    """Return how to pickle an exception with those that it was raised from, or while handling.

    Its pickle has no names of ours: the attributes are set by its own __setstate__.
    """
    if type(exc).__setstate__ is not BaseException.__setstate__:
        return NotImplemented
    reduced = without_init(exc) if has_own_init(type(exc)) else None
    if reduced is None:
        if exc.__cause__ is None and exc.__context__ is None:
            return NotImplemented
        reduced = exc.__reduce_ex__(5)
    if not isinstance(reduced, tuple) or len(reduced) > 3 or not isinstance(reduced[2:] and reduced[2] or {}, dict):
        return NotImplemented
    state = dict(reduced[2:] and reduced[2] or {})
    state.update(__cause__=exc.__cause__, __context__=exc.__context__, __suppress_context__=exc.__suppress_context__)
    return (*reduced[:2], state)


def has_own_init(kind):
    """Return whether a class has an __init__ in Python, and says nothing else about how to make or pickle it."""
    builtin = next(base for base in kind.__mro__ if base.__module__ == "builtins")
    same = all(getattr(kind, name) is getattr(builtin, name) for name in ("__new__", "__reduce__", "__reduce_ex__"))
    group = issubclass(kind, getattr(builtins, "BaseExceptionGroup", ()))  # whose __new__ needs its exceptions
    return same and not group and isinstance(kind.__init__, types.FunctionType)


def without_init(exc):
    """Return how to pickle an exception so that its __init__ is not called: that may take other arguments than are in args."""
    builtin = next(base for base in type(exc).__mro__ if base.__module__ == "builtins")
    fields = {name for base in builtin.__mro__ for name, kind in vars(base).items() if isinstance(kind, DESCRIPTORS) and not name.startswith("_")}
    state = dict(vars(exc), args=exc.args)
    state.update((name, getattr(exc, name)) for name in sorted(fields - NOT_SET) if getattr(exc, name, None) is not None)
    return copyreg.__newobj__, (type(exc),), state
