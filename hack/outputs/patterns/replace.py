# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""One checkpoint that is written under a temporary name and renamed into place, as the documentation recommends."""

import os
import shutil
import stat
import time

import contents

from .pattern import Pattern


class Replace(Pattern):
    """A file is replaced."""

    every, name = 0.5, "last.pt"

    def save(self, p, identity):
        """Write the next file and rename it."""
        p.put(self.name, identity, self.size, self.every * 0.4)


class StillOpen(Replace):
    """A file is renamed before its last byte is written."""

    atomic = False

    def save(self, p, identity):
        """Rename in the middle of writing."""
        data = contents.blob(identity, self.name, size=self.size)
        with p.change(self.name, identity), open(p.at(self.name + ".tmp"), "wb") as file:
            file.write(data[: len(data) // 2])
            file.flush()
            os.replace(file.name, p.at(self.name))
            time.sleep(0.4)
            p.maybe_die()
            file.write(data[len(data) // 2 :])


class Across(Replace):
    """The temporary file lies in another directory of the outputs."""

    def save(self, p, identity):
        """Move a file into place."""
        os.makedirs(p.at("staging"), exist_ok=True)
        p.put(self.name, identity, self.size, 0.2, temporary=p.at("staging", "last.pt.tmp"))


class Previous(Replace):
    """The last file becomes the previous one first."""

    older = {"prev.pt": "last.pt"}

    def save(self, p, identity):
        """Rename twice."""
        with p.change(self.name, identity):
            p.write(p.at("last.pt.tmp"), contents.blob(identity, self.name), 0.2)
            if os.path.exists(p.at(self.name)):
                os.replace(p.at(self.name), p.at("prev.pt"))
                p.maybe_die()
            os.replace(p.at("last.pt.tmp"), p.at(self.name))


class Best(Replace):
    """Every second file is also the best one: a hard link to it."""

    copies = {"best.pt": "last.pt"}

    def save(self, p, identity):
        """Replace the last file, and the best one."""
        super().save(p, identity)
        if p.step % 2:
            with p.change("best.pt", identity):
                self.keep(p, identity)

    def keep(self, p, _):
        """Make the last file the best one."""
        p.clear(p.at("best.pt.tmp"))
        os.link(p.at(self.name), p.at("best.pt.tmp"))
        os.replace(p.at("best.pt.tmp"), p.at("best.pt"))


class Copy(Best):
    """The best file is a copy of the last one, written in place."""

    atomic, every = False, 1.0

    def keep(self, p, identity):
        """Write the best file."""
        p.write(p.at("best.pt"), contents.blob(identity, self.name), 0.2)


class ReadOnly(Replace):
    """The file can't be written, and has to stay like that."""

    def look(self, out):
        """Look at the mode, too."""
        states, path = super().look(out), os.path.join(out, self.name)
        if os.path.exists(path) and stat.S_IMODE(os.stat(path).st_mode) != 0o444:
            states[self.name] = f"BROKEN its mode is {oct(os.stat(path).st_mode)}"
        return states

    def save(self, p, identity):
        """Change the mode before the rename."""
        with p.change(self.name, identity):
            p.clear(p.at("last.pt.tmp"))
            p.write(p.at("last.pt.tmp"), contents.blob(identity, self.name), 0.2)
            os.chmod(p.at("last.pt.tmp"), 0o444)
            os.replace(p.at("last.pt.tmp"), p.at(self.name))


class Recreate(Replace):
    """The program removes the outputs' directory itself first, and makes it again."""

    def begin(self, p):
        """Make another directory of the same name."""
        if not p.step:
            shutil.rmtree(p.out)
            os.makedirs(p.out)


class Storm(Replace):
    """Beside the checkpoint, small files are replaced all the time, hundreds in a second."""

    def rest(self, p):
        """Replace small files."""
        until = time.time() + self.every
        for number in range(1 << 30):
            if time.time() > until or p.is_over():
                return
            p.put(f"storm-{number % 40}", f"{p.step}.{number}@{p.attempt}", 100, 0.0)
            time.sleep(0.002)


PATTERNS = {
    "replace-0.2": Replace(every=0.2),
    "replace-2": Replace(every=2),
    "replace-6": Replace(every=6),
    "replace-big": Replace(every=0.2, size=3_000_000, bytes=3e6),
    "replace-subdir": Replace(every=0.2, name="run1/last.pt"),  # in a new directory that is never at rest
    "replace-subdir-big": Replace(every=0.4, name="run1/weights/last.pt", size=2_000_000, bytes=2e6),
    "replace-open": StillOpen(every=2),
    "replace-across": Across(),
    "replace-prev": Previous(),
    "replace-best": Best(),
    "replace-copy": Copy(),
    "replace-readonly": ReadOnly(),
    "replace-recreate": Recreate(),
    "replace-storm": Storm(every=0.4),
    "mount-tmpfs": Replace(name="mnt/last.pt", mount="tmpfs:mnt:100m"),  # another file system
    "mount-bind": Replace(name="mnt/last.pt", mount="bind:mnt", size=2_000_000, bytes=2e6),  # the same one, yet no links across
}
