# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fill the directory of outputs with what earlier attempts, or another job, have saved."""

import base64
import hashlib
import os
import re
from collections import defaultdict, namedtuple

from ..contract import OBJECTS
from ..data.disk import room_for
from ..errors import BadData, Mismatch, NotFound
from ..store import Replaced, in_parallel
from ..store.names import SYNC, index_name
from ..store.objects import can_be_file, list_objects, object_of
from ..text import COPY_BLOCK, readable, shorten, write_all
from .index import ATTEMPT, LATEST, MOMENT, Entry, read_index
from .plain import HASH, MARK
from .tree import FILE, FOLDER, LINK, LOG, folders_above, stays_inside

PARALLEL = 6  # objects at a time
TOLD, TOLD_CHARACTERS = 3, 200  # names in a message, and their length
KINETIC = OBJECTS["home_elsewhere"].partition("%")[0]  # below --output-dir: what is not an output

# A path to restore: the number of the index that names it, -1 for a plain name without one; the store and the name of
# its object, and its MD5 if its entry has no hash yet.
Item = namedtuple("Item", "number path entry store name md5 generation")


def read_indexes(home, numbers=None):
    """Return the indexes below home by number: those that there are, or some of them. An index of an earlier release is None."""
    found = {}
    for number in sorted(read_numbers(home)) if numbers is None else numbers:
        try:
            found[number], _ = read_index(home, index_name(number))
        except NotFound:
            pass
    return found


def read_numbers(home):
    """Return the numbers of the indexes below home."""
    names = [name[: -len(".json")] for name in home.list(SYNC) if name.endswith(".json")]
    return {int(name) for name in names if name.isdigit()}


def moments(home, numbers, restoring=0):
    """Return until when each of some indexes below home tells what its host had finished. There may be none of a host.

    In an attempt that restores, a host without an index of that attempt may still need all that others have: its moment is 0.
    """
    names = {index_name(number) for number in numbers}
    found = [one.metadata for one in list_objects(home, SYNC, nested=False) if one.name in names]
    told = [int(one.get(MOMENT, 0)) for one in found if int(one.get(ATTEMPT, 0)) >= restoring]
    return told + [0] * (len(numbers) - len(told)) if restoring else told


def common_moment(documents):
    """Return the newest moment of which all hosts have told what they had finished.

    A host that the newest attempt has not reached yet begins with what the others have begun with. One without an index
    has nothing of its own, and takes all that the others have.
    """
    newest = max((document.attempt for document in documents.values()), default=0)
    begun = [document for document in documents.values() if document.attempt == newest]
    moments = [document.moment for document in documents.values()]
    if len(begun) < len(documents):
        moments += [document.restored or LATEST for document in begun]
    return min(moments, default=LATEST)


def items_of(documents, home, plain):
    """Return what some indexes name together, by path: what all hosts had finished at the newest moment that all have told about.

    A directory that several hosts write below counts when each of them has finished its part.
    """
    moment, items = common_moment(documents), {}
    states = {number: document.state_at(moment) for number, document in sorted(documents.items())}
    for number, state in states.items():
        for path, entry in state.items():
            if path not in items or entry.kind != FOLDER and (items[path].entry.kind == FOLDER or items[path].entry.mtime < entry.mtime):
                items[path] = Item(number, path, entry, home if entry.object else plain, entry.object or path, None, None)
    pending = {number: document.pending for number, document in documents.items()}
    unfinished = unfinished_folders(states, pending, all(document.in_order for document in documents.values()))
    for path in list(items):
        above = folders_above(path)
        if unfinished.intersection([*above, path]) or any(items[folder].entry.kind != FOLDER for folder in above if folder in items):
            del items[path]
    return items


