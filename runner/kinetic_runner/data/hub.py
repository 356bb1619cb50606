# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Data sets of Hugging Face, loaded by the package datasets of the job."""

import json
import os
import shutil
import subprocess
import time
import urllib.parse

from ..bundle.unpack import empty_directory
from ..environment import venv_bin
from ..errors import Away, BadData
from ..process import PYTHON

FINAL = 3  # how PROGRAM exits if trying again does not help

# What to load comes as an argument, so that no name is taken for code. Errors are known by
# names: they belong to requests, httpx and others, depending on the version of datasets.
PROGRAM = """
import errno, json, sys, traceback

def causes(exc):
    while exc is not None:
        yield exc
        exc = exc.__cause__ or (None if exc.__suppress_context__ else exc.__context__)

def is_offline(exc):
    return type(exc).__name__ == "OfflineModeIsEnabled"

def status(exc):
    code = getattr(getattr(exc, "response", None), "status_code", None) or getattr(exc, "status", None)
    return code if isinstance(code, int) else 0

def may_pass(exc):
    if status(exc):
        return status(exc) in (408, 425, 429) or status(exc) >= 500
    if isinstance(exc, (ConnectionError, TimeoutError)) or type(exc).__name__ == "LocalEntryNotFoundError":
        return True
    return type(exc).__module__.split(".")[0] in ("requests", "urllib3", "httpx", "httpcore", "aiohttp")

def is_wrong(exc):
    wrong = (FileNotFoundError, PermissionError, ImportError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError)
    return isinstance(exc, wrong) or 400 <= status(exc) < 500 or getattr(exc, "errno", None) in (errno.ENOSPC, errno.EDQUOT)

folder, options = json.loads(sys.argv[1])
try:
    from datasets import load_dataset
    load_dataset(**options).save_to_disk(folder)
except Exception as exc:
    traceback.print_exc()
    chain = list(causes(exc))
    sys.exit(%d if any(map(is_offline, chain)) or not any(map(may_pass, chain)) and any(map(is_wrong, chain)) else 1)
""" % FINAL
PAUSES = (5.0, 20.0, 60.0)  # seconds before further tries
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
        try:
            for pause in PAUSES:
                said = self._load(argv, cache)
                if said is None:
                    return ""
                self._attempt.say(f"cannot load {self._url}: {last_line(said)}: trying again in {pause:.0f} seconds")
                time.sleep(pause)
                empty_directory(folder)
            said = self._load(argv, cache)
        finally:
            shutil.rmtree(cache, ignore_errors=True)
        if said is not None:
            self._attempt.say(said)
            raise Away(f"cannot load {self._url}: {last_line(said)} ({len(PAUSES) + 1} tries): check that the pod can reach the Hub, then submit again")
        return ""

    def _load(self, argv, cache):
        """Run the program. Return None if it succeeded, or what it printed if it may succeed later."""
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=with_caches(os.environ, cache))
        if not done.returncode:
            return None
        said = done.stdout[-TAIL_BYTES:].decode("utf-8", "replace").strip()
        if done.returncode == FINAL:
            raise BadData(f"cannot load {self._url}: {last_line(said)}", said)
        return said or f"{argv[0]} ended with {done.returncode}"

    def _python(self):
        options = self._attempt.options
        return os.path.join(venv_bin(options.venv), "python") if options.environment else PYTHON


def with_caches(environ, folder):
    """Return the environment with all caches in a folder but those that it names already.

    load_dataset's own cache_dir is not enough: downloads go to that of the Hub. HF_HOME stays: a token may be there.
    """
    return {**{name: os.path.join(folder, name.lower()) for name in CACHES}, **environ}


def last_line(text):
    """Return the line of a traceback that has the error."""
    return text.rpartition("\n")[2]
