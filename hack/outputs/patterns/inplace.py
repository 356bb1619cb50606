# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files that are written in place: `model.save("model.keras")`, `torch.save(x, "last.pt")`, a file that is kept open."""

import os
import time

import contents

from .pattern import Pattern

NAME = "model.keras"


class InPlace(Pattern):
    """A file is written again under its name."""

    atomic, every, name, pause = False, 2.0, NAME, 1.3

    def save(self, p, identity):
        """Write the file."""
        os.makedirs(os.path.dirname(p.at(self.name)), exist_ok=True)
        with p.change(self.name, identity):
            self.overwrite(p, p.at(self.name), contents.blob(identity, self.name, size=self.size))

    def overwrite(self, p, path, data):
        """Write over a file, slowly."""
        p.write(path, data, 0.4)

    def rest(self, p):
        """Train."""
        p.pause(self.pause)


class Truncate(InPlace):
    """The file is empty for a while, then written."""

    def overwrite(self, p, path, data):
        """Open, wait, write."""
        with open(path, "wb") as file:
            time.sleep(0.3)
            p.pour(file, data, 0.1)


class Stall(InPlace):
    """The file is open and half written for longer than a file at rest."""

    def overwrite(self, p, path, data):
        """Write half, wait, write the rest."""
        with open(path, "wb") as file:
            p.pour(file, data[: len(data) // 2], 0.1)
            time.sleep(2.5)
            file.write(data[len(data) // 2 :])


class Delete(InPlace):
    """The file is removed, then written again."""

    def overwrite(self, p, path, data):
        """Remove, wait, write."""
        p.clear(path)
        time.sleep(0.2)
        p.write(path, data, 0.4)


class SameSize(InPlace):
    """The size of the file never changes."""

    def overwrite(self, p, path, data):
        """Write over what is there."""
        p.write(path, data, 0.4, "r+b" if os.path.exists(path) else "wb")


class OldTime(InPlace):
    """The file's time is set back, as by shutil.move from another disk."""

    def overwrite(self, p, path, data):
        """Write, then change the time."""
        p.write(path, data, 0.4)
        os.utime(path, (1_600_000_000, 1_600_000_000))


class KeptOpen(InPlace):
    """The file is opened once and written from its beginning again and again."""

    promise = "whole"

    def begin(self, p):
        """Open the file."""
        path = p.at(self.name)
        self.file = open(path, "r+b" if os.path.exists(path) else "w+b")  # kept open

    def overwrite(self, p, path, data):
        """Write from the beginning."""
        self.file.seek(0)
        p.pour(self.file, data, 0.4)
        self.file.truncate()


class Child(InPlace):
    """A child writes the file and ends at once; its parent lives on."""

    def overwrite(self, p, path, data):
        """Write in a child."""
        pid = os.fork()
        if not pid:
            p.end = "none"
            p.write(path, data, 0.3)
            os._exit(0)
        os.waitpid(pid, 0)
        p.maybe_die()


class Together(InPlace):
    """Several files are one state, and each is written in place, as Keras' BackupAndRestore does."""

    name, files = "backup", ("latest.weights.h5", "training_metadata.json")

    def save(self, p, identity):
        """Write one file after the other."""
        os.makedirs(p.at(self.name), exist_ok=True)
        with p.change(self.name, identity):
            for file in self.files:
                data = contents.blob(identity, self.name, file, len(self.files), self.size)
                self.overwrite(p, p.at(self.name, file), data)


class Overwrite(Together):
    """A distributed checkpoint is saved again into its directory: only `.metadata` is renamed."""

    name, files = "dcp", ("__0_0.distcp", "__1_0.distcp", ".metadata")

    def overwrite(self, p, path, data):
        """Write a shard in place, or take the metadata away and rename the new one."""
        if not path.endswith(".metadata"):
            return super().overwrite(p, path, data)
        p.write(path + ".tmp", data, 0.1)
        p.clear(path)
        os.replace(path + ".tmp", path)


PATTERNS = {
    "inplace-pause": InPlace(),
    "inplace-big": InPlace(size=3_000_000, bytes=3e6),
    "inplace-busy": InPlace(promise="whole", pause=0),  # no pause between two states
    "inplace-truncate": Truncate(),
    "inplace-stall": Stall(every=4),
    "inplace-delete": Delete(),
    "inplace-samesize": SameSize(),
    "inplace-oldtime": OldTime(),
    "inplace-open": KeptOpen(),
    "inplace-child": Child(),
    "inplace-subdir": InPlace(name=f"export/{NAME}"),  # in a directory that is new at first
    "inplace-pair": Together(every=3.0, pause=2.0),
    "inplace-dcp": Overwrite(every=3.0, pause=2.0),
}
