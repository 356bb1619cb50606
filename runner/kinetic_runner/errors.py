# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Failures in the runner, as exceptions with a message for people."""

import errno

from .outcome import BAD_DATA, BAD_ENVIRONMENT
from .text import text_of

AT_LIMIT = "the limit on processes and threads is reached (the pod's pids limit, or ulimit -u): raise it, or start fewer"
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)  # on the disk


class RunnerError(Exception):
    """The runner or the store failed."""


class NotFound(RunnerError):
    """There is no such object."""


class AlreadyExists(RunnerError):
    """The object already exists and was not changed."""


class Mismatch(RunnerError):
    """The object does not have the hash by which it was named."""


class StartOver(RunnerError):
    """An upload has failed, but another one of the same bytes need not."""


class Final(RunnerError):
    """A failure that a retry would not change. reason is that of the outcome, details are for the log alone."""

    reason = ""

    def __init__(self, message, details=""):
        super().__init__(message)
        self.details = details


class BadEnvironment(Final):
    """The packages of the job cannot be installed."""

    reason = BAD_ENVIRONMENT


class BadData(Final):
    """An input of the job does not exist, or does not fit on the disk."""

    reason = BAD_DATA


class Unreachable(RunnerError):
    """The store did not answer within the time that the runner waits for it."""


class Away(RunnerError):
    """A source of data other than the store did not answer within the time that the runner waits for it."""


class Transient(Exception):
    """A request failed and may succeed later."""


class Stopped(BaseException):
    """SIGTERM or SIGINT arrived before the call started."""


class naming:
    """A context in which every OSError names a path, as those of open() do."""

    def __init__(self, path):
        self._path = path

    def __enter__(self):
        return self

    def __exit__(self, kind, exc, trace):
        if isinstance(exc, OSError) and exc.errno is not None and exc.filename is None:
            exc.filename = self._path


def is_full(exc):
    """Return whether an error means that a disk is full."""
    return isinstance(exc, OSError) and exc.errno in NO_ROOM


def explain(exc, in_pod=True):
    """Return the message of an error, with advice if the disk is full or a process cannot start."""
    if isinstance(exc, BlockingIOError) and exc.filename is None:  # from os.fork: all other code that may block handles it
        return f"cannot start a process: {AT_LIMIT}"
    text = text_of(exc)
    if is_full(exc):
        text += ": submit the job with a larger --disk" if in_pod else ": free some space"
    return text


def why_of(exc):
    """Return what an exception says; of one that is a mistake of the runner, all of it."""
    return text_of(exc) if isinstance(exc, (RunnerError, OSError)) else repr(exc)
