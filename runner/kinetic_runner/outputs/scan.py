# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Look at a directory that other processes write to."""

import hashlib
import os
import re
import stat
from collections import namedtuple

# What changes when a file is written. link is the target of a symbolic link, else None.
Stamp = namedtuple("Stamp", "size mtime_ns ctime_ns inode mode link")

# left_out tells, by path, why a file can't be saved.
Tree = namedtuple("Tree", "files left_out")

TEMPORARY = re.compile(r".*\.orbax-checkpoint-tmp.*|.*\.(tmp|temp|partial|incomplete)|.*_temp|tmp-checkpoint-.*|\.~.*")
NAME_BYTES = 1024  # of an object's name, together with its prefix
LINK_BYTES = 4096
ENDS_BYTES = 4096


def stamp_of(path):
    """Return the stamp of a file or link, or None if there is none."""
    try:
        info = os.lstat(path)
        return to_stamp(info, os.readlink(path) if stat.S_ISLNK(info.st_mode) else None)
    except OSError:
        return None


def to_stamp(info, link=None):
    return Stamp(0 if link is not None else info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino, stat.S_IMODE(info.st_mode), link)


def scan(root, room=NAME_BYTES, temporary=False):
    """Return all files and links below root. Leave out temporary names unless told otherwise.

    room is how many bytes a path may have.
    """
    tree, todo = Tree({}, {}), [""]
    while todo:
        folder = todo.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                for entry in entries:
                    if not temporary and TEMPORARY.fullmatch(entry.name):
                        continue
                    path = os.path.join(folder, entry.name)
                    try:
                        if entry.is_dir(follow_symlinks=False):
                            todo.append(path)
                        else:
                            look_at(root, path, entry, room, tree)
                    except FileNotFoundError:
                        pass  # it has just been removed
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as exc:
            tree.left_out[folder] = exc.strerror
    return tree


def look_at(root, path, entry, room, tree):
    """Add a file to the tree."""
    info = entry.stat(follow_symlinks=False)
    why = name_problem(path, room)
    link = None
    if stat.S_ISLNK(info.st_mode):
        link = os.readlink(entry.path)
        if not why and not stays_inside(root, path, link):
            why = f"it is a link to {link!r:.200}, which is not in the directory of outputs"
    elif not stat.S_ISREG(info.st_mode):
        why = "it is not a file"
    if why:
        tree.left_out[path] = why
    else:
        tree.files[path] = to_stamp(info, link)


def name_problem(path, room):
    """Return why no object can have this name, or None."""
    if path.isascii() and path.isprintable() and len(path) <= room:
        return None  # as nearly all
    try:
        name = path.encode()
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    if b"\n" in name or b"\r" in name:
        return "its name has a line break"
    return "its name is too long for an object" if len(name) > room else None


def stays_inside(root, path, link):
    """Return whether the target of a link at this path is below root, by its name."""
    try:
        size = len(os.fsencode(link))
    except UnicodeEncodeError:
        return False
    target = os.path.normpath(os.path.join(root, os.path.dirname(path), link))
    return 0 < size < LINK_BYTES and "\0" not in link and (target + os.sep).startswith(os.path.join(root, ""))


def being_written(root):
    """Return the inodes of files below root that a process can write to: opened for writing, or mapped."""
    found, root = set(), os.path.join(os.path.realpath(root), "")
    for pid in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else ()):
        try:
            descriptors = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue  # it has ended, or belongs to somebody else
        for fd in descriptors:
            try:
                path = f"/proc/{pid}/fd/{fd}"
                if os.readlink(path).startswith(root) and writable(f"/proc/{pid}/fdinfo/{fd}"):
                    found.add(os.stat(path).st_ino)
            except OSError:
                pass  # it was just closed
        try:
            with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
                for line in filter(lambda line: root in line, file):
                    _, rights, _, _, inode = line.split(None, 5)[:5]
                    if rights[1] == "w" and rights[3] == "s":
                        found.add(int(inode))
        except OSError:
            pass
    return found


def writable(fdinfo):
    """Return whether a descriptor is open for writing."""
    with open(fdinfo, encoding="ascii") as file:
        for line in file:
            if line.startswith("flags:"):
                return bool(int(line.split()[1], 8) & (os.O_WRONLY | os.O_RDWR))
    return False


def ends(path, size):
    """Return a hash of the first and the last bytes of the first size bytes of a file, or None if they can't be read."""
    try:
        with open(path, "rb") as file:
            head = file.read(min(ENDS_BYTES, size))
            file.seek(max(0, size - ENDS_BYTES))
            return hashlib.md5(head + file.read(min(ENDS_BYTES, size)), usedforsecurity=False).digest()
    except OSError:
        return None
