# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The installed packages that calls on a warm host have imported, noted in a file for the next call. Never modules of the project."""

import importlib.util
import os
import sys
import time
from contextlib import suppress
from importlib.machinery import ModuleSpec
from json import dumps, loads  # by name: a call may put others in their place

from .traces import Traces

DEVICES = ("/dev/nvidia", "/dev/accel", "/dev/vfio")
TASKS = "/proc/self/task"
NOTHING = {"packages": [], "left_out": {}, "directory": ""}
HIDES = "would hide another one of this name"
SECONDS = 120  # for all packages
THREAD_SECONDS = 1.0  # for a thread that has ended for a fork to be gone: the system may list it a little longer


class Imports:
    """The file that names the packages with their modules, which of them are left out, and why, and the directory of the last call.

    A second file names the one that is being imported: it changes often, and a call may write the first one meanwhile.
    """

    def __init__(self, path):
        self._path, self._trying = path, path + ".trying"

    def names(self):
        """Return the modules to import ahead of a call.

        What is left out is so with all that is below it, and beside it in the same package from there on, since that may well need it.
        Else each of those would end load() once.
        """
        noted, found, closed = self._read(), [], set()
        for name in noted["packages"]:
            outer = lineage(name)
            if name in noted["left_out"] and noted["left_out"][name] != HIDES:
                closed.update(outer[-2:-1])
            if noted["left_out"].keys().isdisjoint(outer) and closed.isdisjoint(outer[:-1]):
                found.append(name)
        return found

    @property
    def directory(self):
        """The directory in which the last call ran, "" before any call."""
        return self._read()["directory"]

    @property
    def hiding(self):
        """The packages that are left out since a call has had others of these names."""
        return [name for name, why in self._read()["left_out"].items() if why == HIDES]

    @property
    def loading(self):
        """Whether load() imports packages."""
        return bool(read(self._trying))

    def load(self):
        """Import the packages, in the directory of the last call: some look for files there. Return whether this process can be used.

        It can't after a package that fails, opens a device, starts threads that a fork would lose, or leaves what calls can't share: leave_out() then leaves it out.
        """
        before = os.getcwd()
        with suppress(OSError):
            os.chdir(self.directory or before)
        try:
            return self._load()
        finally:
            os.chdir(before)

    def _load(self):
        traces, hiding = Traces(), self.hiding
        for name in self.names():
            if name in sys.modules:  # as most modules are, once their package has been imported
                continue
            write(self._trying, {"name": name, "why": f"ends Python, or takes more than {SECONDS} seconds"})
            why = why_not(name, traces) or next((brings(other) for other in hiding if other in sys.modules), "")
            if why:
                write(self._trying, {"name": name, "why": why} if is_somewhere() else {})
                return False
        traces.settle()
        write(self._trying, {})
        return True

    def leave_out(self):
        """Leave out the module at which load() has ended, however it has; return whether that is noted."""
        noted, tried = self._read(), read(self._trying)
        if not tried:
            return False
        written = write(self._path, dict(noted, left_out=dict(noted["left_out"], **{tried["name"]: tried["why"]})))
        write(self._trying, {})
        return written

    def untold(self):
        """Return what to tell the user about packages that were left out since this was called last."""
        left_out, path = self._read()["left_out"], self._path + ".told"  # a file of its own: another process may change the first one now
        told = read(path) if left_out else {}
        if left_out.keys() - told.keys():
            write(path, left_out)
        return "".join(f"kinetic: {name} is not imported ahead of calls: its import {why}\n" for name, why in left_out.items() if name not in told)

    def forget(self):
        """Forget all packages."""
        write(self._path, NOTHING)

    def note(self, call, at_start, hidden=()):
        """Note the installed modules that this process has imported for a call, except for what every Python imports when it starts.

        hidden are packages in whose place the call has others. Those of earlier calls are no longer left out if this call has the installed ones.
        """
        noted = self._read()
        known = at_start.union(noted["packages"])
        new = [name for name, module in list(sys.modules.items()) if name not in known and is_package(name, module, call["workspace"])]
        back = [name for name in self.hiding if name not in hidden and is_package(name, sys.modules.get(name), call["workspace"])]
        left_out = {name: why for name, why in noted["left_out"].items() if name not in back and why not in map(brings, back)}
        left_out.update(dict.fromkeys(hidden, HIDES))
        after = dict(noted, packages=noted["packages"] + new, left_out=left_out, directory=call["cwd"])
        if after != noted:
            write(self._path, after)

    def _read(self):
        return dict(NOTHING, **read(self._path))


