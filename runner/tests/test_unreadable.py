"""What can't be looked at for a moment is not what was removed: what is saved of it stays."""

import contextlib
import errno
import os
import unittest
from unittest import mock

from test_keeper import KeeperCase

from kinetic_runner.outputs import tree

ERRORS = (errno.EIO, errno.ESTALE, errno.EMFILE, errno.EACCES)


class Entry:
    """An entry of a directory that can't be looked at."""

    def __init__(self, entry, number):
        self.name, self.path, self._number = entry.name, entry.path, number

    def stat(self, **_):
        raise OSError(self._number, os.strerror(self._number), self.path)


class Unreadable(KeeperCase):
    def setUp(self):
        super().setUp()
        for name in ("d/e/a", "d/b", "c"):
            self.replace(name, "1")
        self.saved = {"d/e/a": "1", "d/b": "1", "c": "1"}
        self.keeper.commit()
        self.assertEqual(self.restored(), self.saved)

    def broken(self, name, number, listed=True):
        """Lets a directory fail with an error of this number when it is listed, else a directory or file when it is looked at."""
        scandir, place = os.scandir, self.path(name).rstrip("/")

        def failing(path):
            if listed and path.rstrip("/") == place:
                raise OSError(number, os.strerror(number), path)
            if listed or path.rstrip("/") != os.path.dirname(place):
                return scandir(path)
            with scandir(path) as entries:
                return contextlib.nullcontext([Entry(entry, number) if entry.path == place else entry for entry in entries])

        return mock.patch.object(tree.os, "scandir", failing)

    def test_what_is_saved_stays(self):
        for name, listed in (("", True), ("d", True), ("d/e", True), ("d", False), ("d/b", False)):
            for number in ERRORS:
                with self.subTest(name, listed=listed, error=errno.errorcode[number]):
                    self.setUp()
                    with self.broken(name, number, listed):
                        self.assertEqual(self.moment(), self.saved)
                    self.assertEqual((self.moment(), self.unnamed), (self.saved, []))

    def test_what_is_saved_stays_at_the_end(self):
        for everything, listed in ((False, False), (False, True), (True, False), (True, True)):
            with self.subTest(everything=everything, listed=listed):
                self.setUp()
                self.replace("c", "2")
                self.living = False
                with self.broken("d", errno.EIO, listed):
                    self.keeper.finish(everything)
                self.assertEqual(self.restored(), {**self.saved, "c": "2"})
                self.assertEqual([(file.path, file.why) for file in self.keeper.unsaved], [("d", os.strerror(errno.EIO))])

    def test_what_is_changed_and_removed_elsewhere_is_seen(self):
        os.unlink(self.path("d/b"))
        self.replace("c", "2")
        with self.broken("d/e", errno.EIO):
            self.assertEqual(self.moment(), {"d/e/a": "1", "c": "2"})

    def test_a_link_that_leads_out_replaces_what_was_saved(self):
        os.unlink(self.path("c"))
        os.symlink("/etc/passwd", self.path("c"))
        del self.saved["c"]
        self.assertEqual(self.moment(), self.saved)


if __name__ == "__main__":
    unittest.main()
