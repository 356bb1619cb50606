"""The outputs of several hosts."""

import os
import unittest

from fixture import JOB, function
from group import GroupCase

SAVE = """
import os
def f():
    for name in ("both", "host-" + os.environ["KINETIC_HOST"]):
        with open(os.path.join(os.environ["KINETIC_OUTPUT_PATH"], name), "w") as file:
            file.write("of " + os.environ["KINETIC_HOST"])
"""


class HostOutputs(GroupCase):
    HOSTS = 2

    def test_a_name_that_two_hosts_write_is_told_and_the_others_are_there(self):
        leader, _ = self.parked(*self.hosts(function(), {"train.py": SAVE}))
        names = self.bucket.names(f"{JOB}/outputs/")
        self.assertEqual(sorted(map(os.path.basename, names)), ["both", "host-0", "host-1"])
        (told,) = leader.result["warnings"]
        self.assertRegex(told, r"^the output 'both' is saved, but not under its plain name: host \d has written it, too: each host needs names of its own$")


if __name__ == "__main__":
    unittest.main()
