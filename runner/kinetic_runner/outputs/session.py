# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Connect an attempt with the keeper of its outputs, from the restore to the last index."""

import _thread
import os
import time
from collections import namedtuple

from ..errors import Unreachable, explain
from ..publish import read_end
from ..store import in_parallel, open_store
from ..store.gcs import RENEW_AGE
from ..store.names import incomplete_folder, index_folder, index_name
from ..store.objects import list_objects, rewrite_object
from ..text import readable
from .directory import clear_directory
from .index import LATEST, Conflict, Index, text_of_moment
from .keeper import Keeper
from .observer import Observer
from .plain import Have, Plain
from .restore import PARALLEL, Restore, add_plain, common_moment, drop_removed, items_of, moments, named, plain_items, put_replaced, read_indexes
from .sender import Sender
from .tree import FILE, FOLDER, read_tree, stamp_of
from .worker import Worker

WAIT_SECONDS = 0.2
PROGRESS_SECONDS = 10.0
LAST_SECONDS = 2.0  # of the grace, for the log and the result
TRIES = 5  # to restore what is being replaced
RESUMED = -1  # the number of the index of what a job begins with

# What to restore: items by path, those of this job and those that it begins with; the paths that others have replaced; the
# number of the index that has what the job begins with; the moment of the items; and messages.
Plan = namedtuple("Plan", "items begun replaced first moment messages")


