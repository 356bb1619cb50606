# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""One run of the mechanism around a program, in a PID namespace of its own."""

import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


class Failed(Exception):
    """Why a row failed."""


class Skipped(Exception):
    """Why a row can't be judged."""


def box(out, mount, lacks):
    """Return a command that runs another one so that all its processes can be killed at once.

    mount: "", or "tmpfs:PATH:SIZE" or "bind:PATH", PATH below the outputs; lacks: capabilities that are taken away.
    """
    command = ["setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if mount:
        kind, path, *size = mount.split(":")
        what = f"-t tmpfs -o size={size[0]} tmpfs" if kind == "tmpfs" else f"--bind {shlex.quote(str(out) + '.bound')}"
        command += ["sh", "-c", f'mkdir -p "$0" "{out}.bound" && mount {what} "$0" && exec "$@"', str(out / path)]
    if lacks:
        without = ",".join(f"-{name}" for name in lacks.split(","))
        command += ["setpriv", f"--bounding-set={without}", f"--inh-caps={without}"]
    return command


class Attempt:
    """One run. Its outputs, what it prints and the journal lie in the row's directory."""

    def __init__(self, row, number, program):
        self.number, self.journal = number, row.directory / "journal"
        self.out, self.errors = row.directory / f"out{number}", row.directory / f"stderr{number}"
        self.out.mkdir()
        options = {"pattern": row.name, "attempt": number, "journal": str(self.journal), **program}
        options["environment"] = {name: os.environ[name] for name in os.environ if name.startswith("JUDGE_")}
        command = [*box(self.out, row.pattern.mount, row.pattern.lacks), *row.run_command(self.out, program["grace"])]
        command += ["--", sys.executable, "-B", str(HERE / "program.py"), json.dumps(options)]
        self.began = time.time()
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)

    def keeper(self):
        """Return the PID of the mechanism, the first process of its namespace; None when it has ended."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        while self.process.poll() is None:
            try:
                found = children.read_text().split()
            except OSError:
                return None
            if found:
                return int(found[0])
            time.sleep(0.005)
        return None

    def outside(self, pid):
        """Return the PID here of a process that has this PID in the namespace; None when it has ended."""
        try:
            space = os.readlink(f"/proc/{self.keeper()}/ns/pid")
        except OSError:
            return None
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{entry}/ns/pid") == space:
                    status = pathlib.Path(f"/proc/{entry}/status").read_text()
                    if re.search(r"^NSpid:.*\s(\d+)$", status, re.MULTILINE).group(1) == str(pid):
                        return int(entry)
            except OSError:
                continue  # it has ended
        return None

    def signal(self, pid, number):
        """Send a signal to a process, unless it has ended. Return when."""
        now = time.time()
        try:
            if pid:
                os.kill(pid, number)
        except ProcessLookupError:
            pass  # it has ended
        return now

    def kill(self, pid):
        """Kill a process that has this PID in the namespace. Return when, or None if it has ended by itself.

        It is stopped first: a process that ends just before it is killed says nothing of that to its parent.
        """
        outside = self.outside(pid)
        self.signal(outside, signal.SIGSTOP)
        while outside and (state := self.state(outside)) != "T":
            if state in ("", "X", "Z"):
                return None
            time.sleep(0.001)
        return self.signal(outside, signal.SIGKILL) if outside else None

    @staticmethod
    def state(pid):
        """Return the letter of the state of a process, "" when it is gone."""
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return ""

    def kill_all(self):
        """Kill the mechanism and all that it started. Return when."""
        now = self.signal(self.keeper() or self.process.pid, signal.SIGKILL)
        self.process.wait(30)
        return now

    def wait(self, limit):
        """Return the mechanism's exit code."""
        try:
            return self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.kill_all()
            raise Failed(f"hang: the mechanism did not end within {limit:.0f} s") from None

    def lines(self, *kinds):
        """Return what the program journaled."""
        if not self.journal.exists():
            return []
        lines = map(json.loads, self.journal.read_text().split("\n")[:-1])
        return [line for line in lines if line["attempt"] == self.number and line["kind"] in kinds]

    def until(self, *kinds, limit, more_than=0):
        """Wait until there are more than so many lines of these kinds, or the mechanism has ended."""
        deadline = time.time() + limit
        while time.time() < deadline and self.process.poll() is None:
            if len(self.lines(*kinds)) > more_than:
                return True
            time.sleep(0.01)
        return False
