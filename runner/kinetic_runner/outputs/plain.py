# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The plain names of outputs, which people and TensorBoard read: copies within the bucket of what the index names."""

import threading
import time
from collections import namedtuple

from ..contract import METADATA
from ..errors import why_of
from ..store import in_parallel
from ..store.gcs import RENEW_AGE
from ..store.objects import list_objects, rewrite_object
from ..threads import start_threads
from .tree import FILE, name_problem

MARK, HASH = METADATA["writer"], METADATA["hash"]  # metadata of our objects: JOB/HOST/ATTEMPT, and the hash of their bytes
PARALLEL = 4
TOLD = 10  # names that can't be used
TRUSTED_SECONDS = 60.0  # for which nobody is expected to remove a plain name
IN_ORDER = 8  # newest files that are copied one after the other, since they may name older ones

Have = namedtuple("Have", "sha256 generation ours")  # an object under a plain name that may be replaced


class Plain:
    """Keeps the plain names in step with an index. owner is JOB/HOST/ATTEMPT."""

    def __init__(self, home, store, owner, say):
        self._home, self._store, self._owner, self._say = home, store, owner, say
        self.have, self._looked_at = {}, time.monotonic()  # by path
        self._failed = False
        self.refused = {}  # by path: a sentence about why there is no such plain name
        self._wanted, self._unnamed = None, []
        self._running, self._changing = False, threading.Condition()

    def load(self):
        """Look up which plain names this host of the job has written before."""
        job_and_host, self._looked_at = self._owner.rpartition("/")[0], time.monotonic()
        for found in list_objects(self._store):
            if found.metadata.get(MARK, "").rpartition("/")[0] == job_and_host:
                self.have[found.name] = Have(found.metadata.get(HASH, ""), found.generation, True)

    @property
    def refusals(self):
        """Sentences about plain names that others have: the first ones, and how many there are more."""
        more = len(self.refused) - TOLD
        return list(self.refused.values())[:TOLD] + ([f"{more} more outputs are saved, but not under their plain names"] if more > 0 else [])

    def want(self, document, unnamed):
        """Delete the objects that an index no longer names and bring the plain names in step with it, in a thread of its own."""
        with self._changing:
            self._wanted = document
            self._unnamed += unnamed
            if self._running:
                return
            self._running = bool(start_threads(1, self._work))

    def wait(self, until, meanwhile=lambda: None):
        """Wait until the plain names are in step, or time.monotonic() is until. Call meanwhile again and again."""
        with self._changing:
            while self._running and (left := until - time.monotonic()) > 0:
                self._changing.wait(min(left, 1.0))
                meanwhile()

    def bring(self, document):
        """Bring the plain names in step with an index, the oldest files first."""
        entries = [(entry.mtime, path) for path, entry in document.entries.items() if entry.kind == FILE and self._lacks(path, entry)]
        paths = [path for _, path in sorted(entries)]
        in_parallel(lambda path: self._copy(path, document.entries[path]), paths[:-IN_ORDER], PARALLEL)
        for path in paths[-IN_ORDER:]:
            self._copy(path, document.entries[path])
        gone = [path for path, have in self.have.items() if have.ours and path not in document.entries]
        in_parallel(self._delete, gone, PARALLEL)

    def with_plain_names(self, entries):
        """Return the entries of an index with the plain names that there are instead of the objects that they are copies of."""
        copied = {path for path, entry in entries.items() if entry.object and self._has(path, entry)}
        if copied and time.monotonic() > self._looked_at + TRUSTED_SECONDS:
            there = {found.name: found.generation for found in list_objects(self._store)}
            copied = {path for path in copied if self.have[path].generation == there.get(path)}
        return {path: entry._replace(object="") if path in copied else entry for path, entry in entries.items()}

    def renew(self):
        """Renew what a rule of the bucket is about to delete."""
        for found in list_objects(self._store):
            if found.name in self.have and self.have[found.name].ours and time.time() - found.created >= RENEW_AGE:
                fields = rewrite_object(self._store, found.name, self._store, found.name, found.generation, found.metadata)
                if fields:
                    self.have[found.name] = self.have[found.name]._replace(generation=str(fields["generation"]))

    def _work(self):
        while True:
            with self._changing:
                document, self._wanted = self._wanted, None
                unnamed, self._unnamed = self._unnamed, []
                if document is None:
                    self._running = False
                    self._changing.notify_all()
                    return
            try:
                in_parallel(self._home.delete, unnamed, PARALLEL)
                self.bring(document)
            except Exception as exc:  # even a mistake in the runner must not end the thread, for which others wait
                if not self._failed:
                    self._failed = True
                    self._say(f"warning: outputs are saved, but their plain names are not up to date: {why_of(exc)}")

    def _has(self, path, entry):
        return path in self.have and self.have[path].sha256 == entry.sha256

    def _lacks(self, path, entry):
        return entry.object and path not in self.refused and not self._has(path, entry)

    def _copy(self, path, entry):
        """Copy an object to its plain name, unless that is somebody else's."""
        why = name_problem(path, self._store.prefix)
        metadata = {MARK: self._owner, HASH: entry.sha256}
        while not why:
            generation = self.have[path].generation if path in self.have else "0"
            fields = rewrite_object(self._home, entry.object, self._store, path, generation, metadata)
            if fields:
                self.have[path] = Have(entry.sha256, str(fields["generation"]), True)
                return
            found = self._store.attributes(path)
            if str((found or {}).get("generation", "0")) == generation:
                return  # the object is gone: a newer index no longer names it
            self.have.pop(path, None)
            if found is None:
                continue
            mark = (found.get("metadata") or {}).get(MARK, "")
            job_and_host, _, attempt = mark.rpartition("/")
            own, _, number = self._owner.rpartition("/")
            if job_and_host != own:
                why = self._whose(path, job_and_host)
            elif int(attempt) > int(number):
                return  # a later attempt has begun, and knows better
            else:
                self.have[path] = Have(found["metadata"].get(HASH, ""), str(found["generation"]), True)
        self._refuse(path, why)

    def _whose(self, path, job_and_host):
        """Return why what is under a plain name can't be replaced."""
        job, _, host = job_and_host.rpartition("/")
        if job == self._owner.split("/")[0]:
            return f"host {host} has written it, too: each host needs names of its own"
        return f"{self._store.url(path)} exists, and this job has neither written nor restored it"

    def _delete(self, path):
        self._store.delete(path, self.have[path].generation)
        del self.have[path]

    def _refuse(self, path, why):
        self.refused[path] = f"the output {path!a:.200} is saved, but not under its plain name: {why}"
        if len(self.refused) <= TOLD:
            self._say(f"warning: {self.refused[path]}")
