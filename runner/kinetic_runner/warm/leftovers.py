# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Temporary files of a call, which the next one must not find."""

import os
from contextlib import suppress

from ..bundle.unpack import empty_directory

PLACES = ("/tmp", "/var/tmp", "/dev/shm")


class Leftovers:
    """Remembers what is in the places of temporary files before any call, and removes what has come since."""

    def __init__(self, places=PLACES):
        self._before = {place: names_in(place) for place in places}

    def remove(self):
        """Remove what calls have left. What can't be removed stays."""
        for place, before in self._before.items():
            for name in names_in(place) - before:
                path = os.path.join(place, name)
                with suppress(OSError):
                    if os.path.isdir(path) and not os.path.islink(path):
                        empty_directory(path)
                        os.rmdir(path)
                    else:
                        os.unlink(path)


def names_in(place):
    """Return the names in a directory, none if it can't be read."""
    try:
        return set(os.listdir(place))
    except OSError:
        return set()
