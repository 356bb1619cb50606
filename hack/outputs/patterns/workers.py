# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Several processes write one checkpoint: shards, torchrun, a child that outlives its parent."""

import os
import signal
import time

import contents
from program import Oops

from .pattern import Pattern

FILES = [f"model-{number:05d}-of-00004.bin" for number in range(4)] + ["model.index.json"]


class Shards(Pattern):
    """Children write shards in place, then the parent writes the index."""

    atomic, workers, every, bytes, temporary = False, True, 3.7, 6e5, ""

    def begin(self, p):
        """Prepare the list of the children."""
        self.children = []

    def save(self, p, identity):
        """Write a checkpoint, and remove the last but one."""
        unit = f"step-{p.step}"
        path = p.at(unit + self.temporary)
        p.clear(path)
        with p.change(unit, identity):
            os.mkdir(path)
            for number, file in enumerate(FILES[:-1]):
                data = contents.blob(identity, unit, file, len(FILES), 150_000)
                self.children.append(self.fork(p, os.path.join(path, file), data, 0.3 + 0.2 * number))
            p.pause(0.3)
            p.maybe_die()  # the children go on writing
            while self.children:
                if os.waitpid(self.children[0], 0)[1]:
                    raise Oops("a child died")
                self.children.pop(0)
            p.write(os.path.join(path, FILES[-1]), contents.blob(identity, unit, FILES[-1], len(FILES), 500))
            os.rename(path, p.at(unit))
        old = f"step-{p.step - 2}"
        if os.path.exists(p.at(old)):
            with p.change(old, None):
                p.clear(p.at(old))

    def fork(self, p, path, data, seconds):
        """Write a file in a child. Return its process ID."""
        pid = os.fork()
        if not pid:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            p.end = "none"
            p.write(path, data, seconds)
            os._exit(0)
        p.say("worker", pid=pid)
        return pid


class Torchrun(Shards):
    """On SIGTERM the parent kills its children in the middle of writing and exits with 1."""

    def begin(self, p):
        """Handle SIGTERM."""
        super().begin(p)
        signal.signal(signal.SIGTERM, self.stop)

    def stop(self, *_):
        """Kill and exit."""
        for pid in self.children:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has ended
        os._exit(1)


class Orphan(Pattern):
    """The program returns while a child still writes."""

    atomic, every = False, 0.5

    def save(self, p, identity):
        """Replace a file."""
        p.put("last.pt", identity, 100_000, 0.2)

    def finish(self, p):
        """Return when the child is in the middle of writing."""
        identity = f"{p.step}@{p.attempt}"
        p.say("will", unit="late.bin", id=identity)
        ready, told = os.pipe()
        if not os.fork():
            data = contents.blob(identity, "late.bin")
            with open(p.at("late.bin"), "wb") as file:
                file.write(data[:70_000])
                file.flush()
                os.write(told, b".")
                for stream in (0, 1, 2):
                    os.close(stream)
                time.sleep(3)
                file.write(data[70_000:])
            p.say("have", unit="late.bin", id=identity)
            os._exit(0)
        os.read(ready, 1)


PATTERNS = {
    "workers-shards": Shards(),
    "workers-torchrun": Torchrun(),
    "workers-renamed": Shards(temporary=".tmp", atomic=True),
    "workers-orphan": Orphan(),
}
