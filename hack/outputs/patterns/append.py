# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Logs: lines are only ever appended; alone, and beside a checkpoint."""

import hashlib
import os

import contents

from .pattern import Pattern


def line(previous, identity):
    """Return a line that follows the one before it, so that no line can be missing in between."""
    link = hashlib.sha256((previous + identity).encode()).hexdigest()[:16]
    return f"{identity} {link} {'x' * (contents.step_of(identity) * 37 % 150)}\n"


def read(path):
    """Return the state of the last whole line; the one after it may be torn, as in any log."""
    with open(path, "rb") as file:
        *lines, _ = file.read().split(b"\n")
    state = None
    for number, text in enumerate(lines, 1):
        text = text.decode("ascii", "replace")
        before, state = state or "", text.split(" ")[0]
        if text + "\n" != line(before, state):
            raise contents.Broken(f"line {number} doesn't follow the one before")
    return state


class Log(Pattern):
    """A log that is kept open."""

    every, name, checkpoint = 0.1, "train.log", ""

    def __init__(self, **options):
        """Tell how to read the log."""
        super().__init__(**options)
        self.readers = {self.name: read}

    def begin(self, p):
        """Cut off a torn line, as every program that resumes a log must."""
        path = p.at(self.name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a+b") as file:
            file.seek(0)
            data = file.read()
            file.truncate(data.rfind(b"\n") + 1)
        self.previous = contents.state_of(read, path) or ""
        p.step = contents.step_of(self.previous)
        self.file = open(path, "a")  # kept open

    def save(self, p, identity):
        """Append a line, and save a checkpoint that needs this line."""
        with p.change(self.name, identity):
            self.append(p, line(self.previous, identity))
        self.previous = identity
        if self.checkpoint:
            p.put(self.checkpoint, identity, 100_000, 0.05)

    def append(self, p, text):
        """Append a line, or half of it if the program ends here."""
        self.file.write(text[:10])
        if p.elapsed() > p.after:
            self.file.flush()
            p.maybe_die()
        self.file.write(text[10:])
        self.file.flush()

    def look(self, out):
        """A checkpoint of a later step than the log's last line is wrong."""
        states = super().look(out)
        step = contents.step_of(states.get(self.checkpoint))
        if step > contents.step_of(states.get(self.name)):
            states[self.checkpoint] = f"BROKEN it is of step {step}, but the log ends at {states.get(self.name)}"
        return states


class Reopened(Log):
    """A log that is opened for each line."""

    def append(self, p, text):
        """Open, write, close."""
        self.file = open(p.at(self.name), "a")  # super() writes
        super().append(p, text)
        self.file.close()


class Fixed(Log):
    """Records are written one after the other into a file that is not opened as a log is, and has no name of one."""

    def begin(self, p):
        """Open the file for reading and writing."""
        super().begin(p)
        self.file = open(p.at(self.name), "r+")  # kept open
        self.file.seek(0, os.SEEK_END)


PATTERNS = {
    "append-open": Log(),
    "append-events": Log(name="logs/run1/events.out.tfevents.17.host"),  # in a directory that is never at rest
    "append-reopen": Reopened(name="metrics.csv", atomic=False),
    "append-data": Fixed(name="history.dat", promise="whole"),
    "append-first": Log(name="metrics.jsonl", checkpoint="last.pt"),
}
