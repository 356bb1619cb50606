# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Keep the copy of a directory in the store in step with it, unit by unit."""

import os
import threading
import time
from collections import namedtuple

from ..errors import text_of
from ..outcome import Unsaved
from ..store import in_parallel
from ..text import readable
from . import scan, units
from .links import Links
from .renames import Renames
from .sender import Changed, Refused

PARALLEL = 4  # files at a time
BATCH_FILES, BATCH_BYTES = 64, 64 << 20  # of units that are sent together
INDEX_SECONDS = 5.0  # between two writes of the index in a round
BEHIND_BYTES = 2 << 30  # about what can be saved between SIGTERM and the end
LOG_SHARE = 16  # a log is sent again when it has grown by a sixteenth
SMALL_LOG = 1 << 20  # bytes of a log that is sent whenever it has grown

# What the store has of a file. entry is None if somebody else wrote the object.
Saved = namedtuple("Saved", "stamp entry generation")
# What a round works on: entries are those of its index, known the folders that the index had.
Work = namedtuple("Work", "view logs entries known links")


class Keeper:
    """Saves the finished units of a directory, round after round. One thread at a time uses it."""

    def __init__(self, root, sender, index, room, say):
        self._root, self._sender, self._index, self._room, self._say = root, sender, index, room, say
        self._base = None  # the view of the last regular scan
        self._logs, self._growing = units.Logs(lambda path, size: scan.ends(os.path.join(root, path), size)), frozenset()
        self.saved = {}  # by path
        self.absent = set()  # paths of the index that were not restored
        self._renames = Renames()
        self._problems = {}  # by path: the stamp and why it can't be saved
        self._refused = {}  # stamps by path of files whose objects belong to somebody else
        self._changing = threading.Lock()
        self._written_at = 0.0  # time.monotonic() of the last index
        self._told_behind = False

    def round(self, regular=True):
        """Save what is finished. An irregular round compares with the scan before it, too, but later ones don't compare with its own."""
        view = self._look(scan.being_written(self._root))
        if regular:
            self._base, self._growing = view, self._logs.look(view)
        logs = {path for path in self._growing if path in view.files}
        self._save(view, logs)
        self._tell_behind(view)

    def last_round(self, everything):
        """Save what is left: everything, or only what is finished. Return what remains unsaved."""
        for _ in range(2):  # again, if a file was written to
            view = self._look((), everything)
            logs = {path for path in self._growing if path in view.files}
            self._save(view, logs, everything, last=True)
            if not (everything and self._dirty(view.files)):
                break
        return self.unsaved("it changed shortly before the call was killed, so it may be incomplete")

    def unsaved(self, why):
        """Return all files that a restore would not bring as they are, with a reason for those without one of their own."""
        tree = scan.scan(self._root, self._room, temporary=True)
        found = [Unsaved(path, size_of(os.path.join(self._root, path)), reason) for path, reason in tree.left_out.items()]
        for path in filter(lambda path: not self._is_listed(path, tree.files[path]), tree.files):
            stamp, reason = self._problems.get(path, (None, why))
            found.append(Unsaved(path, tree.files[path].size, reason if stamp in (None, tree.files[path]) else why))
        return found

    def unsent(self):
        """Return how many bytes are to be sent."""
        files = scan.scan(self._root, self._room, temporary=True).files
        return sum(files[path].size for path in self._dirty(files))

    def _is_listed(self, path, stamp):
        """Return whether the index has a file as it is, or the object is somebody else's."""
        saved, listed = self.saved.get(path), self._index.entries.get(path)
        if saved is None or saved.stamp != stamp:
            return False
        return saved.entry is None or listed is not None and (listed.generation, listed.link) == (saved.entry.generation, saved.entry.link)

    def _look(self, writing, temporary=False):
        tree = scan.scan(self._root, self._room, temporary)
        return units.observe(self._base, tree.files, writing, time.time(), tree.left_out)

    def _dirty(self, files):
        return [path for path, stamp in files.items() if path not in self.saved or self.saved[path].stamp != stamp]

    def _save(self, view, logs, everything=False, last=False):
        entries = dict(self._index.entries)
        self.absent.difference_update(view.files)
        known = units.folders_of(entries)
        work = Work(view, logs, entries, known, Links(self._root, view.files, known))
        gone = units.removed(view, entries, self.absent, everything)
        self._drop(gone, work)
        for path in [path for path in self.saved if units.is_missing(path, view)]:
            if path not in entries:
                del self.saved[path]
        try:
            for batch in batches(units.decide(view, entries, logs, everything, last), view.files):
                self._save_batch(batch, work)
            entries.update(work.links.rest(entries, everything))
            self._drop(gone, work, everything)
        finally:
            self._write_index(entries)

    def _drop(self, gone, work, everything=False):
        """Remove what is gone from the entries, unless it has a new name that is not saved yet, or a link there leads to it."""
        self._renames.look(work.view.files, self.saved)
        kept = self._renames.sources
        if gone and not everything:
            kept |= work.links.needed(gone, work.entries)
        for path in gone:
            if path not in kept:
                work.entries.pop(path, None)

    def _save_batch(self, batch, work):
        """Send what is new of some units, and enter those that are complete."""
        files, failed = work.view.files, set()
        paths = [path for unit in batch for path in unit.paths if self._must_send(path, files[path], path in work.logs)]
        in_parallel(lambda path: self._send(path, files[path], path in work.logs, failed), paths, PARALLEL)
        for unit in batch:
            if failed.isdisjoint(unit.paths):
                self._enter(unit, work)
        if time.monotonic() >= self._written_at + INDEX_SECONDS:
            self._write_index(work.entries)

    def _enter(self, unit, work):
        """Enter a complete unit. Links wait for what they lead to."""
        names, entries = None, work.entries
        for path in unit.paths:
            saved = self.saved.get(path)
            if saved is None or saved.entry is None or entries.get(path) is saved.entry:
                continue
            names = names or units.record_units(unit, work.known)
            name = entries[path].unit if path in entries else names[path]
            entry = saved.entry._replace(unit=name)
            if not work.links.holds(entry, entries):
                entries[path] = entry
                self.saved[path] = saved._replace(entry=entry)

    def _must_send(self, path, stamp, is_log):
        saved = self.saved.get(path)
        if saved is not None and saved.stamp == stamp:
            return False
        if self._refused.get(path) == stamp:
            return False
        if is_log and saved is not None and saved.stamp.inode == stamp.inode and stamp.size > SMALL_LOG:
            return stamp.size >= saved.stamp.size + saved.stamp.size // LOG_SHARE
        return True

    def _send(self, path, stamp, is_log, failed):
        saved = self.saved.get(path)
        try:
            earlier = None if is_log else self._renames.earlier(path, stamp, saved)
            entry = self._sender.send(path, stamp, saved.generation if saved else 0, is_log, earlier)
        except Refused as exc:
            self._refused[path] = stamp  # the rest of its unit is complete without it
            self._note(path, stamp, str(exc))
        except (Changed, FileNotFoundError):
            failed.add(path)
        except OSError as exc:
            failed.add(path)
            self._note(path, stamp, exc.strerror or text_of(exc))
        else:
            self.saved[path] = Saved(stamp, entry, entry.generation or 0)
            self._problems.pop(path, None)

    def _note(self, path, stamp, why):
        with self._changing:
            if self._problems.get(path, ("", ""))[1] != why:
                self._say(f"warning: the output {path} is not saved: {why}")
            self._problems[path] = stamp, why

    def _write_index(self, entries):
        if entries != self._index.entries:
            self._index.write(dict(entries))
            self._written_at = time.monotonic()

    def _tell_behind(self, view):
        """Say once that more is unsaved than could be saved if the pod had to go."""
        behind = sum(view.files[path].size for path in self._dirty(view.files))
        if behind > BEHIND_BYTES and not self._told_behind:
            self._say(f"warning: {readable(behind)} of outputs are not saved yet: a preemption now would lose much of it")
        self._told_behind = behind > BEHIND_BYTES


def batches(some, files):
    """Yield the units in groups that are sent together, in their order."""
    batch, count, size = [], 0, 0
    for unit in some:
        batch.append(unit)
        count, size = count + len(unit.paths), size + sum(files[path].size for path in unit.paths)
        if count >= BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, count, size = [], 0, 0
    if batch:
        yield batch


def size_of(path):
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0
