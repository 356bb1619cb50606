# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Variables that the runner adds to the environment of a call. Each function returns those to set."""

import os

from .contract import NAMES
from .process import PROGRAM, PYTHON

WORK = "/kinetic"  # for a job's files, unless --work is set
NETRC_VARIABLE = NAMES["netrc"]  # credentials for package indexes, for the runner alone
# Variables of the runner that no call gets: one that runs a job would take itself for one of the hosts.
OF_RUNNER = (NETRC_VARIABLE, NAMES["group_key"], NAMES["warm_key"], "KINETIC_LEADER")

# GKE mounts the driver's libraries and nvidia-smi here. CUDA programs find them through these
# variables. NVIDIA's images set both; images such as python:3.12 set neither.
NVIDIA_DIRECTORIES = (("LD_LIBRARY_PATH", "usr/local/nvidia/lib64", ""), ("PATH", "usr/local/nvidia/bin", os.defpath))
# What KINETIC_NETWORK stands for: the directory of NCCL's plugin on the node, and the script with its variables. They are those
# of github.com/GoogleCloudPlatform/container-engine-accelerators (gpudirect-rdma/nccl-test.yaml, gpudirect-tcpxo/README.md).
NETWORKS = {
    "rdma": ("usr/local/gib/lib64", "usr/local/gib/scripts/set_nccl_env.sh"),
    "tcpxo": ("usr/local/nvidia/lib64", "usr/local/nvidia/lib64/nccl-env-profile.sh"),
}
CACHE = "cache"  # the directory KINETIC_CACHE_DIR of a pod, below --work
CACHES = {"JAX_COMPILATION_CACHE_DIR": "jax", "TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton"}  # folders of the cache
SCRIPT_SECONDS = 30  # the script asks the driver and the metadata server which machine this is
# Sources the script, and prints all variables that processes started there would have.
SOURCE = '. "$1" >&2; exec "$0" -IS -c "import os, sys; sys.stdout.buffer.write(b\'\\0\'.join(b\'=\'.join(v) for v in os.environb.items()))"'
SHELL_VARIABLES = ("_", "PWD", "OLDPWD", "SHLVL", "LC_CTYPE")  # that the shell and Python themselves set
TEMPORARY_DIRECTORIES = ("/tmp", "/var/tmp", "/usr/tmp")  # where programs look by default


def at_start(environ, say=None):
    """Return the variables that a process needs at its start: the loader and Python read them only then."""
    return {**nccl_variables(environ, say), **gpu_libraries(environ), **python_defaults(environ), **kinetic_package(environ)}


def gpu_libraries(environ, root="/"):
    """Return the search paths of a GPU call, with the driver's directories after the image's."""
    found = {}
    plugin, _ = NETWORKS.get(environ.get("KINETIC_NETWORK"), ("", ""))
    for name, directory, default in NVIDIA_DIRECTORIES + ((("LD_LIBRARY_PATH", plugin, ""),) if plugin else ()):
        directory = os.path.join(root, directory)
        current = found.get(name) or environ.get(name) or default
        if os.path.isdir(directory) and directory not in current.split(os.pathsep):
            found[name] = current + os.pathsep + directory if current else directory
    return found


def nccl_variables(environ, say=None, root="/"):
    """Return the variables with which NCCL uses the network of the GPUs. Those that are set already are left as they are."""
    network = environ.get("KINETIC_NETWORK")
    if network not in NETWORKS:
        return {}
    import shutil
    import subprocess

    script = os.path.join(root, NETWORKS[network][1])
    shell = shutil.which("bash", path=environ.get("PATH")) or "/bin/sh"
    why = "it is not on this node; an administrator of the cluster installs NCCL's plugin"
    if os.path.isfile(script):
        try:
            argv = [shell, "-c", SOURCE, PYTHON, script]
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, env=environ, cwd="/", timeout=SCRIPT_SECONDS)
            if done.returncode == 0:
                pairs = (os.fsdecode(line).partition("=") for line in done.stdout.split(b"\0"))
                return {name: value for name, _, value in pairs if name not in environ and name not in SHELL_VARIABLES}
            why = f"it ended with code {done.returncode}: {os.fsdecode(done.stderr[-200:]).strip()}"
        except (OSError, subprocess.SubprocessError) as exc:
            why = str(exc)
    if say:
        say(f"NCCL may use plain TCP, because {script} can't be used: {why}")
    return {}


def python_defaults(environ):
    """Return variables that make Python flush its output and print a stack on a crash, also below a --command."""
    return {name: "1" for name in ("PYTHONUNBUFFERED", "PYTHONFAULTHANDLER") if name not in environ}


def kinetic_package(environ):
    """Return PYTHONPATH with the runner at its end, so that every Python of the job can import kinetic."""
    current = environ.get("PYTHONPATH", "")
    if current.split(os.pathsep)[-1] == PROGRAM:
        return {}
    return {"PYTHONPATH": current + os.pathsep + PROGRAM if current else PROGRAM}


def cache_variables(environ, path):
    """Return what makes compilers use the directory of the cache. What is set already is left as it is."""
    found = {name: os.path.join(path, folder) for name, folder in CACHES.items() if name not in environ}
    return dict(found, KINETIC_CACHE_DIR=path)


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
