# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The process that runs the call, and what it starts.

It runs first, so it imports little.
"""

import errno
import fcntl
import os
import signal
import sys
import time

STDOUT, STDERR = 0, 1  # the streams of a child

REPORT_FD, CREDIT_FD, DOCUMENT_FD = 3, 4, 5  # in our children: for reports, for a map's credits, for the call
EXIT_CLOSED = 121  # of a map's child whose pipes the user's code has closed
MASKED = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)
LEFT_SECONDS = 1.0  # from SIGTERM to SIGKILL, for processes that the call left running

PYTHON = sys.executable or "python3"
PROGRAM = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # the zip, or the folder that it is built from


class Command:
    """A program to start: its arguments, directory and environment.

    Our children inherit REPORT_FD, CREDIT_FD and DOCUMENT_FD, other programs do not. apart: it begins a process group of its own.
    """

    def __init__(self, argv, cwd, environ, ours=False, credit_fd=-1, apart=True):
        self.argv, self.cwd, self.environ = argv, cwd, environ
        self.ours, self.credit_fd, self.apart = ours, credit_fd, apart


def interpreter(role, cwd, environ, credit_fd=-1, python=PYTHON):
    """Return the command of an interpreter that waits for a call."""
    return Command([python, "-u", PROGRAM, role], cwd, environ, True, credit_fd)


class Child:
    """A started command, its process group, and the pipes from it."""

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
                if command.apart:
                    os.setpgid(self.pid, self.pid)  # as the child does, since either may be first
            except OSError:
                pass  # the child was first, and is now the program
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

    def send(self, document):
        """Send one of our children its document, bytes: what it accepts now, and the rest with each feed()."""
        self._unsent = memoryview(document)
        self.feed()

    @property
    def hungry(self):
        """The descriptor to which more of the document goes once it is writable, or None."""
        return self._document if self._unsent else None

    def feed(self):
        """Send as much of the document as the child accepts."""
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._document, self._unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent = b""  # the child was killed, as its status says
        close_all(self._document)
        self._document = -1

    def close(self):
        """Close the pipes."""
        close_all(self.report, *self.output, self._document)

    def signal(self, number, group):
        """Send a signal to the process, or to its whole group."""
        try:
            if group:
                os.killpg(self.pid, number)
            elif self.status is None:
                os.kill(self.pid, number)
        except ProcessLookupError:
            pass  # it has just ended
        except PermissionError:
            pass  # it belongs to another user, as under sudo

    @property
    def left(self):
        """Whether its group still has processes."""
        try:
            os.killpg(self.pid, 0)
            return True
        except ProcessLookupError:
            return False
        except PermissionError:
            return True  # they belong to another user


def become(command, stdout, stderr, report, document):
    """Become the program, in the forked process. Does not return."""
    try:
        if command.apart:
            os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE, getattr(signal, "SIGXFSZ", signal.SIGPIPE)):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, MASKED)
        # First move all sources above the targets, so that none is overwritten.
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
    """Return a copy of a descriptor, above all that the program inherits."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, DOCUMENT_FD + 1) if fd >= 0 else fd


def close_all(*fds):
    for fd in fds:
        if fd >= 0:
            os.close(fd)


def reason_of(command, exc):
    """Return why a program could not be started, as a message for people."""
    reason = {
        errno.ENOENT: "there is no such program, or its #! line names one that is missing",
        errno.ENOEXEC: "it is not a program for this machine, or it is a script without a #! line",
    }.get(exc.errno, exc.strerror)
    if exc.errno == errno.ENOENT and not os.path.isdir(command.cwd):
        reason = f"there is no directory {command.cwd}"
    return f"cannot run {command.argv[0]}: {reason}"


def reap():
    """Yield the pid and status of each process that has ended; as PID 1, of orphans too."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, status


def end_all_others():
    """As PID 1 of a container, kill every other process in it: those that have left the call's group."""
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
