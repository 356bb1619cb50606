"""Measure the rounds in which a runner looks for changed outputs: rounds.py RUNNER DIRECTORY

The directory's files are taken to be in the store: nothing is sent. Prints the seconds of CPU of a
round that finds no change, and of one that finds a new file.
"""

import json
import os
import statistics
import sys
import time
from types import SimpleNamespace

runner, root = sys.argv[1:]
sys.path.insert(0, runner)

from kinetic_runner.outputs.index import Entry  # noqa: E402
from kinetic_runner.outputs.keeper import Keeper  # noqa: E402


def send(path, stamp, *_):
    return Entry(path, stamp.size, stamp.mode, stamp.mtime_ns, "1B2M2Y8AsgTpgAmY7PhCfg==", "1", None, "")


class Index:
    """An index in memory."""

    entries = {}

    def write(self, entries):
        self.entries = entries


def seconds_of_a_round():
    begin = time.process_time()
    keeper.round()
    return time.process_time() - begin


index = Index()
keeper = Keeper(root, SimpleNamespace(send=send, sent=0, shared=[]), index, 1 << 20, print)
files = sum(len(names) for _, _, names in os.walk(root))
while len(index.entries) < files:
    keeper.round()
unchanged, changed = [], []
for number in range(7):
    unchanged.append(seconds_of_a_round())
    with open(f"{root}/new-{number}", "w") as file:
        file.write("new")
    changed.append(seconds_of_a_round())
for number in range(7):
    os.remove(f"{root}/new-{number}")
print(json.dumps({"unchanged": statistics.median(unchanged), "changed": statistics.median(changed)}))
