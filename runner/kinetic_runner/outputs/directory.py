# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""KINETIC_OUTPUT_DIR and KINETIC_OUTPUT_PATH of a call. Most jobs need no more of this folder than this module."""

import _thread
import errno
import math
import os
import time

from ..bundle.unpack import unlocked
from ..contract import OBJECTS
from ..errors import RunnerError
from ..store import directory_of

NAME = "outputs"  # of the directory, below --work
FIRST_SECONDS = 0.5  # between two looks for a first output
MESSAGES_SECONDS = 5.0  # before a message about them is printed


class Outputs:
    """The outputs of an attempt.

    url is KINETIC_OUTPUT_DIR. path is the directory KINETIC_OUTPUT_PATH, which is
    kept in step with a gs:// URL, unless that is mounted there. A directory as url is the
    path itself.
    """

    def __init__(self, attempt):
        options = attempt.options
        self._attempt = attempt
        self._interval = options.output_sync  # 0: what is written is watched, but saved only from SIGTERM on
        self.url = options.output_dir or attempt.store.outputs(options.job)
        self._mount = options.output_mount
        self.synced = self.url.startswith("gs://") and not self._mount
        self.url = self.url.rstrip("/") if self.url.startswith("gs://") else directory_of(self.url, "--output-dir")
        self.path = os.path.join(options.work, NAME) if self.synced else self._mount or self.url
        self._session, self._starting, self._watch = None, _thread.allocate_lock(), None
        self._socket = os.path.join(attempt.scratch, "commit") if self.synced else ""
        self._server = None  # of this socket
        self.next_at = time.monotonic() + min(self._interval or math.inf, FIRST_SECONDS) if self.synced else math.inf
        self._child = None  # of the call, once it runs
        self._left_open = set()  # inodes
        self._hurried = False
        self.failed = False  # the call has reported that it failed, and is about to end

    @property
    def environ(self):
        """The variables that tell a call about its outputs."""
        variables = {"KINETIC_OUTPUT_DIR": self.url, "KINETIC_OUTPUT_PATH": self.path}
        return dict(variables, KINETIC_COMMIT_SOCKET=self._socket) if self._socket else variables

    def alive(self):
        """Return whether the call runs, and has not begun to end."""
        from .watch import lives

        return self._child is not None and self._child.status is None and not self.failed and lives(self._child.pid)

    def prepare(self, directories):
        """Make the directory and fill it, if there may be something to fill it with. directories are where programs may start."""
        options = self._attempt.options
        if self._mount:
            for directory in directories:
                self._link(directory)
            return
        if not self.synced:
            make_output(self.path)
            if options.resume_from and self._attempt.number <= 1:
                self._copy()
            return
        clear_directory(self.path)
        if self._attempt.number > 1 or options.resume_from or options.output_dir:
            self._restore()
        for directory in directories:
            self._link(directory)
        self._watch_early()
        self._listen()

    @property
    def home(self):
        """The URL of the indexes, their objects, and what is incomplete."""
        job = self._attempt.options.job
        return f"{self.url}/{OBJECTS['home_elsewhere'] % job}" if self._attempt.options.output_dir else self._attempt.store.url(job)

    @property
    def earlier(self):
        """The URLs of the home and of the outputs of the job to resume from, or None."""
        job, store = self._attempt.options.resume_from, self._attempt.store
        return (store.url(job), store.outputs(job)) if job else None

    def _copy(self):
        """Begin with the outputs of another local job."""
        from .copies import copy_outputs

        job = self._attempt.options.resume_from
        source = self._attempt.store.outputs(job)
        if os.path.isdir(source) or not self._attempt.options.map:
            copy_outputs(source, self.path, job, self._attempt.say)

    def _restore(self):
        self._open().restore(self.earlier, shared=bool(self._attempt.options.output_dir))

    def _listen(self):
        """Listen to programs that ask for their outputs to be saved now."""
        from .commit import Server

        try:
            self._server = Server(self._socket, self.commit)
        except OSError as exc:
            self._attempt.say(f"warning: kinetic.commit() does not work here: {exc.strerror or exc}")  # it raises that nobody listens

    def follow(self, child):
        """Save what this child of the runner writes from now on. Return the child."""
        self._child = child
        if self._server is not None:
            self._server.start()
            self._server = None
        if self._session is not None:
            self._session.start()
        return child

    def commit(self, commit, _):
        """Save all that is closed, as a program asks for."""
        self._open().commit(commit)

    def _watch_early(self):
        """Watch the directory before the call starts: a program may rename a file, and end, within milliseconds."""
        from .watch import Watch

        if self._session is None:
            self._watch = Watch()
            self._watch.add(self.path, os.stat(self.path).st_ino)

    def _link(self, directory):
        """Let programs that treat the URL as a path find the outputs there."""
        link = os.path.join(directory, *filter(None, self.url.split("/")))
        try:
            os.makedirs(os.path.dirname(link), exist_ok=True)
            os.symlink(self.path, link)
        except OSError as exc:
            self._attempt.say(f"warning: open() and os.makedirs() cannot use KINETIC_OUTPUT_DIR below {directory}: {exc.strerror}: use KINETIC_OUTPUT_PATH")

    def tick(self, now):
        """Start to keep the store in step once there is something in the directory."""
        if now < self.next_at:
            return
        if self._session is None and (self._attempt.hosts > 1 or holds_something(self.path)):  # the other hosts must know that there is nothing
            self._open().start()
        if self._session is not None:
            self._session.tell()
        self.next_at = now + min(self._interval or math.inf, FIRST_SECONDS if self._session is None else MESSAGES_SECONDS)

    def note(self, text):
        """Print a message of another thread soon, if outputs are saved."""
        if self._session is not None:
            self._session.note(text)

    def hurry(self):
        """Save what is finished more often: SIGTERM has come."""
        self._hurried = True
        if self.synced:
            self.next_at = 0.0  # something may have come since the last look
        if self._session is not None:
            self._session.hurry()

    def save(self, everything):
        """Save what is left, and return what cannot be saved. everything says that the call ended in order, with all its files finished."""
        if not self.synced or self._session is None and not holds_something(self.path):
            return []
        return self._open().finish(everything, self._left_open)

    def note_left(self):
        """Note what processes have open that the call leaves behind: the runner is about to end them."""
        if self.synced and holds_something(self.path):
            from .watch import Open

            self._left_open |= Open(self.path).inodes

    @property
    def refusals(self):
        """Sentences about outputs that do not have their plain names in the store."""
        return self._session.refusals if self._session is not None else []

    def settle(self):
        """Tidy up in the store, now that the job has ended."""
        attempt = self._attempt
        if self.synced and (self._session is not None or attempt.hosts > 1):
            self._open().settle(range(1, attempt.hosts))

    def _open(self):
        with self._starting:
            if self._session is None:
                from .session import Session  # not needed by a job without outputs

                attempt = self._attempt
                self._session = Session(attempt, self.url, self.home, self.path, attempt.host, self._interval, self.alive, attempt.say, self._watch)
                if self._hurried:
                    self._session.hurry()
            return self._session


def clear_directory(path):
    """Make path an empty directory. What is mounted below it stays, empty."""
    os.makedirs(path, exist_ok=True)
    unlocked(_clear, path)


def _clear(path):
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                _clear(entry.path)
                try:
                    os.rmdir(entry.path)
                except OSError as exc:
                    if exc.errno != errno.EBUSY:  # that of a mount, also if it is of the same disk
                        raise
            else:
                os.unlink(entry.path)


def make_output(directory):
    """Create the directory of --output-dir. Without it, the job would lose what it writes."""
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as exc:
        raise RunnerError(f"--output-dir {directory}: {exc.strerror}: name a directory that the pod can write to") from None


def holds_something(path):
    """Return whether a directory has an entry."""
    try:
        with os.scandir(path) as entries:
            return any(True for _ in entries)
    except OSError:
        return False
