# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Data sets of Hugging Face, loaded by the package datasets of the job."""

import json
import os
import shutil
import subprocess
import urllib.parse

from ..environment import venv_bin
from ..errors import BadData
from ..process import PYTHON

# What to load comes as an argument, so that no name is taken for code.
PROGRAM = """
import json, sys
from datasets import load_dataset
folder, options = json.loads(sys.argv[1])
load_dataset(**options).save_to_disk(folder)
"""
CACHES = ("HF_HUB_CACHE", "HF_DATASETS_CACHE", "HF_MODULES_CACHE", "HF_XET_CACHE")  # variables, each with a directory below HF_HOME by default
TAIL_BYTES = 4 << 10  # of what the program printed, in the log


class Hub:
    """A data set of the Hub. Its size is not known before it is loaded."""

    size = 0

    def __init__(self, attempt, url):
        self._attempt, self._url = attempt, url

    def look(self):
        """Check that the job has the package that loads it."""
        if subprocess.run([self._python(), "-c", "import datasets"], stdin=subprocess.DEVNULL, capture_output=True).returncode:
            raise BadData(f"{self._url} needs the Python package datasets: add it to the project's requirements, and submit the job again")

    def copy(self, folder, _):
        """Load it, and save it as load_from_disk reads it."""
        parts = urllib.parse.urlsplit(self._url)
        query = dict(urllib.parse.parse_qsl(parts.query))
        options = {"path": parts.netloc + parts.path, "name": query.pop("config_name", None), **query}
        argv = [self._python(), "-c", PROGRAM, json.dumps([folder, options])]
        cache = os.path.join(self._attempt.scratch, "datasets")
        environ = with_caches(os.environ, cache)
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environ)
        finally:
            shutil.rmtree(cache, ignore_errors=True)
        if done.returncode:
            said = done.stdout[-TAIL_BYTES:].decode("utf-8", "replace").strip()
            raise BadData(f"cannot load {self._url}: {said.rpartition(chr(10))[2]}", said)
        return ""

    def _python(self):
        options = self._attempt.options
        return os.path.join(venv_bin(options.venv), "python") if options.environment else PYTHON


def with_caches(environ, folder):
    """Return the environment with all caches in a folder but those that it names already.

    load_dataset's own cache_dir is not enough: downloads go to that of the Hub. HF_HOME stays: a token may be there.
    """
    return {**{name: os.path.join(folder, name.lower()) for name in CACHES}, **environ}
