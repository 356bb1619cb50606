# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What all patterns have in common."""

import contents


class Pattern:
    """How a program saves what it makes, and what can be asked of a restore.

    The attributes are the defaults of what a variant may set.
    """

    promise = "fresh"  # or "whole": a finished state or none; after a good end the last one
    atomic = True  # each state is finished by a rename, or by its framework's mark
    every = 1.0  # seconds between two states
    size = 200_000  # bytes of a file
    bytes = 250_000  # about how many bytes a state has: sets the rate of a slow store
    workers = False  # has children that may be killed
    own_term = False  # handles SIGTERM itself
    commits = False  # asks the mechanism to save a state at once
    temporaries = False  # its names look temporary: they may come back, or not
    heavy = False  # takes long
    store = ""  # with which store the quick rows kill it, if not any
    mount = ""  # what is mounted at which path below the outputs ("." for the outputs): see attempt.py
    lacks = ""  # capabilities that the mechanism doesn't have
    readers = {}  # {path: function}: what contents.survey can't read
    copies = {}  # {path: unit}: a copy or another name of it
    older = {}  # {path: unit}: the state before, under another name; stands for the unit while that is absent

    def __init__(self, **options):
        """Make a variant of a pattern."""
        for name, value in options.items():
            if not hasattr(self, name):
                raise AttributeError(name)
            setattr(self, name, value)

    def look(self, out):
        """Return {unit: state} of a directory, as a program that resumes would find them."""
        states = contents.survey(out, self.readers, {**self.copies, **self.older})
        for path, unit in self.older.items():
            state = states.pop(path, None)
            if unit not in states or contents.is_broken(state):
                states.update({unit: state} if state else {})
            elif contents.step_of(state) > contents.step_of(states[unit]):
                states[unit] = f"BROKEN {states[unit]} beside the newer {path} {state}"
        return states

    def begin(self, p):
        """Do what the program does once, before it saves."""

    def save(self, p, identity):
        """Save one state."""
        raise NotImplementedError

    def rest(self, p):
        """Do what the program does between two states."""
        p.pause(self.every * 0.6)

    def finish(self, p):
        """Do what the program does when all states are saved."""
