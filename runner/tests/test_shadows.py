"""Packages that a host has imported already, and that a call finds elsewhere, since it changes sys.path."""

import unittest

from hosting import Hosting

INSERT = "sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'vendor'))"
REPLACE = "sys.path = [os.path.join(os.path.dirname(os.path.abspath(__file__)), 'vendor'), *sys.path]"
SITE = {"lib.py": "class C: pass\nV = 'installed'\n", "uses.py": "import lib\ndef v(): return lib.V\n", "space/part/__init__.py": "V = 'installed'\n"}
WRITE = INSERT.replace("'vendor'", "'later'") + "\nos.rename('vendor', 'later')"
OWN = {f"vendor/{name}": "V = 'own'\n" for name in ("lib.py", "space/part/__init__.py")}
VALUES = "import os, sys\n%s\nimport lib, space.part\ndef f(): return [lib.V, space.part.V]"
USES = "import os, sys\n%s\nimport uses\ndef f(): return uses.v()"
INSTALLED, PROJECT = ["installed"] * 2, ["own"] * 2


class Shadows(Hosting):
    def each(self, *sources, level):
        """The values of calls on a new host, and what they have printed."""
        _, port = self.host(level=level, PYTHONPATH=self.site(SITE))
        return self.values(port, *sources, files=OWN)

    def test_a_call_has_its_own_packages(self):
        for level in ("clean", "preloaded", "process"):
            with self.subTest(level):
                self.setUp()
                values, printed = self.each(VALUES % "", VALUES % INSERT, VALUES % INSERT, VALUES % "", level=level)
                self.assertEqual(values, [INSTALLED, PROJECT, PROJECT, INSTALLED], printed)

    def test_what_a_call_has_imported_before_stays(self):
        for level in ("clean", "preloaded", "process"):
            for first in ("from lib import C", "import uses", "def g():\n  import lib\n  %s\ng()\n" % INSERT):
                with self.subTest(level, first=first):
                    self.setUp()
                    values, printed = self.each(USES % "", VALUES % f"{first}\n{INSERT}", level=level)
                    self.assertEqual(values, ["installed", ["installed", "own"]], printed)

    def test_packages_with_an_installed_one_are_told(self):
        for level in ("preloaded", "process"):
            with self.subTest(level):
                self.setUp()
                values, printed = self.each(USES % "", USES % INSERT, USES % INSERT, level=level)
                self.assertEqual((values[0], values[2]), ("installed", "own"), printed)
                self.assertIn("kinetic: uses was loaded before this call, with the installed lib: the next call imports it itself\n", printed[1])

    def test_packages_that_are_no_longer_hidden(self):
        ahead = "import sys\nahead = [name in sys.modules for name in ('lib', 'uses')]\nimport uses\ndef f(): return ahead"
        values, printed = self.each(USES % "", ahead, USES % INSERT, USES % INSERT, *3 * [ahead], level="preloaded")
        self.assertEqual(values[1:2] + values[-1:], [[True, True]] * 2, (values, printed))

    def test_a_first_call_with_its_own_packages(self):
        values, printed = self.each(*3 * [USES % INSERT], level="preloaded")
        self.assertEqual((values[0], values[2]), ("own", "own"), printed)

    def test_packages_that_use_the_project_end_a_process(self):
        _, port = self.host(level="process", PYTHONPATH=self.site(SITE))
        values, printed = self.values(port, USES % INSERT, USES % "", files=OWN)
        self.assertEqual(values, ["own", "installed"], printed)
        self.assertIn("kinetic: the next call runs in a new process: uses.lib is of the project\n", printed[0])

    def test_what_is_seen_only_at_the_end(self):
        for level in ("preloaded", "process"):
            for change in (REPLACE, WRITE):
                self.setUp()
                values, printed = self.each(VALUES % "", VALUES % change, VALUES % change, VALUES % "", level=level)
                self.assertEqual((values[0], values[2:]), (INSTALLED, [PROJECT, INSTALLED]), (level, change, printed))
                self.assertIn("kinetic: this call may have used the package lib that was loaded before it, not the one that its sys.path has: run it again\n", printed[1])

    def test_the_path_is_a_list_for_programs(self):
        _, port = self.warm("preloaded")
        source = "import pickle, sys\ndef f(): return [type(pickle.loads(pickle.dumps(sys.path))) is list, type(sys.path.copy()) is list, isinstance(sys.path, list)]"
        self.assertEqual(self.values(port, source)[0], [[True] * 3])


if __name__ == "__main__":
    unittest.main()
