# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""KINETIC_OUTPUT_DIR and KINETIC_OUTPUT_PATH of a call. Most jobs need no more of this folder than this module."""

import math
import os
import time

from ..bundle.unpack import empty_directory
from ..errors import RunnerError
from ..store import directory_of

NAME = "outputs"  # of the directory, below --work
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
        self._interval = options.output_sync
        self.url = options.output_dir or attempt.store.outputs(options.job)
        self._mount = options.output_mount
        self.synced = self.url.startswith("gs://") and not self._mount
        if not self.url.startswith("gs://"):
            self.url = directory_of(self.url, "--output-dir")
        self.path = os.path.join(options.work, NAME) if self.synced else self._mount or self.url
        self._session = None
        self.next_at = time.monotonic() + self._interval if self.synced and self._interval else math.inf

    @property
    def environ(self):
        """The variables that tell a call about its outputs."""
        return {"KINETIC_OUTPUT_DIR": self.url, "KINETIC_OUTPUT_PATH": self.path}

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
                copy_directory(self._attempt.store.outputs(options.resume_from), self.path)
            return
        empty_directory(self.path)
        for directory in directories:
            self._link(directory)
        if self._attempt.number > 1 or options.resume_from or options.output_dir:
            self._start().restore()

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
        if self._session is None and holds_something(self.path):
            self._start().start()
        if self._session is not None:
            self._session.tell()
        self.next_at = now + (self._interval if self._session is None else min(self._interval, MESSAGES_SECONDS))

    def note(self, text):
        """Print a message of another thread soon, if outputs are saved."""
        if self._session is not None:
            self._session.note(text)

    def hurry(self):
        """Save what is finished: SIGTERM has come."""
        if self._session is not None:
            self._session.hurry()

    def save(self, ended):
        """Save what is left, and return what cannot be saved. ended says that the call ended by itself, rather than was killed."""
        if not self.synced or self._session is None and not holds_something(self.path):
            return []
        return self._start().finish(ended)

    def _start(self):
        if self._session is None:
            from .session import Session  # not needed by a job without outputs

            self._session = Session(self._attempt, self.url, self.path, self._interval)
        return self._session


def make_output(directory):
    """Create the directory of --output-dir. Without it, the job would lose what it writes."""
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as exc:
        raise RunnerError(f"--output-dir {directory}: {exc.strerror}: name a directory that the pod can write to") from None


def copy_directory(source, target):
    """Copy the outputs of another local job, if it has any."""
    if os.path.isdir(source):
        import shutil

        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)


def holds_something(path):
    """Return whether a directory has an entry."""
    try:
        with os.scandir(path) as entries:
            return any(True for _ in entries)
    except OSError:
        return False
