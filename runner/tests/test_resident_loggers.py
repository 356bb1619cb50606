"""What a call finds of loggers in a process that has run another one."""

import unittest

from hosting import Hosting


class Loggers(Hosting):
    def test_a_handler_of_a_package(self):
        _, port = self.host(level="process", PYTHONPATH=self.site({"heavy.py": "import logging\nlogger = logging.getLogger('heavy')\n"}))
        source = "import heavy, logging, os\nclass Mine(logging.Handler): pass\ndef f():\n  heavy.logger.addHandler(%s)\n  return os.getpid()"
        values, printed = self.values(port, *[source % "Mine()"] * 2)
        self.assertNotEqual(*values)
        self.assertIn("kinetic: the next call runs in a new process: heavy.logger is of the project\n", printed[1])

    def test_handlers_of_the_logger_of_a_package(self):
        """A package may add one when it is used first. A call that adds one would add it again and again."""
        _, port = self.host(level="process", PYTHONPATH=self.site({"heavy.py": """import logging, sys
log, own = logging.getLogger("heavy"), []
def speak():
  if not own:
    own.append(logging.StreamHandler(sys.stderr))
    log.addHandler(own[0])
  log.warning("HEAVY")
"""}))
        start = "import heavy, logging, os\ndef f():\n  %s\n  return os.getpid()"
        first, *values = self.values(port, *[start % "heavy.speak()"] * 4)
        self.assertEqual((len(set(first[1:])), ["HEAVY" in text for text in values[0]]), (1, [True] * 4), values)
        pids, printed = self.values(port, *[start % "heavy.log.addHandler(logging.NullHandler())"] * 3)
        self.assertIn("kinetic: the next call runs in a new process: it has changed the handlers of logging.getLogger('heavy')\n", "".join(printed))
        self.assertGreater(len(set(pids)), 1)

    def test_loggers_of_the_project(self):
        """dictConfig disables those that are there, which in a new Python are none."""
        helper = "import logging\nlog = logging.getLogger(__name__)\ndef speak(): log.warning('HELPER')\n"
        source = """import logging.config, os
def f():
  logging.config.dictConfig({"version": 1, "handlers": {"h": {"class": "logging.StreamHandler"}}, "root": {"handlers": ["h"]}})
  import helper
  helper.speak()
  logging.disable(%s)
  logging.getLogger("other").propagate = False
  return os.getpid()
"""
        _, port = self.host(level="process")
        values, printed = self.values(port, *[source % "50"] * 3, files={"helper.py": helper})
        self.assertEqual((values[1], ["HELPER" in text for text in printed]), (values[2], [True] * 3), printed)
        values, printed = self.values(port, "import logging, os\ndef f():\n  logging.getLogger('other').warning('OTHER')\n  return os.getpid()")
        self.assertIn("OTHER", printed[0])


if __name__ == "__main__":
    unittest.main()
