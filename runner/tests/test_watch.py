"""What is remembered of the events of a directory."""

import os
import shutil
import tempfile
import unittest

from kinetic_runner.outputs.watch import Watch


class Remembered(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="kinetic-watch-")
        self.addCleanup(shutil.rmtree, self.root)
        self.watch = Watch()
        self.addCleanup(self.watch.close)
        self.watch.add(self.root, os.stat(self.root).st_ino)

    def remembered(self):
        self.watch.drain()
        return sum(len(getattr(self.watch, name)) for name in ("moved", "appeared", "inside", "away", "reused"))

    def path(self, name):
        return os.path.join(self.root, name)

    def replace(self, temporary, name):
        with open(self.path(temporary), "w"):
            pass
        os.replace(self.path(temporary), self.path(name))

    def test_nothing_of_each_temporary_name(self):
        found = set()
        for number in range(20):
            self.replace(f"last.pt.tmp{number}", "last.pt")
            found.add(self.remembered())
        self.assertEqual(len(found - {min(found)}), 1, found)  # the first one replaces nothing

    def test_nothing_of_each_file_that_is_removed(self):
        found = set()
        for number in range(20):
            with open(self.path(str(number)), "w"):
                pass
            os.unlink(self.path(str(number)))
            found.add(self.remembered())
        self.assertEqual(len(found), 1, found)

    def test_a_name_that_a_rename_took_away(self):
        self.replace("last.pt.tmp", "last.pt")
        os.rename(self.path("last.pt"), self.path("previous.pt"))
        self.watch.drain()
        self.assertEqual({name for _, name in self.watch.away}, {"last.pt"})
        self.replace("last.pt.tmp", "last.pt")
        self.watch.drain()
        self.assertEqual(self.watch.away, set())


if __name__ == "__main__":
    unittest.main()
