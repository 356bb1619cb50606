# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A virtual environment: the packages of a job above those of the image."""

import os
import sys

from ..bundle.unpack import empty_directory
from ..environment import venv_bin
from ..process import PYTHON

PYTHON_VERSION = "%d.%d" % sys.version_info[:2]


class Venv:
    """A virtual environment and the paths in it."""

    def __init__(self, path):
        self.path, self.bin = path, venv_bin(path)
        self.site = self._site(path)
        self.headers = os.path.join(path, "include", "site", f"python{PYTHON_VERSION}")
        self.config, self._beneath = os.path.join(path, "pyvenv.cfg"), os.path.join(self.site, "_image.pth")
        self._names = ("python", "python3", f"python{PYTHON_VERSION}")
        self.own = {self.config, self._beneath, *(os.path.join(self.bin, name) for name in self._names)}
        self.shebang = f"#!{self.bin}/python\n"

    def make(self):
        """Make it, without packages, whatever an earlier attempt has left there."""
        empty_directory(self.path)
        os.makedirs(self.site)
        os.makedirs(self.bin)
        python = os.path.realpath(PYTHON)
        for name in self._names:
            os.symlink(python if name == "python" else "python", os.path.join(self.bin, name))
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f"home = {os.path.dirname(python)}\ninclude-system-site-packages = true\nversion = {'%d.%d.%d' % sys.version_info[:3]}\n")
        if sys.prefix != sys.base_prefix:  # the image's python is in a virtual environment, which Python would leave out
            with open(self._beneath, "w", encoding="utf-8") as file:
                file.write(f"import site; site.addsitedir({self._site(sys.prefix)!r})\n")

    @staticmethod
    def _site(prefix):
        return os.path.join(prefix, "lib", f"python{PYTHON_VERSION}", "site-packages")
