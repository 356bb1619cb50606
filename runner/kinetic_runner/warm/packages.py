# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The installed packages that calls on a warm host import, noted in a file for the next call. Never modules of the project."""

import importlib
import json
import os
import sys
from contextlib import suppress

DEVICES = ("/dev/nvidia", "/dev/accel", "/dev/vfio")
TASKS = "/proc/self/task"


class LeftOut(Exception):
    """A package was noted as one that can't be imported ahead. This process has done so, and can't be used."""


class Packages:
    """The file that names the packages."""

    def __init__(self, path):
        self._path = path

    def names(self):
        """Return the packages to import ahead of a call."""
        noted = self._read()
        return [name for name in noted["packages"] if name not in noted["left_out"]]

    def load(self):
        """Import the packages. Raise LeftOut after one that opens a device, or starts threads that a fork would lose."""
        for name in self.names():
            try:
                importlib.import_module(name)
                fit = not opened_device() and forkable()
            except Exception:
                fit = False
            if not fit:
                noted = self._read()
                self._write(dict(noted, left_out=[*noted["left_out"], name]))
                raise LeftOut(name)

    def note(self, workspace):
        """Note the packages that this process has imported."""
        noted = self._read()
        found = [name for name, module in list(sys.modules.items()) if is_package(name, module, workspace)]
        self._write(dict(noted, packages=noted["packages"] + [name for name in found if name not in noted["packages"]]))

    def _read(self):
        try:
            with open(self._path, encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError):
            return {"packages": [], "left_out": []}

    def _write(self, noted):
        with open(self._path + ".new", "w", encoding="utf-8") as file:
            json.dump(noted, file)
        os.rename(self._path + ".new", self._path)


def is_package(name, module, workspace):
    """Report whether a module is a package, or a module of its own, that was installed."""
    return "." not in name and is_installed(module) and not is_below(module, workspace)


def is_installed(module):
    """Report whether a module was installed."""
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and any(f"{os.sep}{folder}{os.sep}" in file for folder in ("site-packages", "dist-packages"))


def is_below(module, folder):
    """Report whether a module comes from a folder."""
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    return any(isinstance(place, str) and place.startswith(folder + os.sep) for place in places)


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
    return threads() == 1


def threads():
    """Return how many threads this process has, of Python and of libraries."""
    return len(os.listdir(TASKS)) if os.path.isdir(TASKS) else 1
