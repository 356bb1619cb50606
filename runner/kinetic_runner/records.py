# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The records of attempts, which count the attempts of a job across pods."""

from collections import namedtuple

from .documents import VERSION, parse_document
from .errors import AlreadyExists
from .outcome import COMPLETED
from .contract import OBJECTS
from .text import BLOCK, encode_json

Count = namedtuple("Count", "number crashes disruptions job_started silent ran")


def read_document(store, name):
    """Return a small document from the store."""
    with store.open(name) as file:
        return parse_document(whole(file), store.url(name))


def whole(file):
    """Return all bytes of a small object. A read may return less, as when the transfer was cut off."""
    return b"".join(iter(lambda: file.read(BLOCK), b""))


def create_or_read(store, name, document, metadata=None):
    """Create the object with this document. Return it, or the existing one."""
    data = encode_json(document)
    try:
        store.create(name, lambda: [data], metadata)
        return document
    except AlreadyExists:
        return read_document(store, name)


class Records:
    """The records of a job's attempts, or of those at one chunk of a map."""

    def __init__(self, store, job, prefix=""):
        self._store, self._job, self._prefix = store, job, prefix

    def name(self, number):
        """Return the name of an attempt's record."""
        return OBJECTS["attempt"] % (self._job, self._prefix, number)

    def count(self, uid, host, started):
        """Record this attempt, once for each pod, and count those before it.

        A crashed attempt has a reason, see end(), which is not COMPLETED. A record without one is a disruption:
        the pod was preempted, drained or lost with its node. A crash that killed the
        runner, too, counts as one. If the runner could not write a message, the
        record is silent. ran is for how many seconds earlier attempts have run, as far
        as they have noted it.
        """
        number, crashes, disruptions, silent, ran = 1, 0, 0, [], 0.0
        job_started = started
        while True:
            record = {"version": VERSION, "attempt": number, "host": host, "uid": uid, "started": started}
            found = create_or_read(self._store, self.name(number), record)
            if number == 1:
                job_started = found.get("started", started)
            if found.get("uid") == uid:
                return Count(number, crashes, disruptions, job_started, silent, ran)
            ran += found.get("ran", 0.0)
            if "reason" in found:
                crashes += found["reason"] != COMPLETED  # its end may not have reached the cluster
            else:
                disruptions += 1
                if "message" not in found:
                    silent.append(number)
            number += 1

    def note_ran(self, number, seconds):
        """Note in an attempt's record for how long it has run."""
        self._add(number, {"ran": round(seconds, 3)})

    def end(self, number, message, finished, reason=None):
        """Add to an attempt's record how it ended, with a reason if it crashed. Never replace a crash."""
        ending = {"message": message, "finished": finished}
        if reason:
            ending["reason"] = reason
        self._add(number, ending)

    def _add(self, number, more):
        """Add to an attempt's record, unless it has the reason of a crash."""
        name = self.name(number)
        while True:
            with self._store.open(name) as file:
                record = parse_document(whole(file), self._store.url(name))
            if "reason" in record:
                return
            data = encode_json(dict(record, **more))
            try:
                return self._store.write(name, lambda: [data], getattr(file, "generation", None))
            except AlreadyExists:
                pass  # another host has written
