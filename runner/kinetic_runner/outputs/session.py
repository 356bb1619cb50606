# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Keep the outputs of an attempt in step with the store, from the restore to the last round."""

import time

from ..errors import Unreachable, explain
from ..store import open_store
from ..text import readable
from .index import Index, index_name
from .keeper import Keeper
from .restore import Restore, named
from .scan import NAME_BYTES
from .sender import Owner, Sender
from .worker import Worker

WAIT_SECONDS = 0.2
PROGRESS_SECONDS = 10.0
INDEX_SECONDS = 2.0  # of the grace, for the index and the log


class Session:
    """Connects an attempt with the worker that saves its outputs."""

    def __init__(self, attempt, url, path, interval):
        options = attempt.options
        self._attempt, self._path = attempt, path
        self._outputs = self._open(url)
        attempt.signals.listen(lambda: self._outputs.hurry(attempt.leave_by - INDEX_SECONDS))
        self._owner = Owner(options.job, attempt.host, attempt.number, last_wins=bool(options.map))
        self._index = Index(attempt.store, options.job, attempt.host, attempt.number)
        sender = Sender(self._outputs, path, self._owner)
        room = NAME_BYTES - len(self._outputs.prefix.encode())
        self._keeper = Keeper(path, sender, self._index, room, self.note)
        self._sender = sender
        self._worker = Worker(self._keeper, sender, interval)
        self._running = False

    def _open(self, url):
        options = self._attempt.options
        store = open_store(url, options.emulator, options.metadata_host, options.credentials)
        store.outage = self._attempt.outage
        return store

    def restore(self):
        """Fill the directory with what earlier attempts, or the job to resume from, have saved."""
        attempt, options = self._attempt, self._attempt.options
        source, job = self._outputs, options.job
        restore = Restore(attempt.store, self._outputs, self._path, self._owner, attempt.say)
        # Host 0 writes its index when it has copied everything. An index of another host says nothing about that.
        if options.resume_from and not attempt.store.exists(index_name(job, 0)):
            earlier = self._open(attempt.store.outputs(options.resume_from))
            if attempt.host == 0:
                restore.adopt(earlier, options.resume_from, self._index)
            else:
                restore.run(source, job, only_own=True)
                source, job = earlier, options.resume_from
        restore.run(source, job, only_own=bool(options.map) and not options.output_dir)
        self._index.entries = restore.entries
        self._keeper.saved, self._keeper.absent = restore.saved, restore.absent
        self._running = self._worker.start()

    def start(self):
        """Start to save, round after round."""
        if not self._running:
            self._running = self._worker.start()

    def note(self, text):
        """Print a message of another thread at the next tell()."""
        self._worker.messages.append(text)

    def tell(self):
        """Print what the worker has to say."""
        while self._worker.messages:
            self._attempt.say(self._worker.messages.pop(0))

    def hurry(self):
        """Save what is finished, now."""
        self._worker.hurry()

    def finish(self, everything):
        """Save what is left; return what cannot be saved. Raise Unreachable if only the store is to blame."""
        self._worker.finish(everything)
        if not self._running and not self._worker.start():
            self._worker.run()
        self._wait()
        self.tell()
        if self._sender.shared:
            names = named(sorted(set(self._sender.shared)))
            self._attempt.say(f"warning: replaced outputs that other pods of the map have written under the same names: {names}")
        failure = self._worker.failure
        if isinstance(failure, Unreachable) and not self._attempt.signals.came:
            raise failure
        if failure is not None or not self._worker.done.is_set():
            return self._keeper.unsaved(explain(failure) if failure and not self._attempt.signals.came else "no time was left")
        return self._worker.unsaved

    def _wait(self):
        told_at = time.monotonic() + PROGRESS_SECONDS
        while not self._worker.done.wait(WAIT_SECONDS):
            self.tell()
            now = time.monotonic()
            if now >= self._attempt.leave_by - INDEX_SECONDS / 2:
                return
            if now >= told_at:
                told_at = now + PROGRESS_SECONDS
                self._attempt.say(f"saving outputs: {readable(self._sender.sent)} of {readable(self._worker.total)}")
