# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A directory for each checkpoint, written in place under its final name; the oldest is removed."""

import os
import re
import shutil
import time

import contents

from .pattern import Pattern


class NewDirectory(Pattern):
    """Files are written into a new directory, one after the other, the framework's own mark last."""

    every, bytes, prefix, gap, keep = 1.2, 3e5, "checkpoint-", 0.0, 3
    files = ("model.safetensors", "optimizer.pt", "trainer_state.json")

    def save(self, p, identity):
        """Write a directory, and remove the oldest."""
        unit = f"{self.prefix}{p.step}"
        p.clear(p.at(unit))  # what an attempt before left
        with p.change(unit, identity):
            os.mkdir(p.at(unit))
            for file in self.files:
                path = p.at(unit, file)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                self.write(p, path, identity, unit, file)
                if file != self.files[-1]:
                    time.sleep(self.gap)
            self.seal(p.at(unit))
        for number in self.numbers(p.out)[: -self.keep]:
            self.remove(p, f"{self.prefix}{number}")

    def write(self, p, path, identity, unit, file):
        """Write one file, slowly unless it is a mark of one line."""
        is_line = file.endswith(".txt")
        data = contents.blob(identity, unit, file, len(self.files), 5_000 if file == self.files[-1] else 150_000)
        p.write(path, data, 0.0 if is_line else 0.15, pieces=1 if is_line else 4)

    def seal(self, path):
        """Do something with the directory at the end."""

    def numbers(self, out):
        """Return the numbers of the checkpoints, the smallest first."""
        names = [name for name in os.listdir(out) if re.fullmatch(re.escape(self.prefix) + r"\d+", name)]
        return sorted(int(name[len(self.prefix) :]) for name in names)

    def remove(self, p, unit):
        """Remove a checkpoint slowly, as rmtree does with large files."""
        with p.change(unit, None):
            os.chmod(p.at(unit), 0o755)
            for at, _, files in os.walk(p.at(unit), topdown=False):
                for file in files:
                    os.unlink(os.path.join(at, file))
                    time.sleep(0.03)
                os.rmdir(at)

    def rest(self, p):
        """Train."""
        p.pause(self.every - 0.5)


class Trainer(NewDirectory):
    """The program takes the order of its checkpoints from the times of their directories."""

    def look(self, out):
        """The directories' times must be in order."""
        states, numbers = super().look(out), self.numbers(out)
        times = [os.stat(os.path.join(out, f"{self.prefix}{number}")).st_mtime_ns for number in numbers]
        if times != sorted(times):
            states["order"] = f"BROKEN the times of checkpoints {numbers} are {times}"
        return states


class Metadata(NewDirectory):
    """The mark is renamed into place within the directory, as by torch.distributed.checkpoint."""

    prefix, files = "dcp-", ("__0_0.distcp", "__1_0.distcp", ".metadata")

    def write(self, p, path, identity, unit, file):
        """Write one file."""
        if file != ".metadata":
            return super().write(p, path, identity, unit, file)
        super().write(p, path + ".tmp", identity, unit, file)
        os.replace(path + ".tmp", path)


class Unmarked(NewDirectory):
    """Only rest shows that a directory is complete."""

    atomic, every, prefix, files = False, 3.5, "ckpt-", ("a.bin", "b.bin", "c.bin")


class Chmod(Unmarked):
    """The directory's own ctime is newer than its mtime while it is filled."""

    def write(self, p, path, identity, unit, file):
        """Change the directory's mode after the first file."""
        super().write(p, path, identity, unit, file)
        if file == self.files[0]:
            os.chmod(os.path.dirname(path), 0o711)


class OldTimes(Unmarked):
    """All times are set back, as when a tree is copied."""

    def write(self, p, path, identity, unit, file):
        """Set the time of the file."""
        super().write(p, path, identity, unit, file)
        os.utime(path, (1_600_000_000, 1_600_000_000))

    def seal(self, path):
        """Set the time of the directory."""
        shutil.copystat("/", path)


class ReadOnly(NewDirectory):
    """Neither the files nor the directory can be written when they are complete."""

    every, prefix = 2.0, "ro-"

    def seal(self, path):
        """Change the modes."""
        for name in os.listdir(path):
            os.chmod(os.path.join(path, name), 0o444)
        os.chmod(path, 0o555)


class Linked(Unmarked):
    """One file never changes and is linked from the checkpoint before."""

    prefix = "link-"

    def write(self, p, path, identity, unit, file):
        """Link the file that is shared."""
        if file != "a.bin":
            return super().write(p, path, identity, unit, file)
        others = [p.at(f"{self.prefix}{number}", file) for number in self.numbers(p.out)]
        others = [other for other in others if os.path.exists(other)]
        if others:
            os.link(others[-1], path)
        else:
            p.write(path, contents.blob(contents.ANY, contents.ANY, file, len(self.files), 150_000))


class NotYet(Unmarked):
    """A file beside the directory says that it is not complete: NeMo. It has to be there as long as the directory is half."""

    prefix = "nemo-"

    def look(self, out):
        """Leave out what is said to be unfinished."""
        states = super().look(out)
        for name in [name for name in os.listdir(out) if name.endswith("-unfinished")]:
            for unit in (name, name[: -len("-unfinished")]):
                states.pop(unit, None)
        return states

    def save(self, p, identity):
        """Say so, write, take it back."""
        mark = p.at(f"{self.prefix}{p.step}-unfinished")
        open(mark, "wb").close()
        super().save(p, identity)

    def seal(self, path):
        """Take it back."""
        os.unlink(path + "-unfinished")

    def remove(self, p, unit):
        """Say that the directory is not complete before it is removed."""
        open(p.at(unit + "-unfinished"), "wb").close()
        super().remove(p, unit)
        os.unlink(p.at(unit + "-unfinished"))


PATTERNS = {
    "newdir-hf": Trainer(),
    "newdir-commit": NewDirectory(prefix="step_", files=("params/a", "params/b", "opt/c", "commit_success.txt")),
    "newdir-metadata": Metadata(),
    "newdir-nomark": Unmarked(),
    "newdir-gaps": Unmarked(prefix="gap-", gap=0.6),
    "newdir-oldtime": OldTimes(prefix="tree-", gap=0.6),
    "newdir-chmod": Chmod(prefix="mode-", gap=0.6),
    "newdir-readonly": ReadOnly(),
    "newdir-links": Linked(),
    "newdir-notyet": NotYet(gap=0.6),
}
