# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Much data: a file that is replaced faster than it is sent, many small files, a file with holes.

JUDGE_BIG_MB and JUDGE_FILES say how much.
"""

import os
import time

import contents

from .pattern import Pattern

FILES = int(os.environ.get("JUDGE_FILES", "20000"))
BIG = int(os.environ.get("JUDGE_BIG_MB", "1000")) * 1_000_000


def small(number):
    """Return the bytes of one of many files."""
    return b"%d " % number * (number % 50 + 1)


def read_many(path):
    """Return the state of many files."""
    found = sum(len(files) for _, _, files in os.walk(path))
    if found != FILES:
        raise contents.Broken(f"{found} of {FILES} files")
    for number in range(FILES):
        with open(os.path.join(path, str(number % 100), str(number)), "rb") as file:
            if file.read() != small(number):
                raise contents.Broken(f"file {number} is not whole")
    return "0@all"


class Big(Pattern):
    """A file takes longer to send than to replace."""

    every, size, bytes, heavy, store = 1.0, BIG, BIG, True, "throttled"

    def save(self, p, identity):
        """Replace the file."""
        p.put("big.pt", identity, self.size, 0.1)


class Many(Pattern):
    """A directory of many files is renamed into place; a checkpoint is replaced beside it."""

    every, heavy, bytes, store, unit, temporary = 0.5, True, 2e6, "throttled", "data", ".tmp"
    readers = {"data": read_many, "flat": read_many}

    def begin(self, p):
        """Write the files."""
        if os.path.exists(p.at(self.unit)):
            return
        path = p.at(self.unit + self.temporary)
        with p.change(self.unit, "0@all"):
            p.clear(path)
            for number in range(100):
                os.makedirs(os.path.join(path, str(number)))
            for number in range(FILES):
                with open(os.path.join(path, str(number % 100), str(number)), "wb") as file:
                    file.write(small(number))
                if number % (FILES // 10) == 0:
                    time.sleep(0.05)
                    p.maybe_die()
            os.rename(path, p.at(self.unit))

    def save(self, p, identity):
        """Replace the checkpoint."""
        p.put("last.pt", identity, 100_000, 0.1)


class Sparse(Pattern):
    """A file with holes is replaced."""

    every, size, bytes = 1.5, 60_000_000, 60e6

    def save(self, p, identity):
        """Write a little at the beginning, in the middle and at the end."""
        path = p.at("sparse.bin")
        with p.change("sparse.bin", identity):
            with open(path + ".tmp", "wb") as file:
                for offset in (0, 30_000_000, self.size):
                    file.seek(offset)
                    file.write(contents.blob(identity, "sparse.bin", size=5_000))
                    file.flush()
                    time.sleep(0.1)
                    p.maybe_die()
            os.replace(path + ".tmp", path)

    readers = {"sparse.bin": lambda path: Sparse.read(path)}

    @classmethod
    def read(cls, path):
        """Return the state that all three parts have."""
        with open(path, "rb") as file:
            data = file.read()
        head = contents.load_head(data[: contents.HEAD_BYTES])
        part = contents.blob(head["id"], "sparse.bin", size=5_000)
        ends = [offset + len(part) for offset in (0, 30_000_000, cls.size)]
        parts = all(data[end - len(part) : end] == part for end in ends)
        if len(data) != ends[-1] or not parts or data[ends[0] : 30_000_000].strip(b"\0"):
            raise contents.Broken(f"{len(data)} bytes of {head['id']}")
        return head["id"]


PATTERNS = {
    "bulk-big": Big(),
    "bulk-many": Many(),
    "bulk-flat": Many(atomic=False, unit="flat", temporary=""),  # written in place
    "bulk-sparse": Sparse(),
}
