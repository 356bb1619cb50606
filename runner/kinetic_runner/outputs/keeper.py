# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Keep a finished state of a directory in the store while programs write to it.

A look takes a moment of the directory. What is new is sent at once. The index, which a restore brings, is written when
it is known what of the moment was finished, and when all of that is in the store. Moments are never mixed.
"""

import bisect
import math
import os
import time

from ..errors import RunnerError, StartOver, text_of
from ..outcome import Unsaved
from ..store import in_parallel
from ..text import readable
from ..threads import start_threads
from . import rules
from .index import Entry, Incomplete, at_once, text_of_moment
from .moment import HURRIED_SECONDS, REMOVED
from .sender import Changed, Unwanted
from .tree import FILE, FOLDER, folders_above, is_temporary, name_problem, read_tree, stamp_of

SETTLE_SECONDS = 0.5  # that the call must live on after a moment: an exception closes files too, and ends the call soon
QUIET_SECONDS = 3.0  # without a change, after which a new directory counts as finished
INDEX_SECONDS = 2.0  # between two indexes
PARALLEL = 4  # files that are sent at a time
HELD_BACK = 2  # intervals for which a state waits because a part of it that was saved before is being changed
APART_SECONDS = 600.0  # after an unfinished file, in which what comes may belong to it, as what names a checkpoint does
PATIENCE = 4  # intervals after which a name that is not saved is told

TEMPORARY_NAME = "its name looks temporary"
UNFINISHED = "it may not have been finished when the call ended"
MIXED = "it may belong to another file that was not finished when the call ended"


class Keeper:
    """Saves what a directory holds. All but send() and publish() runs in one thread.

    home is the store of the index and of its objects. folder is the prefix there of incomplete files. alive tells
    whether the call runs. on_index is called with each index, and with the objects that it no longer names.
    """

    def __init__(self, observer, index, sender, home, folder, interval, say, alive):
        self._observer, self._index, self._sender = observer, index, sender
        self._home, self._folder = home, folder
        self._interval, self._say, self._alive = interval or HURRIED_SECONDS, say, alive
        self.on_index = lambda document, unnamed: None
        self.watch = observer.watch.drain  # called often, it watches new directories soon
        self._current_at, self._written_at = time.time(), 0.0  # when the index was last all there was, and when it was written
        self._waiting, self._told = {}, set()  # since when names are not saved, and the names that were told
        self.moment = None  # that is being sent or published
        self.unsaved = []  # what is not saved at the end, or not finished

    def start(self):
        """Take a moment and begin to send it. Return whether another should be taken soon."""
        if problem := self._lacks_room():
            self._say_once(problem)
            if self._index.others and time.time() > self._current_at + HELD_BACK * self._interval:  # they wait no longer
                self._replace_index((), at=text_of_moment(time.time_ns()))
                self._current_at = time.time()
            return False
        moment = self._look()
        if problem := self._observer.watch.problem:
            self._say_once(f"{problem}: what is renamed into place counts as finished only if nothing changes for a moment")
        if moment is None:
            return False
        if not self._is_clean(moment):
            self._drop(moment)
            return True
        self.moment = moment
        run_in_thread(self.send, moment)
        return False

    def carry_on(self):
        """Carry on with the moment that is being sent or published. Return whether another should be taken soon."""
        moment = self.moment
        if moment.publishing:
            if not moment.published:
                return False
        else:
            self._follow(moment)
            if not moment.failure and self._lacks_room():
                moment.wanted, moment.failure = set(), self._lacks_room()
            if not moment.sent or not moment.failure and moment.is_open:
                return False
            if not moment.failure and self._is_clean(moment):
                if time.monotonic() >= self._written_at + INDEX_SECONDS:
                    moment.publishing = True
                    run_in_thread(self.publish, moment)
                return False
        self._drop(moment)
        self.moment = None
        if moment.error:
            raise moment.error
        if moment.failure:
            self._say_once(moment.failure)
        return not moment.publishing

    def commit(self):
        """Save all that no process has open as one finished state. Return the names that are left out."""
        self._abandon(set())
        time.sleep(max(self._written_at + INDEX_SECONDS - time.monotonic(), 0))  # programs may ask all the time
        moment = self._observer.take()
        if moment is None:
            entries = at_once(self._index.document.entries)
            if entries != self._index.document.entries:
                self._replace_index((), entries=entries)
            return []
        rules.judge(moment, self._observer, committed=True)
        self.send(moment)
        if moment.failure:
            raise RunnerError(moment.failure)
        self._write(moment, committed=True)
        rules.note_restless(moment, self._observer)
        return sorted(name for name, unit in moment.units.items() if not unit.whole)

    def finish(self, everything, left_open=frozenset()):
        """Save what is left, after the call has ended, and note what is not saved.

        left_open has the inodes of the files that processes had open which the call left behind.
        """
        if everything and self.moment and not self.moment.publishing:
            self._abandon({stamp_of(node) for node in read_tree(self._observer.root, True).values()})
        else:
            self._wait(self.moment)
            if self.moment and self.moment.soon and not self.moment.publishing:
                rules.follow(self.moment, self._observer)  # what the call lived to see counts, although it was sent later
        pending, self.moment, now = self.moment, None, time.time_ns()
        os.makedirs(self._observer.root, exist_ok=True)
        if pending and pending.published and not pending.failure:
            pending = None
        final = self._finish_with(pending, everything, left_open)
        self.unsaved = self.list_unsaved({name: MIXED if unit.whole else unit.why for name, unit in final.units.items()} if final else {})
        document, parts = self._index.document, {"incomplete": self._keep_incomplete()}
        if self._index.others:
            parts.update(ended=True, in_order=everything, at=document.at if final else text_of_moment(now))
        if any(getattr(document, name) != part for name, part in parts.items()):
            self._index.write(**parts)
        self._tidy(self._index.document)

    def _finish_with(self, pending, everything, left_open):
        """Write the pending moment, which is sent already, if all of it is finished; then an index of now, if all that has changed is."""
        if pending and not everything and not pending.failure and not pending.is_open and self._is_clean(pending):
            self._write(pending)
        final = self._observer.take(everything, at_rest=True)
        if final is not None:
            final.is_last = everything
            rules.judge(final, self._observer, everything)
            for name, unit in final.units.items():
                before = pending.units.get(name) if pending else None
                if before and before.whole and all(final.state.get(path) == pending.state.get(path) for path in unit.paths | before.paths):
                    unit.whole = True
                if any(path in final.state and final.listing[path].inode in left_open for path in unit.paths):
                    unit.whole, unit.why = False, "a process that the call left behind had it open"
            self.send(final)
            if final.failure:
                raise final.error
            for name, unit in final.units.items():
                if unit.whole is None:  # nothing came next that could tell
                    unit.whole, unit.why = name in final.grown, UNFINISHED
            changes = sorted([unit.changed_at for unit in final.units.values() if unit.whole] + [math.inf])

            def can_be_left_out(unit):  # the call was just making it when it ended, or what came after it is no part of it
                following = changes[bisect.bisect(changes, unit.changed_at)]
                return unit.rule == REMOVED or unit.is_new and (following - unit.changed_at > APART_SECONDS * 1e9 or unit.is_unreadable)

            if everything or all(unit.whole or can_be_left_out(unit) for unit in final.units.values()):
                self._write(final)
        return final

    # A moment

    def _look(self):
        now = time.time_ns()
        moment = self._observer.take()
        if moment is None:
            self._current_at = time.time()
            if self._index.others:  # which must know that this is still all
                self._replace_index((), at=text_of_moment(now))
            return None
        self._tidy(self._index.document, moment.state)
        rules.judge(moment, self._observer)
        if any(unit.whole is not False for unit in moment.units.values()):
            return moment
        if not moment.units:
            self._current_at = moment.at
        if self._should_tell(moment):
            self._replace_index(moment.state, pending=self._pending(moment), at=text_of_moment(moment.at_ns))
        self._drop(moment)
        return None

    def _follow(self, moment):
        """See what has come after a moment, and judge by it."""
        passed = time.monotonic() - moment.taken
        if moment.is_open and moment.soon is None and passed >= SETTLE_SECONDS:
            moment.soon = self._after(moment)
            if moment.soon:
                rules.note_finished(moment, self._observer)
        if moment.is_open and moment.soon and moment.later is None and passed >= QUIET_SECONDS:
            moment.later = self._after(moment)
        if moment.soon and moment.sent:  # whether a file only grew is known when it was sent
            rules.follow(moment, self._observer)

    def _after(self, moment):
        after = self._observer.after(moment)
        return after if self._alive() else None

    def _is_clean(self, moment):
        """Return whether all that the index has is finished at the moment, or was long not to be had."""
        return all(unit.is_new or unit.whole is not False for unit in moment.units.values()) or moment.at > self._current_at + HELD_BACK * self._interval

    def _drop(self, moment):
        moment.forget()
        rules.note_restless(moment, self._observer)
        self._tell_waiting(moment)

    def _abandon(self, wanted):
        """Send of the current moment only what is wanted, and wait for that."""
        if self.moment is not None:
            self.moment.wanted = wanted
            self._wait(self.moment)
            if not wanted:
                self.moment.forget()
                self.moment = None

    def _wait(self, moment):
        while moment is not None and not (moment.published if moment.publishing else moment.sent):
            time.sleep(0.005)

    # Sending

    def send(self, moment):
        """Send what was frozen."""
        items = [(unit, path) for unit in moment.units.values() if unit.whole is not False for path in sorted(unit.paths & moment.frozen.keys())]
        try:
            in_parallel(lambda item: self._send_file(moment, *item), items, PARALLEL)
        except Unwanted:
            moment.failure = moment.failure or "it is no longer needed"
        except Exception as exc:  # carry_on() raises it
            moment.fail(exc)
        sent = self._observer.sent
        for unit in moment.units.values():
            moment.grown.update(path for path in unit.paths if moment.state.get(path) in sent and sent[moment.state[path]].grown)
        moment.forget()
        moment.sent = True

    def _send_file(self, moment, unit, path):
        """Send a file, unless the store has it. If it has changed meanwhile, its unit is not finished."""
        frozen, entry = moment.frozen[path], self._index.document.entries.get(path)
        stamp, sent = frozen.stamp, self._observer.sent
        if stamp != moment.state.get(path) or stamp in sent or unit.whole is False:
            return
        if not moment.wants(stamp):
            raise Unwanted
        mark = entry.size if entry and entry.kind == FILE and entry.size <= stamp[1] and self._observer.saved[path][0] == stamp[0] else 0
        try:
            found = self._sender.send(frozen.path, None if frozen.database else stamp[1], mark, lambda: moment.wants(stamp))
            if not self._observer.is_intact(frozen, path):
                raise Changed
        except (Changed, FileNotFoundError):
            self._observer.copy_next.add(path)
            unit.whole, unit.why = False, "it changed while it was sent"
            return
        except StartOver as exc:
            if not moment.is_last:
                raise
            unit.whole, unit.why = False, text_of(exc)  # the others are saved without this one
            return
        sent[stamp] = found._replace(grown=bool(mark) and found.grown == entry.sha256)
        if mark and not sent[stamp].grown and self._observer.is_lines(path, stamp) and rules.is_busy(path, moment, self._observer):
            unit.whole, unit.why = False, "it is being written again from its start"

    # The index

    def publish(self, moment):
        """Write the index of a moment."""
        try:
            self._write(moment)
        except Exception as exc:
            moment.fail(exc)
        moment.published = True

    def _write(self, moment, committed=False):
        entries, saved = self._choose(moment)
        entries = at_once(entries) if committed else entries
        if entries != self._index.document.entries or self._should_tell(moment):
            self._replace_index((), entries=entries, pending=self._pending(moment), at=text_of_moment(moment.at_ns))
            self._written_at = time.monotonic()
        self._observer.saved.clear()
        self._observer.saved.update(saved)
        self._current_at = moment.at
        self._observer.note_known(
            [path for path, entry in entries.items() if entry.kind == FOLDER and path in saved and moment.state.get(path) == saved[path]], moment.clock
        )

    def _replace_index(self, state, **parts):
        """Replace parts of the index, and forget what neither it nor a moment with this state needs."""
        before = self._index.document
        self._index.write(**parts)
        self._tidy(before, state)

    def _choose(self, moment):
        """Return the entries of a moment's index and their stamps: of each finished unit its state, of the others what was saved."""
        entries, saved, sent = dict(self._index.document.entries), dict(self._observer.saved), self._observer.sent
        for unit in moment.units.values():
            for path in unit.paths if unit.whole else ():
                before, was = entries.pop(path, None), saved.pop(path, None)
                if path not in moment.state:
                    continue
                node, stamp = moment.listing[path], moment.state[path]
                entry = Entry(node.kind, 0, "", node.mode, node.mtime, node.target, "", self._since(unit, moment))
                if was == stamp or before and before.kind == FILE and self._observer.is_log(path, stamp):
                    entry = entry._replace(since=before.since)
                if node.kind == FILE and was == stamp:
                    entry = entry._replace(size=before.size, sha256=before.sha256, object=before.object)
                elif node.kind == FILE:
                    entry = entry._replace(size=sent[stamp].size, sha256=sent[stamp].sha256, object=sent[stamp].object)
                entries[path], saved[path] = entry, stamp
        for path in [path for path in entries if any(entries[one].kind != FOLDER for one in folders_above(path) if one in entries)]:
            del entries[path], saved[path]
        return entries, saved

    def _since(self, unit, moment):
        """Return since when what a unit has now is finished, 0 if nobody needs to know."""
        return min(unit.changed_at or moment.at_ns, moment.at_ns) if self._index.others else 0

    def _pending(self, moment):
        names = {name for name, unit in moment.units.items() if not unit.whole}
        return names | {path for path in moment.listing if is_temporary(path) and not is_temporary(os.path.dirname(path))}

    def _should_tell(self, moment):
        """Return whether the index should be written for the names alone that are not finished."""
        return self._index.others is not None or not self._index.exists and bool(self._pending(moment))

    def _tidy(self, before, state=()):
        """Forget the objects that neither the index names nor a moment with this state needs."""
        sent, named = self._observer.sent, self._index.document.objects()
        needed = set(state.values()) if state else ()
        unnamed = before.objects() - named
        unnamed.update(sent.pop(stamp).object for stamp, found in list(sent.items()) if found.object not in named and stamp not in needed)
        if unnamed or not state:
            self.on_index(self._index.document, sorted(unnamed))

    # What is not saved

    def list_unsaved(self, reasons):
        """Return the files that the index does not have as they are. reasons are those of units."""
        observer = self._observer
        tree, found = read_tree(observer.root, True), []
        state = observer.stamps(tree)
        for path, node in tree.items():
            stamp = state.get(path, stamp_of(node))
            if node.kind == FILE and stamp not in (observer.saved.get(path), observer.others.get(path)) and not observer.is_companion(path):
                tops = [reasons[name] for name in [path, *folders_above(path)] if name in reasons]
                found.append(Unsaved(path, node.size, TEMPORARY_NAME if is_temporary(path) else next(iter(tops), UNFINISHED)))
        return sorted(found) + [Unsaved(path, 0, why) for path, why in sorted(tree.left_out.items())]

    def _keep_incomplete(self):
        """Keep what was not finished apart, where no restore brings it. Return it, as an index has it."""
        kept = {}
        for file in self.unsaved:
            name, path = self._folder + file.path, os.path.join(self._observer.root, file.path)
            if os.path.isfile(path) and not os.path.islink(path) and not name_problem(name, self._home.prefix):
                try:
                    self._sender.send_as(name, path)
                except (OSError, StartOver):
                    continue  # it can't be read, or sent
                kept[file.path] = Incomplete(file.size, name, file.why)
        return kept

    def _tell_waiting(self, moment):
        """Name what could not be saved for long, once."""
        left = {name: unit.why for name, unit in moment.units.items() if unit.whole is False}
        left.update((path, TEMPORARY_NAME) for path in moment.listing if is_temporary(path) and not is_temporary(os.path.dirname(path)))
        left.update(moment.listing.left_out)
        self._waiting = {name: self._waiting.get(name, moment.at) for name in left}
        for name, since in self._waiting.items():
            if moment.at - since >= PATIENCE * self._interval and name not in self._told:
                self._told.add(name)
                self._say(f"warning: the output {name} is not saved: {left[name]}")

    def _say_once(self, text):
        if text not in self._told:
            self._told.add(text)
            self._say(f"warning: {text}")

    def _lacks_room(self):
        """Return why no moment can be frozen, or None."""
        free, spare = self._observer.room()
        return f"outputs are not saved for now: less than {readable(spare)} of the disk is free" if free < spare else None


def run_in_thread(action, moment):
    """Run action in a thread, or here if the limits allow no more."""
    if not start_threads(1, lambda: action(moment)):
        action(moment)
