# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The runner's command shell: a shell, or any program, beside the call, in its directory and with its environment."""

import json
import os
import select
import shutil
import signal
import subprocess
import time

from .environment import OF_RUNNER
from .place import PLACE, environ_of
from .process import Command, reason_of
from .text import tell, write_all

POLL_MS = 50  # between checks whether the program has ended, while something else keeps its pipes open
DRAIN_SECONDS = 1.0  # for what it has printed before
PIPE_READ = 64 << 10
NOT_RUN = 127  # the exit code of a program that could not be started
STREAMS = (1, 2)


def main(argv, _):
    """Run the command that follows the parent directory of the workspace, or a shell; return the exit code."""
    cwd, environ = surroundings(argv[2])
    command = Command(argv[3:] or [shell_of(environ)], cwd, environ)
    try:
        os.chdir(cwd)
        if os.isatty(0) and os.isatty(1):
            become(command)
        return run(command)
    except OSError as exc:
        tell(f"kinetic: {reason_of(command, exc)}\n")
        return NOT_RUN


def surroundings(work):
    """Return the directory and the environment of the call that runs below work."""
    environ, workspace = dict(os.environ), os.path.join(work, "workspace")
    try:
        with open(os.path.join(work, "scratch", PLACE), encoding="ascii") as file:
            place = json.load(file)
    except (OSError, ValueError):
        tell("kinetic: the call has not begun: its variables and its packages are missing here\n")
        cwd = workspace if os.path.isdir(workspace) else os.getcwd()
        return cwd, {name: value for name, value in environ.items() if name not in OF_RUNNER}
    terminal = environ.get("TERM")
    environ = environ_of(place["pid"]) or environ
    for name in (*OF_RUNNER, *place["removed"]):
        environ.pop(name, None)
    environ.update(place["changed"])
    if terminal:
        environ["TERM"] = terminal
    return place["cwd"], environ


def shell_of(environ):
    """Return the path of the shell that the environment names, of bash, or of sh."""
    named = environ.get("SHELL", "")
    if os.path.isabs(named) and os.access(named, os.X_OK):
        return named
    return shutil.which("bash", path=environ.get("PATH")) or "/bin/sh"


def become(command):
    """Become a program that has a terminal."""
    for number in (signal.SIGPIPE, getattr(signal, "SIGXFSZ", signal.SIGPIPE), signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)  # Python ignores the first two, a runtime that was started in the background the others
    os.execvpe(command.argv[0], command.argv, command.environ)


def run(command):
    """Run a program without a terminal; return its exit code as a shell does.

    It gets pipes, which are copied until it ends: what it leaves running may keep its output open for ever.
    """
    signal.signal(signal.SIGINT, lambda *_: None)  # it goes to the program, too
    process = subprocess.Popen(command.argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=command.environ)
    try:
        copy(process)
    except BrokenPipeError:
        process.stdout.close()  # it ends as in a pipe
        process.stderr.close()
    status = process.wait()
    return status if status >= 0 else 128 - status


def copy(process):
    """Copy what a program prints until it has ended."""
    poll, streams, until = select.poll(), {}, None
    for stream, target in zip((process.stdout, process.stderr), STREAMS):
        streams[stream.fileno()] = target
        poll.register(stream, select.POLLIN)
    while streams:
        if until is None and process.poll() is not None:
            until = time.monotonic() + DRAIN_SECONDS
        ready = poll.poll(POLL_MS if until is None else 0)
        if until is not None and (not ready or time.monotonic() > until):
            return
        for fd, _ in ready:
            if data := os.read(fd, PIPE_READ):
                write_all(streams[fd], data)
            else:
                poll.unregister(fd)
                del streams[fd]
