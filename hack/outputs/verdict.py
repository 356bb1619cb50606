# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Judges what a restore brought by what the program had journaled."""

import collections
import filecmp
import os
import re

import contents
from attempt import Failed


class Verdict:
    """What is asked after one attempt.

    end: how it ended; died: when; code: the mechanism's exit code, None if it was killed; before: {unit: state} that the attempt
    began with; bound: how old, in seconds, what comes back may be.
    """

    def __init__(self, pattern, attempt, end, died, code, before, bound):
        self.pattern, self.attempt, self.end, self.died, self.code = pattern, attempt, end, died, code
        self.before, self.bound = before, bound
        self.age = 0.0  # of what came back, in seconds
        self.histories, self.intended = collections.defaultdict(list), {}
        for line in attempt.lines("will", "have"):
            if line["kind"] == "will":
                self.intended[line["unit"]] = line["id"]
            else:
                self.intended.pop(line["unit"], None)
                self.histories[line["unit"]].append((line["t"], line["id"]))

    def fail(self, text):
        """Fail the row."""
        raise Failed(f"attempt {self.attempt.number}, {self.end}: {text}")

    def known(self, states):
        """Return states without empty directories that are nobody's unit."""
        units = {*self.histories, *self.intended}
        return {unit: state for unit, state in states.items() if state and (state != contents.EMPTY or unit in units)}

    def found(self):
        """Fail if the attempt found something else than what was restored before."""
        for line in self.attempt.lines("found"):
            found = {unit: state for unit, state in line["states"].items() if state and state != contents.EMPTY}
            different = {unit for unit in {*found, *self.before} if found.get(unit) != self.before.get(unit)}
            if different:
                pairs = {unit: (self.before.get(unit), found.get(unit)) for unit in sorted(different)}
                self.fail(f"same: it found other states than a restore gave (restored, found): {pairs}")

    def states(self, states):
        """Fail unless each unit came back as it must. Return {unit: state}."""
        states = self.known(states)
        for unit in sorted({*self.histories, *self.intended, *states, *self.before}):
            self._state(unit, states.get(unit))
        if self.pattern.promise == "fresh":
            self._newest(states)
        return states

    def _newest(self, states):
        """Fail if a step is missing altogether: checkpoints of several steps may each have been removed in time, but not all."""
        exact = self.code == 0 or self.code is not None and self.pattern.atomic
        found = [(0.0, state) for state in self.before.values()] + [line for lines in self.histories.values() for line in lines]
        wanted = max([contents.step_of(state) for when, state in found if exact or when <= self.died - self.bound], default=0)
        newest = max(map(contents.step_of, states.values()), default=0)
        if newest < wanted:
            self.fail(f"fresh: step {newest} is the newest that came back; wanted: {wanted} or newer (bound {self.bound:.1f} s)")

    def _state(self, unit, got):
        """Fail unless a unit came back as it must."""
        history = [(0.0, self.before.get(unit)), *self.histories[unit]]
        # That something was removed may arrive later than the rest, unless all ended well.
        alive = self.code is not None and self.pattern.atomic and history[-1][1] is not None
        exact = self.code == 0 or alive
        floor = max(number for number, (when, _) in enumerate(history) if exact or when <= self.died - self.bound)
        if self.pattern.promise == "whole" and (self.code != 0 or self.pattern.temporaries):
            floor = 0
        floor = max(floor, self._safe(unit, history))
        allowed = [state for _, state in history[floor:]] + [None] * self.pattern.temporaries
        if unit in self.intended:
            allowed.append(self.intended[unit])
        if got not in allowed:
            self.fail(f"{unit}: {self._why(got, history, allowed[0], exact)}")
        newer = self._newer(got, history)
        if newer and self.pattern.promise == "fresh":
            self.age = max(self.age, self.died - newer)

    def _safe(self, unit, history):
        """Return the number of the last state of which the mechanism confirmed that it is saved."""
        safe = [line["id"] for line in self.attempt.lines("safe") if line["unit"] == unit]
        return max([number for number, (_, state) in enumerate(history) if state in safe], default=0)

    @staticmethod
    def _newer(got, history):
        """Return when the first state after this one was complete, None if there is no later one."""
        known = [state for _, state in history]
        if got not in known:
            return None
        last = len(known) - 1 - known[::-1].index(got)
        return history[last + 1][0] if last + 1 < len(history) else None

    def _why(self, got, history, wanted, exact):
        """Return why a unit did not come back as it must."""
        wanted = f"{wanted}" if exact else f"{wanted} or newer (bound {self.bound:.1f} s)"
        if contents.is_broken(got) or got == contents.EMPTY:
            return f"whole: {got}"
        newer = self._newer(got, history)
        if got is None:
            return f"lost: it did not come back; wanted: {wanted}"
        if newer is None:
            return f"whole: {got} was never complete, or is of an attempt that was replaced; wanted: {wanted}"
        return f"fresh: {got} came back, not {wanted}; {self.died - newer:.1f} s before the end there was a newer one"

    def names(self, restored):
        """Fail if something came back under a temporary name."""
        for _, folders, files in os.walk(restored) if not self.pattern.temporaries else ():
            for name in filter(contents.TEMPORARY.search, folders + files):
                self.fail(f"whole: the temporary {name!r} came back")

    def told(self, states, time_enough):
        """Fail if what was never saved, although there was time, or can't be, was not named on standard error."""
        told = self.attempt.errors.read_bytes()
        missing = {line["unit"]: line["t"] for line in self.attempt.lines("unsaved")}
        for unit, history in self.histories.items() if self.pattern.promise == "whole" else ():
            if unit not in states and history:
                missing[unit] = history[0][0]
        for unit, since in missing.items():
            if self.died - since > time_enough and unit.encode() not in told:
                self.fail(f"told: {unit} was not saved in {self.died - since:.0f} s, and standard error doesn't name it")

    def kept(self, restored, said):
        """Fail if a file that an attempt left, and that a restore doesn't bring, is not named as incomplete or on standard error."""
        named = said + self.attempt.errors.read_text(errors="replace")
        for at, _, files in os.walk(self.attempt.out):
            for name in files:
                path = os.path.join(at, name)
                relative = os.path.relpath(path, self.attempt.out)
                if not re.fullmatch(r"[\w./ =-]+", relative, re.ASCII) or self._is_same(path, os.path.join(restored, relative), relative):
                    continue
                if relative not in named:
                    self.fail(f"kept: {relative} was left, and a restore neither brings it nor names it as incomplete")

    def _is_same(self, path, other, relative):
        """Return whether a file came back, as far as its bytes can be compared."""
        if os.path.islink(path) or not os.path.isfile(path):
            return True
        if any(relative.startswith(name) for name in self.pattern.readers):
            return True
        return os.path.isfile(other) and filecmp.cmp(path, other, shallow=False)
