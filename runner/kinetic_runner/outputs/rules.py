# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The rules by which what a moment holds counts as finished. docs/outputs.md tells them to users."""

import collections
import json
import os
import re

from .moment import CHANGED, LOOSE, NEW_FOLDER, REMOVED, Unit
from .observer import TICK
from .tree import FILE, FOLDER, folders_above, is_temporary

# Files that frameworks write last into a checkpoint: PyTorch DCP, Orbax, Hugging Face, Hadoop.
MARKS = {".metadata", "_CHECKPOINT_METADATA", "commit_success.txt", "trainer_state.json", "COMMIT", "_SUCCESS", "DONE"}

# Names of directories that are checkpoints; parts of checkpoints have marks, too.
CHECKPOINT = re.compile(r"(.*[._-])?(checkpoint|ckpt|step|epoch|iter|iteration)[-_=]?\d+")

RESTLESS_SECONDS = 600.0  # after which a new directory that is never at rest is in use
OPEN_SECONDS, OPEN_BYTES = 60.0, 64 << 20  # a file that is open for longer and not larger is a log, not a part of a checkpoint

CHANGING, CHANGED_MEANWHILE = "it keeps changing", "it changed while it was looked at"  # why units are not finished


def judge(moment, observer, everything=False, committed=False):
    """Fill in the units of a moment, each with what can be said of it at once.

    everything: the call has ended in order, so all that is there is finished. committed: the call says
    that all that is closed is finished.
    """
    listing, state, saved = moment.listing, moment.state, observer.saved
    note_collections(moment, observer)
    tops = {"": None}  # by directory: the new one that it counts with, if any

    def top_of(folder):
        if folder not in tops:
            is_new = folder in listing and listing[folder].kind == FOLDER and not observer.is_known(folder, listing)
            tops[folder] = top_of(os.path.dirname(folder)) or (folder if is_new else None)
        return tops[folder]

    members = collections.defaultdict(set)
    gone = [path for path in saved if path not in state and not listing.lacks(path) and (everything or not is_temporary(path))]
    for path in [*state, *gone]:
        is_folder = path in listing and listing[path].kind == FOLDER
        members[top_of(path if is_folder else os.path.dirname(path)) or observer.whole_of(path)].add(path)
    for name, paths in members.items():
        if any(state.get(path) != saved.get(path) for path in paths):
            unit = make_unit(name, paths, tops.get(name) == name, moment, observer, everything)
            if unit is not None:
                if committed and unit.whole is None:
                    unit.whole = True
                moment.units[name] = unit
    inside, unfinished = collections.defaultdict(list), {}  # by directory
    for name, unit in moment.units.items():
        folder, is_several = os.path.dirname(name), is_one_of_several(name, moment, observer)
        if is_several:
            inside[folder].append(unit)
        if unit.whole is False and (is_several or not unit.is_new):
            unfinished.setdefault(folder, unit.why)
    for name, unit in moment.units.items():
        folder = os.path.dirname(name)
        if unit.rule == CHANGED and unit.whole is None and folder in unfinished:  # what is changed in place in one directory counts together
            unit.whole, unit.why = False, unfinished[folder]
    for name, unit in moment.units.items():  # a directory without any of its files would look like a state
        if name in inside and unit.is_new and name in state and listing[name].kind == FOLDER and unit.rule != NEW_FOLDER:
            if not any(other.whole for other in inside[name]):
                unit.whole, unit.why = False, inside[name][0].why
    for path in state:
        if tops.get(os.path.dirname(path)) and observer.key(path, listing) in moment.moved:
            if listing[path].kind == FOLDER:  # a directory into which whole ones are renamed, as Orbax does
                observer.note_known(folders_above(path), moment.clock)
            elif listing[path].kind == FILE:
                observer.note_finished(path, state[path], listing)


def note_collections(moment, observer):
    """Note that the directories above a new checkpoint that has its mark are in use: they collect checkpoints."""
    listing, state, marks = moment.listing, moment.state, []
    for mark in state:
        folder, name = os.path.split(mark)
        if name in MARKS and CHECKPOINT.fullmatch(os.path.basename(folder)):
            above = folders_above(folder)
            is_part = any(CHECKPOINT.fullmatch(os.path.basename(one)) for one in above)
            if not is_part and not all(observer.is_known(one, listing) for one in above):
                marks.append(mark)
    for mark in sorted(marks, key=lambda path: listing[path].ctime)[-2:]:  # another may be of a save that goes on
        folder = os.path.dirname(mark)
        paths = {path for path in state if path == folder or path.startswith(folder + "/")}
        files = [path for path in paths if listing[path].kind == FILE and not observer.is_log(path, state[path])]
        if folder_is_whole(folder, paths, files, moment, observer) and not any(is_busy(path, moment, observer) for path in files):
            observer.note_known(folders_above(folder), moment.clock)


