# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in the runner, as exceptions whose message is a sentence for people."""

import errno

AT_LIMIT = "the limit on processes and threads is reached (the pod's pids limit, or ulimit -u): raise it, or start fewer"


class RunnerError(Exception):
    """The runner or the store failed."""


class NotFound(RunnerError):
    """There is no such object."""


class AlreadyExists(RunnerError):
    """The object exists already and was not touched."""


class Unreachable(RunnerError):
    """The store did not answer for as long as the runner waits for it."""


class Transient(Exception):
    """A request failed in a way that a repetition may cure; the message says how."""


class Stopped(BaseException):
    """SIGTERM or SIGINT arrived before the call began."""


class naming:
    """A context in which every error of the operating system names a path, as those of open() do."""

    def __init__(self, path):
        self._path = path

    def __enter__(self):
        return self

    def __exit__(self, kind, exc, trace):
        if isinstance(exc, OSError) and exc.errno is not None and exc.filename is None:
            exc.filename = self._path


def explain(exc):
    """The text of an error for people, with what to do about a full disk or a process that cannot be started."""
    if isinstance(exc, BlockingIOError) and exc.filename is None:  # of os.fork: all else that may block expects it
        return f"cannot start a process: {AT_LIMIT}"
    text = text_of(exc)
    if isinstance(exc, OSError) and exc.errno in (errno.ENOSPC, errno.EDQUOT):
        text += ": submit the job with a larger --disk"
    return text


def text_of(exc):
    """str(exc), even where that raises."""
    try:
        return str(exc)
    except Exception:
        return f"<unprintable {type(exc).__name__} object>"
