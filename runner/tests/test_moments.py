"""The runner is killed at each of its requests about outputs or data, before the server acts or after: what follows is whole."""

import ast
import itertools
import json
import math
import os
import signal
import threading
import unittest

from bucket import BUCKET
from fixture import function, script
from test_data import SHOW, DataCase, from_bucket
from test_outputs import OutputCase

FILES = {"a/1": "one", "a/sub/2": "two" * 1000, "b/3": "three"}
WRITE = f"""
import os
for path, text in {FILES!r}.items():
    path = os.path.join(os.environ["KINETIC_OUTPUT_PATH"], path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").write(text)
"""
READ = """
import os
top = os.environ["KINETIC_OUTPUT_PATH"]
found = [os.path.join(folder, name) for folder, _, names in os.walk(top) for name in names]
print({os.path.relpath(path, top): open(path).read() for path in found})
"""
COMMIT = "import kinetic; kinetic.commit()\n"
FAIL, AGAIN = "import sys; sys.exit(200)", ("--retries", "9", "--retry-on", "error")  # another attempt follows
# What may be restored: either unit, both, or nothing.
WHOLE = [{path: text for path, text in FILES.items() if path[0] in units} for units in ("", "a", "b", "ab")]


class Killer:
    """Kills a runner at one of its requests, after the server has acted or before."""

    def __init__(self, bucket, number, pattern, acted):
        self._left, self._acted = number, acted
        self._started, self.pid, self.done = threading.Event(), 0, False
        self._lock = threading.Lock()
        bucket.fail(self.serve, math.inf, pattern)

    def watch(self, process):
        self.pid = process.pid
        self._started.set()

    def serve(self, handler):
        with self._lock:
            self._left -= 1
            now = self._left == -1
        if not now or self._acted:
            handler.mute = now
            handler.serve()
        if now:
            self._started.wait()
            os.kill(self.pid, signal.SIGKILL)
            self.done = True
            handler.reset()


class Killed:
    """Runs runners that are killed."""

    def at_each(self, pattern, begin, start, check):
        """Kills what start() starts at its first request, then at its second, and so on, until it ends before."""
        for number in itertools.count():
            for acted in (False, True) if "POST" in pattern else (False,):
                self.setUp()
                begin()
                killer = Killer(self.bucket, number, pattern, acted)
                process = start()
                killer.watch(process)
                process.wait()
                self.bucket.faults.clear()
                with self.subTest(request=number, acted=acted):
                    check()
            if not killer.done:
                self.assertGreater(number, 1)
                return


class Outputs(Killed, OutputCase):
    def restored(self, number, source=READ, *flags):
        ran = self.attempt(number, source, *flags)
        self.assertEqual(ran.code, 0, ran.err)
        return ast.literal_eval(ran.stdout)

    def start_attempt(self, number, source, *flags):
        return self.start(self.argv(script(), {"train.py": source}, *flags), {"KINETIC_POD_UID": str(number)})

    def is_whole_later(self):
        if not self.exists("result.json"):
            self.assertIn(self.restored(2, READ + WRITE), WHOLE)
        self.assertEqual({name: data.decode() for name, data in self.saved().items()}, FILES)
        self.assertEqual(self.indexed(), sorted(FILES))

    def test_sync(self):
        self.at_each("POST|GET .*(outputs|sync)", lambda: None, lambda: self.start_attempt(1, WRITE), self.is_whole_later)

    def test_restore(self):
        def begin():
            self.attempt(1, WRITE + COMMIT + FAIL, *AGAIN)

        self.at_each("GET .*(outputs|sync)", begin, lambda: self.start_attempt(2, FAIL, *AGAIN), lambda: self.assertEqual(self.restored(3), FILES))

    def test_resume(self):
        def begin():
            listed = []
            for path, text in FILES.items():
                self.bucket.put(f"job-b/outputs/{path}", text.encode(), {"kinetic-sync": "job-b/0/1"})
                generation = str(self.bucket.objects[f"job-b/outputs/{path}"].generation)
                listed.append({"path": path, "size": len(text), "mode": 0o644, "mtime_ns": 1, "md5": "", "generation": generation})
            self.bucket.put("job-b/sync/0.json", json.dumps({"version": 1, "files": listed}).encode())

        flags = ("--resume-from", "job-b")
        self.at_each("POST .*rewriteTo|GET .*sync", begin, lambda: self.start_attempt(1, FAIL, *AGAIN, *flags), lambda: self.assertEqual(self.restored(2, READ, *flags), FILES))


class Data(Killed, DataCase):
    def test_download(self):
        def begin():
            for path, text in FILES.items():
                self.bucket.put(f"set/{path}", text.encode())

        def start():
            return self.start(self.argv(function(data=[from_bucket(f"gs://{BUCKET}/set")]), {"train.py": SHOW}), self.environ)

        def check():
            ran = self.finish(start())
            self.assertEqual(ran.result["value"][0], {path: len(text) for path, text in FILES.items()}, ran.err)

        self.at_each("GET .*set", begin, start, check)


if __name__ == "__main__":
    unittest.main()