def make_unit(name, paths, is_folder, moment, observer, everything):
    """Return a unit with what can be said of it at once; None if it is nothing."""
    listing, state = moment.listing, moment.state
    every = [path for path in paths if path in state and listing[path].kind == FILE]
    files = [path for path in every if not observer.is_log(path, state[path])]
    busy = [path for path in files if is_busy(path, moment, observer)]
    missing = [path for path in every if observer.is_new(path, state[path]) and path not in moment.frozen]
    if name not in state:
        whole = everything or observer.key(name, listing) in observer.watch.away or None
        unit = Unit(paths, REMOVED, whole, "it was removed just now")
    elif busy:
        unit = Unit(paths, LOOSE, False, f"{busy[0]} is open for writing")
    elif missing or paths & moment.unsteady:
        why = "it is locked" if observer.is_database(name) else CHANGED_MEANWHILE
        unit = Unit(paths, LOOSE, False, listing.left_out.get(missing[0], why) if missing else why)
        unit.is_unreadable = bool(missing) and missing[0] in listing.left_out
    elif is_folder:
        if not everything and all(listing[path].kind == FOLDER for path in paths if path in state):
            return None  # an empty directory tells nothing
        whole = everything or folder_is_whole(name, paths, files, moment, observer) or None
        unit = Unit(paths, NEW_FOLDER, whole, CHANGING)
    else:
        whole = everything or not files or observer.is_database(name) or observer.key(name, listing) in moment.moved or None
        unit = Unit(paths, CHANGED if name in observer.saved or is_one_of_several(name, moment, observer) else LOOSE, whole, CHANGING)
    unit.is_new = not paths & observer.saved.keys()
    if name in state and not observer.is_log(name, state[name]):
        unit.changed_at = max(max(listing[path].mtime, listing[path].ctime) for path in [name, *files])
    return unit


def is_one_of_several(path, moment, observer):
    """Return whether a path counts with others of its directory although the index has none of them."""
    return path in moment.state and observer.is_one_of_several(path, moment.state[path])


def is_busy(path, moment, observer):
    """Return whether a process could write to a file at the moment."""
    if observer.is_database(path):
        return False
    key = observer.key(path, moment.listing)
    if moment.listing[path].inode in moment.opened or key in moment.closed:
        return True
    return bool(moment.opened) and moment.opened.unreadable and key not in moment.moved


def folder_is_whole(name, paths, files, moment, observer):
    """Return whether a new directory was renamed into place, or has its framework's mark, and nothing in it is newer."""
    listing = moment.listing
    inside = [listing[path] for path in paths if path in listing and listing[path].kind == FOLDER]
    newest = max((listing[path].mtime for path in files), default=0)
    came = moment.moved.get(observer.key(name, listing))
    if came and all(observer.watch.inside.get(folder.inode, 0) < came for folder in inside) and newest <= listing[name].ctime:
        return True
    newest = max([newest] + [folder.mtime for folder in inside])
    marks = [path for path in files if os.path.dirname(path) == name and os.path.basename(path) in MARKS]
    return any(listing[path].ctime + TICK * 1e9 >= newest and is_readable_mark(os.path.join(observer.root, path)) for path in marks)


def is_readable_mark(path):
    """Return whether a mark is not itself half written, as far as its format tells."""
    try:
        with open(path, "rb") as file:
            return bool(json.load(file)) if path.endswith(".json") else True
    except (OSError, ValueError):
        return False


def follow(moment, observer):
    """Judge the open units by what came after the moment. soon is known by now, later perhaps."""
    after = [one for one in (moment.soon, moment.later) if one]
    mixed = {os.path.dirname(path) for one in after for path in one.in_place - moment.grown}
    mixed |= {os.path.dirname(path) for one in after for path in one.changed if os.path.basename(path) in MARKS}  # which ends a checkpoint
    # A program that opens a file anew empties it before anyone can see that it has it open (ext4 even sets the time later).
    emptied = {path for path in moment.soon.changed if path in moment.state and moment.listing[path].kind == FILE and not moment.listing[path].size}
    for name, unit in moment.units.items():
        if unit.whole is not None:
            continue
        folder, top = os.path.dirname(name), name.partition("/")[0]
        if unit.rule == LOOSE or name in moment.grown:
            unit.whole = not (unit.paths & emptied)
        elif unit.rule == REMOVED:  # more of the same directory may go
            unit.whole = name not in moment.soon.changed and not (top in moment.soon.shrinking and top in moment.state)
        elif unit.rule == CHANGED and folder in mixed or unit.rule == NEW_FOLDER and any(name in one.changed for one in after):
            unit.whole = False
        elif moment.later or unit.rule == CHANGED and moment.files_in[folder] < 2:
            unit.whole = True


def note_restless(moment, observer):
    """Note which new directories are in use.

    One that has not been at rest for long is, if no look has found a file in it open; and one in which a small file has
    been open for long.
    """
    listing, found, before = moment.listing, {}, observer.held_open
    held = [path for path, node in listing.items() if node.kind == FILE and node.inode in moment.opened and node.size <= OPEN_BYTES]
    observer.held_open = {path: before.get(path, moment.at) if observer.key(path, listing) in moment.held else moment.at for path in held}
    for path, since in observer.held_open.items():
        if moment.at > since + OPEN_SECONDS:
            observer.note_known(folders_above(path), moment.clock)
    for unit in moment.units.values():
        if unit.whole is False and unit.why in (CHANGING, CHANGED_MEANWHILE):
            found.update(((path, listing[path].inode), moment.at) for path in unit.paths if path in listing and listing[path].kind == FOLDER)
    observer.restless = {key: observer.restless.get(key, at) for key, at in found.items()}
    observer.note_known([path for (path, _), since in observer.restless.items() if moment.at > since + RESTLESS_SECONDS], moment.clock)


def note_finished(moment, observer):
    """Note which files in new directories were finished: closed at the moment, and untouched while the call lived on."""
    for path in moment.state.keys() - moment.soon.changed:
        folder = os.path.dirname(path)
        if folder and moment.listing[path].kind == FILE and not observer.is_known(folder, moment.listing):
            observer.note_finished(path, moment.state[path], moment.listing)
