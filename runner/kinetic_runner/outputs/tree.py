# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""List a directory that other processes write to."""

import errno
import functools
import os
import re
import stat
from collections import namedtuple

FILE, FOLDER, LINK = "file", "folder", "link"
KINDS = {stat.S_IFREG: FILE, stat.S_IFDIR: FOLDER, stat.S_IFLNK: LINK}
LINK_BYTES = 4096
NAME_BYTES = 1024  # of an object's name, together with its prefix
SMALL = 1 << 20  # bytes of a file that is copied before it is sent; a larger one gets a second name

# An entry of a directory. Times are in nanoseconds; target is that of a symbolic link, else None.
Node = namedtuple("Node", "kind inode size mtime ctime mode target")

# Names under which programs write what they rename later. docs/outputs.md has the list for users.
TEMPORARY = re.compile(r".*\.(tmp|temp|part|partial|incomplete)(-?\d+)?|.*\.orbax-checkpoint-tmp.*|tmp-checkpoint-.*|tmp(?!_[a-z]+$)[a-z0-9_]{8}|\.~.*")
LINES = re.compile(r".*\.(jsonl|out|err)")  # logs, or data of one line after the other
LOG = re.compile(r".*\.(log|jsonl|out|err)(\.\d+)?|.*\.wandb|.*tfevents.*")  # files that programs only append to
COMPANION = re.compile(r"-(journal|wal|shm)$")  # what SQLite keeps beside a database


class Listing(dict):
    """The nodes below a directory, by path. left_out tells by path why something can't be saved.

    unseen has those paths of left_out that could not be looked at: what is there, or below it, is not known.
    """

    def __init__(self, nodes=()):
        super().__init__(nodes)
        self.left_out, self.unseen = {}, set()

    def lacks(self, path):
        """Return whether a path that is not here may exist all the same."""
        return bool(self.unseen) and not self.unseen.isdisjoint(["", *folders_above(path), path])

    def note_unseen(self, path, exc):
        """Note that a path could not be looked at, unless that tells that it has just been removed."""
        if exc.errno not in (errno.ENOENT, errno.ENOTDIR):
            self.left_out[path] = exc.strerror
            self.unseen.add(path)


def read_tree(root, temporary=False, base=None, folders=()):
    """List what lies below root. Of a directory with a temporary name, list the name alone unless temporary is set.

    With a listing as base, read again only some of its folders, and what is new in them.
    """
    found, todo = Listing(), [""]
    if base is not None:
        found.update((path, node) for path, node in base.items() if os.path.dirname(path) not in folders)
        found.left_out, found.unseen, todo = base.left_out, base.unseen, list(folders)
    while todo:
        folder = todo.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                for entry in entries:
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    node = look_at(root, path, entry, found)
                    if node is None:
                        continue
                    found[path] = node
                    if node.kind == FOLDER and (temporary or not TEMPORARY.fullmatch(entry.name)) and not (base and path in base):
                        todo.append(path)
        except OSError as exc:
            found.note_unseen(folder, exc)
    return found


def look_at(root, path, entry, listing):
    """Return the node of a directory's entry, or None if it is gone or can't be saved. The listing is told why."""
    try:
        info = entry.stat(follow_symlinks=False)
        kind = KINDS.get(stat.S_IFMT(info.st_mode))
        target = os.readlink(entry.path) if kind == LINK else None
    except OSError as exc:
        listing.note_unseen(path, exc)
        return None
    if kind is None:
        listing.left_out[path] = "it is not a file"
    elif kind == LINK and not stays_inside(root, path, target):
        listing.left_out[path] = f"it is a link to {target!r:.200}, which is not in the directory of outputs"
    else:
        return Node(kind, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns, stat.S_IMODE(info.st_mode), target)
    return None


def stays_inside(root, path, target):
    """Return whether a link at this path leads below root, by its name."""
    place = os.path.normpath(os.path.join(root, os.path.dirname(path), target))
    try:
        size = len(os.fsencode(target))
    except UnicodeEncodeError:
        return False
    return 0 < size < LINK_BYTES and "\0" not in target and (place + os.sep).startswith(os.path.join(root, ""))


def stamp_of(node):
    """Return what changes whenever a file does. A second name changes the ctime of a large file, too, so that does not count."""
    if node.kind == FILE:
        return node.inode, node.size, node.mtime, node.ctime if node.size <= SMALL else 0
    return node.kind, node.target or node.inode


@functools.lru_cache(1 << 17)
def is_temporary(path):
    """Return whether a part of a path is a name that programs give to unfinished files."""
    return any(TEMPORARY.fullmatch(part) for part in path.split("/"))


def folders_above(path):
    """Return the directories above a path, the topmost first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def name_problem(path, prefix):
    """Return why no object can have this name below the prefix of a store, or None."""
    room = NAME_BYTES - len(prefix.encode())
    if path.isascii() and path.isprintable() and len(path) <= room:
        return None  # as nearly all
    try:
        name = path.encode()
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    if b"\n" in name or b"\r" in name:
        return "its name has a line break"
    return "its name is too long for an object" if len(name) > room else None
