# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Directories that are written under a temporary name and renamed into place."""

import os
import shutil
import time

import contents

from .pattern import Pattern

FILES = [f"{letter}.bin" for letter in "abcdef"]
NESTED = [f"{part}/{number // 5}/{number}" for part in ("params", "opt", "state") for number in range(19)]
NESTED += ["_METADATA", "_CHECKPOINT_METADATA", "manifest.ocdbt"]


class Orbax(Pattern):
    """A directory of sixty files is renamed to its number; three are kept."""

    def save(self, p, identity):
        """Write, rename, remove the oldest."""
        unit = str(p.step)
        temporary = p.at(f"{unit}.orbax-checkpoint-tmp-{p.attempt}")
        with p.change(unit, identity):
            p.fill(temporary, unit, identity, NESTED, 4_000, self.every / 2)
            os.rename(temporary, p.at(unit))
        for old in sorted(int(name) for name in os.listdir(p.out) if name.isdigit())[:-3]:
            with p.change(str(old), None):
                shutil.rmtree(p.at(str(old)))


class Swap(Pattern):
    """`last` is renamed to `last.old`, then the new directory to `last`."""

    every, name, aside, keeps_aside = 0.8, "last", "last.old", False

    def __init__(self, **options):
        """Tell what stands for the unit while it is absent."""
        super().__init__(**options)
        self.older = {self.aside: self.name}

    def save(self, p, identity):
        """Write, rename the old one, rename the new one."""
        with p.change(self.name, identity):
            self.make(p, p.at("new.tmp"), identity)
            if os.path.exists(p.at(self.name)):
                p.clear(p.at(self.aside))
                os.rename(p.at(self.name), p.at(self.aside))
                time.sleep(0.02)
            os.rename(p.at("new.tmp"), p.at(self.name))
            self.seal(p.at(self.name))
            if not self.keeps_aside:
                p.clear(p.at(self.aside))

    def make(self, p, path, identity):
        """Write the new state."""
        p.fill(path, self.name, identity, FILES, seconds=self.every / 2)

    def seal(self, path):
        """Do something with the directory at the end."""


class FileOrDirectory(Swap):
    """`state` is a file, then a directory, then a file again."""

    every, name, aside = 0.7, "state", "state.old"

    def make(self, p, path, identity):
        """Write a file or a directory."""
        p.clear(path)
        if p.step % 2:
            return super().make(p, path, identity)
        p.write(path, contents.blob(identity, self.name, size=80_000), self.every / 3)


class ReadOnly(Swap):
    """Neither the files nor the directory can be written."""

    every, name, aside = 1.0, "frozen", "frozen.old"

    def make(self, p, path, identity):
        """Change the modes of the files."""
        super().make(p, path, identity)
        for name in FILES:
            os.chmod(os.path.join(path, name), 0o444)

    def seal(self, path):
        """Change the mode of the directory."""
        os.chmod(path, 0o555)


PATTERNS = {
    "renamed-orbax": Orbax(),
    "renamed-swap": Swap(),
    "renamed-numbers": Swap(name="ckpt.0", aside="ckpt.1", keeps_aside=True),
    "renamed-filedir": FileOrDirectory(),
    "renamed-readonly": ReadOnly(),
}
