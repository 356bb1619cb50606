"""A warm host: calls over its port, one after the other."""

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

from fixture import RUNNER, TIMEOUT, function, script
from hosting import PROGRAM, SECRET, UID, Hosting, Ring
from kinetic_runner.warm import frames, leftovers
from kinetic_runner.warm.calls import HostedCall, ReadyRunner
from kinetic_runner.warm.hold import overwrite
from kinetic_runner.warm.leftovers import Leftovers, descends, is_own, processes
from kinetic_runner.warm.similar import NONE


class Leaving(unittest.TestCase):
    def test_what_calls_leave_is_removed(self):
        with tempfile.TemporaryDirectory() as place, mock.patch.object(leftovers, "mounted", return_value=[]):
            open(os.path.join(place, "before"), "w").close()
            left = Leftovers([place, os.path.join(place, "missing")])
            os.makedirs(os.path.join(place, "tree", "deep"))
            os.symlink("/", os.path.join(place, "link"))
            open(os.path.join(place, "file"), "w").close()
            left.remove()
            self.assertEqual(os.listdir(place), ["before"])

    def test_what_is_too_deep_to_be_removed_keeps_nothing_else(self):
        with tempfile.TemporaryDirectory() as place, mock.patch.object(leftovers, "mounted", return_value=[]):
            left = Leftovers([place])
            inner = os.open(place, os.O_RDONLY)
            for _ in range(sys.getrecursionlimit()):
                os.mkdir("d", dir_fd=inner)
                outer, inner = inner, os.open("d", os.O_RDONLY, dir_fd=inner)
                os.close(outer)
            os.close(inner)
            open(os.path.join(place, "file"), "w").close()
            try:
                left.remove()
                self.assertNotIn("file", os.listdir(place))
            finally:
                subprocess.run(["rm", "-rf", os.path.join(place, "d")], check=True)

    def test_what_others_leave_in_a_volume_stays(self):
        with tempfile.TemporaryDirectory() as place:
            top = os.path.realpath(place)
            empty = "/var/lib/kubelet/pods/1/volumes/kubernetes.io~empty-dir/tmp"
            for mounts, own in {
                (): True,
                (("/", "/", "overlay"),): True,
                ((top, "/", "tmpfs"),): True,
                ((top, empty, "ext4"),): True,
                ((top + "-other", "/", "nfs4"),): True,
                ((top, "/export", "nfs4"), ("/", "/", "overlay")): False,
                ((os.path.dirname(top), "/", "ext4"), ("/", "/", "overlay")): False,
                ((top, empty, "ext4"), (top, "/", "fuse.gcsfuse")): False,
            }.items():
                self.assertEqual(is_own(place, mounts), own, mounts)
                with mock.patch.object(leftovers, "mounted", return_value=mounts):
                    left = Leftovers([place])
                path = os.path.join(place, "file")
                open(path, "w").close()
                left.remove()
                self.assertEqual(os.path.exists(path), not own, mounts)
                if not own:
                    os.unlink(path)

    def test_what_is_mounted(self):
        self.assertIn("/", [point for point, _, _ in leftovers.mounted()])

    def test_who_descends_from_the_first_process(self):
        running = {5: 1, 6: 5, 7: 0, 8: 7}  # 7 is a shell from outside, and 8 is what it runs
        self.assertEqual([pid for pid in running if descends(pid, running)], [5, 6])

    def test_a_process_that_has_ended_is_not_one(self):
        child = subprocess.Popen(["true"])
        try:
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            self.assertNotIn(child.pid, processes())
            self.assertIn(os.getpid(), processes())
        finally:
            child.wait()


class CommandLine(unittest.TestCase):
    def test_a_word_is_overwritten(self):
        code = f"import sys; sys.path.insert(0, {RUNNER!r})\nfrom kinetic_runner.warm.hold import overwrite\n"
        code += "overwrite(sys.argv[2])\nprint(ascii(open('/proc/self/cmdline').read()[-16:]))"
        done = subprocess.run([sys.executable, "-c", code, "--first", "ä word", "more"], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), (ascii("first\0-------\0more\0"[-16:]) + "\n", ""))
        overwrite("no such word")
        overwrite("")


