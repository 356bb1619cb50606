# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Starts the process that a host keeps between calls, and replaces it when the next call would not fit."""

import os
import signal
import site
import socket
import sys
import time
from contextlib import suppress

from ..packages.update import Memory
from ..packages.venv import Venv
from ..place import packages_file
from ..process import PROGRAM, close_all
from .calls import MASKED
from .handover import LISTENER, socket_file
from .leftovers import END_SECONDS, POLL_SECONDS, descends, processes
from .imports import Imports
from .similar import NONE, likeness, program_for, words_of

CLEAN, PRELOADED, PROCESS = "clean", "preloaded", "process"  # the levels: no process, one that forks calls, one that runs them

ORDERLY_SECONDS = 3.0  # for handlers of atexit


def installed():
    """Return what changes when a call installs or removes packages of the image: the directories that describe them, and when each was made."""
    found = set()
    for path in {*sys.path, site.getusersitepackages()}:
        if os.path.basename(path) in ("site-packages", "dist-packages"):
            with suppress(OSError), os.scandir(path) as entries:
                found.update((entry.path, entry.stat().st_mtime_ns) for entry in entries if entry.name.endswith((".dist-info", ".egg-info")))
    return found


def wait_for(ours, seconds):
    """Wait until processes have ended, but not longer than this; return whether they have."""
    until = time.monotonic() + seconds
    while not processes().keys().isdisjoint(ours):
        if time.monotonic() >= until:
            return False
        time.sleep(POLL_SECONDS)
    return True


class KeptProcess:
    """The process that is kept, if any: kept.py. alone: on this host only."""

    def __init__(self, work, level, alone=True):
        self._work, self._level, self._alone = work, level, alone
        self.last = NONE
        self._pid, self._pipe, self._made_for = 0, -1, None
        self._restarted = False  # since the last call

    @property
    def lasting(self):
        """Whether the process runs one call after the other."""
        return self._level == PROCESS

    @property
    def has_run(self):
        """Whether the process that runs one call after the other has run one."""
        return self.lasting and bool(self._pid) and bool(self._forks())

    @property
    def offer(self):
        """What the next call finds if it is like the last one: "imports", "process", or "" for nothing."""
        if self.lasting:
            return PROCESS if self.has_run else ""
        return "imports" if self._pid else ""

    @property
    def similar(self):
        """What is equal in calls like the last one, as words."""
        return words_of(self.last)

    @property
    def socket(self):
        """Return the path at which it takes calls, "" if there is none."""
        return socket_file(self._work) if self._pid else ""

    def note_call(self, order):
        """Note the next call. End a process that can't run it, so that the call finds neither its variables nor its devices in use."""
        self._restarted, new = False, likeness(order)
        if new != self.last or self.lasting and "--function" not in order["argv"]:
            self.end()
        self.last = new

    def renew(self):
        """Make sure that it fits a call like the last one."""
        if self._pid and self._pid not in processes():
            self._forget()  # it has ended
        packages = Imports(packages_file(self._work))
        if self.last["environment"] and not Memory(Venv(os.path.join(self._work, "env"))).recall().check():  # a call has changed it
            self.end()
            packages.forget()
        names = packages.names()
        wanted = (self.last, packages.hiding if self.lasting else (names, packages.directory, packages.hiding), installed())
        if self._pid and self._made_for == wanted:
            return
        self.end()
        useless = self._level == CLEAN or not names and not self.lasting
        program = None if useless else program_for(self.last, self._work)
        if program is not None:
            with suppress(OSError):  # such as a full disk: calls then run without it
                self._start(*program)
                self._made_for = wanted

    def _start(self, python, environ):
        argv = [python, "-u", PROGRAM, "kept", packages_file(self._work)] + ["--lasting"] * self.lasting
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

    def note_end(self, pid, idle):
        """Note that a process of this host has ended. If no call runs, start the kept one again.

        It then does without the package at which it has ended. Without such a package, it starts once between two calls: it may always end.
        """
        if pid == self._pid:
            self._forget()
            left_out = Imports(packages_file(self._work)).leave_out()
            if idle and (left_out or not self._restarted):
                self._restarted = self._restarted or not left_out
                self.renew()

    def end(self, in_order=True):
        """End it, and its forks; return when their devices are free. in_order: no call runs."""
        if self._pid:
            ours = [self._pid, *self._forks()]
            if not (in_order and self._end_in_order(ours)):
                self._kill(ours)
            self._forget()

    def _end_in_order(self, ours):
        """Let the process that has run calls end as any program does; return whether it has ended. On several hosts, they might wait for each other."""
        if not self._alone or not self.lasting or len(ours) == 1:
            return False
        close_all(self._pipe)
        self._pipe = -1
        return wait_for(ours, ORDERLY_SECONDS)

    def end_forks(self):
        """End the process that runs one call after the other. The next call gets another one."""
        if self.lasting and self._pid:
            self._kill(self._forks())

    def _forks(self):
        return [pid for pid, parent in processes().items() if parent == self._pid]

    def _kill(self, ours):
        for pid in ours:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_for(ours, END_SECONDS)

    def _forget(self):
        close_all(self._pipe)
        self._pid, self._pipe, self._made_for = 0, -1, None

    def keeps(self, pid, running):
        """Report whether a process is kept, given the parents of all. While packages are imported, so are the programs that they ask."""
        if not self._pid or pid == self._pid:
            return bool(self._pid)
        if self.lasting and running[pid] == self._pid:
            return True
        return descends(pid, running, self._pid) and Imports(packages_file(self._work)).loading
