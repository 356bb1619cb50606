#!/usr/bin/env python3
# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Judges how the outputs of a job are saved: ways of writing x ends x stores. README.md says what a row asks.

    judge.py                              the whole table
    judge.py --quick                      a part of it, in some minutes
    judge.py --rounds 1000 --seed 1       rounds 1 to 1000: the table in random order, again and again, with new seeds
    judge.py --pattern replace-0.2 --end kill-all --store fast --seed 7 --keep
"""

import argparse
import itertools
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True

HERE = pathlib.Path(__file__).resolve().parent
QUICK_SIZES = {"JUDGE_BIG_MB": "40", "JUDGE_FILES": "4000"}


class Stalls(threading.Thread):
    """Measures by how much this machine is late, so that a busy machine fails no row."""

    def __init__(self):
        super().__init__(daemon=True)
        self.late = []
        self.start()

    def run(self):
        """Sleep, and note by how much that took longer."""
        while True:
            before = time.time()
            time.sleep(0.1)
            lateness = time.time() - before - 0.1
            if lateness > 0.05:
                self.late.append((before, lateness))

    def between(self, begin, end):
        """Return the seconds of all stalls between two moments."""
        return sum(lateness for at, lateness in list(self.late) if begin - 0.5 <= at <= end)


def table(patterns, ends, stores):
    """Return all rows as (pattern, end, store)."""
    rows = itertools.product(patterns, ends, stores)
    return [row for row in rows if row[1] != "kill-worker" or patterns[row[0]].workers]


def quick(patterns, ends, stores):
    """Return a part of the rows.

    Each pattern is killed with its pod, two of three end in another way, too, and each end meets each store.
    """
    others = itertools.cycle([end for end in ends if end not in ("kill-all", "kill-worker")])
    killed, alive = itertools.cycle(["throttled", "fast", "fast", "cut"]), itertools.cycle(stores)
    rows = []
    for number, (name, pattern) in enumerate(patterns.items()):
        rows.append((name, "kill-all", pattern.store or next(killed)))
        if pattern.workers or pattern.own_term:
            rows.append((name, "kill-worker" if pattern.workers else "term-long", next(alive)))
        elif number % 3 and not pattern.heavy:
            rows.append((name, next(others), next(alive)))
    covered = {row[1:] for row in rows}
    usual = itertools.cycle(["replace-0.2", "newdir-hf", "renamed-orbax", "pointer-renamed"])
    missing = [pair for pair in itertools.product(ends, stores) if pair not in covered and pair[0] != "kill-worker"]
    return rows + [(next(usual), *pair) for pair in missing]


def chosen(options, patterns, ends, stores):
    """Return the rows that the command line asks for, as (pattern, end, store, seed)."""
    if options.quick:
        rows = quick(patterns, ends, stores)
    else:
        rows = table(patterns, ends, stores)
    rows = [
        row
        for row in rows
        if (not options.pattern or row[0] in options.pattern)
        and (not options.end or row[1] in options.end)
        and (not options.store or row[2] in options.store)
    ]
    if not options.rounds:
        rows.sort(key=lambda row: not patterns[row[0]].heavy)  # else the last would run alone
        return [(*row, options.seed) for row in rows]
    random.Random("rounds").shuffle(rows)
    seeds = range(options.seed, options.seed + options.rounds if rows else 0)
    return [(*rows[(seed - 1) % len(rows)], seed) for seed in seeds]


class Judge:
    """Runs rows, several at once, and counts."""

    def __init__(self, rows, jobs, minutes):
        self.rows, self.jobs, self.deadline = rows, jobs, time.time() + 60 * (minutes or 1e6)
        scaled = int(os.environ.get("JUDGE_BIG_MB", "1000")) <= 100
        self.lock, self.big = threading.Lock(), threading.Semaphore(3 if scaled else 1)
        self.next, self.failed, self.passed, self.skipped = 0, [], 0, 0

    def run(self):
        """Run the rows until all are done or time is up. Return the number of those that failed."""
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(self.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for row, result in self.failed:
            print(f"\n{row} {result}\n  {row.command()}")
        if self.skipped:
            print(f"\n{self.skipped} skipped")
        if self.next < len(self.rows):
            print(f"\ntime is up: continue with --seed {self.rows[self.next].seed}")
        print(f"\n{self.passed} passed, {len(self.failed)} failed", flush=True)
        return len(self.failed)

    def _work(self):
        """Run one row after the other."""
        while True:
            with self.lock:
                if self.next >= len(self.rows) or time.time() > self.deadline:
                    return
                row, self.next = self.rows[self.next], self.next + 1
            began = time.time()
            if row.pattern.heavy:
                with self.big:
                    result = self._judge(row)
            else:
                result = self._judge(row)
            with self.lock:
                self.passed += result == "ok"
                self.skipped += result.startswith("skipped")
                self.failed += [(row, result)] if result.startswith("FAILED") else []
                print(f"{row} {result}  (age {row.age:.1f} s, took {time.time() - began:.0f} s)", flush=True)

    @staticmethod
    def _judge(row):
        """Run a row. A fault of the judge itself fails it."""
        try:
            return row.judge()
        except Exception as problem:  # it is printed
            return f"FAILED the judge: {type(problem).__name__}: {problem}"


def why_not():
    """Return why this machine can't run rows, "" if it can."""
    lacking = [program for program in ("unshare", "setpriv") if not shutil.which(program)]
    if lacking:
        return f"it lacks {' and '.join(lacking)} (util-linux)"
    if os.geteuid():
        return "PID namespaces and mounts take root"
    command = ["unshare", "--pid", "--fork", "--mount-proc", "mount", "-t", "tmpfs", "tmpfs", "/tmp"]
    tried = subprocess.run(command, stderr=subprocess.PIPE)
    return tried.stderr.decode().strip() if tried.returncode else ""