def unfinished_folders(states, pending, in_order):
    """Return the directories that some hosts have finished, and others have not.

    A host is missed if it is still writing there, or if it writes to another directory of the kind: one whose name differs
    only in its digits, as checkpoint-100 and checkpoint-200. If all have ended in order, only the first counts.
    """
    writers, kinds = defaultdict(set), defaultdict(set)
    for number, state in states.items():
        for path, entry in state.items():
            for folder in folders_above(path) if entry.kind != FOLDER else ():
                writers[folder].add(number)
    for folder, numbers in writers.items():
        kinds[kind_of(folder)].add(frozenset(numbers))
    found = {name for number, names in pending.items() for name in names if writers.get(name, set()) - {number}}
    return found | {folder for folder, numbers in writers.items() if not in_order and any(numbers < others for others in kinds[kind_of(folder)])}


def kind_of(folder):
    """Return what the paths of directories of one kind have in common."""
    parent, name = os.path.split(folder)
    return parent, re.sub("[0-9]+", "0", name)


def plain_items(plain, listed=None, writer=""):
    """Return the objects below the plain names, by path, of listed if they are listed already. What the job writer has saved is left out."""
    items = {}
    for found in list_objects(plain) if listed is None else listed:
        if found.name.startswith(KINETIC) or not can_be_file(found.name) or writer and found.metadata.get(MARK, "").split("/")[0] == writer:
            continue
        entry = Entry(FILE, found.size, "", 0o644, found.created * 10**9, None, "")
        items[found.name] = Item(-1, found.name, entry, plain, found.name, found.md5, found.generation)
    for path in list(items):
        if any(folder in items for folder in folders_above(path)):
            del items[path]  # both an object a and an object a/b: only one of them can be a file
    return items


def add_plain(items, more):
    """Add what more has at other paths than items, unless one would have to be a file and the other a directory."""
    folders = {folder for path in items for folder in folders_above(path)}
    for path, item in more.items():
        if path not in folders and not any(folder in items and items[folder].entry.kind != FOLDER for folder in folders_above(path)):
            items.setdefault(path, item)


def put_replaced(items, plain, listed):
    """Put into items what somebody has written since under the plain names that they have, of those that are listed. Return its paths."""
    replaced = []
    for found in listed:
        item = items.get(found.name)
        if item and item.store is plain and not is_same(found, item.entry):
            entry = item.entry._replace(size=found.size, sha256="", mtime=found.created * 10**9)
            items[found.name] = item._replace(entry=entry, md5=found.md5, generation=found.generation)
            replaced.append(found.name)
    return sorted(replaced)


def is_same(found, entry):
    """Report whether an object under a plain name is still what an index names. One that others have written has no hash, but its time is the file's."""
    if HASH in found.metadata:
        return found.metadata[HASH] == entry.sha256
    return (found.size, found.created * 10**9) == (entry.size, entry.mtime)


def drop_removed(items, plain, listed):
    """Take out of items what is no longer under the plain names that they have, of those that are listed. Return its paths.

    A directory goes with all that it had: an empty one could pass for the newest checkpoint.
    """
    there = {found.name for found in listed}
    gone = sorted(path for path, item in items.items() if item.store is plain and item.entry.kind == FILE and path not in there)
    above = {folder for path in gone for folder in folders_above(path)}
    for path in gone:
        del items[path]
    for folder in above.difference(*(folders_above(path) for path, item in items.items() if item.entry.kind != FOLDER)):
        items.pop(folder, None)
    return gone


