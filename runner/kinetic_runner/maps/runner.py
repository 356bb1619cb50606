# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The runner of a pod of a map.

One child computes the inputs of the chunk one after another and imports the
function once. An exception is a result, too. If a child dies, another one computes
the rest. If a pod dies, the next pod does, and skips inputs that have killed too many pods.

A pod of a map of a pickled function vouches for the hashes of its results, and no pod
can do so for those that it finds in the store. So the next pod computes them again.
"""

import hashlib
import os
import re

from .. import publish
from ..attempt import Attempt, JobEnded
from ..bundle.unpack import empty_directory
from ..contract import OBJECTS
from ..documents import VERSION
from ..ending import after_call, try_to
from ..errors import AlreadyExists, RunnerError
from ..judge import Told, judge, outcome_of_status
from ..options import whole_number
from ..outputs.inputs import InputOutputs
from ..outcome import COMPLETED, EXIT_KILLED, KILLED, Outcome
from ..place import start_function
from ..process import EXIT_CLOSED
from ..records import Records
from ..store.names import tail
from ..supervisor import Supervisor
from ..text import encode_json, file_blocks, timestamp
from .inputs import chunk_of, fetch_inputs, find_done, find_tries, find_unpickled, result_name, tries_name
from .results import Results

MAX_UNKNOWN = 3  # pods, in addition to --retries, that die before they have noted an input
MAX_TRIES = 2  # of an input that kills its pod, unless --retries allows more


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
        self.numbers = []  # of the inputs in the chunk, in order
        self.found = set()  # inputs for which there was a result when this attempt began
        self.done = set()  # inputs that need no computing
        self.silent = ()
        self.tries = {}  # by input: the attempts that started it
        self.hashes = {}  # by input: of its pickle
        self.vouches = bool(options.payload)  # whether results are pickles, which need a hash

    def open_store(self):
        super().open_store()
        self.records = Records(self.store, self.options.job, f"{self.host}-")

    def spent(self, count):
        """Return the outcome of a chunk that needs no process: each input has a result, or its pods have crashed too often."""
        self.silent = count.silent
        self.numbers = chunk_of(self.options, self.host)
        self.found = self.done = find_done(self.store, self.options, self.numbers)
        if self.vouches:
            self.done = find_unpickled(self.store, self.options, self.found) if self.number > 1 else set()
        if self.done.issuperset(self.numbers):  # however often its pods have crashed
            return Outcome(COMPLETED, 0)
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
        path = fetch_inputs(self.store, self.options, self.numbers, self.scratch)
        if self.silent:
            self.tries = find_tries(self.store, self.options, self.numbers)
            noted = {attempt for attempts in self.tries.values() for attempt in attempts}
            unknown = len(set(self.silent) - noted)
            if unknown > self.options.retries + MAX_UNKNOWN:
                message = f"{unknown} pods of this chunk were killed before starting an input: probably out of memory, or their nodes were lost"
                self.say(message)
                return Outcome(KILLED, 1, message)
        place = self.place(call)
        self.skip_killers(call)
        return self.compute(call, place, path)

    def skip_killers(self, call):
        """Give up the inputs without a result that were in progress whenever a pod was killed.

        A pod that is killed with its node is as silent as one that is out of memory, so --retries raises the limit.
        """
        limit = max(MAX_TRIES, self.options.retries + 1)
        for number, attempts in self.tries.items():
            killed = len(set(attempts) & set(self.silent))
            if number not in self.found and killed >= limit:
                message = f"{call.title} was killed with its pod {killed} times on this input: probably out of memory, or its nodes were lost"
                self.give_up(number, Outcome(KILLED, EXIT_KILLED, message))

    def make_outputs(self):
        """Return what saves the outputs of each input."""
        return InputOutputs(self)

    @property
    def left(self):
        """The inputs that have no result yet, in order."""
        return [number for number in self.numbers if number not in self.done]

    def compute(self, call, place, path):
        """Compute the inputs that have no result yet; return the outcome of the chunk."""
        errands = self.errands()
        place.environ["KINETIC_HOST"] = "0"  # pods of a map are independent
        killed_before, told_closed, outcome = None, False, Outcome(COMPLETED, 0)
        supervisor = None
        while self.left:
            supervisor, told, results = self.run_process(call, place, errands, path)
            if not self.left:
                break
            stopped = supervisor.terminated or supervisor.timed_out or results.closed
            if not stopped and results.current is not None:
                killer, cause = results.current, outcome_of_status(call.title, call.kind, supervisor.status, told)
                self.say(f"input {killer}: {cause.message}")
                if killed_before == killer:
                    self.give_up(killer, cause)
                else:
                    self.outputs.go_back(killer)
                killed_before = killer
            elif not stopped and results.reported and os.waitstatus_to_exitcode(supervisor.status) == EXIT_CLOSED:
                if not told_closed:
                    self.say(f"{call.title} has closed descriptors of the runner: another process computes the inputs that are left")
                told_closed = True
            else:
                outcome = judge(call.title, call.kind, supervisor, told, self.limit)
                break
        after_call(self, outcome, supervisor, place, errands)
        if not outcome.ok:
            self.announce(outcome)
        return outcome

    def run_process(self, call, place, errands, path):
        """Let a process compute what is left. Return its supervisor, what it told, and its results, all of which are stored."""
        empty_directory(os.path.join(self.scratch, "inputs"))
        left, told = self.left, Told(self.scratch, self.in_pod)
        retries = self.options.retries if self.options.retry_on == "error" else 0
        results = Results(left, lambda number, outcome: self.end_input(number, Outcome.from_json(outcome)), self.mark, self.store.parallel, bool(self.silent))

        def note(report):
            # An input that was interrupted has no result, unless its function returned.
            if "ended" in report and supervisor.stopped_at < report["outcome"]["at"] and not report["outcome"]["returned"]:
                results.closed, self.outputs.in_order = True, not report["outcome"]["exit_code"]
            results.note(report)
            if "begins" in report:
                self.input_begun(report["begins"])
            if "ended" not in report:
                told.note(report)

        more = dict(inputs=path, numbers=self.numbers, left=left, retries=retries, mounted=bool(self.options.output_mount))
        supervisor = Supervisor(self.log, errands, self.signals, self.options.grace, lambda: self.deadline, results, note, place.note_stop)
        try:
            try:
                supervisor.run(lambda: self.outputs.follow(start_function(call, place, "inputs", results.credit, **more)))
            except Exception as exc:
                if supervisor.status is None:  # the process has not ended
                    raise
                self.say(f"warning: the runner failed after the call had ended: {self.explain(exc)}")
            told.read_spare(note)
        finally:
            results.finish()
        return supervisor, told, results

    def input_begun(self, number):
        """Called when the process has begun an input, again if another process tries it again."""
        self.outputs.begin(number)

    def input_ended(self, number, outcome):
        """Called when an input has ended for good. Its result is stored only after this returns. Several threads call this."""
        self.outputs.end(number, outcome)

    def end_input(self, number, outcome):
        """Store the result of an input that has ended."""
        self.input_ended(number, outcome)
        self.publish_input(number, outcome)
        self.done.add(number)

    def mark(self, number):
        """Note that this attempt starts an input, for the next pod if the input kills this one."""
        attempts = self.tries.get(number, []) + [self.number]
        data = encode_json({"version": VERSION, "attempts": attempts})
        self.store.write(tries_name(self.options.job, number), lambda: [data])

    def give_up(self, number, outcome):
        """Store the failure of an input that will not be tried again."""
        outcome.started = outcome.finished = timestamp()
        self.end_input(number, outcome)

    def publish_input(self, number, outcome):
        """Publish the result of an input. If there is one already, keep it, unless this attempt has to vouch for its own."""
        store, job = self.store, self.options.job
        name, pickled = result_name(job, number), None
        if outcome.pickle_path:
            pickled = OBJECTS["input_pickle"] % (number, tail(self.number))
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
        self.store.write(OBJECTS["hashes"] % (self.options.job, self.host, tail(self.number)), lambda: [data])
        return hashlib.sha256(data).hexdigest()

    def finish(self, outcome):
        """Publish the log and the attempt's record; return the exit code."""
        finished = timestamp()
        try:
            if self.store is not None:
                try_to(self, outcome, "store the end of the log", lambda: publish.publish_log(self))
                outcome.hashes = self.publish_hashes()
                try_to(self, outcome, "record how the attempt ended", lambda: publish.record_end(self, outcome, finished))
                if self.final:  # no other process knows how a local map ended
                    publish.publish_end(self, publish.end_document(self, outcome, finished))
        except (RunnerError, OSError) as exc:
            outcome = self.failure(f"cannot record how the chunk ended: {exc}")
        publish.write_termination_message(self, outcome, finished)
        publish.flush_log(self)
        self.close_cache()
        return outcome.exit_code


def attempt_of(metadata):
    """Return the attempt that wrote a result; 1 if its metadata does not say that."""
    text = metadata.get("attempt", "")
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else 1


def verdict(outcome, pickled):
    """Return the object metadata for the result of an input."""
    return {"ok": "true" if outcome.ok else "false", "pickled": "true" if pickled else "false"}
