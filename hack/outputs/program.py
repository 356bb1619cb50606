# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The program whose outputs are saved: program.py OPTIONS, where OPTIONS is a JSON object.

It runs one pattern. It writes into a journal outside its outputs when it begins to change a unit,
and when the unit is complete in a new state. It ends in the way that it was told.
"""

import atexit
import contextlib
import json
import os
import shutil
import signal
import sys
import time

import contents


class Oops(Exception):
    """The exception with which a program ends."""


class Program:
    """One attempt of a pattern: its journal, its life, and the ways in which it writes."""

    def __init__(self, pattern, options):
        self.pattern, self.out = pattern, os.environ["KINETIC_OUTPUT_DIR"]
        self.attempt, self.end = options["attempt"], options["end"]
        self.after, self.on_term = options["after"], options["on_term"]
        self.journal, self.beside = options["journal"], options["beside"]
        self.began, self.step, self.terminated = time.time(), 0, False
        self._journal = os.open(self.journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def run(self):
        """Resume, save states until the end, and end."""
        self.say("start", pid=os.getpid())
        found = self.pattern.look(self.out)
        self.say("found", states=found)
        self.step = max([contents.step_of(state) for state in found.values()], default=0)
        if self.on_term:
            signal.signal(signal.SIGTERM, self._terminate)
        self.pattern.begin(self)
        while not self.is_over():
            self.step += 1
            self.pattern.save(self, f"{self.step}@{self.attempt}")
            self.pattern.rest(self)
        self.pattern.finish(self)
        self.say("end")
        return 143 if self.terminated and self.on_term == "save143" else 0

    def _terminate(self, *_):
        """Note that SIGTERM came."""
        self.terminated = True

    # The journal

    def say(self, kind, **more):
        """Write a line."""
        line = json.dumps({"t": time.time(), "attempt": self.attempt, "kind": kind, **more})
        os.write(self._journal, line.encode() + b"\n")

    @contextlib.contextmanager
    def change(self, unit, identity):
        """Journal that a unit changes, and, if nothing was raised, that it is complete. None: it goes."""
        self.say("will", unit=unit, id=identity)
        yield
        self.say("have", unit=unit, id=identity)

    # Its life

    def elapsed(self):
        """Return the seconds since the start."""
        return time.time() - self.began

    def is_over(self):
        """Return whether the program should end in good order."""
        if self.terminated and self.on_term != "ignore":
            return True
        if self.end == "return":
            return self.elapsed() > self.after and (not self.beside or self._is_accompanied())
        return self.elapsed() > self.after + 90

    def _is_accompanied(self):
        """Return whether the attempt beside which this one should end has begun, however late the machine is."""
        with open(self.journal, encoding="utf-8") as file:
            return any(line.endswith("\n") and json.loads(line)["attempt"] == self.beside for line in file)

    def maybe_die(self):
        """End here, in the middle of writing, if it is time and the program is to end badly."""
        if self.elapsed() < self.after or self.end not in ("exception", "exit1", "_exit"):
            return
        self.say("dies")
        if self.end == "exception":
            atexit.register(self._live_on)
            raise Oops("it ends here")
        if self.end == "exit1":
            sys.exit(1)
        os._exit(1)

    def _live_on(self):
        """Wait a little, as programs do whose exception has closed their files."""
        time.sleep(0.3)
        self.say("gone")

    def pause(self, seconds):
        """Wait, but not beyond the end."""
        until = time.time() + seconds
        while (left := until - time.time()) > 0 and not self.is_over():
            time.sleep(min(left, 0.05))

    # Writing

    def at(self, *names):
        """Return a path below the outputs."""
        return os.path.join(self.out, *names)

    def pour(self, file, data, seconds, pieces=4):
        """Write into an open file, slowly."""
        size = len(data) // pieces + 1
        for number in range(pieces):
            file.write(data[number * size : (number + 1) * size])
            file.flush()
            time.sleep(seconds / pieces)
            if number + 1 == pieces // 2:
                self.maybe_die()

    def write(self, path, data, seconds=0.0, mode="wb", pieces=4):
        """Write a file in place."""
        with open(path, mode) as file:
            self.pour(file, data, seconds, pieces)

    def put(self, unit, identity, size=200_000, seconds=0.1, temporary=None):
        """Write a file under a temporary name and rename it into place."""
        path = self.at(unit)
        temporary = temporary or path + ".tmp"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with self.change(unit, identity):
            self.clear(temporary)
            self.write(temporary, contents.blob(identity, unit, size=size), seconds)
            os.replace(temporary, path)

    def fill(self, directory, unit, identity, files, size=60_000, seconds=0.3):
        """Make a directory with all files of a unit, one after the other."""
        self.clear(directory)
        for file in files:
            path = os.path.join(directory, file)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self.write(path, contents.blob(identity, unit, file, len(files), size), seconds / len(files))

    def clear(self, path):
        """Remove what is at a path."""
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)


def main(argument):
    """Run a pattern."""
    options = json.loads(argument)
    os.environ.update(options["environment"])
    from patterns import PATTERNS

    return Program(PATTERNS[options["pattern"]], options).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
