# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Variables that the runner adds to the environment of a call. Each function returns those to set."""

import os

from .process import PROGRAM

WORK = "/kinetic"  # for a job's files, unless --work is set
NETRC_VARIABLE = "KINETIC_NETRC"  # credentials for package indexes, for the runner alone

# GKE mounts the driver's libraries and nvidia-smi here. CUDA programs find them through these
# variables. NVIDIA's images set both; images such as python:3.12 set neither.
NVIDIA_DIRECTORIES = (("LD_LIBRARY_PATH", "usr/local/nvidia/lib64", ""), ("PATH", "usr/local/nvidia/bin", os.defpath))
TEMPORARY_DIRECTORIES = ("/tmp", "/var/tmp", "/usr/tmp")  # where programs look by default


def at_start(environ):
    """Return the variables that a process needs at its start: the loader and Python read them only then."""
    return {**gpu_libraries(environ), **python_defaults(environ), **kinetic_package(environ)}


def gpu_libraries(environ, root="/"):
    """Return the search paths of a GPU call, with the driver's directories after the image's."""
    found = {}
    for name, directory, default in NVIDIA_DIRECTORIES:
        directory = os.path.join(root, directory)
        current = environ.get(name) or default
        if os.path.isdir(directory) and directory not in current.split(os.pathsep):
            found[name] = current + os.pathsep + directory if current else directory
    return found


def python_defaults(environ):
    """Return variables that make Python flush its output and print a stack on a crash, also below a --command."""
    return {name: "1" for name in ("PYTHONUNBUFFERED", "PYTHONFAULTHANDLER") if name not in environ}


def kinetic_package(environ):
    """Return PYTHONPATH with the zip of the runner at its end, so that every Python of the job can import kinetic."""
    current = environ.get("PYTHONPATH", "")
    if current.split(os.pathsep)[-1] == PROGRAM:
        return {}
    return {"PYTHONPATH": current + os.pathsep + PROGRAM if current else PROGRAM}


def venv_bin(venv):
    """Return the directory of a virtual environment's programs."""
    return os.path.join(venv, "bin")


def activated(environ, venv):
    """Return what activates a virtual environment."""
    return {"PATH": venv_bin(venv) + os.pathsep + (environ.get("PATH") or os.defpath), "VIRTUAL_ENV": venv}


def temporary_directory(environ, scratch, system=TEMPORARY_DIRECTORIES):
    """Return TMPDIR, a new directory below scratch, if no other is writable: the image's root may be read-only."""
    named = (environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    if any(directory and writable(directory) for directory in (*named, *system)):
        return {}
    directory = os.path.join(scratch, "tmp")
    os.makedirs(directory, mode=0o700, exist_ok=True)
    return {"TMPDIR": directory}


def writable(directory):
    return os.path.isdir(directory) and os.access(directory, os.W_OK | os.X_OK)
