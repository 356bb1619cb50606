"""Directories that a call has made read-only, as caches of modules are: they must not stay, nor stop the next call."""

import contextlib
import os
import tempfile
import unittest

from kinetic_runner.bundle.unpack import empty_directory
from kinetic_runner.outputs.directory import clear_directory
from kinetic_runner.warm.leftovers import Leftovers

NOBODY = 65534


def as_nobody(act):
    """Run act as somebody who is not root, whom no mode stops; return whether it raised nothing."""
    child = os.fork()
    if child == 0:
        with contextlib.suppress(Exception):
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            act()
            os._exit(0)
        os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def leave(place):
    """Leave a read-only directory, with another one in it, in a place."""
    deep = os.path.join(place, "module", "deep")
    os.makedirs(deep)
    for folder in (deep, os.path.dirname(deep)):
        open(os.path.join(folder, "file"), "w").close()
        os.chmod(folder, 0o555)


@unittest.skipUnless(hasattr(os, "fork"), "needs another process")
class ReadOnly(unittest.TestCase):
    def test_they_are_removed(self):
        for remove in (empty_directory, clear_directory, lambda _: left.remove()):
            with tempfile.TemporaryDirectory() as top:
                os.chmod(top, 0o711)
                place = os.path.join(top, "place")
                os.mkdir(place)
                os.chmod(place, 0o777)
                left = Leftovers([place])
                self.assertTrue(as_nobody(lambda place=place: leave(place)))
                self.assertTrue(as_nobody(lambda place=place, remove=remove: remove(place)), remove)
                self.assertEqual(os.listdir(place), [], remove)


if __name__ == "__main__":
    unittest.main()
