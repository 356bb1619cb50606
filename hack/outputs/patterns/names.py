# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Odd names, each a checkpoint that is renamed into place; empty files; things that are no files."""

import os

import contents

from .pattern import Pattern

ODD = [b"with space.pt", b"new\nline", b"\xff\xfe not utf-8", b"n" * 251, b".hidden", b"best_temp", b"*?[a].pt", b"-rf"]
ODD += [b"%2F%00", b"caf\xc3\xa9", b"cafe\xcc\x81", b"index.json", b"latest", b"..data", b"/".join([b"d" * 200] * 10) + b"/x"]


class Names(Pattern):
    """Files with odd names."""

    every, names, size = 1.2, [os.fsdecode(name) for name in ODD], 3_000

    def save(self, p, identity):
        """Rename a file to each name."""
        for name in self.names:
            p.put(name, identity, self.size, 0.0, temporary=p.at("writing.part.tmp"))
            p.maybe_die()


class Temporaries(Names):
    """Files whose names look temporary, and that stay."""

    promise, atomic, temporaries, names = "whole", False, True, ["kept.tmp", "model.tmp.bin"]
    readers = {"kept.tmp": lambda path: contents.load(path)["id"]}


class EmptyFile(Names):
    """An empty file that is renamed into place: a flag."""

    names = ["last.pt"]
    readers = {"empty.flag": lambda path: "0@empty" if not os.path.getsize(path) else "BROKEN not empty"}

    def begin(self, p):
        """Make the flag."""
        if not os.path.exists(p.at("empty.flag")):
            with p.change("empty.flag", "0@empty"):
                open(p.at("empty.flag.tmp"), "wb").close()
                os.replace(p.at("empty.flag.tmp"), p.at("empty.flag"))


class Special(Names):
    """A pipe, and links that lead nowhere, out, or in circles, beside a checkpoint."""

    names = ["last.pt"]

    def begin(self, p):
        """Make them."""
        for name, target in (("dangling", "nowhere"), ("circle", "circle"), ("outside", "/etc/passwd"), ("up", "..")):
            if not os.path.lexists(p.at(name)):
                os.symlink(target, p.at(name))
        if not os.path.exists(p.at("pipe")):
            os.mkfifo(p.at("pipe"))


PATTERNS = {
    "names-odd": Names(),
    "names-temporary": Temporaries(),
    "names-empty": EmptyFile(),
    "names-special": Special(),
}
