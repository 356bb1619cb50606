# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""How a call ends that was started several times on a host: each process counts as a single one would."""

import contextlib
import json
import os
import signal
import unittest
from unittest import mock

from fixture import RunnerCase, function, script
from group import GroupCase
from kinetic_runner import ranks
from kinetic_runner.outcome import COMPLETED, Outcome
from test_outputs import OutputCase

# go() notes that this process is about to end; gone() waits until the process that did so has ended, and ranks.py knows it.
MEET = """
import atexit, os, sys, time
import kinetic
first, name = os.environ["LOCAL_RANK"] == "0", "goes" + os.environ["GROUP_RANK"]
def go():
    with open(name + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(name + ".new", name)
def gone():
    while not os.path.exists(name):
        time.sleep(0.01)
    try:
        while True:
            os.kill(int(open(name).read()), 0)
            time.sleep(0.01)
    except ProcessLookupError:
        pass
def stop():
    kinetic.is_preempted()
    print("ready", flush=True)
    while not kinetic.is_preempted():
        time.sleep(0.01)
"""
UNEVEN = """
def f():
    if first:
        go()
        return "the first"
    gone()
    stop()
    sys.exit()
"""
LEAVES_FIRST = """
def f():
    if not first:
        go()
        sys.exit()
    gone()
    stop()
    return "the first"
"""
CRASHES = """
def f():
    if first:
        gone()
        return "the first"
    atexit.register(os.abort)
    os.closerange(3, CLOSED)
    go()
"""
FAILS = """
def f():
    if first:
        os.closerange(3, 4096)
        go()
        return "the first"
    gone()
    os.closerange(3, CLOSED)
    raise ValueError("of the second")
"""
VANISHES = """
def f():
    if first:
        gone()
        return "the first"
    go()
    os._exit(0)
"""
KILLED = """
import signal
def f():
    if first:
        signal.signal(signal.SIGTERM, lambda number, frame: os._exit(0))
        go()
        while True:
            signal.pause()
    while not os.path.exists(name):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)
"""
HOLDS = """
import os, subprocess, sys
if os.environ["RANK"] == "1":
    held = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
    with open(HELD, "w") as file:
        file.write(str(held.pid))
    for stream in sys.stdout, sys.stderr:
        stream.write("last words")
"""
# One process, or the process of host 1, is in the middle of a file when the other one ends.
CUT_OFF = """
import os, signal, sys, time
import kinetic
go = os.path.join(os.environ["GATES"], "go")
def put(text):
    file = open(os.path.join(os.environ["KINETIC_OUTPUT_PATH"], "last.pt"), "w")
    file.write(text)
    file.flush()
    return file
def f():
    if os.environ["RANK"] == "RANK_THAT_ENDS":
        while not os.path.exists(go):
            time.sleep(0.01)
        END
    HANDLER
    put("whole").close()
    kinetic.commit()
    file = put("half")
    open(go, "w").close()
    while True:
        time.sleep(0.01)
"""
WARNING = "train.py:f returned, but its process was killed by SIGABRT while exiting"


