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
from collections.abc import Iterator, Sequence
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


def strangers(project: Project, root_flags: Sequence[str]) -> list[types.ModuleType]:
    """Return the loaded modules that the job can't import by their name.

    Args:
        project: what is packaged.
        root_flags: the parameters that decide what is packaged, as words of a command line.
    """
    found, places = sources(), search_path(project.entry)
    if any(project.target is None or not importable(name, file, places) for name, file in found.items()):
        root = package_root(project, tuple(root_flags))
        if root:
            places = search_path(project.entry, root)
        elif project.target is None:
            places = []  # the working directory is one that is never packaged, such as a home
    return [sys.modules[name] for name, file in found.items() if not importable(name, file, places)]


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


def importable(name: str, file: str, places: Sequence[str]) -> bool:
    """Report whether a search of these directories for the module finds the file."""
    stem = name.replace(".", os.sep)
    return any(file in (os.path.join(place, stem + ".py"), os.path.join(place, stem, "__init__.py")) for place in places)


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


def package_root(project: Project, root_flags: tuple[str, ...]) -> Optional[str]:
    """Return the directory that is packaged, or None if it can't be told; then nothing outside of the entry is relied on.

    Raises:
        NotInstalled, VersionMismatch, UsageError: the binary that submits would fail in the same way.
    """
    try:
        return _asked_root(project, root_flags)
    except (NotInstalled, VersionMismatch):
        raise
    except KineticError as exc:
        if isinstance(exc, UsageError) and (project.target or root_flags):
            raise
        return None  # a usage error without either: the working directory is a home, of which a call without a script needs nothing


@functools.lru_cache(maxsize=None)  # which directory is packaged does not change while a program runs; a failure is not kept
def _asked_root(project: Project, root_flags: tuple[str, ...]) -> str:
    words = [*root_flags, "--local", "--explain", "--output=json"]
    words += [project.target] if project.target else ["--command", "--", "true"]
    root: str = process.ask(binaries.RUN, words)["bundle"]["root"]
    return os.path.realpath(root)
