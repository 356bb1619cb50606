# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The store of a call that a client has given to a warm host, while it still stores what the call consists of."""

import os
import threading
import time
from contextlib import suppress

from ..contract import OBJECTS
from ..errors import AlreadyExists, NotFound, RunnerError
from ..records import Count
from ..text import file_blocks
from ..threads import start_threads
from . import in_parallel
from .names import record_name

BLOBS = OBJECTS["blob"].partition("%")[0]
WAIT_SECONDS = 600.0  # for the client to store a blob that it has not given
PAUSE_SECONDS = 0.1
TOLD_SECONDS = 5.0  # before the log tells what the call waits for
START_SECONDS = 0.2  # for the call to start, before its attempt is counted: only a counted call is run again if this pod is lost
CLIENT_SECONDS = 3.0  # for the client to store the call, before this host does


class GivenStore:
    """A store, and a folder with objects of a job that the client is storing, by their names."""

    def __init__(self, store, folder, job, say):
        self._store, self._folder, self._handle, self._say = store, folder, record_name(job, "handle"), say
        self.call_started, self._over, self._recording = threading.Event(), threading.Event(), []
        self._count, self._is_counted = lambda: None, False

    def __getattr__(self, name):
        return getattr(self._store, name)

    def open(self, name):
        """Return a binary file of the object's bytes. Raise NotFound if there is none."""
        with suppress(FileNotFoundError):
            return open(os.path.join(self._folder, name), "rb")
        began, told = time.monotonic(), False
        while True:
            try:
                return self._store.open(name)
            except NotFound:
                waited = time.monotonic() - began
                if not name.startswith(BLOBS) or waited >= WAIT_SECONDS:
                    raise
            if waited >= TOLD_SECONDS and not told:
                told = True
                self._say(f"waiting for {self._store.url(name)}, which the client is still storing")
            time.sleep(PAUSE_SECONDS)

    def first(self, records, uid, host, started):
        """Count an attempt, the first one, while the call runs. Return the result. If the client was lost, store the job for it, so that it can be found."""

        def record():
            self.call_started.wait(START_SECONDS)  # two threads of one Python often wait 5 ms for each other
            with suppress(OSError, RunnerError):  # there is another try at the end
                self._count()
                self._is_counted = True
                if not self._over.wait(CLIENT_SECONDS):
                    self._complete()

        self._count = lambda: records.count(uid, host, started)
        self._recording = start_threads(1, record)
        return Count(1, 0, 0, started, [], 0.0)

    def complete(self):
        """Make sure that the store has the call, and its first attempt."""
        self.call_started.set()
        self._over.set()
        for thread in self._recording:
            thread.join()
        if not self._is_counted:
            self._count()
        self._complete()

    def _complete(self):
        """Store what was given, unless the client has stored all of it. The handle is the last: who finds it finds the rest."""
        if self._store.exists(self._handle):
            return
        names = [os.path.relpath(os.path.join(folder, name), self._folder) for folder, _, files in os.walk(self._folder) for name in files]
        in_parallel(self._create, [name for name in names if name != self._handle], self._store.parallel)
        if self._handle in names:
            self._create(self._handle)

    def _create(self, name):
        with suppress(AlreadyExists):
            self._store.create(name, lambda: file_blocks(os.path.join(self._folder, name)))
