# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files of another user, which another process writes that can't be looked into."""

import os
import time

import contents

from .pattern import Pattern

USER = 12345


class Foreign(Pattern):
    """A child of another user renames files into place; only root can read them."""

    every, unit, lacks = 0.8, "shared/last.pt", "sys_ptrace"

    def save(self, p, identity):
        """Save as another user."""
        os.makedirs(p.at("shared"), exist_ok=True)
        os.chmod(p.at("shared"), 0o777)
        with p.change(self.unit, identity):
            pid = os.fork()
            if not pid:
                p.end = "none"
                os.setgroups([])
                os.setresgid(USER, USER, USER)
                os.setresuid(USER, USER, USER)
                os.umask(0o077)
                self.write(p, identity)
                os._exit(0)
            if os.waitpid(pid, 0)[1]:
                raise OSError("the child failed")
            p.maybe_die()

    def write(self, p, identity):
        """Write and rename."""
        path = p.at(self.unit)
        p.clear(path + ".tmp")
        p.write(path + ".tmp", contents.blob(identity, self.unit), 0.2)
        os.replace(path + ".tmp", path)


class InPlace(Foreign):
    """The child keeps a file open and pauses in the middle for long."""

    promise, atomic, every, unit = "whole", False, 5.0, "shared/model.h5"

    def write(self, p, identity):
        """Write half, wait, write the rest."""
        data = contents.blob(identity, self.unit)
        p.clear(p.at(self.unit))
        with open(p.at(self.unit), "wb") as file:
            file.write(data[:100_000])
            file.flush()
            time.sleep(3.5)
            file.write(data[100_000:])


class Unreadable(Pattern):
    """A file that the mechanism can't read must not keep the others from being saved."""

    every, lacks, secret = 0.5, "dac_override,dac_read_search,sys_ptrace", "key.bin"

    def begin(self, p):
        """Write a file and give it away."""
        if not os.path.exists(p.at(self.secret)):
            p.write(p.at(self.secret), b"of another user")
            os.chmod(p.at(self.secret), 0)
            os.chown(p.at(self.secret), USER, USER)
        p.say("unsaved", unit=self.secret)

    def look(self, out):
        """Leave the secret file out."""
        states = super().look(out)
        states.pop(self.secret, None)
        return states

    def save(self, p, identity):
        """Replace a file."""
        p.put("last.pt", identity, self.size, 0.2)


PATTERNS = {
    "foreign-renamed": Foreign(),
    "foreign-inplace": InPlace(),
    "foreign-unreadable": Unreadable(),
}