def parse(arguments):
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = str(HERE / "keeper")
    parser.add_argument("--keeper", default=default, metavar="CMD", help="the mechanism; default: keeper, beside this file")
    parser.add_argument("--quick", action="store_true", help="run a part of the table")
    parser.add_argument("--rounds", type=int, metavar="N", help="run this many rounds, from --seed on")
    parser.add_argument("--minutes", type=float, metavar="M", help="begin no row after this time")
    parser.add_argument("--pattern", action="append", metavar="P", help="only rows of this pattern; can be repeated, as the next two")
    parser.add_argument("--end", action="append", metavar="E", help="only rows with this end")
    parser.add_argument("--store", action="append", metavar="S", help="only rows with this store")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="the number of the first round, or the seed of the rows")
    parser.add_argument("--keep", action="store_true", help="leave the directories of failed rows")
    parser.add_argument("--jobs", type=int, default=6, metavar="N", help="rows at once: they mostly wait")
    parser.add_argument("--list", action="store_true", help="print the rows only")
    options = parser.parse_args(arguments)
    options.default_keeper = default
    return parser, options


def main(arguments=None):
    """Run the rows that the command line asks for. Return the exit code."""
    parser, options = parse(arguments)
    if options.quick or options.rounds:
        for name, value in QUICK_SIZES.items():
            os.environ.setdefault(name, value)
    from patterns import PATTERNS
    from row import ENDS, STORES, Row

    for given, known in ((options.pattern, PATTERNS), (options.end, ENDS), (options.store, STORES)):
        for name in given or ():
            if name not in known:
                parser.error(f"unknown: {name}; there are {', '.join(known)}")
    keeper = shlex.split(options.keeper)[0]
    if not options.list and not shutil.which(keeper):
        parser.error(f"{keeper} is no program: name the mechanism to judge with --keeper")
    if not options.list and (reason := why_not()):
        print(f"judge: this machine can't run it: {reason}", file=sys.stderr)
        return 77
    stalls = Stalls()
    rows = [Row(options, stalls, name, PATTERNS[name], *rest) for name, *rest in chosen(options, PATTERNS, ENDS, STORES)]
    if options.list:
        print(*rows, sep="\n")
        return 0
    return min(1, Judge(rows, options.jobs, options.minutes).run())


if __name__ == "__main__":
    sys.exit(main())
