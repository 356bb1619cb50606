# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Import what the last call on a warm host imported, before the next one comes. Never the project's own modules."""

import importlib
import json
import os
import sys

DEVICES = ("/dev/nvidia", "/dev/accel", "/dev/vfio")


class Preload:
    """The file in which calls note the packages that they have imported, for the next one."""

    def __init__(self, path):
        self._path = path

    def run(self):
        """Import the packages of the last call. A process that cannot be used then ends, and leaves a package out the next time."""
        noted = self._read()
        for name in noted["packages"]:
            if name in noted["left_out"]:
                continue
            try:
                importlib.import_module(name)
            except Exception:
                self._leave_out(noted, name)
            if opened_device():
                self._leave_out(noted, name)

    def note(self, workspace):
        """Note the packages that this process has imported from outside the workspace and the standard library."""
        packages = [name for name, module in list(sys.modules.items()) if is_package(name, module, workspace)]
        noted = self._read()
        self._write(dict(noted, packages=packages))

    def _leave_out(self, noted, name):
        noted["left_out"].append(name)
        self._write(noted)
        os._exit(0)  # an import can't be undone

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
    file = getattr(module, "__file__", None)
    if "." in name or not isinstance(file, str) or file.startswith(workspace + os.sep):
        return False
    return f"{os.sep}site-packages{os.sep}" in file or f"{os.sep}dist-packages{os.sep}" in file


def opened_device():
    """Report whether this process holds an accelerator, which only one process at a time can."""
    for fd in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        try:
            if os.readlink(f"/proc/self/fd/{fd}").startswith(DEVICES):
                return True
        except OSError:
            pass
    return False
