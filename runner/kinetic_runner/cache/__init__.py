# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""KINETIC_CACHE_DIR: a directory that outlives jobs, where compilers keep what they have made.

    index     what the store has of it
    bucket    restores the directory of a pod, and saves it
    folder    that of a job on this machine, which is in the store itself, and the files in a directory
"""

import hashlib
import os
import sys

from ..store.names import cache_folder, cache_index

PACKAGES = ("jaxlib", "libtpu", "torch")  # whose versions make what they have compiled useless to others
INFO = ".dist-info"
CPU_FACTS = ("model name", "flags", "Features")  # compilers make code for one kind of processor


def open_cache(attempt):
    """Return the cache of an attempt's call, None without --cache."""
    options, root = attempt.options, getattr(attempt.store, "root", None)
    if not options.cache:
        return None
    if root:  # all the versions that this machine has share one directory
        from .folder import Folder

        return Folder(os.path.join(root, cache_folder(key_of(options.cache)).rstrip("/")), options.cache_size)
    from .bucket import Cache

    return Cache(attempt)


def index_of(scope, installed):
    """Return the name of the index for the jobs of a scope. installed are names of wheels that are yet to be installed."""
    return cache_index(key_of(scope, *processor(), *versions(installed)))


def key_of(*facts):
    """Return the hash that stands for these facts."""
    return hashlib.sha256("\0".join(facts).encode("utf-8", "surrogateescape")).hexdigest()


def versions(installed, paths=None):
    """Return name-version of the packages that compile, without importing them."""
    names = list(installed)
    for path in sys.path if paths is None else paths:
        try:
            names += sorted(name[: -len(INFO)] for name in os.listdir(path) if name.endswith(INFO))
        except OSError:
            pass  # a zip, or nothing
    found = {}
    for name in names:
        package, _, rest = name.partition("-")
        if package in PACKAGES:
            found.setdefault(package, f"{package}-{rest.partition('-')[0]}")
    return sorted(found.values())


def processor():
    """Return what distinguishes the processor of this machine."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            lines = file.read().partition("\n\n")[0].splitlines()
    except OSError:
        lines = []
    return [os.uname().machine] + [line for line in lines if line.startswith(CPU_FACTS)]
