# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a directory held at one moment, and what of it was finished then."""

import os
import time
from collections import Counter, namedtuple

from ..errors import Final, text_of
from .tree import FILE

# What has changed since a moment: all paths and the directories above them, the files that were saved and then changed
# in place, and the topmost directories that have lost something.
After = namedtuple("After", "changed in_place shrinking")

REMOVED, LOOSE, CHANGED, NEW_FOLDER = "removed", "loose", "changed", "new folder"  # the rules for units

HURRIED_SECONDS = 5.0  # from SIGTERM on, the interval at most


class Frozen(namedtuple("Frozen", "path stamp database ours")):
    """What is sent of a file: path is where its bytes are, stamp that of the file, database tells that SQLite made a copy.

    ours tells that path is a copy or a second name, rather than the file itself.
    """

    def release(self):
        """Remove the copy or the second name."""
        if self.ours and os.path.lexists(self.path):
            os.unlink(self.path)


class Unit:
    """What counts together: one path, or a new directory with all below it.

    whole is True, False, or None while only what comes next can tell. why is the reason while it is not True.
    """

    def __init__(self, paths, rule, whole, why):
        self.paths, self.rule, self.whole, self.why = paths, rule, whole, why
        self.is_new = True  # the index has nothing of it
        self.is_unreadable = False  # the runner can't read a file of it
        self.changed_at = 0  # in nanoseconds, of its newest file


class Moment:
    """A listing that was true at one instant, time.time() at, with all that is new frozen.

    state has the stamps of all paths that count. opened holds what processes could write to, closed and moved
    what inotify said of that instant, unsteady the paths that changed while they were looked at.
    """

    def __init__(self, at, clock, listing, state, frozen):
        self.taken = time.monotonic()
        self.at, self.clock, self.listing, self.state, self.frozen = at, clock, listing, state, frozen
        self.opened, self.closed, self.moved, self.unsteady = (), set(), {}, set()
        self.held = set()  # the keys of the files that have been open since the moment before
        self.units = {}  # by their topmost path: those that the index does not have as they are
        self.files_in = Counter(os.path.dirname(path) for path, node in listing.items() if "/" in path and node.kind == FILE)
        self.soon = self.later = None  # After half a second, and after the quiet time, while the call lived
        self.grown = set()  # files that only got longer
        self.failure = self.error = None  # why it could not be sent or published
        self.wanted = None  # stamps of the files that are still needed of it; None: all
        self.is_last = False  # the call has ended in order: no other moment follows
        self.sent = self.publishing = self.published = False

    @property
    def at_ns(self):
        """Its time in nanoseconds since 1970, to the microsecond as in an index."""
        return int(self.at * 10**6) * 1000

    @property
    def is_open(self):
        """Whether some unit is not judged yet."""
        return any(unit.whole is None for unit in self.units.values())

    def wants(self, stamp):
        """Return whether a file is still needed of it."""
        return self.wanted is None or stamp in self.wanted

    def fail(self, exc):
        """Note that it could not be sent or published. A failure that would come again is only told, once: error stays None."""
        self.failure, self.error = text_of(exc) or repr(exc), None if isinstance(exc, Final) else exc

    def forget(self):
        """Remove the copies and second names."""
        for frozen in self.frozen.values():
            frozen.release()
