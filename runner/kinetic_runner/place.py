# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The place where a call runs, and the processes started there."""

import json
import marshal
import os
import time

from . import environment
from .process import PROGRAM, PYTHON, Child, Command, interpreter

TOLD_PICKLE = 64 << 10  # bytes of a pickled exception that other hosts send to host 0


def time_of_files(folder):
    """Return a time, in nanoseconds, that is later than the times of all files so far, and not later than of those that are written from now on.

    No clock tells that: files have the time of the last tick, and since Linux 6.13 some a finer one.
    """
    path = os.path.join(folder, "now")
    with open(path, "w") as file:
        os.unlink(path)
        first = os.fstat(file.fileno()).st_ctime_ns
        os.utime(file.fileno())
        while (now := os.fstat(file.fileno()).st_ctime_ns) == first:
            time.sleep(0.0005)
            os.utime(file.fileno())
    return now


class Place:
    """Where a call runs, its interpreter, all variables of its environment, and when it was made: before the call, after its files."""

    def __init__(self, workspace, scratch, environ, python=PYTHON):
        self.workspace, self.scratch, self.environ, self.python = workspace, scratch, environ, python
        self.since = time_of_files(scratch)  # what is older was packaged

    def note_stop(self):
        """Tell all processes of the call that it is to end: kinetic.is_preempted looks for this file."""
        try:
            os.close(os.open(self.environ["KINETIC_STOP_FILE"], os.O_WRONLY | os.O_CREAT, 0o644))
        except OSError:
            pass  # the call gets SIGTERM in any case

    def path(self, relative):
        """Return the absolute path of a path relative to the package root."""
        return os.path.join(self.workspace, relative) if relative else self.workspace


def packages_file(work):
    """Return the path of the file in which the calls on a warm host note the packages that they import."""
    return os.path.join(work, "packages.json")


PLACE = "place.json"  # in the scratch directory: what a shell beside the call needs


def note_place(call, place):
    """Note for the runner's command shell where the call runs, and how its environment differs from the one with which the runner has started.

    Only the difference is written: the rest may hold secrets. On a warm host, the runner starts before it gets the variables of the call.
    """
    environ, ours = call_environ(call, place), environ_of("self") or os.environ
    changed = {name: value for name, value in environ.items() if ours.get(name) != value}
    note = {"pid": os.getpid(), "cwd": place.path(call.cwd), "changed": changed, "removed": sorted(set(ours) - set(environ))}
    try:
        with open(os.path.join(place.scratch, PLACE), "w", encoding="ascii", opener=private) as file:
            json.dump(note, file)
    except OSError:
        pass  # a shell then has less, which it says


def environ_of(pid):
    """Return the environment with which a process has started; empty if it can't be read, as on macOS."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            variables = file.read().split(b"\0")
    except OSError:
        return {}
    return {name: value for name, equals, value in (os.fsdecode(variable).partition("=") for variable in variables) if equals}


def private(path, flags):
    """Open a file that nobody else may read."""
    return os.open(path, flags, 0o600)


def make_place(attempt, variables):
    """Return the place of an attempt's call. Its environment is variables and what the job, the host and Python need."""
    options, scratch = attempt.options, attempt.scratch
    environ = dict(
        variables,
        KINETIC_JOB_ID=options.job,
        KINETIC_HOST=str(attempt.host),
        KINETIC_HOSTS=str(attempt.hosts),
        KINETIC_ATTEMPT=str(attempt.number),
        KINETIC_STOP_FILE=os.path.join(scratch, "stop"),
    )
    python = PYTHON
    if options.environment:
        environ.update(environment.activated(environ, options.venv))
        python = os.path.join(environment.venv_bin(options.venv), "python")
    environ.update(environment.at_start(environ, attempt.say))
    environ.update(environment.temporary_directory(environ, scratch))
    if attempt.cache:
        environ.update(environment.cache_variables(environ, attempt.cache.path))
    return Place(attempt.workspace, scratch, environ, python)


def call_environ(call, place):
    """Return the environment of a call's program. A function's interpreter finds the call's directories itself."""
    environ = dict(place.environ)
    paths = [place.path(path) for path in call.sys_path] + [environ.get("PYTHONPATH", "")]
    if any(paths):
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return environ


def program_command(call, place):
    """Return the command that runs a file, a module or a command as a shell would."""
    environ = call_environ(call, place)
    if call.kind == "command":
        return Command(call.args, place.path(call.cwd), environ)
    what = [place.path(call.file)] if call.kind == "file" else ["-m", call.module]
    if environ.get("KINETIC_DEBUG") or "KINETIC_TPU_HOSTS" in environ:
        what[:0] = [PROGRAM, "program"]
    return Command([place.python, "-u"] + what + call.args, place.path(call.cwd), environ)


def ranks_command(call, place, options):
    """Return the command that starts a call several times on this host: ranks.py."""
    one = None if call.is_function else program_command(call, place)
    plan = {"count": options.processes, "chips": options.chips, "group": call.kind == "command", "argv": one.argv if one else []}
    environ, cwd = (one.environ, one.cwd) if one else (place.environ, place.path(call.cwd))
    return Command([place.python, "-u", PROGRAM, "ranks", json.dumps(plan)], cwd, environ, True)


def start_call(call, place, options, host, child=None):
    """Start the call on a host; return its process. child is an interpreter that waits for a function, or None."""
    ranks = Child(ranks_command(call, place, options)) if options.processes else None
    if ranks and not call.is_function:
        ranks.send(b"")
        return ranks
    if not call.is_function:
        return Child(program_command(call, place))
    kept = {"keep_value": host == 0, "inline_pickle": TOLD_PICKLE if host else 0}
    role = "function"
    if options.warm:  # on a warm host
        role, kept["packages"] = "relay", packages_file(options.work)
    return start_function(call, place, role, child=ranks or child, **kept)


def start_function(call, place, role, credit_fd=-1, child=None, **more):
    """Return a fresh interpreter that calls the function, with child/function.py or child/inputs.py, by its role.

    child is such an interpreter if one was started before and waits, or None.
    """
    cwd = place.path(call.cwd)
    if child is None:
        child = Child(interpreter(role, cwd, place.environ, credit_fd, place.python))
    paths = dict(workspace=place.workspace, scratch=place.scratch, cwd=cwd, environ=place.environ)
    child.send(marshal.dumps(dict(vars(call), title=call.title, **paths, **more)))
    return child
