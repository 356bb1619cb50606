# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Decide which files are finished and belong together. Nothing here touches a file or the store.

A unit is what a restore brings back together: the files of a new directory and of
all below it, or the files right in a directory that the store knows. It is saved
when nothing in it has changed between two scans.
"""

import os
import re
from collections import namedtuple

# files has the stamps by path. still counts by path the scans since which nothing has
# changed: 0 for a new stamp, WRITING for an open file. gone are paths that the scan before had.
# left_out has the paths that the scan could not look at, "" for the root.
View = namedtuple("View", "files still gone left_out")
Unit = namedtuple("Unit", "name paths")

WRITING = -1
STILL_SECONDS = 30.0  # before the first scan, for a file that needs no second one
PATIENCE = 4  # scans after which a file of a known directory no longer waits for its neighbours
LOG_BYTES, LOG_ROUNDS = 64 << 20, 2
SMALL_BYTES = 64 << 20  # of a unit that is saved before larger ones

# Formats that are of no use before they are complete.
NO_LOG = re.compile(r".*\.(pt|pth|ckpt|bin|safetensors|h5|hdf5|keras|npy|npz|zip|tar|gz|onnx|pkl|parquet|distcp)")
# Parts of one thing, which are of no use without the others.
SHARD = re.compile(r"\d+[-_]of[-_]\d+|rank|shard|\.distcp$")
# The Trainer of Hugging Face writes TRAINER_LAST last. Other programs use such names, too, without that file.
TRAINER_FOLDER, TRAINER_LAST, TRAINER_EARLIER = re.compile(r"checkpoint-\d+"), "trainer_state.json", ("training_args.bin", "optimizer.pt")


def observe(before, files, writing, now=None, left_out=()):
    """Return the view of a scan, given the one of the scan before, or None.

    writing are the inodes of open files. now is the time in seconds of the first scan.
    left_out are paths that it could not look at.
    """
    still = {}
    for path, stamp in files.items():
        if stamp.inode in writing and stamp.link is None:
            still[path] = WRITING
        elif before is None:
            still[path] = int(now is not None and now - max(stamp.mtime_ns, stamp.ctime_ns) / 1e9 >= STILL_SECONDS)
        else:
            # A file that was open may have been closed because its writer was killed.
            still[path] = before.still[path] + 1 if before.files.get(path) == stamp else 0
    return View(files, still, [path for path in before.files if path not in files] if before else [], frozenset(left_out))


def parents(path):
    """Return all directories above a path, the topmost first, without the root."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def folders_of(paths):
    """Return all directories above some paths. This looks at each directory once, however many files it has."""
    found = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def unit_of(path, known):
    """Return the topmost directory above a path that is not known, else its own."""
    return next((folder for folder in parents(path) if folder not in known), os.path.dirname(path))


def decide(view, index, logs=frozenset(), everything=False, last=False):
    """Return the units to save, in this order. index has what is saved, by path.

    logs are files whose beginning may be saved. everything says that no process
    writes any more, and that what there is is finished. last says that nothing is saved
    later: then files of a known directory do not wait for each other.
    """
    known = folders_of(index)
    members, names = {}, {}  # by unit, and by directory
    for path in (*view.files, *view.gone):
        folder = path.rpartition("/")[0]
        if folder not in names:
            names[folder] = unit_of(path, known)
        members.setdefault(names[folder], []).append(path)
    steady = steadiness(view, logs)
    units = []
    for name, paths in members.items():
        if everything:
            units.append(Unit(name, paths))
        elif last and (not name or name in known):
            units += [Unit(name, [path]) for path in paths if steady[path] >= 1]
        else:
            units += finished(name, paths, view, steady, known)
    units = [Unit(name, [path for path in paths if path in view.files]) for name, paths in units]
    return sorted(filter(lambda unit: unit.paths, units), key=lambda unit: urgency(unit, view.files))


def urgency(unit, files):
    """Return the sort key of a unit: small ones first, then the newest."""
    stamps = [files[path] for path in unit.paths]
    return sum(stamp.size for stamp in stamps) > SMALL_BYTES, -max(stamp.mtime_ns for stamp in stamps)


