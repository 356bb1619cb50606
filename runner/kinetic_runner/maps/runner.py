# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The runner of a pod of a map.

One child computes the inputs of the chunk one after another and imports the
function once. An exception is a result, too. If a child dies, another one computes
the rest. If a pod dies, the next pod does, and skips inputs that have killed two pods.

A pod of a map of a pickled function vouches for the hashes of its results, and no pod
can do so for those that it finds in the store. So the next pod computes them again.
"""

import hashlib
import os
import re

from .. import publish
from ..attempt import Attempt, JobEnded
from ..bundle.unpack import empty_directory
from ..documents import VERSION
from ..errors import AlreadyExists, RunnerError
from ..judge import Told, judge, outcome_of_status
from ..options import whole_number
from ..outcome import COMPLETED, EXIT_KILLED, KILLED, Outcome
from ..place import start_function
from ..records import Records
from ..supervisor import Supervisor
from ..text import encode_json, file_blocks, timestamp
from .inputs import fetch_inputs, find_done, find_tries, find_unpickled, result_name
from .results import Results

MAX_UNKNOWN = 3  # pods, in addition to --retries, that die before they have noted an input
MAX_TRIES = 2  # of an input that kills its child or its pod


def run(options, signals):
    """Run one attempt at a chunk; return the exit code."""
    index = os.environ.get("JOB_COMPLETION_INDEX", "")
    try:
        chunk = whole_number(index)
    except ValueError as exc:
        raise RunnerError(f"JOB_COMPLETION_INDEX={index!r:.80}, the number of this pod's chunk, {exc}") from None
    attempt = MapAttempt(options, signals, chunk)
    try:
        outcome = attempt.guarded(attempt.call)
    except JobEnded as ended:
        return ended.exit_code
    return attempt.finish(outcome)


class MapAttempt(Attempt):
    """One attempt at a chunk of a map. Only when all its pods have ended is the job's outcome known."""

    def __init__(self, options, signals, chunk):
        super().__init__(options, signals, host=chunk)
        self.silent = ()
        self.tries = {}  # by input: the attempts that started it
        self.hashes = {}  # by input: of its pickle
        self.vouches = False  # whether results are pickles, which need a hash

    def open_store(self):
        super().open_store()
        self.records = Records(self.store, self.options.job, f"{self.host}-")

    def spent(self, count):
        self.silent = count.silent
        outcome = super().spent(count)
        if outcome is not None:
            outcome.exit_code = 1  # final: a retry would find the same
        return outcome

    def call(self):
        """Return the outcome of the chunk once each input has a result."""
        self.open_store()
        self.refuse_if_ended()
        spent = self.begin()
        if spent is not None:
            return spent
        call = self.fetch()
        if not call.is_function:
            raise RunnerError(f"a map needs a function, but {call.title} is not one")
        path, numbers = fetch_inputs(self.store, self.options, self.host, self.scratch)
        self.vouches = call.kind == "pickle"
        found = done = find_done(self.store, self.options, numbers)
        if self.vouches:
            done = find_unpickled(self.store, self.options, found) if self.number > 1 else set()
        if self.silent:
            self.tries = find_tries(self.store, self.options, numbers)
            self.skip_killers(call, found, done)
            noted = {attempt for attempts in self.tries.values() for attempt in attempts}
            unknown = len(set(self.silent) - noted)
            if unknown > self.options.retries + MAX_UNKNOWN:
                message = f"{unknown} pods of this chunk were killed before starting an input: probably out of memory, or their nodes were lost"
                self.say(message)
                return Outcome(KILLED, 1, message)
        return self.compute(call, path, numbers, done)

    def skip_killers(self, call, found, done):
        """Give up the inputs that were in progress whenever a pod was killed: those without a result."""
        for number, attempts in self.tries.items():
            if number not in found and len(set(attempts) & set(self.silent)) >= MAX_TRIES:
                message = f"{call.title} was killed with its pod {MAX_TRIES} times on this input: probably out of memory, or its nodes were lost"
                self.give_up(number, Outcome(KILLED, EXIT_KILLED, message))
                done.add(number)

    def compute(self, call, path, numbers, done):
        """Compute the inputs that have no result yet."""
        place = self.place(call)
        errands = self.errands()
        place.environ["KINETIC_HOST"] = "0"  # pods of a map are independent
        killed_before = supervisor = None
        while left := [number for number in numbers if number not in done]:
            empty_directory(os.path.join(self.scratch, "inputs"))
            told = Told(self.scratch)

            def store_result(number, outcome):
                self.publish_input(number, Outcome.from_json(outcome))
                done.add(number)

            results = Results(left, store_result, self.mark, self.store.parallel, bool(self.silent))

            def note(report):
                # An input that was interrupted has no result, unless its function returned.
                if "ended" in report and supervisor.stopped_at < report["outcome"]["at"] and not report["outcome"]["returned"]:
                    results.closed = True
                results.note(report)
                if "ended" not in report:
                    told.note(report)

            supervisor = Supervisor(self.log, errands, self.signals, self.options.grace, self.deadline, results, note, place.note_stop)
            try:
                supervisor.run(lambda: start_function(call, place, "inputs", results.credit, inputs=path, numbers=numbers, left=left))
                told.read_spare(note)
            finally:
                results.finish()
            left = [number for number in left if number not in done]
            if not left:
                break
            if supervisor.terminated or supervisor.timed_out or results.current is None or results.closed:
                outcome = judge(call.title, call.kind, supervisor, told, self.options.max_runtime)
                self.save_outputs(outcome, supervisor)
                self.tell_losses(place, call, errands, outcome)
                self.announce(outcome)
                return outcome
            killer, outcome = left[0], outcome_of_status(call.title, call.kind, supervisor.status, told)
            self.say(f"input {killer}: {outcome.message}")
            if killed_before == killer:
                self.give_up(killer, outcome)
                done.add(killer)
            killed_before = killer
        outcome = Outcome(COMPLETED, 0)
        self.save_outputs(outcome, supervisor)
        self.tell_losses(place, call, errands, outcome)
        return outcome

    def mark(self, number):
        """Note that this attempt starts an input, for the next pod if the input kills this one."""
        attempts = self.tries.get(number, []) + [self.number]
        data = encode_json({"version": VERSION, "attempts": attempts})
        self.store.write(result_name(self.options.job, f"{number}.try"), lambda: [data])

    def give_up(self, number, outcome):
        """Publish the failure of an input that will not be tried again."""
        outcome.started = outcome.finished = timestamp()
        self.publish_input(number, outcome)

    def publish_input(self, number, outcome):
        """Publish the result of an input. If there is one already, keep it, unless this attempt has to vouch for its own."""
        store, job = self.store, self.options.job
        name, pickled = result_name(job, f"{number}.json"), None
        if outcome.pickle_path:
            pickled = f"results/{number}.pkl" if self.number <= 1 else f"results/{number}-{self.number}.pkl"
            store.write(f"{job}/{pickled}", lambda: file_blocks(outcome.pickle_path))
        if self.store_result(name, lambda: self.result_blocks(number, outcome, pickled), verdict(outcome, pickled)):
            if outcome.pickle_sha256 is not None:
                self.hashes[number] = outcome.pickle_sha256
        folder = os.path.join(self.scratch, "inputs", str(number))
        if os.path.isdir(folder):
            empty_directory(folder)
            os.rmdir(folder)

    def store_result(self, name, blocks, metadata):
        """Write the result of an input. Return whether it is now the one in the store."""
        if self.number > 1:
            metadata = dict(metadata, attempt=str(self.number))
        generation = 0
        while True:
            try:
                self.store.write(name, blocks, generation, metadata)
                return True
            except AlreadyExists:
                if not self.vouches:
                    return False  # from a pod that was thought to be lost
            generation, theirs = self.store.generation(name)
            if attempt_of(theirs) > self.number:
                return False  # this pod was thought to be lost

    def result_blocks(self, number, outcome, pickled):
        """Yield results/{index}.json: result.json with the number of the input."""
        fields = {
            "version": VERSION,
            "index": number,
            "ok": outcome.ok,
            "pickle": pickled,
            **publish.hash_fields(outcome),
            **({"pickled": outcome.pickled} if outcome.pickled else {}),
            "error": outcome.error,
            "warnings": outcome.warnings,
            "differs": outcome.differs,
            "host": self.host,
            "attempt": self.number,
            "started": outcome.started,
            "finished": outcome.finished,
        }
        yield from publish.with_value(fields, outcome)

    def publish_hashes(self):
        """Write the hashes of the pickles that this attempt has stored. Return the hash of that, None if there are none."""
        if not self.hashes:
            return None
        data = "".join(f"{number} {sha256}\n" for number, sha256 in sorted(self.hashes.items())).encode()
        name = f"{self.host}.hashes" if self.number <= 1 else f"{self.host}-{self.number}.hashes"
        self.store.write(result_name(self.options.job, name), lambda: [data])
        return hashlib.sha256(data).hexdigest()

    def finish(self, outcome):
        """Publish the log and the attempt's record; return the exit code."""
        finished = timestamp()
        try:
            if self.store is not None:
                publish.publish_log(self, outcome)
                outcome.hashes = self.publish_hashes()
                publish.record_end(self, outcome, finished)
                if self.final:  # no other process knows how a local map ended
                    publish.publish_end(self, publish.end_document(self, outcome, finished))
        except (RunnerError, OSError) as exc:
            outcome = self.failure(f"cannot record how the chunk ended: {exc}")
        publish.write_termination_message(self, outcome, finished)
        publish.flush_log(self)
        return outcome.exit_code


def attempt_of(metadata):
    """Return the attempt that wrote a result; 1 if its metadata does not say that."""
    text = metadata.get("attempt", "")
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else 1


def verdict(outcome, pickled):
    """Return the object metadata for the result of an input."""
    return {"ok": "true" if outcome.ok else "false", "pickled": "true" if pickled else "false"}
