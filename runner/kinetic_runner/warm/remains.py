# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Code of the project that packages still use once the modules of a call are forgotten: the next call would run it, changed or not.

Looked at are the variables of modules, of their classes, functions and objects, and what is in a list, a set or a dict there, some steps
deep. A class in one of these, or what a dict has for such a class, does not count: many packages note all classes of a kind, which the
next call makes anew.
"""

import sys
import weakref
from collections import deque
from contextlib import suppress
from functools import lru_cache, partial
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType

from .imports import is_installed, members
from .libraries import loggers

MARK = "__kinetic_mark__"
MOST_PARTS = 1000  # of a list or a dict
DEPTH = 3  # of a list in an object in a dict
WRAPS = {MethodType: "__func__", staticmethod: "__func__", classmethod: "__func__", property: "fget", partial: "func", type(lru_cache(len)): "__wrapped__"}
LISTS, NAMED = (list, tuple, set, frozenset, deque), (type, ModuleType)
PLAIN = frozenset((str, bytes, int, float, bool, type(None), BuiltinFunctionType))


class Mark:
    """One is among the variables of each module. It is there as long as a function of the module is."""


class Remains:
    """What is left of modules that are forgotten."""

    def __init__(self):
        self._names, self._seen, self._looked, self._marks = set(), set(), {}, []

    def forget(self, name):
        """Forget a module, also in the package that it is in. Return its variables."""
        module = sys.modules.pop(name)
        parent, _, leaf = name.rpartition(".")
        outer = members(sys.modules.get(parent))
        if outer.get(leaf) is module:
            del outer[leaf]
        variables = members(module)
        if name != "__main__":
            self._names.add(name)
        for value in [value for value in variables.values() if issubclass(type(value), type) and value.__module__ == name]:
            self._marks.append(weakref.ref(value))
        mark = variables[MARK] = Mark()
        self._marks.append(weakref.ref(mark))
        return variables

    def found(self):
        """Return why the next call would find old code, "" if it would not."""
        modules = [(name, module) for name, module in list(sys.modules.items()) if name != "__main__"]
        for name, module in modules:
            if name.rpartition(".")[0] in self._names:
                if is_installed(module):
                    return f"the module {name} is installed, and in a package of the project"
                sys.modules.pop(name, None)  # it has no file
        if any(mark() is not None for mark in self._marks):
            for name, module in modules:
                if what := self._in(members(module), 2):
                    return f"{name}.{what} is of the project"
            for name, logger in loggers():
                if what := self._in({key: vars(logger)[key] for key in ("handlers", "filters")}, 0):
                    return f"logging.getLogger({name!r}).{what} is of the project"
        return ""

    def _in(self, variables, depth):
        """Return the name of the first variable that has code of the project, "" if none has. depth: how far to look into classes."""
        for name, value in list(variables.items()):
            kind = type(value)
            if kind in PLAIN:
                continue
            if self._leads(value, DEPTH):
                return name
            if depth and issubclass(kind, (type, FunctionType)) and id(value) not in self._seen:
                self._seen.add(id(value))
                if what := self._in(type.__getattribute__(value, "__dict__") if issubclass(kind, type) else vars(value), depth - 1):
                    return f"{name}.{what}"
        return ""

    def _leads(self, value, depth):
        """Report whether a value is of the project, or has such a part."""
        if self._is_ours(value):
            return True
        if self._looked.get(id(value), 0) >= depth:
            return False
        self._looked[id(value)] = depth
        return any(type(part) not in PLAIN and self._leads(part, depth - 1) for part in self._parts(value))

    def _is_ours(self, value):
        while type(value) in WRAPS:
            value = getattr(value, WRAPS[type(value)], None)
        kind, name = type(value), None
        if issubclass(kind, ModuleType):
            name = members(value).get("__name__")
        elif issubclass(kind, FunctionType):
            name = value.__module__
        else:
            with suppress(AttributeError):  # a class in C may lack it; its metaclass is not asked
                name = type.__getattribute__(value if issubclass(kind, type) else kind, "__module__")
        return isinstance(name, str) and name in self._names

    def _parts(self, value):
        """Yield what counts of a container. Its own methods are not asked: they may import something."""
        kind = type(value)
        if issubclass(kind, (dict, MappingProxyType)):
            for key, part in list(islice((dict if issubclass(kind, dict) else kind).items(value), MOST_PARTS)):
                if not issubclass(type(part), NAMED) and not (issubclass(type(key), type) and self._is_ours(key)):
                    yield part
        elif kind.__dictoffset__ and not issubclass(kind, (*NAMED, FunctionType)):
            with suppress(Exception):  # a class may have an attribute of its own there
                yield from list(islice(object.__getattribute__(value, "__dict__").values(), MOST_PARTS))
        base = next((base for base in LISTS if issubclass(kind, base)), None)
        for part in list(islice(base.__iter__(value), MOST_PARTS)) if base else ():
            if not issubclass(type(part), NAMED):
                yield part