class Holding(Hosting):
    def test_calls_are_whole_jobs(self):
        _, port = self.host()
        for number in (1, 2, 3):
            job, source = f"call-{number}", f"import os\ndef f():\n  print('printed', os.environ['WORD'])\n  return {number}"
            output, code = self.run_there(port, job, function(), {"train.py": source}, environ={"WORD": f"word {number}"})
            self.assertEqual((output, code), (f"printed word {number}\n", 0))
            self.assertEqual(self.result(job)["value"], number)
            with open(os.path.join(self.store, job, "end.json")) as file:
                self.assertEqual(json.load(file)["state"], "SUCCEEDED")
        output, code = self.run_there(port, "call-4", script(), {"train.py": "import sys; sys.exit(7)"})
        self.assertEqual(code, 7, output)

    def test_a_call_goes_on_without_its_client_and_can_be_followed_again(self):
        _, port = self.host()
        go = os.path.join(self.root, "go")
        source = f"import os\ndef f():\n  print('begun', flush=True)\n  while not os.path.exists({go!r}): os.sched_yield()\n  print('done')"
        ring = Ring(self, port)
        ring.send(frames.CALL, self.order("call-1", function(), {"train.py": source}))
        ring.await_output()
        ring.close()
        again, other = Ring(self, port), Ring(self, port)
        other.send(frames.CALL, self.order("call-2", function(), {"train.py": "def f(): pass"}))
        kind, message = other.receive()
        self.assertEqual((kind, message["id"]), (frames.BUSY, "call-1"))
        other.send(frames.CALL, self.order("call-2", function(), {"train.py": "def f(): print('second')"}, wait=True))
        self.assertEqual(other.receive()[1]["state"], "queued")
        again.send(frames.ATTACH, {"id": "call-1", "lines": -1, "follow": True})
        open(go, "w").close()
        self.assertEqual(again.follow(), ("begun\ndone\n", 0))
        self.assertEqual(other.receive()[1]["state"], "started")
        self.assertEqual(other.follow(), ("second\n", 0))
        again.send(frames.ATTACH, {"id": "call-9", "lines": -1, "follow": True})
        self.assertEqual(again.receive(), (frames.STATE, {"id": "call-9", "state": "unknown"}))

    def test_a_call_that_waits_goes_on_without_its_client(self):
        _, port = self.host()
        go, count = os.path.join(self.root, "go"), os.path.join(self.root, "count")
        _, running = self.begun(port, f"import os\ndef f():\n  print('begun', flush=True)\n  while not os.path.exists({go!r}): os.sched_yield()")
        orders = [self.order(job, function(), {"train.py": f"def f():\n  open({count!r}, 'a').write('x')\n  return 1"}, wait=True) for job in ("lost", "back", "cancelled", "removed")]
        for order in orders:
            ring = Ring(self, port)
            ring.send(frames.CALL, order)
            self.assertEqual(ring.receive()[1]["state"], "queued")
            ring.close()
        shutil.rmtree(os.path.join(self.store, "removed"))
        back = Ring(self, port)
        back.send(frames.CANCEL, {"id": "cancelled"})
        self.assertEqual(back.receive(), (frames.STATE, {"id": "cancelled", "state": "unknown"}))
        back.send(frames.CALL, orders[1])
        self.assertEqual(back.receive()[1]["state"], "queued")
        open(go, "w").close()
        self.assertEqual(back.receive()[1]["state"], "started")
        self.assertEqual((self.end(back), self.end(running)), (0, 0))
        back = Ring(self, port)
        back.send(frames.CALL, self.order("next", function(), {"train.py": f"def f(): return open({count!r}).read()"}, wait=True))
        self.assertEqual(self.end(back), 0)
        self.assertEqual((self.result("lost")["value"], self.result("next")["value"]), (1, "xx"))
        self.assertFalse(os.path.exists(os.path.join(self.store, "cancelled", "end.json")) or os.path.exists(os.path.join(self.store, "removed")))

    def test_a_value_is_told_before_the_process_ends(self):
        _, port = self.host()
        go = os.path.join(self.root, "go")
        end = f"def end():\n  while not os.path.exists({go!r}): os.sched_yield()\n  print('done')\natexit.register(end)"
        ring = Ring(self, port)
        source = f"import atexit, os\n{end}\ndef f():\n  print('begun')\n  return {{'é': [1, None]}}"
        ring.send(frames.CALL, self.order("call-1", function(), {"train.py": source}))
        self.assertEqual([ring.receive()[0] for _ in range(2)], [frames.STATE, frames.OUT])
        kind, message = ring.receive()
        self.assertEqual((kind, json.loads(message["value"])), (frames.VALUE, {"é": [1, None]}))
        self.assertFalse(os.path.exists(os.path.join(self.store, "call-1", "end.json")))
        open(go, "w").close()
        self.assertEqual([ring.receive()[0] for _ in range(2)], [frames.OUT, frames.END])
        self.assertEqual(self.result("call-1")["value"], {"é": [1, None]})

    def test_a_value_within_an_unfinished_line_waits_for_the_end(self):
        _, port = self.host()
        ring = Ring(self, port)
        ring.send(frames.CALL, self.order("call-1", function(), {"train.py": "def f():\n  print('50 %', end='', flush=True)\n  return 1"}))
        self.assertEqual([ring.receive()[0] for _ in range(3)], [frames.STATE, frames.OUT, frames.END])

    def given(self, job, source):
        """A new call that is in no store yet: its order, with its objects."""
        order, objects = self.order(job, function(), {"train.py": source}), {}
        for folder, _, names in os.walk(self.store):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    objects[os.path.relpath(path, self.store)] = base64.b64encode(file.read()).decode()
        objects[f"{job}/handle.json"] = base64.b64encode(b"{}\n").decode()
        shutil.rmtree(self.store)
        os.mkdir(self.store)
        return dict(order, objects=objects)

    def test_a_call_begins_before_the_store_has_it(self):
        _, port = self.host()
        go = os.path.join(self.root, "go")
        order = self.given("call-1", f"import os\ndef f():\n  print('begun', flush=True)\n  while not os.path.exists({go!r}): os.sched_yield()\n  return 5")
        ring = Ring(self, port)
        ring.send(frames.CALL, order)
        ring.await_output()
        self.assertFalse(os.path.exists(os.path.join(self.store, "blobs")))
        open(go, "w").close()
        self.assertEqual(self.end(ring), 0)
        for name, text in order["objects"].items():  # the client has stored none of it
            with open(os.path.join(self.store, name), "rb") as file:
                self.assertEqual(base64.b64encode(file.read()).decode(), text)
        self.assertEqual((self.result("call-1")["value"], self.result("call-1")["attempt"]), (5, 1))
        self.assertTrue(os.path.exists(os.path.join(self.store, "call-1", "attempts", "1.json")))

    def test_a_call_waits_for_what_the_client_still_stores(self):
        _, port = self.host()
        order = self.given("call-1", "def f(): return 6")
        blobs = {name: text for name, text in order["objects"].items() if name.startswith("blobs/")}
        for name in blobs:
            del order["objects"][name]
        ring = Ring(self, port)
        ring.send(frames.CALL, order)
        self.assertEqual(ring.receive()[1]["state"], "started")
        for name, text in blobs.items():
            self.put(name, base64.b64decode(text))
        self.assertEqual(self.end(ring), 0)
        self.assertEqual(self.result("call-1")["value"], 6)

    def test_a_call_rung_twice_runs_once(self):
        _, port = self.host()
        order = self.order("call-1", function(), {"train.py": "def f(): print('once')"})
        rings = [Ring(self, port), Ring(self, port)]
        for ring in rings:
            ring.send(frames.CALL, order)
        self.assertEqual([ring.follow() for ring in rings], [("once\n", 0)] * 2)

    def test_the_first_call_begins_without_a_client(self):
        order = self.order("call-0", function(), {"train.py": "def f(): return 4"})
        code = PROGRAM.replace("print(holder", f"holder.take(None, {order!r}); print(holder") % (RUNNER, SECRET, UID, self.work, 1000.0, 1000.0, "preloaded")
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self._kill, process)
        process.stdout.readline()
        end, until = os.path.join(self.store, "call-0", "end.json"), time.monotonic() + TIMEOUT
        while not os.path.exists(end) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(self.result("call-0")["value"], 4)

    def test_end_of_the_host(self):
        process, port = self.host()
        self.assertEqual(self.run_there(port, "call-1", function(), {"train.py": "def f(): pass"}, idle=0.5)[1], 0)
        self.assertEqual(process.wait(TIMEOUT), 0)
        process, port = self.host(limit=0.5)
        self.assertEqual(process.wait(TIMEOUT), 0)
        process, port = self.host()
        ring = Ring(self, port)
        ring.send(frames.STAT, {})
        self.assertEqual(ring.receive()[1]["calls"], 0)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(TIMEOUT), 0)

    def test_the_last_call_says_how_long_the_host_stays(self):
        process, port = self.host(idle=100.0, limit=600.0)
        self.assertEqual(self.run_there(port, "call-1", function(), {"train.py": "def f(): pass"}, idle=500)[1], 0)
        ends = self.state(port)["ends"]
        self.assertGreater(ends, 100)
        self.assertLessEqual(ends, 500)
        self.assertEqual(self.run_there(port, "call-2", function(), {"train.py": "def f(): pass"}, idle=5000)[1], 0)
        self.assertLessEqual(self.state(port)["ends"], 600)
        self.assertEqual(self.run_there(port, "call-3", function(), {"train.py": "def f(): pass"}, idle=0.2)[1], 0)
        self.assertEqual(process.wait(TIMEOUT), 0)

    def test_all_calls_are_counted(self):
        _, port = self.host(change="import kinetic_runner.warm.holder as module; module.KEPT_CALLS = 1")
        self.values(port, *["def f(): pass"] * 3)
        self.assertEqual(self.state(port)["calls"], 3)

    def test_variables_of_the_last_call_are_nowhere(self):
        """Neither in the environment of a process nor on a command line that the next call can read."""
        source = """import os
def f():
  found = []
  for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("environ", "cmdline"):
      try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
          found += [f"{pid} {name}"] * (%r in file.read())
      except OSError:
        pass
  return found"""
        for level in ("clean", "preloaded", "process"):
            with self.subTest(level):
                _, port = self.host(level=level)
                word = os.urandom(8).hex()
                self.assertEqual(self.values(port, "def f(): return 1", environ={"DB": word})[0], [1])
                self.assertEqual(self.values(port, source % word.encode(), environ={"DB": "other"}), ([[]], [""]))

    def test_variables_that_are_too_large_to_be_prepared_for(self):
        _, port = self.host()
        large = {"LARGE": "x" * 100_000}
        self.assertEqual(self.values(port, *["import os\ndef f(): return len(os.environ['LARGE'])"] * 2, environ=large)[0], [100_000] * 2)

    def test_a_runner_that_has_died_leaves_no_pipe_open(self):
        runner = ReadyRunner(self.work, NONE, "")
        os.kill(runner.pid, signal.SIGKILL)
        os.waitpid(runner.pid, 0)
        before = len(os.listdir("/proc/self/fd"))
        with self.assertRaises(BrokenPipeError):
            runner.give([], {})
        self.assertEqual(len(os.listdir("/proc/self/fd")), before - 1)

    def test_calls_that_wait_until_the_limit_is_over(self):
        over, gate = os.path.join(self.root, "over"), os.path.join(self.root, "gate")
        change = f"""
import os, threading, time
def end_limit():
    while not os.path.exists({over!r}):
        time.sleep(0.01)
    holder._limit = 0.0
threading.Thread(target=end_limit, daemon=True).start()"""
        process, port = self.host(change=change)
        _, running = self.begun(port, f"import os, time\ndef f():\n  print('begun', flush=True)\n  while not os.path.exists({gate!r}): time.sleep(0.01)")
        first, late = Ring(self, port), Ring(self, port)
        first.send(frames.CALL, self.order("first", function(), {"train.py": "def f(): pass"}, wait=True))
        self.assertEqual(first.receive()[1]["state"], "queued")
        open(over, "w").close()
        self.eventually(lambda: self.state(port)["ends"] < 0, process)
        late.send(frames.CALL, self.order("late", function(), {"train.py": "def f(): pass"}, wait=True))
        self.assertEqual(late.receive()[1], {"id": "late", "state": "refused", "why": "its --warm-limit is over"})
        open(gate, "w").close()
        self.assertEqual(first.receive()[1], {"id": "first", "state": "refused", "why": "its --warm-limit is over"})
        self.assertEqual(self.end(running), 0)
        self.assertEqual(process.wait(TIMEOUT), 0)

    def test_a_call_whose_files_are_gone_has_no_output(self):
        call = HostedCall("call", self.root)
        with open(call.log, "w") as file:
            file.write("its output")
        self.assertEqual(call.output(0, 100), b"its output")
        call.forget()
        with open(os.path.join(self.root, "another"), "w+") as file:
            file.write("of another call")
            file.flush()
            self.assertEqual(call.output(0, 100), b"")

    def test_strangers(self):
        process, port = self.host()
        stranger = Ring(self, port, b"guess")
        stranger.send(frames.STAT, {})
        self.assertIsNone(stranger.receive())
        for text in ("{", '"x"', "{}", '{"id": "a1", "argv": [], "environ": null}', '{"id": "a1", "argv": [1], "environ": {}}', *(json.dumps({"id": "a1", "argv": [], "environ": {}, "objects": {name: ""}}) for name in ("../x", "", ".", "a/", "/a", "a\0", "\ud800"))):
            ring = Ring(self, port)
            ring._connection.sendall(ring._frames.send(frames.CALL, text.encode()))
            self.assertIsNone(ring.receive())
        self.assertIsNone(process.poll())
        self.assertEqual(self.run_there(port, "call-1", function(), {"train.py": "def f(): pass"})[1], 0)


if __name__ == "__main__":
    unittest.main()