class Restore:
    """Brings items into the directory root, which is empty. brought has them afterwards by path, each with the hash of its file.

    newest: a plain name that others have replaced since it was listed is taken as it is. So is a log always.
    """

    def __init__(self, root, say, newest=False):
        self._root, self._say, self._newest = root, say, newest
        self.broken = set()  # topmost paths that lack an object
        self.mismatch = None  # an error: what is under a plain name is not what it was
        self.brought = {}

    def run(self, items):
        """Bring the items, and parts of what is broken. Raise BadData if the disk is too small for them."""
        files = [item for item in items.values() if item.entry.kind == FILE]
        self._check_room(sum(item.entry.size for item in files))
        for path in sorted(path for path, item in items.items() if item.entry.kind == FOLDER):
            os.makedirs(self._place(path), exist_ok=True)
            self.brought[path] = items[path]
        in_parallel(self._bring_file, files, PARALLEL)
        for item in items.values():
            if item.entry.kind == LINK:
                self._bring_link(item)
        for path in sorted((path for path, item in self.brought.items() if item.entry.kind == FOLDER), reverse=True):
            entry = self.brought[path].entry
            os.chmod(self._place(path), entry.mode | 0o700)
            os.utime(self._place(path), ns=(entry.mtime, entry.mtime))

    def _place(self, path):
        return os.path.join(self._root, path)

    def _check_room(self, size):
        room = room_for(self._root, size)
        if size > room:
            raise BadData(f"the outputs to restore take {readable(size)}, and the disk has room for {readable(room)}: submit with a larger --disk")

    def _bring_file(self, item):
        target = self._place(item.path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with open(fd, "wb", buffering=0):
            try:
                entry, generation = fetch(item, fd, self._newest or LOG.fullmatch(os.path.basename(item.path)))
            except (NotFound, Replaced):
                self.broken.add(item.path.partition("/")[0])
                return
            except Mismatch as exc:
                if item.entry.object:
                    raise
                self.broken.add(item.path.partition("/")[0])
                self.mismatch = exc
                return
            os.fchmod(fd, entry.mode & 0o777)
            os.utime(fd, ns=(entry.mtime, entry.mtime))
        self.brought[item.path] = item._replace(entry=entry, generation=generation)

    def _bring_link(self, item):
        target = self._place(item.path)
        folder = os.path.dirname(target)
        os.makedirs(folder, exist_ok=True)
        real = os.path.join(os.path.realpath(self._root), os.path.dirname(item.path)).rstrip("/")
        if os.path.realpath(folder) == real and stays_inside(self._root, item.path, item.entry.target):
            os.symlink(item.entry.target, target)
            self.brought[item.path] = item

    def remove_broken(self):
        """Remove what lacks a part: a half is worse than nothing."""
        if not self.broken:
            return
        import shutil

        for path in [path for path in self.brought if path.partition("/")[0] in self.broken]:
            del self.brought[path]
        for top in self.broken:
            place = self._place(top)
            shutil.rmtree(place) if os.path.isdir(place) else os.unlink(place)
        self._say(f"warning: not restored, because their objects are missing: {named(sorted(self.broken))}")


def fetch(item, fd, newest):
    """Write an object to a file. Return its entry, with the hash of what was written, which must be the one it has, and its generation.

    newest: what has replaced it under a plain name will do.
    """
    sha256, md5, size = hashlib.sha256(), hashlib.md5(usedforsecurity=False), 0
    with item.store.open(item.name) as source:
        while block := source.read(COPY_BLOCK):
            sha256.update(block)
            md5.update(block)
            size += len(block)
            write_all(fd, block)
        generation = source.generation
    entry, md5 = item.entry._replace(sha256=sha256.hexdigest(), size=size), base64.b64encode(md5.digest()).decode()
    if item.entry.sha256 in ("", entry.sha256) and item.md5 in (None, "", md5):
        return entry, generation
    found = newest and not entry.object and item.store.attributes(item.name)
    if not found or (str(found["generation"]), found.get("md5Hash")) != (generation, md5):
        raise Mismatch(f"{item.store.url(item.name)} is not what was saved: it was replaced, or corrupted in transit")
    return entry._replace(mtime=object_of(found, "").created * 10**9), generation


def named(paths):
    """Return the first paths for a message."""
    names = [shorten(path if path.isprintable() else repr(path), TOLD_CHARACTERS) for path in paths[:TOLD]]
    return ", ".join(names) + (f" and {len(paths) - TOLD} more" if len(paths) > TOLD else "")
