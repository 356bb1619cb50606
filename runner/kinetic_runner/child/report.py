# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reports from a child to the runner, through a pipe."""

import json
import os

REPORT_FD = 3


class Report:
    """The child's end of the pipe. It belongs to the process that created it: forks report nothing."""

    def __init__(self, scratch):
        self._spare = os.path.join(scratch, "report.jsonl")
        self._pid = os.getpid()
        os.set_inheritable(REPORT_FD, False)
        self._pipe = identity(REPORT_FD)

    @property
    def ours(self):
        """Whether this is the process that the runner started, rather than a fork of it."""
        return os.getpid() == self._pid

    def send(self, **fields):
        """Send one object."""
        line = json.dumps(fields).encode() + b"\n"
        try:
            if identity(REPORT_FD) == self._pipe:  # else the user's code has closed it and may have opened a file
                view = memoryview(line)
                while view:
                    view = view[os.write(REPORT_FD, view) :]
                return
        except OSError:
            pass
        with open(self._spare, "ab") as file:
            file.write(line)


def identity(fd):
    """Return what distinguishes an open file from others."""
    status = os.fstat(fd)
    return status.st_dev, status.st_ino
