# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""One row: a pattern, an end and a store, with one seed. It runs two or three attempts, one after the other."""

import os
import pathlib
import random
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

from attempt import Attempt, Failed, Skipped
from verdict import Verdict

# In "overtaken" a second attempt begins while the first one still runs.
ENDS = ["return", "exception", "exit1", "kill-program", "kill-worker", "kill-all", "term-long", "term-long-0", "term-short",
        "kill-restore", "kill-last", "overtaken"]  # fmt: skip
STORES = ["fast", "throttled", "cut"]
ON_TERM = {"term-long": "save143", "term-long-0": "save0", "term-short": "ignore"}
BY_ITSELF = ("return", "exception", "exit1")
LIVED_SECONDS = 0.4  # after an exception; from 0.5 on, nothing tells a file that it closed from one that was finished
LATER = ("return", "kill-all", "exception", "kill-program", "term-long")  # ends of later attempts


class Row:
    """A row. options: those of the command line; stalls: how late this machine was."""

    def __init__(self, options, stalls, name, pattern, end, store, seed):
        self.options, self.stalls = options, stalls
        self.name, self.pattern, self.end, self.store, self.seed = name, pattern, end, store, seed
        self.random = random.Random(f"{name} {end} {store} {seed}")
        self.interval = round(self.random.uniform(0.3, 0.7), 2)
        self.quiet = self.random.choice([0.8, 1.0, 1.5])
        self.rate = min(pattern.bytes / (1.2 if pattern.bytes < 10e6 else 2), 50e6)  # of a throttled store
        self.age = 0.0
        self.most, self.saved = (0, 0), (0, 0)  # files and bytes, at most: of the outputs, and of what was restored

    def __str__(self):
        return f"{self.name:18} {self.end:12} {self.store:9} {self.seed:5}"

    def command(self):
        """Return the command that repeats this row alone."""
        words = ["hack/outputs/judge.py", "--pattern", self.name, "--end", self.end, "--store", self.store]
        words += ["--seed", str(self.seed), "--keep"]
        if self.options.keeper != self.options.default_keeper:
            words[1:1] = ["--keeper", self.options.keeper]
        sizes = [f"{name}={value} " for name, value in os.environ.items() if name.startswith("JUDGE_") and self.pattern.heavy]
        return "".join(sizes) + shlex.join(words)

    def run_command(self, out, grace):
        """Return the mechanism's command for a run, without the program."""
        words = [*shlex.split(self.options.keeper), "run", "--out", str(out), "--store", str(self.directory / "store")]
        words += ["--interval", str(self.interval), "--quiet", str(self.quiet), "--grace", str(grace)]
        if self.store == "throttled":
            words += ["--throttle", str(int(self.rate))]
        if self.store == "cut":
            words += ["--fail-rate", "0.2", "--seed", str(self.seed)]
        return words

    def judge(self):
        """Run the row. Return "ok", or why it failed or was skipped."""
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix=f"judge-{self.name}-{self.end}-"))
        self.directory.chmod(0o755)  # for other users
        (self.directory / "store").mkdir()
        result = "ok"
        try:
            self._attempts()
        except Failed as problem:
            result = f"FAILED {problem}"
        except Skipped as problem:
            result = f"skipped: {problem}"
        if self.options.keep and result.startswith("FAILED"):
            return f"{result} [{self.directory}]"
        shutil.rmtree(os.fsencode(self.directory), ignore_errors=True)
        return result

    def _attempts(self):
        """Run all attempts, and judge each."""
        later = [self.random.choice(LATER)] + ["kill-all"] * (self.random.random() < 0.15)
        if self.end == "overtaken":
            before, number = self._overtaken(), 3
        else:
            first = self.random.choice(["kill-all", "return"]) if self.end == "kill-restore" else self.end
            before, number = self._attempt(1, first, {}), 2
            if self.end == "kill-restore":
                before, number = self._attempt(2, self.end, before), 3
        for end in later[: 1 if number == 3 else 2]:
            before = self._attempt(number, end, before)
            number += 1
        self._bounded()

    def _seconds(self, end, is_first):
        """Return how long an attempt lasts."""
        if not is_first:
            return self.random.uniform(0.3, 2.0)
        if end == "kill-all" and self.random.random() < 0.8:  # longer than a state may take to be saved
            return self._bound() + self.random.uniform(0.2, 1.0)
        seconds = self.random.uniform(1.0, 4.5) + self.pattern.every * self.random.random()
        return seconds + (2 if self.store == "throttled" else 0) + (4 + 3 * self._sending() if self.pattern.heavy else 0)

    def _start(self, number, end, seconds, beside=0):
        """Start an attempt. beside: the attempt that must have begun before this one ends."""
        on_term = ON_TERM.get(end, "")
        if self.pattern.own_term and on_term:
            on_term = "save143"
        dies = {"exit1": self.random.choice(["exit1", "_exit"])}.get(end, end if end in BY_ITSELF else "none")
        grace = 0.3 if end == "term-short" else 8
        return Attempt(self, number, {"end": dies, "after": seconds, "on_term": on_term, "grace": grace, "beside": beside})

    def _attempt(self, number, end, before):
        """Run an attempt and judge what it leaves. Return {unit: state} of that."""
        inner = self.random.choice(["return", "term-short"]) if end == "kill-last" else end
        seconds = self._seconds(inner, number == 1)
        attempt = self._start(number, inner, seconds)
        try:
            died, code = self._live(attempt, end, inner, seconds)
        finally:
            if attempt.process.poll() is None:
                attempt.kill_all()
        return self._judge(attempt, end, died, code, before)

    def _live(self, attempt, end, inner, seconds):
        """See an attempt to its end. Return when that was, and the exit code of the mechanism, None if it was killed."""
        limit = 60 + seconds + 3 * self._sending() + 120 * self.pattern.heavy
        delay = self.random.random() * (0.6 if self.store == "fast" else 1.5)  # after which the mechanism is killed as well
        if end == "kill-restore":
            time.sleep(0.02 + delay / 2)
            return attempt.kill_all(), None
        attempt.until("found", limit=limit)
        if inner in BY_ITSELF:
            if end == "kill-last":
                attempt.until("end", limit=limit)
                time.sleep(delay)
                return attempt.kill_all(), None
            code = attempt.wait(limit)
            if (code == 0) != (end == "return"):
                raise Failed(f"attempt {attempt.number}, {end}: exit code {code}: {attempt.errors.read_bytes()[-400:]!r}")
            ended = attempt.lines("end" if end == "return" else "dies")
            if not ended:
                raise Failed(f"attempt {attempt.number}, {end}: the program failed: {attempt.errors.read_bytes()[-400:]!r}")
            if end == "exception" and not self.pattern.atomic:
                self._see_exit(attempt, ended[-1]["t"])
            return ended[-1]["t"], code
        if seconds > self._bound():
            attempt.until("have", limit=limit)
        time.sleep(seconds)
        if attempt.process.poll() is not None:
            raise Failed(f"attempt {attempt.number}, {end}: it ended too early: {attempt.errors.read_bytes()[-400:]!r}")
        if self.pattern.commits:
            attempt.until("safe", "no-commit", limit=30, more_than=len(attempt.lines("safe")))
        if end == "kill-all":
            return attempt.kill_all(), None
        if end in ("kill-program", "kill-worker"):
            died = self._kill_one(attempt, end, limit)
        else:
            died = attempt.signal(attempt.keeper(), signal.SIGTERM)
            if end == "kill-last":
                time.sleep(0.3 + delay)
                return attempt.kill_all(), None
        return died, attempt.wait(limit)

    @staticmethod
    def _see_exit(attempt, died):
        """Skip the row if the machine was so late that the half file of an exception counts as finished: see README.md."""
        gone = [line["t"] - died for line in attempt.lines("gone")]
        if gone and gone[-1] > LIVED_SECONDS:
            raise Skipped(f"this machine was late: the program lived for {gone[-1]:.1f} s after its exception")

    def _kill_one(self, attempt, end, limit):
        """Kill the program or one of its children. Return when."""
        if end == "kill-program":
            return attempt.kill(attempt.lines("start")[-1]["pid"]) or time.time()
        died = None
        while died is None and attempt.until("worker", limit=limit):
            died = attempt.kill(self.random.choice(attempt.lines("worker")[-4:])["pid"])
        return died or time.time()

    def _overtaken(self):
        """Begin an attempt while an older one runs. What the older one still sends must not come back."""
        lead = self._seconds("return", True)
        older = self._start(1, "return", lead + self.random.uniform(1.5, 3), beside=2)
        newer = None
        try:
            older.until("found", limit=60)
            time.sleep(lead)
            newer = self._start(2, "return", 4 + self._sending())
            if not newer.until("found", limit=60 + 3 * self._sending()):
                raise Failed(f"attempt 2 did not begin beside an older one: {newer.errors.read_bytes()[-400:]!r}")
            self.saved = tree_size(newer.out)
            found = {}
            for line in newer.lines("found"):
                found = self._verdict(older, "overtaken", newer.began, None, {}).states(line["states"])
            older.wait(120)
            if self.random.random() < 0.7:  # before it can save again what the older one has replaced
                died, code = newer.kill_all(), None
            else:
                code = newer.wait(120 + 3 * self._sending())
                died = newer.lines("end")[-1]["t"] if newer.lines("end") else time.time()
            return self._judge(newer, "overtaken", died, code, found)
        finally:
            for attempt in filter(None, (older, newer)):
                if attempt.process.poll() is None:
                    attempt.kill_all()

    def _verdict(self, attempt, end, died, code, before):
        """Return a verdict on an attempt."""
        bound = self._bound() + self.stalls.between(attempt.began, died)
        return Verdict(self.pattern, attempt, end, died, code, before, bound)

    def _bound(self):
        """Return how many seconds a state may wait to be saved."""
        return 2 * self.interval + 2 * self._sending() + 5 + 3 * (self.store == "cut")  # each failed request waits

    def _judge(self, attempt, end, died, code, before):
        """Restore, and judge what came back. Return {unit: state}."""
        if attempt.lines("no-commit"):
            raise Skipped("the mechanism gives its program no KINETIC_COMMIT")
        self.most = max_each(self.most, tree_size(attempt.out))
        restored = self.directory / f"restored{attempt.number}"
        restored.mkdir()
        words = [*shlex.split(self.options.keeper), "restore", "--store", str(self.directory / "store"), "--out", str(restored)]
        try:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        except subprocess.TimeoutExpired:
            raise Failed("hang: restore did not end within 120 s") from None
        said = done.stdout.decode(errors="replace")
        if done.returncode:
            raise Failed(f"attempt {attempt.number}, {end}: restore ended with {done.returncode}: {said[-400:]}")
        self.saved = max_each(self.saved, tree_size(restored))
        self.most = max_each(self.most, self.saved)
        verdict = self._verdict(attempt, end, died, code, before)
        verdict.found()
        states = verdict.states(self.pattern.look(str(restored)))
        verdict.names(restored)
        verdict.told(states, 6 * self.interval + self.quiet + 2)
        if code is not None:
            verdict.kept(restored, said)
        self.age = max(self.age, verdict.age)
        shutil.rmtree(os.fsencode(restored), ignore_errors=True)
        return states

    def _sending(self):
        """Return the seconds that it takes to send all that is saved."""
        rate = self.rate if self.store == "throttled" else 60e6
        return max(self.saved[1], self.pattern.bytes) / rate + self.most[0] / (30 if self.store == "cut" else 1500)

    def _bounded(self):
        """Fail if the store holds much more than the outputs did."""
        count, size = tree_size(self.directory / "store")
        files, least = self.most[0], max(self.most[1], self.pattern.bytes)  # what is on a disk of its own goes with it
        # The state of the index, the next one, the plain names and what is incomplete; and each object says what it is.
        if count > 3 * files + 100 or size > 4 * least + 2_000_000 + 500 * count:
            raise Failed(f"bounded: the store has {count} objects of {size / 1e6:.1f} MB for outputs of {files} files of {least / 1e6:.1f} MB")


def max_each(one, other):
    """Return the larger of each of two numbers."""
    return tuple(map(max, one, other))


def tree_size(directory):
    """Return the number and bytes of all files and directories below a directory."""
    count = size = 0
    for at, folders, files in os.walk(os.fsencode(directory)):
        count += len(folders) + len(files)
        for name in files:
            try:
                size += os.lstat(os.path.join(at, name)).st_size
            except OSError:
                pass  # just removed
    return count, size
