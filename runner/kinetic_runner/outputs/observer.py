# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Take moments of a directory that programs write to."""

import collections
import errno
import os
import shutil
import time

from . import database
from .moment import After, Frozen, Moment
from ..errors import is_full
from .tree import COMPANION, FILE, FOLDER, LINES, LOG, SMALL, folders_above, is_temporary, read_tree, stamp_of
from .watch import Open, Watch

SPARE_SHARE, SPARE_BYTES = 10, 1 << 30  # of the disk: the smaller one stays free
TICK = 0.012  # seconds: two writes that are closer may leave the same mtime (kernels before 6.13)
LOOK_SECONDS = 1.0  # for two listings to agree
TOGETHER_SECONDS = 60.0  # in which files that were new together may be written again together


class Observer:
    """Looks at the directory root. stage is a directory on the same disk for what is frozen.

    saved has the stamps of what the index has, sent those of what the store has; the keeper changes both.
    known tells which directories are in use, by path, with the clock of the watch: what is new in such a directory
    counts by itself, while another new directory counts as a whole.
    """

    def __init__(self, root, stage, saved, sent, watch=None):
        self.root, self.stage, self.saved, self.sent = root, stage, saved, sent
        self.watch, self.known = watch or Watch(), {}
        self.others = {}  # stamps of what other hosts have saved
        self.listing = {}
        self.copy_next = set()  # paths of large files that changed while they were sent
        self._finished, self._thinned, self._together = {}, {}, {}
        self.restless = {}  # since when new directories have not been at rest, by path and inode
        self.held_open = {}  # since when small files are open, by path
        self._appended, self._databases, self._count = {}, set(), 0  # _appended has inodes by path

    def stamps(self, listing, everything=False):
        """Return the stamps of all that counts. A database changes with its journal."""
        state = {}
        for path, node in listing.items():
            if not everything and (is_temporary(path) or self.is_companion(path)):
                continue
            stamp = stamp_of(node)
            if path in self._databases and not everything:  # reading a database changes its ctime
                parts = [listing[path + end] for end in ("", "-wal", "-journal") if path + end in listing]
                stamp = tuple(value for part in parts for value in stamp_of(part)[:3])
            if path in self.others:
                if self.others[path] == stamp:
                    continue
                del self.others[path]  # this host has changed it, too
            state[path] = stamp
        return state

    def take(self, everything=False, at_rest=False):
        """Return the Moment of now, or None if nothing has changed since the index. everything includes temporary names.

        at_rest says that nobody writes any more, so that nothing needs to be frozen.
        """
        self.watch.drain()
        one, frozen, limit = read_tree(self.root, everything), {}, time.time() + LOOK_SECONDS
        if not everything and one == self.listing and self.stamps(one) == self.saved:
            return None
        hot = {os.path.dirname(path) for path, node in one.items() if stamp_of(node) != self.saved.get(path)}
        while True:
            self._find_databases(one)
            before = self.stamps(one, everything)
            near = {path: stamp for path, stamp in before.items() if os.path.dirname(path) in hot}
            if any(one[path].mtime / 1e9 > time.time() - TICK and self.key(path, one) not in self.watch.moved for path in near):
                time.sleep(TICK)
            self._freeze(one, before, frozen, everything, at_rest)
            closed, at, clock, moved = self.watch.drain(), time.time(), self.watch.clock, dict(self.watch.moved)
            two = read_tree(self.root, everything, one, hot)
            unsteady = self.differences(near, self.stamps({path: node for path, node in two.items() if os.path.dirname(path) in hot}, everything))
            if not unsteady:  # now the rest, which seldom changes
                two = read_tree(self.root, everything)
                unsteady = self.differences(before, self.stamps(two, everything))
                if {os.path.dirname(path) for path in unsteady} <= hot:  # they changed after the moment
                    unsteady = set()
                    break
            if time.time() > limit:
                break
            hot |= {os.path.dirname(path) for path in unsteady}
            one = two
        moment = Moment(at, clock, one, before, frozen)
        moment.opened, moment.moved, moment.unsteady = Open(self.root), moved, unsteady
        moment.closed = closed | self.watch.drain()
        moment.held, now = self.watch.held, {self.key(path, one) for path, node in one.items() if node.inode in moment.opened}
        self.watch.held = set() if self.watch.problem else now - moment.closed
        self._note_appended({} if at_rest else one, moment.opened)  # at the end, only its bytes tell that a file has grown
        self.learn(one, before)
        self.listing = one
        return moment

    def after(self, moment):
        """Return what has changed since a moment."""
        self.watch.drain()
        listing = read_tree(self.root)
        state = self.stamps(listing)
        self.learn(listing, state)
        changed = self.differences(moment.state, state)
        in_place = {
            path for path in changed & state.keys() & moment.state.keys()
            if (path in self.saved or self.is_one_of_several(path, state[path])) and path not in self._databases and self.key(path, listing) not in self.watch.moved
        }
        return After({one for path in changed for one in [path, *folders_above(path)]}, in_place, {path.partition("/")[0] for path in changed - state.keys()})

    def differences(self, one, two):
        """Return the paths with other stamps. A log that grows is no difference."""
        return {path for path in one.keys() | two.keys() if one.get(path) != two.get(path) and not (path in one and path in two and self.is_log(path, one[path]))}

    def is_log(self, path, stamp):
        """Return whether programs only append to a file. Lines of data may also be written anew: then the file is shorter at first."""
        name, saved = os.path.basename(path), self.saved.get(path)
        appended = self._appended.get(path) == stamp[0]
        if (LINES.fullmatch(name) or appended) and saved and saved[0] == stamp[0] and stamp[1] < saved[1]:
            return False
        return bool(LOG.fullmatch(name)) or appended

    def is_lines(self, path, stamp):
        """Return whether a file is a log by its name alone, which may also be written anew."""
        return bool(LINES.fullmatch(os.path.basename(path))) and self._appended.get(path) != stamp[0]

    def is_database(self, path):
        """Return whether a file is an SQLite database."""
        return path in self._databases

    def whole_of(self, path):
        """Return the database that a file belongs to, whose copy has its content; else the file."""
        database = COMPANION.sub("", path)
        return database if database in self._databases else path

    def is_companion(self, path):
        """Return whether a file belongs to a database."""
        return self.whole_of(path) != path

    def is_new(self, path, stamp):
        """Return whether neither the index nor the store has a file as it is."""
        return self.saved.get(path) != stamp and stamp not in self.sent

    def is_one_of_several(self, path, stamp):
        """Return whether a file came with others in a new directory, of which one is being written again before they were saved."""
        was, until = self._together.get(path, (stamp, 0.0))
        return stamp != was or time.time() < until

    def key(self, path, listing):
        """Return the key of the watch for a path."""
        folder, _, name = path.rpartition("/")
        return (listing[folder].inode if folder in listing else os.stat(self.root).st_ino), name

    def is_known(self, folder, listing):
        """Return whether a directory is in use, rather than being filled for the first time."""
        return self.known.get(folder, -1) >= self.watch.appeared.get(self.key(folder, listing), 0)

    def note_known(self, folders, clock):
        """Note that directories are in use."""
        self.known.update((folder, clock) for folder in folders)

    def note_finished(self, path, stamp, listing):
        """Note that a file in a directory that is not known was finished."""
        self._finished.setdefault(path, (stamp, listing[os.path.dirname(path)].inode))

    def learn(self, listing, state):
        """Watch new directories. A directory is in use from now on if something that was finished in it has changed."""
        self.watch.add(self.root, os.stat(self.root).st_ino)
        for path, node in listing.items():
            if node.kind == FOLDER:
                self.watch.add(os.path.join(self.root, path), node.inode)
                if node.inode in self.watch.reused:
                    self.note_known([path, *folders_above(path)], self.watch.clock)
        inside, again, finished = collections.defaultdict(set), set(), dict(self._finished)
        for path in state if finished or self._thinned else ():
            inside[os.path.dirname(path)].add(path)
        for path, (before, inode) in finished.items():
            folder = os.path.dirname(path)
            same = folder in listing and listing[folder].inode == inode
            if path not in state and not listing.lacks(path) or not same:
                del self._finished[path]
                if same:
                    self._thinned.setdefault(folder, inside[folder])
            elif path in state and state[path][:3] != before[:3]:
                del self._finished[path]
                again.add(folder)
        for folder in again:
            mates, until = [path for path in inside[folder] if listing[path].kind == FILE], time.time() + TOGETHER_SECONDS
            self._together.update((path, (finished.get(path, (state[path],))[0], until)) for path in mates)
            self.note_known(folders_above(folder + "/"), self.watch.clock)
        for folder, names in list(self._thinned.items()):
            if inside[folder] - names:  # something was removed, something else came later
                del self._thinned[folder]
                self.note_known(folders_above(folder + "/"), self.watch.clock)

    def _note_appended(self, listing, opened):
        """Note which files programs append to. Forget a file that was replaced, or that a program writes to in another way."""
        appended = opened.appended
        found = {path: node.inode for path, node in listing.items() if node.inode in appended} if appended else {}
        kept = {path: inode for path, inode in self._appended.items() if path in listing and listing[path].inode == inode and inode not in opened}
        self._appended = {**kept, **found}

    def _find_databases(self, listing):
        for path, node in listing.items():
            if node.kind == FILE and path not in self._databases and node.size >= database.LEAST_BYTES and not is_temporary(path):
                wal = listing.get(path + "-wal")  # which has the transactions for long: meanwhile the file stays as it was restored
                is_new = self.is_new(path, stamp_of(node)) and self.others.get(path) != stamp_of(node) or wal and wal.size and self.is_new(path + "-wal", stamp_of(wal))
                if is_new and database.is_database(os.path.join(self.root, path)):
                    self._databases.add(path)

    def _freeze(self, listing, state, frozen, everything, at_rest):
        """Copy, or give a second name to, what the store does not have as it is."""
        for path, stamp in state.items():
            if listing[path].kind != FILE or not self.is_new(path, stamp) or path in frozen and frozen[path].stamp == stamp:
                continue
            if path in frozen:
                frozen.pop(path).release()
            source, place = os.path.join(self.root, path), self._place()
            try:
                if path in self._databases and not everything:
                    self._check_room(sum(listing[path + end].size for end in ("", "-wal") if path + end in listing))
                    if database.copy_database(source, place):
                        frozen[path] = Frozen(place, stamp, True, True)
                elif at_rest:
                    with open(source, "rb"):
                        frozen[path] = Frozen(source, stamp, False, False)
                elif self._hold(path, source, listing[path], place):
                    frozen[path] = Frozen(place, stamp, False, True)
            except OSError as exc:
                if exc.errno in (errno.EACCES, errno.EPERM):
                    listing.left_out[path] = f"the runner can't read it: {exc.strerror}"
                elif is_full(exc):
                    listing.left_out[path] = "the disk has no room for a copy of it"
                # Otherwise it has vanished, and the next listing tells.
            if path not in frozen and os.path.lexists(place):
                os.unlink(place)

    def is_intact(self, frozen, path):
        """Return whether what was sent is what was frozen: a copy stays, a second name keeps the file but not its bytes."""
        if frozen.database or self.is_log(path, frozen.stamp):
            return True
        info = os.stat(frozen.path)
        if info.st_ino != frozen.stamp[0]:
            return frozen.ours  # else another file has taken the name
        return (info.st_size, info.st_mtime_ns) == frozen.stamp[1:3]

    def _hold(self, path, source, node, place):
        """Copy a file, or give it a second name. Return whether it is still the same file."""
        if node.size > SMALL and path not in self.copy_next and link(source, place):
            return True
        with open(source, "rb") as data, open(place, "wb") as copy:
            if os.fstat(data.fileno()).st_ino != node.inode:
                return False
            self._check_room(node.size)
            shutil.copyfileobj(data, copy)  # of a log, what is too much is left out when it is sent
        return True

    def _check_room(self, size):
        free, spare = self.room()
        if size > free - spare:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def room(self):
        """Return how many bytes of the disk are free, and how many of them must stay so."""
        disk = os.statvfs(self.stage)
        return disk.f_bavail * disk.f_frsize, min(disk.f_blocks * disk.f_frsize // SPARE_SHARE, SPARE_BYTES)

    def _place(self):
        self._count += 1
        return os.path.join(self.stage, str(self._count))


def link(source, place):
    """Give a file a second name. Return whether that is possible: not across mounts, nor for some files of other users."""
    try:
        os.link(source, place)
        return True
    except FileNotFoundError:
        raise
    except OSError:
        return False

