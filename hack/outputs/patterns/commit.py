# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Programs that have a state saved at once: they run the command in KINETIC_COMMIT. What it confirmed is safe."""

import os
import shlex
import subprocess

import contents

from .pattern import Pattern


class Commit(Pattern):
    """A file is written in place, then committed."""

    atomic, every, commits, name = False, 0.5, True, "model.h5"

    def begin(self, p):
        """Say so if there is no such command."""
        if not os.environ.get("KINETIC_COMMIT"):
            p.say("no-commit")

    def save(self, p, identity):
        """Write, and commit."""
        with p.change(self.name, identity):
            p.write(p.at(self.name), contents.blob(identity, self.name), 0.2)
        self.commit(p, identity)

    def commit(self, p, identity):
        """Have the state saved, and journal that it is safe."""
        command = shlex.split(os.environ.get("KINETIC_COMMIT", "false"))
        if not subprocess.run(command, stdin=subprocess.DEVNULL).returncode:
            p.say("safe", unit=self.name, id=identity)

    def rest(self, p):
        """Train."""
        p.pause(0.2)


class Beside(Commit):
    """Another file is open and half written at that moment."""

    def save(self, p, identity):
        """Commit in the middle of writing the other file."""
        data = contents.blob(identity, "other.bin")
        with p.change("other.bin", identity), open(p.at("other.bin"), "wb") as file:
            file.write(data[:100_000])
            file.flush()
            super().save(p, identity)
            file.write(data[100_000:])
        p.pause(1.5)


PATTERNS = {
    "commit-inplace": Commit(),
    "commit-beside": Beside(),
}
