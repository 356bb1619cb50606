# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Output and files of a call that are lost, reported before the pod goes."""

import itertools
import os

from . import spool
from .mounts import mount_of, mounts
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
    mounted = {path for path, _, _ in mounts()}
    for folder in gs_directories(place, in_pod, mounted):
        sentences += written_below_gs(folder, mounted)
    return sentences


def unsaved(files):
    """Return a sentence about outputs that could not be saved."""
    if not files:
        return []
    size = readable(sum(file.size for file in files))
    names = "; ".join(f"{file.path} ({readable(file.size)}): {file.why}" for file in files[:NAMED])
    more = f"; and {len(files) - NAMED} more" if len(files) > NAMED else ""
    return [f"{len(files)} output{'s' if len(files) > 1 else ''} ({size}) {'are' if len(files) > 1 else 'is'} not saved: {names}{more}"]


def not_kept(place):
    """Return a sentence about files that the call wrote beside its code instead of to its outputs, or ""."""
    written, count = [], 0
    for entries in walk(place.workspace, {path for path, _, _ in mounts()}, written_by_programs):
        written += filter(None, (written_since(place, entry) for entry in entries))
        count += len(entries)
        if count > LOOKED_AT:
            break
    if not written:
        return ""
    written.sort()
    names = ", ".join(f"{path} ({readable(size)})" for path, size in written[:NAMED])
    more = f" and {len(written) - NAMED} more" if len(written) > NAMED else ""
    return f"not kept: {names}{more}: write files to KINETIC_OUTPUT_DIR to keep them"


def written_by_programs(name):
    """Return whether a file or directory of this name is worth telling: a cache is not."""
    return not name.startswith(".") and name != "__pycache__"


def written_since(place, entry):
    """Return the path and the size of a file that was written since the call began, or None."""
    try:
        if entry.is_file(follow_symlinks=False) and written_by_programs(entry.name):
            about = entry.stat(follow_symlinks=False)
            if about.st_mtime_ns >= place.since:
                return os.path.relpath(entry.path, place.workspace), about.st_size
    except OSError:
        pass  # it has just gone
    return None


def gs_directories(place, in_pod, mounted):
    """Return where programs may have made directories of gs:// URLs: in the workspace, and in a pod where else they often change to.

    What is mounted is not looked into: it may never answer, and it is not lost. Nor are the outputs.
    """
    folders, count = [], 0
    for entries in walk(place.workspace, mounted):
        folders += [entry.path for entry in entries if entry.name == "gs:" and entry.is_dir(follow_symlinks=False)]
        count += len(entries)
        if count > LOOKED_AT:
            break
    if in_pod:
        tops = {place.environ.get(name) for name in ("HOME", "TMPDIR")} | {"/", "/tmp", os.path.dirname(place.workspace)}
        own = {mount_of(path, mounted) for path in ("/", place.workspace)}
        others = (place.workspace, place.environ.get("KINETIC_OUTPUT_PATH"))
        for top in sorted(os.path.abspath(top) for top in filter(None, tops)):
            if mount_of(top, mounted) in own:
                below = sorted(entry.path for entry in next(walk(top, mounted), ())[:LOOKED_AT] if entry.is_dir(follow_symlinks=False))
                folders += [os.path.join(folder, "gs:") for folder in (top, *below) if folder not in others and folder not in mounted - own]
    return list(dict.fromkeys(folders))


def walk(top, mounted, enters=lambda name: True):
    """Yield the entries of each directory below top that enters wants. Links are not followed, not even to see what they lead to, which may be mounted."""
    tops = [top]
    for folder in tops:
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        yield entries
        tops += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False) and entry.path not in mounted and entry.name != "gs:" and enters(entry.name)]


def written_below_gs(folder, mounted=()):
    """Return a sentence about files of programs that treat a gs:// URL as a path. Links, as the one to the outputs, are not among them."""
    files = size = 0
    for entry in itertools.chain.from_iterable(walk(folder, mounted)):
        try:
            if not entry.is_dir(follow_symlinks=False) and not entry.is_symlink():
                size += entry.stat(follow_symlinks=False).st_size
                files += 1
        except OSError:
            pass  # it has just gone
    if not files:
        return []
    return [
        f"{files} file{'s' if files > 1 else ''} ({readable(size)}) below {folder} will be lost: open() and os.makedirs() treat a gs:// URL "
        "as a path, which leads to the outputs only for KINETIC_OUTPUT_DIR and where the call starts: write to KINETIC_OUTPUT_PATH"
    ]
