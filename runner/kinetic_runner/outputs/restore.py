# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fill the directory of outputs with what is complete in the store."""

import base64
import hashlib
import os

from ..errors import Mismatch, NotFound
from ..store import in_parallel
from ..store.names import job_name
from ..store.objects import copy_object, list_objects
from ..text import COPY_BLOCK, readable, shorten, write_all
from .index import index_name, read_index, read_indexes
from .keeper import Saved
from .plan import choose, make_plan
from .scan import stamp_of, stays_inside
from .sender import marked

PARALLEL = 6  # objects at a time
SPARE_BYTES, SPARE_SHARE = 1 << 30, 10  # of the disk, which stay free: the kubelet evicts pods from a full one
LITTLE_SHARE = 100  # of what is free, which may be used in any case
TOLD, TOLD_CHARACTERS = 3, 200  # names in a message, and their length


class Restore:
    """Brings outputs from the store. outputs is the store of their prefix, store that of the jobs."""

    def __init__(self, store, outputs, root, owner, say):
        self._store, self._outputs, self._root, self._owner, self._say = store, outputs, root, owner, say
        self._broken = set()  # units that have lost an object meanwhile
        self.saved, self.absent, self.entries = {}, set(), {}  # for the keeper and its index

    def adopt(self, source, job, index):
        """Make the complete outputs of another job, whose prefix is source, the beginning of this one's. Return their plan."""
        found = make_plan(list(list_objects(source)), self._indexes(job, ()))
        entries = {item.path: item.entry for item in found.items if item.entry.link is not None}

        def copy(item):
            ours = bool(marked(item.metadata)[0])
            generation = copy_object(source, self._outputs, item.path, self._owner.metadata if ours else None)
            if ours and generation is None:  # it was copied before this attempt was interrupted
                generation = str((self._outputs.attributes(item.path) or {}).get("generation", ""))
            if ours:
                entries[item.path] = item.entry._replace(generation=generation)

        in_parallel(copy, [item for item in found.items if item.entry.link is None], PARALLEL)
        index.write(entries)
        self._say(f"resuming from job {job}: copied {len(found.items)} of its outputs")

    def run(self, source, job, only_own=False):
        """Bring what is complete below source, the prefix of a job, except for names that an earlier run has dealt with."""
        self._broken.clear()
        objects = list(list_objects(source))
        if only_own:
            objects = [found for found in objects if marked(found.metadata)[:2] == (job, str(self._owner.host))]
        jobs = {marked(found.metadata)[0] for found in objects}
        found = make_plan(objects, self._indexes(job, jobs - {"", job}, only_own))
        chosen, left_out = choose([item for item in found.items if item.path not in self.saved and item.path not in self.absent], self._room())
        self._bring(source, chosen)
        own = self._own_index() if job == self._owner.job else {}
        self.absent |= {item.path for item in left_out if item.path in own}
        self.entries.update({item.path: item.entry for item in found.items if item.path in own and (item.path in self.saved or item.path in self.absent)})
        for path, saved in self.saved.items():
            self.saved[path] = saved._replace(entry=self.entries.get(path))
        self._tell([item for item in chosen if item.path in self.saved], left_out, found)

    def _indexes(self, job, others, only_own=False):
        """Return the entries of the jobs' indexes, see make_plan."""
        indexes = {job: self._own_index() if only_own else read_indexes(self._store, job) or {}}
        for other in others:
            indexes[other] = read_indexes(self._store, other)
            if indexes[other] is None and self._store.exists(job_name(other, "handle.json")):
                indexes[other] = {}  # else it was cleaned up
        return indexes

    def _own_index(self):
        try:
            return read_index(self._store, index_name(self._owner.job, self._owner.host))
        except NotFound:
            return {}

    def _room(self):
        """Return how many bytes may be brought."""
        disk = os.statvfs(self._root)
        free = disk.f_bavail * disk.f_frsize
        return max(free - disk.f_blocks * disk.f_frsize // SPARE_SHARE - SPARE_BYTES, free // LITTLE_SHARE)

    def _bring(self, source, items):
        """Write the files, then the links. Remove what belongs to a unit that was not complete after all."""
        in_parallel(lambda item: self._bring_file(source, item), [item for item in items if item.entry.link is None], PARALLEL)
        for item in items:
            if item.entry.link is not None and stays_inside(self._root, item.path, item.entry.link):
                self._bring_link(item)
        for item in items:
            if item.entry.unit in self._broken and self.saved.pop(item.path, None):
                os.unlink(os.path.join(self._root, item.path))

    def _bring_file(self, source, item):
        target = os.path.join(self._root, item.path)
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except (FileExistsError, NotADirectoryError):
            self._broken.add(item.entry.unit)  # there are objects a and a/b: both can't be files
            return
        with open(fd, "wb", buffering=0):
            try:
                fetch(source, item, fd)
            except NotFound:
                self._broken.add(item.entry.unit)
            os.fchmod(fd, item.entry.mode & 0o777)
            os.utime(fd, ns=(item.entry.mtime_ns, item.entry.mtime_ns))
        self._note(item)

    def _bring_link(self, item):
        target = os.path.join(self._root, item.path)
        folder = os.path.dirname(target)
        try:
            os.makedirs(folder, exist_ok=True)
            if os.path.realpath(folder) != os.path.join(os.path.realpath(self._root), os.path.dirname(item.path)).rstrip("/"):
                return  # another link leads there, so that nobody can tell by its name where this one leads
            os.symlink(item.entry.link, target)
        except (FileExistsError, NotADirectoryError):
            return
        self._note(item)

    def _note(self, item):
        job, host, _ = marked(item.metadata)
        others = job == self._owner.job and host != str(self._owner.host)
        stamp = stamp_of(os.path.join(self._root, item.path))
        self.saved[item.path] = Saved(stamp, None, 0 if others else item.entry.generation or 0)

    def _tell(self, brought, left_out, found):
        if brought:
            size = readable(sum(item.entry.size for item in brought))
            self._say(f"restored {len(brought)} output{'' if len(brought) == 1 else 's'} ({size})")
        if newer := sorted(path for path in found.newer if path in self.saved):
            self._say(f"{len(newer)} of them were written again after their neighbours had been saved: {named(newer)}")
        if left_out:
            size = readable(sum(item.entry.size for item in left_out))
            names = named(sorted(item.path for item in left_out))
            self._say(f"warning: {len(left_out)} outputs ({size}) are not restored, because the disk is too small: {names}: submit with a larger --disk")
        if found.incomplete:
            self._say(f"{len(found.incomplete)} outputs are not restored, because they are incomplete: {named(sorted(found.incomplete))}")
        if found.strange:
            self._say(f"{len(found.strange)} outputs are not restored, because no file can have their names: {named(sorted(found.strange))}")
        if self._broken:
            self._say(f"warning: not restored, because files of them are missing: {named(sorted(self._broken))}")


def fetch(source, item, fd):
    """Write an object to a file and compare its MD5, if it has one."""
    for last in (False, True):
        digest = hashlib.md5(usedforsecurity=False)
        os.ftruncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)
        with source.open(item.path) as file:
            while block := file.read(COPY_BLOCK):
                digest.update(block)
                write_all(fd, block)
        md5 = item.entry.md5 if not last else (source.attributes(item.path) or {}).get("md5Hash", "")
        if not md5 or base64.b64encode(digest.digest()).decode() == md5:
            return
    raise Mismatch(f"{source.url(item.path)} does not have the MD5 {md5}: it was written to while it was read, or corrupted in transit")


def named(paths):
    """Return the first paths for a message."""
    names = [shorten(path if path.isprintable() else repr(path), TOLD_CHARACTERS) for path in paths[:TOLD]]
    return ", ".join(names) + (f" and {len(paths) - TOLD} more" if len(paths) > TOLD else "")
