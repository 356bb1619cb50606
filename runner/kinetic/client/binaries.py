# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds the binaries of Kinetic for kubectl."""

from __future__ import annotations

import os
import shutil
import sys

from .. import __version__
from ..errors import NotInstalled, VersionMismatch
from ..options import Options
from .parameters import flags

DIRECTORY = "KINETIC_BIN"  # names the directory that holds them
PYTHON = "KINETIC_CALLER_PYTHON"  # tells them which Python checks code and runs local jobs
FRONT_DOOR, RUN, JOBS = "kubectl-kinetic", "kubectl-kinetic_run", "kubectl-kinetic_jobs"
UPGRADE = "install a newer version with pip install --upgrade kubectl-kinetic"
INSTALL = "install kubectl-kinetic (https://github.com/kubectl-kinetic/kinetic/blob/main/docs/install.md), or set KINETIC_BIN to the directory that holds it"


def find(name: str) -> str:
    """Return the path of a binary: in KINETIC_BIN, beside this package, or on PATH.

    Raises:
        NotInstalled: there is none.
    """
    chosen = os.environ.get(DIRECTORY)
    beside = os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin")
    places = [chosen] if chosen else [beside, *filter(None, os.environ.get("PATH", os.defpath).split(os.pathsep))]
    for place in places:  # not shutil.which, which on Windows looks into the working directory first
        path = os.path.abspath(os.path.join(place, name + (".exe" if os.name == "nt" else "")))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    where = f"in {chosen}, which KINETIC_BIN names" if chosen else "on PATH"
    advice = "; a job can only submit others if its image has it" if "KINETIC_JOB_ID" in os.environ else ""
    raise NotInstalled(f"{name} is not {where}: {INSTALL}{advice}")


def environment() -> dict[str, str]:
    """Return the environment for a binary: this process's, with the Python that runs it.

    A local job uses that, and other jobs use its version. A program that embeds Python can't be used as one.
    """
    env = {**os.environ, **default_variables()}
    if "py" in os.path.basename(sys.executable or "").lower() and not getattr(sys, "frozen", False):
        env[PYTHON] = sys.executable
    here, found = os.path.dirname(sys.executable or ""), shutil.which("python3")
    if here and (found is None or os.path.dirname(found) != here):
        env["PATH"] = here + os.pathsep + env.get("PATH", os.defpath)
    return env


def default_variables() -> dict[str, str]:
    """Return the environment variables for what configure has set and some jobs ignore: a map and a local job have no warm host."""
    words = flags({name: value for name, value in Options({}).all().items() if name == "keep_warm"})
    return {"KINETIC_KEEP_WARM": word.partition("=")[2] for word in words}


def help_of(name: str) -> str:
    """Return the help of a binary.

    Raises:
        NotInstalled: there is no such binary.
    """
    import subprocess

    return subprocess.run([find(name), "--help"], stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout


def explain_silence(path: str, code: int) -> VersionMismatch:
    """Return the error for a binary that failed and said nothing that this package reads: it is older."""
    import json
    import subprocess

    try:
        words = [os.path.join(os.path.dirname(path), FRONT_DOOR), "version", "--client", "-o", "json"]
        answer = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, timeout=10).stdout
        version = json.loads(answer)["client"]["version"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError):
        version = "of an unknown version"
    name = os.path.basename(path)
    return VersionMismatch(f"{name} ({version}, {path}) ended with exit code {code} and no answer that kinetic {__version__} reads: {INSTALL}")
