# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Output and files of a call that are lost, reported before the pod goes."""

import itertools
import os

from . import spool
from .text import readable

LOOKED_AT = 10_000  # entries of the workspace, in search of directories called gs:
NAMED = 3  # files in a sentence


def found(place, log, errands, in_pod):
    """Return sentences about what is lost. What programs write outside of the workspace is lost only in a pod."""
    sentences = []
    if errands.waited:
        sentences.append(f"the call was slowed down: {readable(spool.SPOOL_BYTES)} of its log were waiting to be uploaded")
    if log.lost:
        sentences.append(f"{readable(log.lost)} of the log are not in the store: no room in {log.spool.path}")
    for folder in gs_directories(place, in_pod):
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


def gs_directories(place, in_pod):
    """Return where programs may have made directories of gs:// URLs: in the workspace, and in a pod where else they often change to."""
    folders, count = [], 0
    for parent, names, files in os.walk(place.workspace):
        folders += [os.path.join(parent, name) for name in names if name == "gs:"]
        names[:] = [name for name in names if name != "gs:"]
        count += len(names) + len(files)
        if count > LOOKED_AT:
            break
    if in_pod:
        tops = {place.environ.get(name) for name in ("HOME", "TMPDIR")} | {"/", "/tmp", os.path.dirname(place.workspace)}
        for top in sorted(filter(None, tops)):
            folders += [os.path.join(folder, "gs:") for folder in (top, *directories(top)) if folder != place.workspace]
    return list(dict.fromkeys(folders))


def directories(top):
    """Return the directories right below another one."""
    try:
        with os.scandir(top) as entries:
            return sorted(entry.path for entry in itertools.islice(entries, LOOKED_AT) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


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