class Session:
    """Saves the directory path of an attempt.

    plain is the URL of the plain names, home that of the index, its objects and what is incomplete. number is that
    of the index: the host, or in a map the input. say prints a message. watch is one that has watched the directory before.
    """

    def __init__(self, attempt, plain, home, path, number, interval, alive, say, watch=None):
        options = attempt.options
        self._attempt, self._path, self._number, self._say = attempt, path, number, say
        self._home, self._plain = self._open(home), self._open(plain)
        stage = os.path.join(options.work, "stage", str(number))
        clear_directory(stage)
        folder = f"{index_folder(number)}{attempt.number}-{os.urandom(4).hex()}"
        self.messages, self._restoring = [], 0  # the number of the attempt if it restores
        self._observer = Observer(path, stage, {}, {}, watch)
        self._index = self._index_of(number)
        self._sender = Sender(self._home, folder)
        self._keeper = Keeper(self._observer, self._index, self._sender, self._home, incomplete_folder(number), interval, self.note, alive)
        self._names = Plain(self._home, self._plain, f"{options.job}/{number}/{attempt.number}", self.note)
        self._keeper.on_index = self._names.want
        self._worker = Worker(self._keeper, interval, self._renew, self.note)
        self._running, self._starting = False, _thread.allocate_lock()

    def _open(self, url):
        """Return the store of a URL. From SIGTERM on, it must leave time for the log and the result."""
        attempt, options = self._attempt, self._attempt.options
        if attempt.store.url("").startswith("gs://"):
            store = attempt.store.at(url)
        else:
            store = open_store(url, options.emulator, options.metadata_host, options.credentials)
            store.outage = attempt.outage
        attempt.signals.listen(lambda: store.hurry(attempt.leave_by - LAST_SECONDS))
        return store

    def _index_of(self, number):
        attempt = self._attempt
        others = [host for host in range(attempt.hosts) if host != number and not attempt.options.map]
        tell = (lambda: moments(self._home, others, self._restoring)) if others else None
        return Index(self._home, index_name(number), attempt.number, tell, attempt.options.grace)

    # Before the call

    def restore(self, earlier=None, shared=False):
        """Fill the directory with what earlier attempts have saved, else with the outputs of the job to resume from.

        earlier has the URLs of the home and of the plain names of that job. shared says that the plain names are also those of other jobs.
        """
        self._restoring = self._attempt.number
        earlier = [self._open(url) for url in earlier or ()]
        while True:
            try:
                self._restore(earlier, shared)
                return
            except Conflict:
                pass  # an earlier attempt still runs: now it is told that it was replaced

    def _restore(self, earlier, shared):
        attempt, say = self._attempt, self._say
        self._index.read()
        plan, restore = self._bring(earlier, shared)
        self._names.load()
        self._take_over(restore.brought, plan.begun if self._number == plan.first else {}, earlier, plan.moment)
        self._index.document.entries.update({path: restore.brought[path].entry for path in plan.replaced if path in self._index.document.entries and path in restore.brought})
        files = [item for item in restore.brought.values() if item.entry.kind == FILE]
        if files:
            size = readable(sum(item.entry.size for item in files))
            since = f", as of {self._index.document.at}" if self._index.document.at else ""
            say(f"restored {len(files)} output{'' if len(files) == 1 else 's'} ({size}){since}")
        elif attempt.number > 1 and self._number == plan.first:
            say("no outputs to restore: the attempts before have saved none")
        self._index.write_again()  # from now on, an earlier attempt writes no more
        needed = self._index.document.objects()
        litter = [found.name for found in list_objects(self._home, index_folder(self._number)) if found.name not in needed]
        self._names.want(self._index.document, litter)

    def _bring(self, earlier, shared):
        """Fill the directory. Return the plan that was followed, and its Restore."""
        plan, tries = self._plan(earlier, shared), TRIES
        while True:
            for text in plan.messages:
                self._say(text)
            clear_directory(self._path)
            restore = Restore(self._path, self._say, tries == 1)
            restore.run({**plan.items, **plan.begun})
            tries -= 1
            newer = self._plan(earlier, shared) if restore.broken and tries else plan
            if newer == plan:
                if restore.mismatch:
                    raise restore.mismatch
                restore.remove_broken()
                return plan, restore
            plan = newer  # a job that still runs has saved another state instead of this one

    def _plan(self, earlier, shared):
        """Return what is to be restored, as it is now in the store."""
        attempt, messages = self._attempt, []
        numbers = [self._number] if attempt.options.map else range(attempt.hosts)
        documents = {number: document for number, document in read_indexes(self._home, numbers).items() if not (document and document.done and attempt.number == 1)}
        known = {number: document for number, document in documents.items() if document}
        items = items_of(known, self._home, self._plain)
        begun, replaced = {}, self._compare(items, messages) if attempt.options.output_dir else []
        if numbers[0] not in documents:  # host 0 writes its index when it has what the job begins with
            begun = self._resume(*earlier, messages) if earlier else plain_items(self._plain) if shared else {}
            begun = {path: item._replace(number=RESUMED) for path, item in begun.items() if path not in items}
        return Plan(items, begun, replaced, numbers[0], common_moment(known), messages if attempt.host == 0 else [])

    def _compare(self, items, messages):
        """Put into items what others have done to the plain names that they have, in a directory that is also theirs. Return what was replaced."""
        listed = list(list_objects(self._plain))
        replaced, gone = put_replaced(items, self._plain, listed), drop_removed(items, self._plain, listed)
        for paths, what in ((replaced, "replaced since, and are taken as they are"), (gone, "removed since")):
            if paths:
                messages.append(f"warning: outputs that this job had found in {self._attempt.outputs.url} were {what}: {named(paths)}")
        return replaced

    def _resume(self, home, plain, messages):
        """Return what the job to resume from has saved; home and plain are its stores."""
        job = self._attempt.options.resume_from
        documents = read_indexes(home, [self._number] if self._attempt.options.map else None)
        if documents and all(documents.values()):
            found, listed = items_of(documents, home, plain), list(list_objects(plain))
            replaced, gone = put_replaced(found, plain, listed), drop_removed(found, plain, listed)
            for paths, what in ((replaced, "replaced since it ended, and are taken as they are"), (gone, "removed since it ended")):
                if paths:
                    messages.append(f"warning: outputs of job {job} were {what}: {named(paths)}")
            add_plain(found, plain_items(plain, listed, writer=job))  # its program wrote there itself
        else:
            found = plain_items(plain)  # of an earlier release, or of a program that wrote there itself
        moments = [document.at for document in documents.values() if document and not document.done]
        if found:
            messages.append(f"resuming from job {job}" + (f", which {standing(self._attempt.store, job)}, as of {max(moments)}" if moments else ""))
        else:
            messages.append(f"warning: job {job} has saved no outputs: this job begins without any")
        return found

    def _take_over(self, brought, begun, earlier, moment):
        """Note what the index of this host has of what was restored; begun is what the job begins with, if that is for this host.

        moment is that of the restore: what came after it has never been.
        """
        begun, document = {path: brought[path] for path in begun if path in brought}, self._index.document
        own = {path for path, item in brought.items() if item.number == self._number or item.entry.kind == FOLDER}
        entries = {path: entry for path, entry in document.state_at(moment).items() if path in own}
        if self._index.others:  # which restore the same, and may read it later
            document.restored = moment if moment < LATEST else time.time_ns()
            if document.at:
                document.at = text_of_moment(document.restored)
                document.ended = document.in_order = False
        entries.update(self._adopt(begun) if earlier else {path: item.entry for path, item in begun.items()})
        for path, item in brought.items():
            if item.store is self._plain and item.generation and (path in begun or path in own):
                self._names.have.setdefault(path, Have(item.entry.sha256, item.generation, False))
        document.entries = entries
        listing = read_tree(self._path, True)
        for path, node in listing.items():
            if path in entries and (node.kind == FOLDER or path in begun or brought[path].number == self._number):
                self._observer.saved[path] = stamp_of(node)
            elif path in brought:
                self._observer.others[path] = stamp_of(node)
        self._observer.known.update({path: 0 for path, node in listing.items() if node.kind == FOLDER})
        self._observer.learn(listing, self._observer.saved)

    def _adopt(self, brought):
        """Copy the objects of another job to this one's, within the bucket. Return their entries."""
        entries = {path: item.entry for path, item in brought.items()}

        def copy(number_and_item):
            number, item = number_and_item
            name = f"{index_folder(self._number)}{self._attempt.number}-adopted-{os.urandom(4).hex()}/{number}"
            made = rewrite_object(item.store, item.name, self._home, name, 0, None, item.generation)
            if not made and not self._home.attributes(name):  # it is there if only the answer was lost
                name = self._sender.send(os.path.join(self._path, item.path)).object  # else it has just been replaced
            entries[item.path] = item.entry._replace(object=name)

        in_parallel(copy, list(enumerate(item for item in brought.values() if item.entry.kind == FILE)), PARALLEL)
        return entries

    # While the call runs

    def start(self):
        """Start to save, and to listen for programs that ask for it."""
        with self._starting:  # a program may ask for a commit when the runner sees the first output
            if not self._running:
                self._running = self._worker.start()

    def note(self, text):
        """Print a message of another thread at the next tell()."""
        self.messages.append(text)

    def tell(self):
        """Print what other threads have to say."""
        while self.messages:
            self._say(self.messages.pop(0))

    def hurry(self):
        """Save what is finished more often: SIGTERM has come."""
        self._worker.hurry()

    def commit(self, commit):
        """Save all that is closed, as a program asks for."""
        self.start()
        self._worker.commit(commit)

    def _renew(self):
        """Renew what a rule of the bucket is about to delete."""
        needed = self._index.document.objects()
        for found in list_objects(self._home, index_folder(self._number)):
            if found.name in needed and time.time() - found.created >= RENEW_AGE:
                rewrite_object(self._home, found.name, self._home, found.name, found.generation, None)
        self._names.renew()
        if self._index.exists:
            self._index.write_again()

    # After the call

    def finish(self, everything, left_open=frozenset()):
        """Save what is left. Return what cannot be saved. Raise Unreachable if only the store is to blame."""
        self._worker.finish(everything, left_open)
        if not self._running and not self._worker.start():
            self._worker.run()
        self._wait()
        failure = self._worker.failure
        if isinstance(failure, Unreachable) and not self._attempt.signals.came:
            self.tell()
            raise failure
        if not self._worker.done.is_set() or failure is not None:
            why = explain(failure) if failure and not self._attempt.signals.came else "no time was left"
            self.tell()
            return [file._replace(why=why) for file in self._keeper.list_unsaved({})]
        self._names.wait(self._attempt.leave_by - LAST_SECONDS, self._attempt.attend)
        self.tell()
        return self._keeper.unsaved

    @property
    def refusals(self):
        """Sentences about plain names that others have."""
        return self._names.refusals

    def settle(self, others=()):
        """Tidy up in the store, now that the job has ended; others are the numbers of the other hosts."""
        if self._index.exists and not self._worker.superseded:
            self._names.wait(self._attempt.leave_by - LAST_SECONDS)
            settle_index(self._home, self._names, self._index, self._number)
        in_parallel(self._settle_other, list(others), PARALLEL)
        self.tell()

    def _settle_other(self, number):
        """Tidy up what another host has saved, if anything, and if it saves no more."""
        index = self._index_of(number)
        index.read()
        if index.exists and index.document.ended and not index.document.done and (index.document.entries or index.document.objects()):
            names = Plain(self._home, self._plain, f"{self._attempt.options.job}/{number}/{self._attempt.number}", self.note)
            names.load()
            settle_index(self._home, names, index, number)

    def close(self):
        """Stop to watch, unless something is still being saved."""
        if not self._running or self._worker.done.is_set():
            self._observer.watch.close()

    def _wait(self):
        told_at = time.monotonic() + PROGRESS_SECONDS
        while not self._worker.done.wait(WAIT_SECONDS):
            self.tell()
            self._attempt.attend()
            now = time.monotonic()
            if now >= self._attempt.leave_by - LAST_SECONDS / 2:
                return
            if now >= told_at:
                told_at = now + PROGRESS_SECONDS
                self._say(f"saving outputs: {readable(self._sender.sent)} were sent")


def standing(store, job):
    """Return how a job stands that did not save its outputs for the last time."""
    end = read_end(store, job)
    if end is None:
        return "had not ended"
    return "was cancelled" if end.get("reason") == "Cancelled" else "had ended before it saved all"


def settle_index(home, names, index, number):
    """Let an index name the plain objects, mark it as done, and delete the objects that it no longer names."""
    document = index.document
    names.bring(document)
    index.write(entries=names.with_plain_names(document.entries), pending=(), done=True)
    folder, named = index_folder(number), index.document.objects()
    gone = [found.name for found in list_objects(home, folder) if found.name not in named]
    in_parallel(home.delete, gone, PARALLEL)
