# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The process that runs the call, and what it starts.

A job begins with it, so that it imports little.
"""

import errno
import fcntl
import os
import signal
import sys
import time

STDOUT, STDERR = 0, 1  # the streams of a child

REPORT_FD, CREDIT_FD, DOCUMENT_FD = 3, 4, 5  # in a child of ours: where it reports, what limits a map's, what to call
MASKED = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)
LEFT_SECONDS = 1.0  # for what the call left running, from SIGTERM to SIGKILL

PYTHON = sys.executable or "python3"
PROGRAM = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # the zip, or the folder that it is made of


class Command:
    """A program to start: its arguments, directory and environment.

    A child of ours keeps REPORT_FD, CREDIT_FD and DOCUMENT_FD, others do not see them.
    """

    def __init__(self, argv, cwd, environ, ours=False, credit_fd=-1):
        self.argv, self.cwd, self.environ = argv, cwd, environ
        self.ours, self.credit_fd = ours, credit_fd


def interpreter(role, cwd, environ, credit_fd=-1):
    """The command of an interpreter that waits for what to call."""
    return Command([PYTHON, "-u", PROGRAM, role], cwd, environ, True, credit_fd)


class Child:
    """A started command, its group of processes, and the pipes that come from it."""

    def __init__(self, command):
        self.status = None  # of os.waitpid, once it has ended
        pipes = [os.pipe() for _ in range(3)]
        self.output = {pipes[0][0]: STDOUT, pipes[1][0]: STDERR}
        self.report = pipes[2][0]
        document, self._document = os.pipe() if command.ours else (-1, -1)
        self._unsent = b""  # of the document
        # A signal between fork and exec must wait.
        signal.pthread_sigmask(signal.SIG_BLOCK, MASKED)
        try:
            self.pid = os.fork()
            if self.pid == 0:
                become(command, *(write for _, write in pipes), document)
            try:
                os.setpgid(self.pid, self.pid)  # as the child does: neither may rely on being first
            except OSError:
                pass  # it was first, and has become the program
        except OSError:
            self.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, MASKED)
            close_all(document, *(write for _, write in pipes))
        for read, _ in pipes:
            os.set_blocking(read, False)
        if self._document >= 0:
            os.set_blocking(self._document, False)

    def order(self, fd):
        """The order in which the pipes are read."""
        return self.output.get(fd, -1)

    def send(self, document):
        """Gives a child of ours its document, bytes, for which it waits: as much as it takes now, then with each feed()."""
        self._unsent = memoryview(document)
        self.feed()

    @property
    def hungry(self):
        """The descriptor that takes more of the document when it is writable, or None."""
        return self._document if self._unsent else None

    def feed(self):
        """Sends what the child takes of its document."""
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._document, self._unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent = b""  # it was killed: its status says so
        close_all(self._document)
        self._document = -1

    def close(self):
        """Closes the pipes."""
        close_all(self.report, *self.output, self._document)

    def signal(self, number, group):
        """Sends a signal to the process, or to its whole group."""
        try:
            if group:
                os.killpg(self.pid, number)
            elif self.status is None:
                os.kill(self.pid, number)
        except ProcessLookupError:
            pass  # it has just ended
        except PermissionError:
            pass  # of another user, as below sudo

    @property
    def left(self):
        """Reports whether there are still processes in its group."""
        try:
            os.killpg(self.pid, 0)
            return True
        except ProcessLookupError:
            return False
        except PermissionError:
            return True  # of another user


def become(command, stdout, stderr, report, document):
    """In the forked process: becomes the program. Does not return."""
    try:
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE, getattr(signal, "SIGXFSZ", signal.SIGPIPE)):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, MASKED)
        # Above all targets first, so that none of them is overwritten before it is moved.
        sources = [os.open(os.devnull, os.O_RDONLY), stdout, stderr, report, command.credit_fd, document]
        sources = [move_up(fd) for fd in sources]
        for target, source in enumerate(sources):
            if source >= 0:
                os.dup2(source, target, inheritable=command.ours or target < REPORT_FD)
        os.chdir(command.cwd)
        os.execvpe(command.argv[0], command.argv, command.environ)
    except BaseException as exc:
        import json

        problem = {"no_program": reason_of(command, exc)} if isinstance(exc, OSError) else {"broken": repr(exc)}
        try:
            os.write(REPORT_FD, json.dumps(problem).encode() + b"\n")
        finally:
            os._exit(127)


def move_up(fd):
    """A copy of a descriptor above all that the program gets."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, DOCUMENT_FD + 1) if fd >= 0 else fd


def close_all(*fds):
    for fd in fds:
        if fd >= 0:
            os.close(fd)


def reason_of(command, exc):
    """Why a program could not be started, for people."""
    reason = {
        errno.ENOENT: "there is no such program, or its #! line names one that is missing",
        errno.ENOEXEC: "it is not a program for this machine, or it is a script without a #! line",
    }.get(exc.errno, exc.strerror)
    if exc.errno == errno.ENOENT and not os.path.isdir(command.cwd):
        reason = f"there is no directory {command.cwd}"
    return f"cannot run {command.argv[0]}: {reason}"


def reap():
    """Yields the pid and status of each process that has ended: as PID 1 those of orphans too."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, status


def end_all_others():
    """As PID 1 of a container, kills every other process in it: those that have left the call's group."""
    if os.getpid() != 1:
        return
    try:
        os.kill(-1, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # there are none
    until = time.monotonic() + LEFT_SECONDS
    while time.monotonic() < until:
        for _ in reap():
            pass
        try:
            os.kill(-1, 0)
        except ProcessLookupError:
            return
        time.sleep(0.005)
