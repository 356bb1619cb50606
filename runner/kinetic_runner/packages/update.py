# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The next packages in an environment that still has the last ones: only what differs is removed and installed.

An environment in which a call has installed or removed something itself is made again.
"""

import json
import os
from contextlib import suppress

CACHE = "__pycache__"


class Memory:
    """What is installed in a virtual environment, noted beside it."""

    def __init__(self, venv):
        self._venv, self._path = venv, venv.path + ".installed"
        self._files = {}  # of each wheel that is installed, by its hash
        self.is_whole = False  # once recall() has found that nothing was changed
        self._resolved = {}  # lists of wheels, by the hash of the requirements

    def recall(self):
        """Read the note, if it is still true."""
        try:
            with open(self._path, encoding="utf-8") as file:
                noted = json.load(file)
            if noted["seal"] == self._seal():
                self._files, self._resolved, self.is_whole = noted["files"], noted["resolved"], True
        except (OSError, ValueError, KeyError, TypeError):
            pass
        return self

    def resolved(self, environment):
        """Return the list of wheels that requirements with this hash resulted in here, or None."""
        return self._resolved.get(environment)

    def make_room(self, wheels):
        """Remove what is not one of these wheels, and return those that are yet to be installed."""
        with suppress(FileNotFoundError):
            os.unlink(self._path)  # until the environment is whole again
        wanted = {wheel.sha256 for wheel in wheels}
        gone = {name for sha256 in self._files.keys() - wanted for name in self._files[sha256]}
        stay = {name for sha256 in self._files.keys() & wanted for name in self._files[sha256]}
        if not self._files or gone & stay:
            self._files = {}
            self._venv.make()
        for sha256 in self._files.keys() - wanted:
            for name in self._files.pop(sha256):
                remove(self._venv.site, os.path.join(self._venv.site, name))
        return [wheel for wheel in wheels if wheel.sha256 not in self._files]

    def note(self, files, environment, document):
        """Note the files that were installed, by wheel, and the list of wheels that requirements resulted in, or None."""
        os.makedirs(os.path.join(self._venv.site, CACHE), exist_ok=True)  # Python may make it later
        self._files.update(files)
        if document is not None:
            self._resolved[environment] = document
        with open(self._path, "w", encoding="utf-8") as file:
            json.dump({"seal": self._seal(), "files": self._files, "resolved": self._resolved}, file)

    def check(self):
        """Report whether the environment is whole, also each file in it. Else remove the note, so that it is made again."""
        if self.is_whole and self._is_changed():
            self.is_whole = False
            os.unlink(self._path)
        return self.is_whole

    def _is_changed(self):
        """Report whether a file was changed or removed since the note, other than byte code, which Python writes."""
        noted, site = os.stat(self._path).st_ctime_ns, self._venv.site
        names = (name for names in self._files.values() for name in names if not name.endswith(".pyc"))
        try:
            return any(os.stat(os.path.join(site, name)).st_ctime_ns > noted for name in names)
        except OSError:
            return True

    def _seal(self):
        """Return what changes when a package is installed or removed."""
        return [os.stat(folder).st_ctime_ns for folder in (self._venv.site, self._venv.bin)]


def remove(site, path):
    """Remove a file, its byte code, and the folders of the environment that are empty then."""
    folder, name = os.path.split(path)
    stem, cache = name.rpartition(".")[0] + ".", os.path.join(folder, CACHE)
    codes = [os.path.join(cache, code) for code in os.listdir(cache) if code.startswith(stem)] if os.path.isdir(cache) else []
    for each in (path, *codes):
        with suppress(FileNotFoundError):
            os.unlink(each)
    while os.path.normpath(folder).startswith(site + os.sep):
        try:
            if os.listdir(folder) == [CACHE]:
                os.rmdir(os.path.join(folder, CACHE))
            os.rmdir(folder)
        except OSError:
            return
        folder = os.path.dirname(folder)
