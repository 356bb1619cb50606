# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A program that saves when it is told to stop, and exits with 143; before that it saves now and then."""

import os

import contents

from .newdir import NewDirectory
from .pattern import Pattern


class Renamed(Pattern):
    """A file is renamed into place."""

    every, own_term, name = 3.3, True, "last.pt"

    def save(self, p, identity):
        """Save a state."""
        p.put(self.name, identity, self.size, 0.3)

    def rest(self, p):
        """Train."""
        p.pause(3.0)

    def finish(self, p):
        """Save once more before the end."""
        if p.terminated:
            p.step += 1
            self.save(p, f"{p.step}@{p.attempt}")


class InPlace(Renamed):
    """A file is closed a moment before the exit."""

    atomic, name = False, "model.h5"

    def save(self, p, identity):
        """Save a state."""
        with p.change(self.name, identity):
            p.write(p.at(self.name), contents.blob(identity, self.name), 0.3)


class Trainer(NewDirectory):
    """A directory that the framework's mark completes."""

    own_term = True
    rest, finish = Renamed.rest, Renamed.finish


PATTERNS = {
    "handler-renamed": Renamed(),
    "handler-inplace": InPlace(),
    "handler-hf": Trainer(every=3.5),
}
