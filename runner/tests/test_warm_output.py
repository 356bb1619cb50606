"""What a warm host keeps of calls that have ended: the output of the last one, and little else."""

import base64
import os
import unittest

from bucket import Bucket
from fixture import function
from hosting import Hosting, Ring
from kinetic_runner.warm import frames
from wheels import MadeWheel, Packages

FEW = "import kinetic_runner.warm.holder as module; module.KEPT_BYTES = 1500"
PRINTS = "def f():\n  print('x' * 999)\n  return %d"
LARGE = 32 << 20  # bytes, more than the system takes of what nobody reads


class Output(Hosting):
    def kept(self):
        """The files of ended calls that the host has."""
        return sorted(os.listdir(os.path.join(self.work, "calls")))

    def attach(self, port, job, **how):
        ring = Ring(self, port)
        ring.send(frames.ATTACH, dict({"id": job, "lines": -1, "follow": True}, **how))
        return ring

    def test_old_output_is_dropped(self):
        _, port = self.host(change=FEW)
        self.values(port, *(PRINTS % n for n in range(4)))
        self.assertEqual([name for name in self.kept() if name.endswith(".log")], ["call-2.log", "call-3.log"])
        self.assertEqual(self.attach(port, "call-2").follow()[1], 0)
        unknown = frames.STATE, {"id": "call-1", "state": "unknown"}
        for how in ({}, {"follow": False}, {"lines": 0, "offset": 100}):
            self.assertEqual(self.attach(port, "call-1", **how).receive(), unknown, how)
        kind, end = self.attach(port, "call-1", lines=0).receive()
        self.assertEqual((kind, end["code"], '"recorded"' in end["report"]), (frames.END, 0, True))
        again = Ring(self, port)  # its client has not heard that it has begun
        again.send(frames.CALL, self.order("call-1", function(), {"train.py": PRINTS % 1}))
        self.assertEqual(again.receive(), unknown)

    def test_who_follows_old_output_slowly_does_not_take_its_end_for_the_last(self):
        for setting in ("KEPT_BYTES = 0", "KEPT_CALLS = 1"):
            self.setUp()
            _, port = self.host(change=f"import kinetic_runner.warm.holder as module; module.{setting}")
            slow = Ring(self, port)
            slow.send(frames.CALL, self.order("large", function(), {"train.py": f"def f():\n  for _ in range({LARGE >> 10}): print('x' * 1023)"}))
            self.assertEqual(self.end(self.attach(port, "large", lines=0)), 0)
            self.assertEqual(self.run_there(port, "other", function(), {"train.py": "def f(): pass"})[1], 0)
            kinds = set()
            while (frame := slow.receive()) is not None:
                kinds.add(frame[0])
            self.assertEqual(kinds, {frames.STATE, frames.OUT}, setting)

    def test_what_a_client_has_given_is_removed(self):
        _, port = self.host()
        for number, source in enumerate(("def f(): return 1", "import os\ndef f(): os.kill(os.getppid(), 9)")):
            job = f"given-{number}"
            ring = Ring(self, port)
            ring.send(frames.CALL, dict(self.order(job, function(), {"train.py": source}), objects={f"warm/host/{job}": base64.b64encode(b"its variables").decode()}))
            self.end(ring)
            self.eventually(lambda job=job: os.path.exists(os.path.join(self.store, job, "end.json")))
            self.eventually(lambda job=job: job + ".given" not in self.kept())

    def test_copies_of_data_are_removed(self):
        bucket = Bucket()
        self.addCleanup(bucket.close)
        bucket.put("one/a", b"a")
        bucket.put("two/b", b"b")
        shows = """import os
def f(**_):
  data = os.path.join(%r, "data")
  return [sorted(name for _, _, names in os.walk(data) for name in names), len(os.listdir(data))]""" % self.work
        _, port = self.host(level="clean")
        for job, url, found in (("one", "gs://bucket/one", "a"), ("same", "gs://bucket/one", "a"), ("two", "gs://bucket/two", "b"), ("none", "", "")):
            data = [{"name": "images", "source": url, "access": "copy", "url": url}] if url else []
            output, code = self.run_there(port, job, function(data=data), {"train.py": shows}, flags=["--emulator", bucket.host])
            self.assertEqual(code, 0, output)
            self.assertEqual(self.result(job)["value"][0], list(found), job)
        self.assertEqual(self.result("none")["value"][1], 2, "volumes are mounted from directories that stay")


class Environment(Packages, Hosting):
    def test_files_of_packages_that_a_call_has_changed_are_installed_again(self):
        two = MadeWheel("two", files={"two/__init__.py": "from two.deep import VERSION", "two/deep.py": "VERSION = 2"})
        change = "import os, two\ndef f():\n  path = os.path.join(os.path.dirname(two.__file__), 'deep.py')\n  %s\n  return two.VERSION"
        write, drop, keep = (change % step for step in ("open(path, 'w').write('VERSION = 3')", "os.unlink(path)", "pass"))
        for level in ("clean", "preloaded", "process"):
            self.setUp()
            _, port = self.host(level=level)
            installed = []
            for number, source in enumerate((write, keep, drop, keep, keep)):
                output, code = self.run_there(port, f"call-{number}", function(), {"train.py": source}, flags=self.packages(two))
                self.assertEqual(code, 0, output)
                self.assertEqual(self.result(f"call-{number}")["value"], 2, (level, number))
                installed.append("installed 1 package " in output)
            self.assertEqual(installed, [True, True, False, True, False], level)


if __name__ == "__main__":
    unittest.main()