def brings(name):
    """Return why a module is left out that imports this one, which hides another."""
    return f"brings {name}, which {HIDES}"


def lineage(name):
    """Return the name of a module, after those of the packages that it is in."""
    parts = name.split(".")
    return [".".join(parts[: count + 1]) for count in range(len(parts))]


def why_not(name, traces):
    """Import a module, if it is installed. Return why it can't be imported ahead of calls, "" if it can."""
    try:
        if not is_there(name):
            return ""
        importlib.import_module(name)
        if opened_device():
            return "opens an accelerator"
        if not forkable():
            return "starts threads, which a fork would lose"
        left = traces.left()
        return f"leaves {left}, which calls can't share" if left else ""
    except BaseException as exc:
        return f"fails with {type(exc).__name__}"


def is_there(name):
    """Report whether a module is installed. It may be one that was installed for another call, and so may the package that it is in."""
    with suppress(ModuleNotFoundError):
        return importlib.util.find_spec(name) is not None
    return False


def read(path):
    """Return the object that a file has as JSON, an empty one without the file."""
    try:
        with open(path, encoding="utf-8") as file:
            return loads(file.read())
    except (OSError, ValueError):
        return {}


def write(path, content):
    """Replace a file by one with this JSON. Return whether that could be done: a disk may be full."""
    try:
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(dumps(content))
        os.rename(path + ".new", path)
    except OSError:
        return False
    return True


def is_package(name, module, workspace):
    """Report whether a module was installed, and can be imported by this name."""
    spec = members(module).get("__spec__")
    return isinstance(spec, ModuleSpec) and spec.name == name and is_installed(module) and not is_below(module, workspace)


def members(module):
    """Return the variables of a module by name, without asking the module, which may import something then. Any object can be in its place."""
    try:
        found = object.__getattribute__(module, "__dict__")
    except AttributeError:
        return {}
    return found if isinstance(found, dict) else {}


def is_installed(module):
    """Report whether a module was installed."""
    file = members(module).get("__file__")
    return isinstance(file, str) and is_file_of_package(file)


def is_file_of_package(path):
    """Report whether a file was installed."""
    return any(f"{os.sep}{folder}{os.sep}" in path for folder in ("site-packages", "dist-packages"))


def is_below(module, folder):
    """Report whether a module comes from a folder. A path that is not absolute is one from the working directory, if there is such a file."""
    found = members(module)
    places = [found.get("__file__")]
    with suppress(Exception):  # it may depend on a package that is gone
        places += found.get("__path__", ())
    return any(isinstance(place, str) and (absolute(place) if place[:1] != os.sep else place).startswith(folder + os.sep) for place in places)


def absolute(path):
    """Return the absolute path of a file, "" if there is none."""
    return os.path.abspath(path) if os.path.exists(path) else ""


def is_somewhere():
    """Report whether the working directory is there: a new bundle may lack it."""
    with suppress(OSError):
        return bool(os.getcwd())
    return False


def opened_device():
    """Report whether this process holds an accelerator, which only one process at a time can."""
    for fd in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        with suppress(OSError):
            if os.readlink(f"/proc/self/fd/{fd}").startswith(DEVICES):
                return True
    return False


def forkable():
    """Report whether a fork of this process has all that it needs. Libraries such as OpenBLAS end their threads when a process forks."""
    if threads() == 1:
        return True
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    until = time.monotonic() + THREAD_SECONDS
    while threads() > 1:
        if time.monotonic() >= until:
            return False
        time.sleep(0.005)
    return True


def threads():
    """Return how many threads this process has, of Python and of libraries."""
    return len(os.listdir(TASKS)) if os.path.isdir(TASKS) else 1