def steadiness(view, logs):
    """Return by path for how many scans a file has been finished, as far as its name and its neighbours tell."""
    steady = dict(view.still, **dict.fromkeys(view.gone, WRITING))
    for path in logs:
        steady[path] = PATIENCE
    late, never = trainer_folders(view.files)
    if late or never:
        for path in view.files:
            above = parents(path)
            if not never.isdisjoint(above):
                steady[path] = WRITING
            elif not late.isdisjoint(above):
                steady[path] = max(WRITING, steady[path] + 1 - PATIENCE)
    return steady


def trainer_folders(files):
    """Return the directories like checkpoint-500 without the file that is written last: those that may never get one, and those that will."""
    folders = {folder for folder in folders_of(files) if TRAINER_FOLDER.fullmatch(os.path.basename(folder))}
    late = {folder for folder in folders if f"{folder}/{TRAINER_LAST}" not in files}
    never = {folder for folder in late if any(f"{folder}/{name}" in files for name in TRAINER_EARLIER)}
    return late - never, never


def finished(name, paths, view, steady, known):
    """Return the finished units among the paths of one: all of them, or else files of a known directory that have been still for long."""
    present = [path for path in paths if path in view.files]
    read_only = present and all(view.files[path].mode & 0o222 == 0 for path in present)  # so a program says that it has finished
    if all(steady[path] >= (0 if read_only else 1) for path in paths):
        return [Unit(name, paths)]
    if name and name not in known:
        return []
    return [Unit(name, [path]) for path in paths if steady[path] >= PATIENCE and not SHARD.search(path)]


def child_of(name, path):
    """Return the directory right below name that has path, or name itself if it has the file."""
    above = parents(path)
    deeper = len(name.split("/")) if name else 0
    return above[deeper] if len(above) > deeper else name


def record_units(unit, known):
    """Return by path which unit to record: what a restore can leave out, and what is removed together.

    A new directory that only has directories stands for each of them.
    """
    if unit.name in known or any(os.path.dirname(path) == unit.name for path in unit.paths):
        return dict.fromkeys(unit.paths, unit.name)
    found, parts = {}, {}
    for path in unit.paths:
        parts.setdefault(child_of(unit.name, path), []).append(path)
    for child, paths in parts.items():
        found.update(record_units(Unit(child, paths), known))
    return found


def removed(view, index, absent, everything=False):
    """Return the saved paths that are no longer there, once their unit has stopped shrinking.

    absent are saved paths that were never brought to this directory.
    """
    missing = [path for path in index if path not in absent and is_missing(path, view)]
    if everything:
        return missing
    shrinking = {index[path].unit for path in view.gone if path in index}
    return [path for path in missing if index[path].unit not in shrinking]


def is_missing(path, view):
    """Return whether a scan has looked for a path and found none. In a directory that it could not list, there may be one."""
    return path not in view.files and not (view.left_out and any(above in view.left_out for above in ("", *parents(path), path)))


class Logs:
    """Finds files that only grow: small ones whose first and last bytes, as they were, are still in place."""

    def __init__(self, ends):
        self._ends = ends  # called with a path and a size, see scan.ends
        self._known = {}  # by path: for how many scans it has only grown, -1 for a new one; its inode, size and ends

    def look(self, view):
        """Return the logs of a view."""
        known, self._known = self._known, {}
        for path, stamp in view.files.items():
            if stamp.link is not None or stamp.size > LOG_BYTES or NO_LOG.fullmatch(path):
                continue
            rounds, inode, size, old = known.get(path, (-2, stamp.inode, 0, None))
            if view.still[path] < 1:
                grown = inode == stamp.inode and size <= stamp.size and (old is None or self._ends(path, size) == old)
                rounds = rounds + 1 if grown else -1
                inode, size, old = stamp.inode, stamp.size, self._ends(path, stamp.size) if rounds >= 0 else None
            if rounds > -2:
                self._known[path] = rounds, inode, size, old
        return {path for path, (rounds, *_) in self._known.items() if rounds >= LOG_ROUNDS}
