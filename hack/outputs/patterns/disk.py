# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Outputs on a small disk of their own."""

import errno
import os

import contents

from .pattern import Pattern

DISK = 16  # MB


class Small(Pattern):
    """The disk has room for four checkpoints. The program needs room for two: what the mechanism keeps must not fill the disk."""

    promise, every, size, bytes, mount = "whole", 0.6, 4_000_000, 4e6, f"tmpfs:.:{DISK + 4}m"

    def save(self, p, identity):
        """Replace a file."""
        p.put("last.pt", identity, self.size, 0.2)


class Full(Small):
    """The program fills the disk itself every second time, and gets over it."""

    def save(self, p, identity):
        """Fill the disk, fail to save, make room, save."""
        if p.step % 2:
            try:
                with open(p.at("filler.tmp"), "wb") as file:
                    while True:
                        file.write(b"x" * 500_000)
                        file.flush()
            except OSError as problem:
                if problem.errno != errno.ENOSPC:
                    raise
            try:
                p.write(p.at("last.pt.tmp"), contents.blob(identity, "last.pt", size=self.size))
            except OSError:
                pass  # no space, of course
            p.pause(0.5)
            os.unlink(p.at("filler.tmp"))
            p.pause(0.2)
        super().save(p, identity)


PATTERNS = {
    "disk-small": Small(),
    "disk-full": Full(every=1.0, bytes=DISK * 1e6),
}
