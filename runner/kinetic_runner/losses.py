# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Output and files of a call that are lost, reported before the pod goes."""

import os

from . import spool
from .text import readable

MIB = 1 << 20
LOOKED_AT = 10_000  # entries of the workspace, in search of directories called gs:
NAMED = 3  # files in a sentence


def found(place, log, errands):
    """Return sentences about what is lost."""
    sentences = []
    if errands.waited:
        sentences.append(f"the call was slowed down: {spool.SPOOL_BYTES // MIB} MiB of its log were waiting to be uploaded")
    if log.lost:
        sentences.append(f"{log.lost} bytes of the log are not in the store: no room in {log.spool.path}")
    for folder in gs_directories(place):
        sentences += written_below_gs(folder)
    return sentences


def unsaved(files):
    """Return a sentence about outputs that could not be saved."""
    if not files:
        return []
    size = readable(sum(file.size for file in files))
    names = "; ".join(f"{file.path} ({readable(file.size)}): {file.why}" for file in files[:NAMED])
    more = f"; and {len(files) - NAMED} more" if len(files) > NAMED else ""
    return [f"{len(files)} output{'s' if len(files) > 1 else ''} ({size}) {'are' if len(files) > 1 else 'is'} not saved: {names}{more}"]


def gs_directories(place):
    """Return directories that programs have made of gs:// URLs: in the workspace, and where else they often change to."""
    folders, count = [], 0
    for parent, names, files in os.walk(place.workspace):
        folders += [os.path.join(parent, name) for name in names if name == "gs:"]
        names[:] = [name for name in names if name != "gs:"]
        count += len(names) + len(files)
        if count > LOOKED_AT:
            break
    homes = {place.environ.get(name) for name in ("HOME", "TMPDIR")} | {"/tmp"}
    return folders + [os.path.join(home, "gs:") for home in sorted(filter(None, homes))]


def written_below_gs(folder):
    """Return a sentence about files of programs that treat a gs:// URL as a path. The link to the outputs is not one of them."""
    files = size = 0
    for parent, _, others in os.walk(folder):
        for name in others:
            files += 1
            size += os.lstat(os.path.join(parent, name)).st_size
    if not files:
        return []
    return [
        f"{files} file{'s' if files > 1 else ''} ({readable(size)}) below {folder} will be lost: open() and os.makedirs() treat a gs:// URL "
        "as a path, which leads to the outputs only for KINETIC_OUTPUT_DIR and where the call starts: write to KINETIC_OUTPUT_PATH"
    ]
