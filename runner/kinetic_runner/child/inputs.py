# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The process that calls a function with each input of a map's chunk, one after another."""

import sys

STARTUP_MODULES = frozenset(sys.modules)

import functools
import json
import marshal
import os

from . import modules, outcomes
from .function import forms_of, read_call, what_to_call
from .report import Pipe, Report

CREDIT_FD = 4  # one byte for each input after the first that may start
EXIT_CLOSED = 121  # the user's code has closed a pipe to the runner: another process computes the rest
ERRORS = ("Exception", "ExitCode", "BadResult")  # outcomes of a call that retries cover
LINES_BYTES = 1 << 20  # of inputs in memory
INLINE_BYTES = 64 << 10  # small, since many results may wait for the store
LOOKED_AT = 5_000  # files and directories in search of what an input writes elsewhere
NAMED = 3  # files in a sentence


def main(argv, _):
    """Call the function with each remaining input; return the exit code."""
    from ..text import timestamp

    call = read_call()
    report, credit, forms = Report(call["scratch"]), Pipe(CREDIT_FD), forms_of(call)
    read, directories = reader(call), Directories(call["environ"], call["numbers"], call["mounted"])
    function, failure = load(forms, call, report)
    left, first = set(call["left"]), call["left"][0]
    for number, line in zip(call["numbers"], lines_of(call["inputs"])):
        if number not in left:
            continue
        if number != first and not may_start(report, credit):
            return EXIT_CLOSED
        directories.enter(number)
        report.send(begins=number)  # the runner watches the directory
        here = dict(call, scratch=os.path.join(call["scratch"], "inputs", str(number)), inline_bytes=INLINE_BYTES, inline_pickle=INLINE_BYTES)
        started = timestamp()
        outcome = dict(failure) if failure else try_to_compute(forms, function, lambda: read(line), here, report, number)
        if warning := directories.leave(number):
            outcome["warnings"] = outcome["warnings"] + [warning]
            outcomes.tell(f"kinetic: warning: {warning}\n")
        outcome.update(started=started, finished=timestamp())
        report.send(ended=number, outcome=outcome)
    outcomes.watch_threads(call["title"])
    return 0


def lines_of(path):
    """Yield the lines of a file, which is open only to read many at a time: the user's code may close any descriptor."""
    position, lines = 0, None
    while lines != []:
        with open(path, "rb") as file:
            file.seek(position)
            lines = file.readlines(LINES_BYTES)
            position = file.tell()
        yield from lines


def may_start(report, credit):
    """Wait until the next input may start. Return False if that will never be known."""
    try:
        return report.pipe.is_open and credit.is_open and bool(os.read(credit.fd, 1))
    except OSError:
        return False


def reader(call):
    """Return the function that reads the arguments and the keyword arguments from the line of an input."""
    if call["kind"] == "pickle":
        from .payload import load_input

        return lambda line: load_input(line, call["title"])
    shared = marshal.dumps(call["kwargs"])  # each call gets its own copy
    return lambda line: arguments(json.loads(line), marshal.loads(shared))


def load(forms, call, report):
    """Return the function, or the outcome of every input if there is none, as when its module cannot be imported."""
    try:
        modules.prepare(call, STARTUP_MODULES)
        function, args, kwargs = what_to_call(call)
        if call["kind"] == "pickle" and (args or kwargs):
            function = functools.partial(function, *args, **kwargs)
        return function, None
    except BaseException as exc:
        if not report.ours:
            raise
        failure = forms.of_exception(exc, call)
    if failure["reason"] == "Completed":
        failure = outcomes.of_missing(call)
    return None, failure


def try_to_compute(forms, function, read, call, report, number):
    """Return the outcome of an input, computed again as often as an error of its call allows."""
    retry = 0
    while True:
        outcome = compute(forms, function, read, call, report)
        retry += 1
        if outcome["reason"] not in ERRORS or retry > call["retries"] or os.path.exists(call["environ"]["KINETIC_STOP_FILE"]):
            return outcome
        outcomes.tell(f"kinetic: input {number} has failed and is tried again: retry {retry} of {call['retries']}\n")


def compute(forms, function, read, call, report):
    """Return the outcome of one call."""
    try:
        value = modules.value_of(function, *read())
    except BaseException as exc:
        if not report.ours:
            raise
        return forms.of_exception(exc, call)
    if not report.ours:
        sys.exit(0)
    return forms.of_value(value, call)


def arguments(value, kwargs):
    """Return the arguments of a call: its input, and those that all calls share."""
    if isinstance(value, dict):
        return (), dict(kwargs, **value)
    return value if isinstance(value, list) else (value,), kwargs


class Directories:
    """Gives each input its own outputs, INDEX below those of the job, before it starts.

    In a mounted bucket it does not look for what an input writes elsewhere, which would take many requests.
    """

    def __init__(self, environ, numbers, mounted):
        self._url, self._path = environ["KINETIC_OUTPUT_DIR"].rstrip("/"), environ["KINETIC_OUTPUT_PATH"]
        self._ours = {str(number) for number in numbers}
        self._mounted = mounted
        self._before = None

    def enter(self, number):
        """Make the directory of an input, and let the environment name it."""
        path = os.path.join(self._path, str(number))
        os.environ.update(KINETIC_INPUT=str(number), KINETIC_OUTPUT_DIR=f"{self._url}/{number}", KINETIC_OUTPUT_PATH=path)
        try:
            os.makedirs(path, exist_ok=True)
        except OSError:
            pass  # as on a full disk: an input that writes nothing does without
        self._before = self._look(number)

    def leave(self, number):
        """Remove the directory if it is empty. Return a warning if files elsewhere were written meanwhile, else None."""
        try:
            os.rmdir(os.path.join(self._path, str(number)))
        except OSError:
            pass
        after = self._look(number)
        if after is None or self._before is None:
            return None
        strays = sorted(path for path, state in after.items() if self._before.get(path) != state)
        saved = not self._url.startswith("gs://")  # in a local job, that directory is the store
        return sentence(number, strays, saved) if strays else None

    def _look(self, number):
        """Return a dict of the files outside of the directory of an input, None if there are too many to look at."""
        if self._mounted:
            return None
        found, folders, count = {}, [""], 0
        while folders:
            folder = folders.pop()
            try:
                with os.scandir(os.path.join(self._path, folder)) as entries:
                    for entry in entries:
                        count += 1
                        if count > LOOKED_AT:
                            return None
                        path = os.path.join(folder, entry.name)
                        if not folder and self._is_of_another(entry.name, number):
                            continue
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(path)
                        else:
                            status = entry.stat(follow_symlinks=False)
                            found[path] = status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
            except OSError:
                pass  # it has just gone
        return found

    def _is_of_another(self, name, number):
        """Return whether a directory is that of the input itself, or of an input of another pod."""
        return name == str(number) or name.isdecimal() and name not in self._ours


def sentence(number, paths, saved):
    """Return a warning about files that an input has written outside of its own directory."""
    names = ", ".join(paths[:NAMED]) + (f" and {len(paths) - NAMED} more" if len(paths) > NAMED else "")
    harm = "other inputs write there, too" if saved else "what is there is not saved"
    return (
        f"input {number} wrote outside of its own outputs: {names}: {harm}; "
        "read KINETIC_OUTPUT_DIR in the function, since it is another one for each input"
    )
