# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The installed packages that calls on a warm host have imported, noted in a file for the next call. Never modules of the project."""

import importlib.util
import json
import os
import sys
import time
from contextlib import suppress

DEVICES = ("/dev/nvidia", "/dev/accel", "/dev/vfio")
TASKS = "/proc/self/task"
NOTHING = {"packages": [], "left_out": {}, "trying": None, "why": "", "directory": ""}
SECONDS = 120  # for all packages
THREAD_SECONDS = 1.0  # for a thread that has ended for a fork to be gone: the system may list it a little longer


class Imports:
    """The file that names the packages, which of them are left out, and why, which one is being imported, and the directory of the last call."""

    def __init__(self, path):
        self._path = path

    def names(self):
        """Return the packages to import ahead of a call."""
        noted = self._read()
        return [name for name in noted["packages"] if name not in noted["left_out"]]

    @property
    def directory(self):
        """The directory in which the last call ran, "" before any call."""
        return self._read()["directory"]

    def load(self):
        """Import the packages, in the directory of the last call: some look for files there. Return whether this process can be used.

        It can't after a package that fails, opens a device, or starts threads that a fork would lose: leave_out() then leaves it out.
        """
        before = os.getcwd()
        with suppress(OSError):
            os.chdir(self.directory or before)
        try:
            return self._load()
        finally:
            os.chdir(before)

    def _load(self):
        for name in self.names():
            self._write(dict(self._read(), trying=name, why=f"ends Python, or takes more than {SECONDS} seconds"))
            try:
                if importlib.util.find_spec(name) is None:  # it was installed for another call
                    continue
                importlib.import_module(name)
                why = "opens an accelerator" if opened_device() else "" if forkable() else "starts threads, which a fork would lose"
            except BaseException as exc:
                why = f"fails with {type(exc).__name__}"
            if why:
                self._write(dict(self._read(), why=why) if is_somewhere() else dict(self._read(), trying=None))
                return False
        self._write(dict(self._read(), trying=None))
        return True

    def leave_out(self):
        """Leave out the package at which load() has ended, however it has; return whether there is one."""
        noted = self._read()
        if noted["trying"] is None:
            return False
        self._write(dict(noted, trying=None, left_out=dict(noted["left_out"], **{noted["trying"]: noted["why"]})))
        return True

    def untold(self):
        """Return what to tell the user about packages that were left out since this was called last."""
        left_out, path = self._read()["left_out"], self._path + ".told"  # a file of its own: another process may change the first one now
        told = read(path) if left_out else {}
        if left_out.keys() - told.keys():
            write(path, left_out)
        return "".join(f"kinetic: {name} is not imported ahead of calls: its import {why}\n" for name, why in left_out.items() if name not in told)

    def forget(self):
        """Forget all packages."""
        self._write(dict(NOTHING))

    def note(self, call, at_start):
        """Note the packages that this process has imported for a call, except for what every Python imports when it starts."""
        noted, workspace = self._read(), call["workspace"]
        found = [name for name, module in list(sys.modules.items()) if name not in at_start and is_package(name, module, workspace)]
        new = [name for name in found if name not in noted["packages"]]
        self._write(dict(noted, packages=noted["packages"] + new, directory=call["cwd"]))

    def _read(self):
        return dict(NOTHING, **read(self._path))

    def _write(self, noted):
        write(self._path, noted)


def read(path):
    """Return the object that a file has as JSON, an empty one without the file."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def write(path, content):
    """Replace a file by one with this JSON."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(content, file)
    os.rename(path + ".new", path)


def is_package(name, module, workspace):
    """Report whether a module is a package, or a module of its own, that was installed."""
    return "." not in name and is_installed(module) and not is_below(module, workspace)


def is_installed(module):
    """Report whether a module was installed."""
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and is_file_of_package(file)


def is_file_of_package(path):
    """Report whether a file was installed."""
    return any(f"{os.sep}{folder}{os.sep}" in path for folder in ("site-packages", "dist-packages"))


def is_below(module, folder):
    """Report whether a module comes from a folder."""
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    return any(isinstance(place, str) and place.startswith(folder + os.sep) for place in places)


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
