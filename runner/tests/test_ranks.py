# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A call that is started several times on a host."""

import os
import re
import unittest

from fixture import RunnerCase, command, function, read_log, script
from group import GroupCase
from kinetic_runner import ranks
from payloads import Payloads, payload
from test_outputs import OutputCase

NUMBERS = """
import os, time
def f(**more):
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "JAX_PROCESS_ID", "MASTER_ADDR")
    print(*(os.environ[name] for name in names), os.environ.get("JAX_LOCAL_DEVICE_IDS"))
    return os.environ["RANK"]
"""
MEETS = """
import os, socket, time
def f():
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    if rank == 0:
        with socket.create_server(address) as server:
            return sorted(server.accept()[0].recv(9).decode() for _ in range(size - 1))
    while True:
        try:
            with socket.create_connection(address) as there:
                return there.send(b"%d" % rank)
        except ConnectionRefusedError:
            time.sleep(0.02)
"""
FAILS = """
import os, time
def f():
    if os.environ["RANK"] == "2":
        raise KeyError("of the third")
    if os.environ["RANK"] == "0":
        return "the first"
    time.sleep(600)
"""
DIES = FAILS.replace('raise KeyError("of the third")', "os.kill(os.getpid(), 9)")
DRAWS = r"""
import sys, time
sys.stdout.write("10%\r20%\rno end")
"""
STOPS = """
import os, signal, sys, time
def f():
    def stop(*_):
        print("stops", flush=True)
        sys.exit(0)
    signal.signal(signal.SIGTERM, stop)
    print("runs", flush=True)
    while True:
        time.sleep(0.1)  # Python acts on a signal that comes just before it only at its end
"""

SAVES = """
import os, signal, sys, time
def f():
    def stop(*_):
        if os.environ["RANK"] == "0":
            time.sleep(4)  # longer than the others have after a failure
            print("saved", flush=True)
        sys.exit(143)
    signal.signal(signal.SIGTERM, stop)
    print("runs", flush=True)
    while True:
        time.sleep(0.1)  # Python acts on a signal that comes just before it only at its end
"""
# Rank 0 fails in the middle of a file, which is closed then. Rank 1 lives on for as long as it may.
FAILS_IN_A_FILE = """
import os, signal, time
import kinetic
def f():
    if os.environ["RANK"] == "1":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open(READY, "w").close()
        while True:
            time.sleep(0.1)
    while not os.path.exists(READY):
        time.sleep(0.01)
    path = os.path.join(kinetic.output_dir(), "last.pt")
    for text, whole in (("one", True), ("ha", False)):
        with open(path, "w") as file:
            file.write(text)
            assert whole
        kinetic.commit()
"""
FAILS_ON_A_HOST = """
import os, signal, time
def f():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.environ["RANK"] == "2":
        open(READY, "w").close()
    if os.environ["RANK"] == "3":
        while not os.path.exists(READY):
            time.sleep(0.01)
        raise ValueError("boom")
    while True:
        time.sleep(0.1)
"""


