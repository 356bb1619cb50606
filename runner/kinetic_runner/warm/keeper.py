# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Keeps a process between the calls of a host, as its level wants it, and replaces it when the next call would not fit."""

import os
import signal
import socket
from contextlib import suppress

from ..place import packages_file
from ..process import PROGRAM, close_all
from .calls import MASKED
from .handover import EXIT_LEFT_OUT, LISTENER, socket_file
from .packages import Packages
from .similar import NONE, likeness, program_for

CLEAN, PRELOADED, PROCESS = "clean", "preloaded", "process"


class Keeper:
    """The process that is kept, if any: kept.py."""

    def __init__(self, work, level):
        self._work, self._level = work, level
        self.last = NONE
        self._pid, self._pipe, self._made_for = 0, -1, None

    @property
    def socket(self):
        """Return the path at which it takes calls, "" if there is none."""
        return socket_file(self._work) if self._pid else ""

    def note_call(self, order):
        """Note the call that runs now, or is the first one."""
        self.last = likeness(order)

    def renew(self):
        """Make sure that it fits a call like the last one."""
        names = Packages(packages_file(self._work)).names()
        lasting = self._level == PROCESS
        wanted = (self.last, None if lasting else names)
        if self._level == CLEAN or not names and not lasting or self._pid and self._made_for == wanted:
            return
        self.end()
        program = program_for(self.last, self._work)
        if program is not None:
            self._start(*program)
            self._made_for = wanted

    def _start(self, python, environ):
        argv = [python, "-u", PROGRAM, "kept", packages_file(self._work)] + ["--lasting"] * (self._level == PROCESS)
        with suppress(FileNotFoundError):
            os.unlink(socket_file(self._work))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(socket_file(self._work))
            listener.listen()  # now: a call may come before the process is ready
            pipe, self._pipe = os.pipe()
            actions = [(os.POSIX_SPAWN_DUP2, pipe, 0), *((os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2))]
            actions.append((os.POSIX_SPAWN_DUP2, listener.fileno(), LISTENER))
            self._pid = os.posix_spawn(python, argv, environ, file_actions=actions, setpgroup=0, setsigmask=(), setsigdef=MASKED)
            close_all(pipe)

    def note_end(self, pid, status):
        """Note that a process of this host has ended."""
        if pid != self._pid:
            return
        self._forget()
        if os.waitstatus_to_exitcode(status) == EXIT_LEFT_OUT:
            self.renew()

    def end(self):
        """End it."""
        if self._pid:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            self._forget()

    def _forget(self):
        close_all(self._pipe)
        self._pid, self._pipe, self._made_for = 0, -1, None

    def keeps(self, pid, parent):
        """Report whether a process with this parent is kept."""
        return bool(self._pid) and (pid == self._pid or self._level == PROCESS and parent == self._pid)