class RankEnds(RunnerCase):
    def two(self, body, *flags):
        return self.run_call(function(), {"train.py": MEET + body}, "--processes", "2", *flags)

    def preempted(self, body):
        """Runs a call that is told to stop once a rank is ready for it and the other one has ended."""
        process = self.start(self.argv(function(), {"train.py": MEET + body}, "--processes", "2"))
        self.assertIn(b"ready", process.stdout.readline())
        process.terminate()
        return self.finish(process)

    def test_one_that_stops_midway_after_another_has_returned(self):
        ran = self.preempted(UNEVEN)
        self.assertEqual((ran.code, self.exists("end.json")), (143, False), ran.out)

    def test_one_that_is_out_of_time_after_another_has_returned(self):
        ran, _ = self.out_of_time(lambda *limit: self.two(UNEVEN, *limit), "[rank 1] ready")
        self.assertEqual((ran.code, ran.end["reason"]), (124, "DeadlineExceeded"), ran.out)

    def test_one_that_has_left_before_the_stop_has_not_stopped(self):
        ran = self.preempted(LEAVES_FIRST)
        self.assertEqual((ran.code, ran.end["state"], ran.result["value"]), (0, "SUCCEEDED", "the first"), ran.out)

    def test_one_that_crashes_after_it_has_returned(self):
        for closed in ("3", "4096"):  # none, all
            with self.subTest(closed):
                self.setUp()
                ran = self.two(CRASHES.replace("CLOSED", closed))
                self.assertEqual((ran.code, ran.end["state"], ran.result["value"]), (0, "SUCCEEDED", "the first"), ran.err)
                self.assertEqual(ran.result["warnings"], [WARNING])

    def test_one_that_fails_after_another_has_closed_all_descriptors(self):
        for closed in ("3", "4096"):
            with self.subTest(closed):
                self.setUp()
                ran = self.two(FAILS.replace("CLOSED", closed))
                self.assertEqual((ran.code, ran.end["message"]), (1, "rank 1: ValueError: of the second"), ran.err)

    def test_value_of_one_that_has_closed_all_descriptors(self):
        ran = self.two("def f():\n    os.closerange(3, 4096)\n    return 'x' * (2 << 20)")
        self.assertEqual((ran.code, ran.result["value"]), (0, "x" * (2 << 20)), ran.err)

    def test_one_that_ends_its_process_before_it_returns(self):
        ran = self.two(VANISHES)
        self.assertEqual((ran.code, ran.end["reason"]), (1, "ExitCode"), ran.err)
        self.assertEqual(ran.end["message"], "rank 1: train.py:f ended its process before returning")

    def test_one_that_saves_and_ends_because_another_was_killed(self):
        ran = self.two(KILLED, "--final")
        self.assertEqual((ran.code, ran.end["reason"]), (137, "Killed"), ran.err)

    def test_last_line_of_one_that_has_left_a_process(self):
        path = os.path.join(self.root, "held")
        self.addCleanup(self.kill, path)
        ran = self.run_call(script(), {"train.py": HOLDS.replace("HELD", repr(path))}, "--processes", "2")
        self.assertEqual((ran.code, ran.stdout, ran.stderr), (0, "[rank 1] last words\n", "[rank 1] last words\n"), ran.err)

    @staticmethod
    def kill(path):
        with contextlib.suppress(OSError), open(path) as file:
            os.kill(int(file.read()), signal.SIGKILL)


class CutOff(OutputCase):
    def test_a_file_of_one_that_is_ended_because_another_calls_sys_exit(self):
        source = CUT_OFF.replace("RANK_THAT_ENDS", "1").replace("END", "sys.exit(3)").replace("HANDLER", "")
        ran = self.run_call(function(), {"train.py": source}, "--processes", "2", env={"GATES": self.root})
        self.assertEqual((ran.code, self.saved(), self.read("incomplete/0/last.pt")), (3, {"last.pt": b"whole"}, b"half"), ran.out)

    def test_files_of_processes_that_all_call_sys_exit(self):
        source = "import os, sys\ndef f():\n  open(os.environ['KINETIC_OUTPUT_PATH'] + '/' + os.environ['RANK'], 'w').write('all')\n  sys.exit()"
        ran = self.run_call(function(), {"train.py": source}, "--processes", "2")
        self.assertEqual((ran.code, self.saved()), (0, {"0": b"all", "1": b"all"}), ran.out)


class Ended(unittest.TestCase):
    def test_a_report_that_is_still_to_be_read_counts_more_than_a_crash(self):
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        os.set_blocking(read, False)
        rank = ranks.Rank(1, mock.Mock(report=read, output={}), {})
        together = object.__new__(ranks.Ranks)  # without processes
        together.status, together.kill_at, together.terminated = 0, None, True
        with open(write, "w") as pipe:  # a process that rank 1 has left holds it open
            pipe.write(json.dumps({"outcome": Outcome(COMPLETED, 0).to_json()}) + "\n")
            pipe.flush()
            together._ended(rank, signal.SIGABRT)
        self.assertEqual((rank.outcome.ok, together.status), (True, 0))


class Hosts(GroupCase):
    HOSTS = 2

    def test_ranks_that_stop_midway_after_others_have_returned(self):
        processes = self.hosts(function(), {"train.py": MEET + UNEVEN}, "--processes", "2")
        for process in processes:
            while b"ready" not in process.stdout.readline():
                self.assertIsNone(process.poll())
        for ran in self.terminate(*processes):
            self.assertEqual((ran.code, self.exists("end.json")), (143, False), ran.out)

    def test_a_file_of_a_host_whose_handler_of_sigterm_calls_sys_exit(self):
        source = CUT_OFF.replace("RANK_THAT_ENDS", "0").replace("END", "raise ValueError").replace("HANDLER", "signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))")
        leader, member = self.parked(*self.hosts(function(), {"train.py": source}, env={"GATES": self.root}))
        self.assertEqual(leader.end["reason"], "Exception", leader.out)
        self.assertEqual((self.read("outputs/last.pt"), self.read("incomplete/1/last.pt")), (b"whole", b"half"), member.out)


if __name__ == "__main__":
    unittest.main()
