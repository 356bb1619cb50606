# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Variables that packages set, change or remove when they are imported: a call in which they are imported already has them, too."""

import os
import sys

from .imports import is_file_of_package


class Variables:
    """What imports change in os.environ, from when this is made until settle().

    The rule: a call gets what an import has made of a variable if the call begins with what that import has found, or has not found. If the
    call sets it otherwise, that stays: as with os.environ.setdefault(), which most packages use.
    """

    def __init__(self):
        self._before, self._changed, self._put = dict(os.environ), {}, set()  # the last: what calls have put beside os.environ

    def settle(self):
        """All packages are imported: note what they have changed."""
        before, now = self._before, dict(os.environ)
        self._changed = {name: (before.get(name), now.get(name)) for name in before.keys() | now.keys() if before.get(name) != now.get(name)}

    def watch(self):
        """Note what packages change when calls import them in this process, from now on. os.environ tells of each change by these functions."""
        kind = type(os.environ)
        os.putenv = self._noting(os.putenv, kind.__setitem__.__code__)
        os.unsetenv = self._noting(os.unsetenv, kind.__delitem__.__code__)

    def _noting(self, change, code):
        def noting(name, *value):
            frame, key = sys._getframe(1), os.fsdecode(name)
            if frame.f_code is not code and value:
                self._put.add(key)
            elif frame.f_code is code and is_import(frame):
                before, _ = self._changed.get(key, (os.environ.get(key), None))
                self._changed[key] = before, os.fsdecode(value[0]) if value else None
            change(name, *value)

        return noting

    def apply(self):
        """Change the variables of a call, which are those of os.environ only."""
        while self._put:
            if (name := self._put.pop()) not in os.environ:
                os.unsetenv(name)
        for name, (before, now) in self._changed.items():
            if os.environ.get(name) == before:
                if now is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = now


def is_import(frame):
    """Report whether a package is being imported, rather than a module of the project: the innermost module whose code runs is installed."""
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return frame is not None and is_file_of_package(frame.f_code.co_filename)
