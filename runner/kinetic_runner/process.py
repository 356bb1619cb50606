# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The process that runs the call, and what it starts."""

import errno
import fcntl
import json
import marshal
import os
import signal
import sys
import time

from . import log
from .errors import naming

REPORT_FD, CREDIT_FD = 3, 4  # in the child: where it reports, and what limits a map's
MASKED = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)
LEFT_SECONDS = 1.0  # for what the call left running, from SIGTERM to SIGKILL

PYTHON = sys.executable or "python3"
PROGRAM = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # the zip, or the folder that it is made of


class Place:
    """Where a call runs, and its whole environment."""

    def __init__(self, workspace, scratch, environ):
        self.workspace, self.scratch, self.environ = workspace, scratch, environ

    def path(self, relative):
        """The absolute path of a path relative to the package root."""
        return os.path.join(self.workspace, relative) if relative else self.workspace


class Command:
    """A program to start: its arguments, directory and environment.

    A child of ours keeps REPORT_FD and CREDIT_FD, others do not see them.
    """

    def __init__(self, argv, cwd, environ, ours=False, credit_fd=-1):
        self.argv, self.cwd, self.environ = argv, cwd, environ
        self.ours, self.credit_fd = ours, credit_fd


def program_command(call, place):
    """Starts a file, a module or a command as a shell would."""
    environ = dict(place.environ)
    paths = [place.path(path) for path in call.sys_path] + [environ.get("PYTHONPATH", "")]
    if any(paths):
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    if call.kind == "command":
        return Command(call.args, place.path(call.cwd), environ)
    what = [place.path(call.file)] if call.kind == "file" else ["-m", call.module]
    if environ.pop("KINETIC_DEBUG", ""):
        what[:0] = [PROGRAM, "debugged"]
    return Command([PYTHON, "-u"] + what + call.args, place.path(call.cwd), environ)


def function_command(call, place, role, credit_fd=-1, **more):
    """Starts a fresh interpreter that calls the function: child/function.py or child/inputs.py, by its role."""
    path = os.path.join(place.scratch, "child.bin")
    document = dict(vars(call), workspace=place.workspace, scratch=place.scratch, title=call.title, **more)
    with naming(path), open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        marshal.dump(document, file)  # which the child reads before it has imported anything
    return Command([PYTHON, "-u", PROGRAM, role, path], place.path(call.cwd), place.environ, True, credit_fd)


class Child:
    """A started command, its group of processes, and the pipes that come from it."""

    def __init__(self, command):
        self.status = None  # of os.waitpid, once it has ended
        pipes = [os.pipe() for _ in range(3)]
        self.output = {pipes[0][0]: log.STDOUT, pipes[1][0]: log.STDERR}
        self.report = pipes[2][0]
        # A signal between fork and exec must wait.
        signal.pthread_sigmask(signal.SIG_BLOCK, MASKED)
        try:
            self.pid = os.fork()
            if self.pid == 0:
                become(command, *(write for _, write in pipes))
            try:
                os.setpgid(self.pid, self.pid)  # as the child does: neither may rely on being first
            except OSError:
                pass  # it was first, and has become the program
        except OSError:
            self.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, MASKED)
            for _, write in pipes:
                os.close(write)
        for read, _ in pipes:
            os.set_blocking(read, False)

    def order(self, fd):
        """The order in which the pipes are read."""
        return self.output.get(fd, -1)

    def close(self):
        """Closes the pipes."""
        for fd in [self.report, *self.output]:
            os.close(fd)

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


def become(command, stdout, stderr, report):
    """In the forked process: becomes the program. Does not return."""
    try:
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE, getattr(signal, "SIGXFSZ", signal.SIGPIPE)):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, MASKED)
        # Above all targets first, so that none of them is overwritten before it is moved.
        sources = [os.open(os.devnull, os.O_RDONLY), stdout, stderr, report, command.credit_fd]
        sources = [move_up(fd) for fd in sources]
        for target, source in enumerate(sources):
            if source >= 0:
                os.dup2(source, target, inheritable=command.ours or target < REPORT_FD)
        os.chdir(command.cwd)
        os.execvpe(command.argv[0], command.argv, command.environ)
    except BaseException as exc:
        problem = {"no_program": reason_of(command, exc)} if isinstance(exc, OSError) else {"broken": repr(exc)}
        try:
            os.write(REPORT_FD, json.dumps(problem).encode() + b"\n")
        finally:
            os._exit(127)


def move_up(fd):
    """A copy of a descriptor above all that the program gets."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, CREDIT_FD + 1) if fd >= 0 else fd


def reason_of(command, exc):
    """Why a program could not be started, for people."""
    reason = {
        errno.ENOENT: "there is no such program, or its #! line names one that is missing",
        errno.ENOEXEC: "it is not a program for this machine, and a script needs a #! line",
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