class Ranks(Payloads, RunnerCase):
    def test_each_has_its_numbers_and_its_lines(self):
        ran = self.run_call(function(), {"train.py": NUMBERS}, "--processes", "3", "--chips", "gpu:8")
        self.assertEqual((ran.code, ran.result["value"]), (0, "0"), ran.stderr)
        want = [f"[rank {n}] {n} {n} 3 3 0 {n} 127.0.0.1 {n}" for n in range(3)]
        self.assertEqual(sorted(ran.stdout.splitlines()), want)

    def test_numbers_on_the_second_of_two_hosts(self):
        environ = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "leader", "MASTER_PORT": "29500", "OMPI_COMM_WORLD_SIZE": "2"}
        first, second = ranks.variables(environ, 2, "")
        self.assertEqual([one["RANK"] for one in (first, second)], ["2", "3"])
        self.assertEqual([one["OMPI_COMM_WORLD_RANK"] for one in (first, second)], ["2", "3"])
        self.assertEqual((second["WORLD_SIZE"], second["GROUP_RANK"], second["MASTER_ADDR"]), ("4", "1", "leader"))
        self.assertNotIn("JAX_LOCAL_DEVICE_IDS", first)

    def test_they_meet(self):
        ran = self.run_call(function(), {"train.py": MEETS}, "--processes", "4")
        self.assertEqual(ran.result["value"], ["1", "2", "3"], ran.stderr)

    def test_one_that_fails_ends_all(self):
        ran = self.run_call(function(), {"train.py": FAILS}, "--processes", "3")
        self.assertEqual(ran.code, 1, ran.stderr)
        self.assertEqual(ran.end["message"], "rank 2: KeyError: 'of the third'")
        self.assertIn("[rank 2] KeyError: 'of the third'", ran.stderr)

    def test_one_that_is_killed_ends_all(self):
        ran = self.run_call(function(), {"train.py": DIES}, "--processes", "3")
        self.assertEqual(ran.code, 137, ran.stderr)
        self.assertIn("train.py:f was killed", ran.stderr)

    def test_progress_bars_and_lines_without_an_end(self):
        ran = self.run_call(script(), {"train.py": DRAWS}, "--processes", "2")
        self.assertEqual(ran.code, 0, ran.stderr)
        self.assertEqual(ran.stdout.count("no end"), 2)
        self.assertTrue(re.search(r"\[rank [01]\] 20%", ran.stdout), ran.stdout)

    def test_a_command(self):
        ran = self.run_call(command("sh", "-c", "echo $LOCAL_RANK of $LOCAL_WORLD_SIZE; exit $((LOCAL_RANK * 3))"), {}, "--processes", "2")
        self.assertEqual(ran.code, 3, ran.stderr)
        self.assertIn("[rank 1] 1 of 2\n", ran.stdout)

    def test_no_such_program(self):
        ran = self.run_call(command("no-such-program"), {}, "--processes", "2")
        self.assertEqual(ran.end["message"], "cannot run no-such-program: there is no such program, or its #! line names one that is missing")

    def test_a_pickled_call(self):
        ran = self.run_payload(payload(NUMBERS), {"train.py": NUMBERS}, "--processes", "2")
        self.assertEqual((ran.code, ran.result["value"]), (0, "0"), ran.stderr)

    def test_auto(self):
        self.assertEqual(ranks.count_of("3", ""), 3)
        self.assertEqual(ranks.count_of("auto", "tpu:4"), 1)

    def test_one_that_ends_at_a_signal_leaves_the_others_their_time(self):
        process = self.start(self.argv(function(), {"train.py": SAVES}, "--processes", "2"))
        for _ in range(2):
            process.stdout.readline()
        process.terminate()
        self.assertIn("[rank 0] saved\n", self.finish(process).stdout)

    def test_a_signal_reaches_all(self):
        process = self.start(self.argv(function(), {"train.py": STOPS}, "--processes", "2"))
        lines = [process.stdout.readline() for _ in range(2)]
        self.assertEqual(sorted(read_log(b"".join(lines))[0].splitlines()), ["[rank 0] runs", "[rank 1] runs"])
        process.terminate()
        ran = self.finish(process)
        self.assertEqual(ran.stdout.count("] stops\n"), 2)
        self.assertEqual(ran.code, 143, ran.stderr)


class Outputs(OutputCase):
    def test_a_file_in_which_one_has_failed_is_not_finished(self):
        """Although the call runs on until the others have ended."""
        source = FAILS_IN_A_FILE.replace("READY", repr(os.path.join(self.root, "ready")))
        ran = self.run_call(function(), {"train.py": source}, "--processes", "2", "--output-sync", "0.1")
        self.assertEqual((ran.code, ran.end["message"], self.saved()), (1, "rank 0: AssertionError: ", {"last.pt": b"one"}), ran.err)


class Hosts(GroupCase):
    HOSTS = 2

    def test_one_that_fails_tells_why_although_others_of_its_host_stay(self):
        source = FAILS_ON_A_HOST.replace("READY", repr(os.path.join(self.root, "ready")))
        leader, _ = self.parked(*self.hosts(function(), {"train.py": source}, "--processes", "2"))
        self.assertEqual(leader.end["message"], "host 1: rank 3: ValueError: boom")


if __name__ == "__main__":
    unittest.main()
