# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Learn from the kernel what happens in a tree: inotify, and which files processes have open."""

import os
import re
import struct

from ..inotify import CLOSED, CREATED, DELETED, FOLDER, IGNORED, MOVED_FROM, MOVED_TO, OVERFLOW, Inotify

HEAD = struct.Struct("iIII")
EXITING = 0x4  # PF_EXITING of <linux/sched.h>, which the kernel sets before it closes a process's files


class Watch:
    """The events of a tree. A key is (inode of a directory, name in it). clock counts the events.

    moved, appeared: by key, the clock of a rename to that name, or of a directory's appearance.
    inside: by the inode of a directory, the clock of the last change of its entries.
    away: keys whose file was renamed to another name. One with a temporary name was never saved.
    reused: inodes of directories in which a rename has replaced what another rename had put there.
    """

    def __init__(self):
        self.clock, self.moved, self.appeared, self.inside, self.away, self.reused = 0, {}, {}, {}, set(), set()
        self.held = set()  # the keys of open files, until they are closed
        self._folders, self._watched, self._events = {}, {}, None
        self.problem = None  # why some events are not known
        try:
            self._events = Inotify()
        except (ImportError, OSError, AttributeError):
            self.problem = "there is no inotify here"

    def close(self):
        """Stop to watch."""
        if self._events is not None:
            self._events.close()
            self._events = None

    def add(self, path, inode):
        """Watch a directory."""
        if inode in self._watched:
            self._watched[inode] = path  # it may have been renamed
        if self._events is None or inode in self._watched:
            return
        try:
            number = self._events.add(path, CLOSED | MOVED_FROM | MOVED_TO | CREATED | DELETED)
        except OSError:
            if os.path.isdir(path):
                self.problem = "the limit on inotify watches is reached (fs.inotify.max_user_watches)"
            return
        self._folders[number] = inode
        self._watched[inode] = path

    def drain(self):
        """Take in what has happened. Return the keys of files that were closed after writing."""
        closed = set()
        while data := self._events.read() if self._events is not None else b"":
            at = 0
            while at < len(data):
                number, mask, _, length = HEAD.unpack_from(data, at)
                name = data[at + HEAD.size : at + HEAD.size + length].rstrip(b"\0")
                at += HEAD.size + length
                self._note(number, mask, os.fsdecode(name), closed)
        return closed

    def _note(self, number, mask, name, closed):
        self.clock += 1
        key = self._folders.get(number), name
        if mask & OVERFLOW:
            self.problem = "more happened than inotify can queue"
            self.moved.clear()
            self.held.clear()
        elif mask & IGNORED:  # the directory is gone
            gone = self._folders.pop(number, None)
            self._watched.pop(gone, None)
            self.inside.pop(gone, None)
            self.reused.discard(gone)
        elif mask & CLOSED:
            closed.add(key)
            self.held.discard(key)
        else:
            self.inside[key[0]] = self.clock
            self.away.discard(key)
            if mask & MOVED_FROM:
                from .tree import TEMPORARY  # not needed by a job without outputs

                if not TEMPORARY.fullmatch(name):
                    self.away.add(key)
            if mask & FOLDER and mask & (MOVED_TO | CREATED):
                self.appeared[key] = self.clock
                self._enter(*key)
        if self.moved.pop(key, None) and mask & MOVED_TO:
            self.reused.add(key[0])
        if mask & MOVED_TO:
            self.moved[key] = self.clock

    def _enter(self, parent, name):
        """Watch a directory that has appeared, and those in it."""
        if parent not in self._watched:
            return
        path = os.path.join(self._watched[parent], name)
        try:
            inode = os.stat(path, follow_symlinks=False).st_ino
            self.add(path, inode)
            with os.scandir(path) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            return  # it has gone again, or has another name by now
        for inside in names:
            self._enter(inode, inside)


def lives(pid):
    """Return whether a process has not begun to end."""
    fields = fields_of(pid)
    return bool(fields) and fields[0] not in "ZX" and not int(fields[6]) & EXITING


def fields_of(pid):
    """Return the fields of /proc/PID/stat after the name: state, parent and so on; none if the process is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


def numbers():
    """Return the PIDs of all processes."""
    return [name for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc") else []


def descends(pid):
    """Return whether a process descends from this one."""
    while pid not in ("0", "1", ""):
        fields = fields_of(pid)
        pid = fields[1] if fields else ""
        if pid == str(os.getpid()):
            return True
    return False


class Open:
    """Which files below root processes can write to. appended has the inodes of files that are only appended to.

    unreadable tells that the files of some process of the call can't be seen.
    """

    def __init__(self, root):
        self._prefix = os.path.join(os.path.realpath(root), "")
        self._found, self.unreadable = {}, False
        for pid in numbers():
            if pid == str(os.getpid()):
                continue
            try:
                self._look_at_descriptors(pid)
                self._look_at_mappings(pid)
            except PermissionError:
                self.unreadable = self.unreadable or descends(pid)
            except OSError:
                pass  # it has ended

    def __contains__(self, inode):
        return inode in self._found

    @property
    def inodes(self):
        """The inodes of all these files."""
        return set(self._found)

    @property
    def appended(self):
        """The inodes of the files that are only appended to."""
        return {inode for inode, only_appended in self._found.items() if only_appended}

    def _look_at_descriptors(self, pid):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                if not os.readlink(f"/proc/{pid}/fd/{fd}").startswith(self._prefix):
                    continue
                with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as file:
                    flags = int(re.search(r"flags:\s*(\d+)", file.read()).group(1), 8)
                if flags & (os.O_WRONLY | os.O_RDWR):
                    inode = os.stat(f"/proc/{pid}/fd/{fd}").st_ino
                    self._found[inode] = self._found.get(inode, True) and bool(flags & os.O_APPEND)
            except FileNotFoundError:
                pass  # it was just closed

    def _look_at_mappings(self, pid):
        with open(f"/proc/{pid}/maps", "rb") as file:
            data = file.read()
        prefix = os.fsencode(self._prefix)
        for line in data.splitlines() if prefix in data else ():
            if prefix in line and line.split()[1][1:4:2] == b"ws":  # writable and shared
                self._found[int(line.split()[4])] = False
