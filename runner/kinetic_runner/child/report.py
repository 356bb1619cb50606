# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reports from a child to the runner, through a pipe."""

import fcntl
import os
from json import dumps  # by name: a call may put another one in its place

REPORT_FD = 3
HIGH_FDS = (900, 200, 3)  # the first numbers to try for a duplicate, since a process may be limited to fewer


class Pipe:
    """A pipe to or from the runner, as fd.

    It is a duplicate with a high number: programs that close a small number that is not
    theirs, or all small numbers, do not close it.
    """

    def __init__(self, fd):
        os.set_inheritable(fd, False)
        self.fd = high(fd)
        self._identity = identity(self.fd)

    @property
    def is_open(self):
        """Whether the user's code has neither closed it nor opened another file in its place."""
        try:
            return identity(self.fd) == self._identity
        except OSError:
            return False


class Report:
    """The child's end of the pipe. It belongs to the process that created it: forks report nothing."""

    def __init__(self, scratch):
        self._spare = os.path.join(scratch, "report.jsonl")
        self._pid = os.getpid()
        self.pipe = Pipe(REPORT_FD)

    @property
    def ours(self):
        """Whether this is the process that the runner started, rather than a fork of it."""
        return os.getpid() == self._pid

    def close(self):
        """Close it: the call has ended, and this process has not."""
        if self.pipe.is_open and self.pipe.fd != REPORT_FD:
            os.close(self.pipe.fd)

    def send(self, **fields):
        """Send one object."""
        line = dumps(fields).encode() + b"\n"
        try:
            if self.pipe.is_open:
                view = memoryview(line)
                while view:
                    view = view[os.write(self.pipe.fd, view) :]
                return
        except OSError:
            pass
        with open(self._spare, "ab") as file:
            file.write(line)


def high(fd):
    """Return a duplicate of a descriptor with a high number, or the descriptor itself if there is no room for one."""
    for number in HIGH_FDS:
        try:
            return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, number)
        except OSError:
            pass
    return fd


def identity(fd):
    """Return what distinguishes an open file from others."""
    status = os.fstat(fd)
    return status.st_dev, status.st_ino
