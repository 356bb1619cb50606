# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Packages that are loaded when a call begins, and that the call finds elsewhere once it has changed sys.path.

Such a package is forgotten, unless the call has imported it before, so that the call imports its own. A package that was loaded
with one of these can't be imported again, since libraries in C may not allow that: the call is told, and the next one imports it itself.
"""

import os
import sys
from contextlib import suppress
from importlib.machinery import PathFinder
from types import BuiltinFunctionType, FunctionType, ModuleType

from .imports import is_installed, lineage, members


class Path(list):
    """sys.path, which tells which entries have come."""

    on_new = None

    def note(self, before):
        """Tell of entries that have come."""
        if self.on_new is not None and (new := [entry for entry in self if isinstance(entry, str) and entry not in before]):
            with suppress(Exception):  # the call goes on as it would without this
                self.on_new(new)

    def __reduce_ex__(self, protocol):
        return list, (list(self),)


def telling(name):
    """Return a method of lists that also notes what has changed."""
    method = getattr(list, name)

    def change(self, *args, **more):
        before = list(self)
        try:
            return method(self, *args, **more)
        finally:
            self.note(before)

    return change


for _name in ("append", "extend", "insert", "__setitem__", "__iadd__"):
    setattr(Path, _name, telling(_name))


class Shadows:
    """What a call finds elsewhere. sys.path is a Path. tell is called with lines for its log."""

    def __init__(self, tell):
        self._tell, self._ahead = tell, frozenset(sys.modules)
        self._path, self._before = sys.path, list(sys.path)
        self.found, self._judged = set(), set()
        self._path.on_new = self._look

    def settle(self):
        """The call has ended. If it has put another list in place of sys.path, or written packages there, only now is seen what that hides."""
        self._path.on_new = None
        with suppress(Exception):
            for name in self._hidden(entry for entry in sys.path if entry not in self._before)[0] - self._judged:
                self.found.add(name)
                self._tell(f"kinetic: this call may have used the package {name} that was loaded before it, not the one that its sys.path has: run it again\n")

    def _look(self, entries):
        """Forget what new entries hide."""
        hidden, units = self._hidden(entries)
        if not hidden:
            return
        links = {unit: set() for unit in units}
        for name, module in list(sys.modules.items()):
            if (unit := unit_of(name, units)) is not None:
                links[unit] |= mentioned(members(module), units)
        used = reachable(links, self._mentioned_by_call(units))
        self._judged |= hidden
        hidden -= used  # it has imported these before, and would not find others now
        self.found |= hidden
        for unit in sorted(units.keys() - used - hidden):
            if other := min(hidden & reachable(links, {unit}), default=""):
                self._tell(f"kinetic: {unit} was loaded before this call, with the installed {other}: the next call imports it itself\n")
        for name in hidden:
            forget(name)

    def _hidden(self, entries):
        """Return those packages in whose place the path of imports has others now, for these new entries, and all packages by name."""
        tops, cached, found = {name.partition(".")[0] for name in self._ahead}, set(sys.path_importer_cache), set()
        names = set().union(*(tops & names_below(entry) if os.path.isdir(entry or ".") else tops for entry in entries if os.path.exists(entry or ".")))
        units = self._units() if names else {}
        for name in (name for name in units if name.partition(".")[0] in names):
            parent = name.rpartition(".")[0]
            spec = PathFinder.find_spec(name, members(sys.modules[parent])["__path__"] if parent else None)
            if spec is not None and spec.has_location and os.path.realpath(spec.origin) != os.path.realpath(members(units[name])["__file__"]):
                found.add(name)
        for entry in sys.path_importer_cache.keys() - cached:
            del sys.path_importer_cache[entry]  # the call may still write files there
        return found, units

    def _units(self):
        """Return the installed packages that were loaded before the call, and modules that are not in one: what sys.path may hide."""
        loaded = {name: sys.modules[name] for name in self._ahead if name in sys.modules}
        return {name: module for name, module in loaded.items() if is_installed(module) and not any(is_installed(loaded.get(outer)) for outer in lineage(name)[:-1])}

    def _mentioned_by_call(self, units):
        """Return the packages that the call has imported, as far as its modules and the functions that run now tell."""
        found, frame = set(), sys._getframe()
        for name, module in list(sys.modules.items()):
            if name not in self._ahead or name == "__main__":
                found |= mentioned(members(module), units)
        while frame is not None:
            if frame.f_globals.get("__name__") not in self._ahead - {"__main__"}:
                found |= mentioned(frame.f_globals, units) | mentioned(frame.f_locals, units)
            frame = frame.f_back
        return found


def names_below(folder):
    """Return the names of the modules that a folder may have."""
    return {name.partition(".")[0] for name in os.listdir(folder or ".")}


def mentioned(variables, units):
    """Return the packages of modules, classes, functions and objects that are the values of variables."""
    found = set()
    for value in list(variables.values()):
        kind = type(value)
        if issubclass(kind, ModuleType):
            name = members(value).get("__name__")
        else:
            name = getattr(value if issubclass(kind, (type, FunctionType, BuiltinFunctionType)) else kind, "__module__", None)
        if isinstance(name, str) and (unit := unit_of(name, units)) is not None:
            found.add(unit)
    return found


def unit_of(name, units):
    """Return the package that a module is in, None if it is of Python or of the project."""
    return next((outer for outer in lineage(name) if outer in units), None)


def reachable(links, names):
    """Return what links lead to from these names, with the names."""
    found, left = set(), set(names)
    while left:
        found |= left
        left = {link for name in left for link in links[name]} - found
    return found


def forget(name):
    """Let a package be imported anew."""
    for loaded in list(sys.modules):
        if loaded == name or loaded.startswith(name + "."):
            del sys.modules[loaded]
    parent, _, leaf = name.rpartition(".")
    if parent:
        members(sys.modules[parent]).pop(leaf, None)
