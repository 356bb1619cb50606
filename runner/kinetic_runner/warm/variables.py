# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Variables that packages set, change or remove when they are imported: a call in which they are imported already has them, too."""

import os


class Variables:
    """What imports change in os.environ, from when this is made until settle().

    The rule: a call gets what an import has made of a variable if the call begins with what that import has found, or has not found. If the
    call sets it otherwise, that stays: as with os.environ.setdefault(), which most packages use.
    """

    def __init__(self):
        self._before, self._changed = dict(os.environ), {}

    def settle(self):
        """All packages are imported: note what they have changed."""
        before, now = self._before, dict(os.environ)
        self._changed = {name: (before.get(name), now.get(name)) for name in before.keys() | now.keys() if before.get(name) != now.get(name)}

    def apply(self):
        """Change the variables of a call."""
        for name, (before, now) in self._changed.items():
            if os.environ.get(name) == before:
                if now is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = now
