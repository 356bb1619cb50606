# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Which modules the job has, because it has the project they are in."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
import types
from collections.abc import Iterator, Mapping, Sequence, Set
from importlib.machinery import ModuleSpec, PathFinder
from typing import NamedTuple, Optional

import cloudpickle

from ..errors import KineticError, NotInstalled, UsageError, VersionMismatch
from . import binaries, process

INSTALLED = ("site-packages", "dist-packages")
OWN = ("kinetic", "kinetic_runner", "cloudpickle")  # the job has these anyway

_registry = threading.RLock()  # cloudpickle has one list of modules for all threads; what is pickled can make a call itself


class Project(NamedTuple):
    """What is packaged with a call.

    Attributes:
        target: the script whose project it is, or None for the project of the working directory.
        entry: the directory that the job's imports begin with.
        main: the path of the script as tracebacks have it, or None.
    """

    target: Optional[str]
    entry: str
    main: Optional[str] = None


def current() -> Project:
    """Return the project of the running script, or of the working directory in a notebook, a REPL or an installed program."""
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    if file and file.endswith(".py") and getattr(main, "__spec__", None) is None and os.path.isfile(file) and not is_installed(file):
        target = os.path.realpath(file)
        return Project(target, os.path.dirname(target), os.path.abspath(file))
    return Project(None, os.path.realpath(os.getcwd()))


def is_installed(file: str) -> bool:
    """Report whether a file belongs to Python itself, to an installed package, or to the virtual environment in use."""
    if any(part in INSTALLED for part in file.split(os.sep)):
        return True
    places = [os.path.dirname(os.__file__)]
    if sys.prefix != sys.base_prefix:
        places.append(sys.prefix)
    return any(is_below(file, place) for place in places)


def is_below(file: str, directory: str) -> bool:
    return file.startswith(directory.rstrip(os.sep) + os.sep)


@contextlib.contextmanager
def travelling(modules: Sequence[types.ModuleType]) -> Iterator[None]:
    """Let what is in modules that the job does not have travel by value. Other threads wait for the end."""
    with _registry:
        known = cloudpickle.list_registry_pickle_by_value()
        modules = [module for module in modules if module.__name__ not in known]
        for module in modules:
            cloudpickle.register_pickle_by_value(module)
        try:
            yield
        finally:
            for module in modules:
                cloudpickle.unregister_pickle_by_value(module)


class Package(NamedTuple):
    """What is packaged.

    Attributes:
        root: the directory whose files are packaged.
        places: directories where the job's imports search, in order.
        sources: the paths of the packaged Python files.
    """

    root: str
    places: Sequence[str]
    sources: Set[str]


def strangers(project: Project, flags: Sequence[str]) -> list[types.ModuleType]:
    """Return the loaded modules that the job can't import by their name.

    Args:
        project: what is packaged.
        flags: the parameters that decide what is packaged, as words of a command line.
    """
    found, places = sources(), search_path(project.entry)
    strange = {name: file for name, file in found.items() if project.target is None or not is_in(places, name, file)}
    if strange:
        package = packaged(project, tuple(flags), frozenset(found.values()))
        if package:
            places = search_path(project.entry, package.root)
            strange = {name: file for name, file in found.items() if not is_in(places, name, file)}
            places += [place for place in package.places if place not in places]
            lost = {top(name) for name in unlike(strange, places)} | {top(name) for name, file in strange.items() if file not in package.sources}
            strange = {name: file for name, file in strange.items() if top(name) in lost}
    return [sys.modules[name] for name in strange]


def sources() -> dict[str, str]:
    """Return the source files of the loaded modules that are nobody's but the user's, by name."""
    found = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not file.endswith(".py") or name == "__main__" or name.partition(".")[0] in OWN:
            continue
        if not is_installed(file) and getattr(module, "__name__", None) == name:
            found[name] = os.path.realpath(file)
    return found


def is_in(places: Sequence[str], name: str, file: str) -> bool:
    """Report whether one of these directories has a module in that file."""
    stem = name.replace(".", os.sep)
    return any(file in (os.path.join(place, stem + ".py"), os.path.join(place, stem, "__init__.py")) for place in places)


def top(name: str) -> str:
    """Return the outermost package of a module."""
    return name.partition(".")[0]


def unlike(modules: Mapping[str, str], places: Sequence[str]) -> list[str]:
    """Return the modules for which an import that searches these directories finds nothing, or another file."""
    known: dict[str, Optional[ModuleSpec]] = {}

    def find(name: str) -> Optional[ModuleSpec]:
        if name not in known:
            above, _, last = name.rpartition(".")
            package = find(above) if above else None
            searched = places if not above else (package and package.submodule_search_locations) or []
            known[name] = PathFinder.find_spec(last, list(searched))
        return known[name]

    return [name for name, file in modules.items() if getattr(find(name), "origin", None) != file]


def search_path(entry: str, root: Optional[str] = None) -> list[str]:
    """Return directories that the job's imports search: the entry, what its package is in, and those of PYTHONPATH below the root."""
    base = entry
    while os.path.isfile(os.path.join(base, "__init__.py")) and os.path.dirname(base) != base:
        base = os.path.dirname(base)
    places = [entry, base]
    if root:
        extra = [os.path.realpath(place) for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
        places += [root, *(place for place in extra if is_below(place, root))]
    return places


def packaged(project: Project, flags: tuple[str, ...], loaded: frozenset[str]) -> Optional[Package]:
    """Return what is packaged, or None if it can't be told; then nothing outside of the entry is relied on.

    Raises:
        NotInstalled, VersionMismatch, UsageError: the binary that submits would fail in the same way.
    """
    try:
        return _ask(project, flags, loaded)
    except (NotInstalled, VersionMismatch):
        raise
    except KineticError as exc:
        if isinstance(exc, UsageError) and (project.target or any(flag.startswith("--package-root") for flag in flags)):
            raise
        return None  # a usage error: the working directory is a home, of which a call without a script needs nothing


@functools.lru_cache(maxsize=8)  # the answer holds as long as the same files are loaded; a failure is not kept
def _ask(project: Project, flags: tuple[str, ...], loaded: frozenset[str]) -> Package:
    words = [*flags, "--local", "--explain", "--output=json"]
    words += [project.target] if project.target else ["--command", "--", "true"]
    bundle = process.ask(binaries.RUN, words)["bundle"]
    root = os.path.realpath(bundle["root"])
    places = [os.path.normpath(os.path.join(root, place)) for place in bundle["sysPath"]]
    files = (file["path"] for file in bundle["files"])
    return Package(root, places, frozenset(os.path.normpath(os.path.join(root, file)) for file in files if file.endswith(".py")))
