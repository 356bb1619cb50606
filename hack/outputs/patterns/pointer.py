# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A small file or link names the newest checkpoint: DeepSpeed's `latest`, TensorFlow's `checkpoint`, a link.

Only what the pointer names counts: a program that resumes reads nothing else.
"""

import os

import contents

from .pattern import Pattern

SHARDS = ["mp_rank_00_model_states.pt", "zero_0_optim_states.pt", "zero_1_optim_states.pt"]


class Pointer(Pattern):
    """Directories are renamed into place, then the pointer is."""

    every, size, pointer, prefix = 0.8, 100_000, "latest", "global_step"

    def look(self, out):
        """Return the state of what the pointer names."""
        if not os.path.lexists(os.path.join(out, self.pointer)):
            return {}
        return {self.pointer: contents.state_of(lambda path: self.named(out, self.read(path)), os.path.join(out, self.pointer))}

    def named(self, out, name):
        """Return the state of a checkpoint."""
        state = contents.survey(out, {}, {}).get(name)
        if not state or contents.is_broken(state):
            raise contents.Broken(f"it says {name!r}, which is {state}; there are {sorted(os.listdir(out))}")
        return state

    def read(self, path):
        """Return what the pointer says."""
        with open(path, encoding="utf-8") as file:
            return file.read()

    def save(self, p, identity):
        """Make the checkpoint, point to it, remove the oldest."""
        name = f"{self.prefix}{p.step}"
        with p.change(self.pointer, identity):
            p.clear(p.at(name))  # what an attempt before left
            self.make(p, name, identity)
            self.point(p.at(self.pointer), name)
        for number in range(max(0, p.step - 6), p.step - 2):
            self.remove(p, f"{self.prefix}{number}")

    def make(self, p, name, identity):
        """Make a checkpoint."""
        p.fill(p.at(name + ".tmp"), name, identity, SHARDS, self.size)
        os.rename(p.at(name + ".tmp"), p.at(name))

    def point(self, path, name):
        """Rename a new pointer into place."""
        with open(path + ".tmp", "w") as file:
            file.write(name)
        os.replace(path + ".tmp", path)

    def remove(self, p, name):
        """Remove a checkpoint."""
        p.clear(p.at(name))


class DeepSpeed(Pointer):
    """Directories and the pointer are written in place."""

    every, atomic = 2.5, False

    def make(self, p, name, identity):
        """Write a directory in place."""
        p.fill(p.at(name), name, identity, SHARDS, self.size)

    def point(self, path, name):
        """Write over the pointer."""
        with open(path, "w") as file:
            file.write(name)


class Link(Pointer):
    """The pointer is a symbolic link."""

    pointer = "latest.link"

    def read(self, path):
        """Return what the link says."""
        return os.readlink(path)

    def point(self, path, name):
        """Rename a new link into place."""
        if os.path.lexists(path + ".tmp"):
            os.unlink(path + ".tmp")
        os.symlink(name, path + ".tmp")
        os.replace(path + ".tmp", path)


class TensorFlow(Pointer):
    """The files of a checkpoint lie beside each other; the data is renamed, the index is written in place."""

    every, atomic, pointer, prefix = 1.5, False, "checkpoint", "ckpt-"
    parts = (".data-00000-of-00001", ".index")

    def named(self, out, name):
        """Return the state of both files."""
        states = {contents.survey(out, {}, {}).get(name + part) for part in self.parts}
        if len(states) != 1 or None in states or any(map(contents.is_broken, states)):
            raise contents.Broken(f"it says {name!r}: {states}; there are {sorted(os.listdir(out))}")
        return states.pop()

    def make(self, p, name, identity):
        """Write the data, then the index."""
        data, index = (name + part for part in self.parts)
        p.write(p.at(data + ".tmp"), contents.blob(identity, data, size=self.size), 0.2)
        os.replace(p.at(data + ".tmp"), p.at(data))
        p.write(p.at(index), contents.blob(identity, index, size=3_000), 0.2)

    def remove(self, p, name):
        """Remove the index, then the data."""
        for part in reversed(self.parts):
            p.clear(p.at(name + part))


PATTERNS = {
    "pointer-deepspeed": DeepSpeed(),
    "pointer-renamed": Pointer(),
    "pointer-link": Link(),
    "pointer-tf": TensorFlow(),
    "pointer-big": Pointer(every=1.0, size=2_000_000, bytes=6e6),  # the pointer is sent long before what it names, if one lets it
}
