# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The runner of a map, in which a function is called once with each of many inputs.

A pod takes a chunk of them, one after the other, in one child, which imports the
function once. Every result is brought to the store while the next input is worked
on; the next pod leaves out what it finds there. An exception is a result, too. A
child that dies is followed by another one for the rest.
"""

import json
import os
import re
from functools import partial
from itertools import chain, islice

from .remote_runner import (
    AlreadyExists, COMPLETED, CALL_LIMIT, EXIT_CODE, GCSStore, Outcome, Place, Request, Runner, RunnerError, Supervisor, VERSION,
    blob_name, copy_verified, empty_directory, encode_json, file_blocks, in_parallel, job_name, late_import,
    load_function, outcome_of, run_child, timestamp, value_of, whole_number, wind_up,
)

RECORD = 512  # bytes: a pipe of 64 KiB holds the numbers of 128 results, and the child waits before there are more
STOP = -1  # instead of a number
LIST_PAGE = 1000  # names


def results_name(job, name=""):
    """The result of an input, {index}.json or {index}.pkl; or the folder of them."""
    return job_name(job, f"results/{name}")


def ranges(text):
    """The numbers of 0-0,5-9; [] of no text."""
    if text and not re.fullmatch("[0-9]{1,9}-[0-9]{1,9}(,[0-9]{1,9}-[0-9]{1,9})*", text):
        raise RunnerError(f"--only: {text!r:.80} are no ranges of numbers")
    pairs = (part.split("-") for part in text.split(",") if part)
    return [range(int(first), int(last) + 1) for first, last in pairs]


class MapStore(GCSStore):
    """A store that can be asked what there is."""

    def exists(self, name):
        """Whether there is such an object."""
        return self._md5(name) is not None

    def list(self, folder):
        """Yields the names of the objects in a folder, without it."""
        prefix, doing, more = self._quote(self._prefix + folder, safe=""), f"list {self.url(folder)}", ""
        while more is not None:
            path = f"/storage/v1/b/{self._bucket}/o?prefix={prefix}&maxResults={LIST_PAGE}&fields=items(name),nextPageToken"
            status, _, data = self.ask(doing, Request("GET", f"{path}&pageToken={self._quote(more, safe='')}"))
            page = self._expect(status, data, doing, "list")
            yield from (os.path.basename(item["name"]) for item in page.get("items", ()))
            more = page.get("nextPageToken")


def listed_results(store, job):
    """The numbers of all inputs that have a result."""
    found = set()
    for name in store.list(results_name(job)):
        number, _, kind = name.partition(".")
        if kind == "json" and number.isdecimal():
            found.add(int(number))
    return found


def known_results(store, job, numbers):
    """The same of these inputs, each asked for."""
    found = set()

    def ask(number):
        if store.exists(results_name(job, f"{number}.json")):
            found.add(number)

    in_parallel(ask, list(numbers), store.parallel)
    return found


def chunk_of(options, chunk):
    """The numbers of the inputs in a chunk."""
    numbers = chain.from_iterable(ranges(options.only) or [range(options.inputs)])
    return set(islice(numbers, chunk * options.chunk, (chunk + 1) * options.chunk))


def read_inputs(store, options, chunk, scratch):
    """The inputs of a chunk, as lines by number."""
    path = os.path.join(scratch, "inputs.jsonl")
    with open(path, "wb") as file:
        copy_verified(store, blob_name(options.map), options.map, CALL_LIMIT, file.write)
    mine, count = chunk_of(options, chunk), 0
    lines = {}
    with open(path, "rb") as file:
        for count, line in enumerate(file, 1):
            if count - 1 in mine:
                lines[count - 1] = line
    if count != options.inputs or not lines:
        raise RunnerError(f"the map has {count} inputs, want {options.inputs} with some in chunk {chunk} of {options.chunk} each")
    os.unlink(path)
    return lines


def arguments(line, kwargs):
    """What the function is called with: the input, and the arguments that all have."""
    value = json.loads(line)
    if isinstance(value, dict):
        return (), dict(kwargs, **value)
    return value if isinstance(value, list) else (value,), kwargs


def input_place(place, number):
    """The place in which an input's outcome is left."""
    return Place(place.workspace, os.path.join(place.scratch, "inputs", str(number)), {})


def run_inputs(inputs, results, call, place):
    """The child: calls the function with each input, and tells of each outcome that it has left."""
    loaded = []
    loading = outcome_of(lambda: loaded.append(load_function(call, place)[0]), call, place)
    if loading.ok and not loaded:
        loading = Outcome(EXIT_CODE, 1, f"{call.title} is not there, for its module has ended with sys.exit(0)")
    shared = json.dumps(call.kwargs)  # each call gets values of its own
    for number, line in inputs.items():
        here = input_place(place, number)
        os.makedirs(here.scratch)
        started = timestamp()
        outcome = loading
        if loaded:
            outcome = outcome_of(lambda: value_of(loaded[0], *arguments(line, json.loads(shared))), call, here)
        outcome.started, outcome.finished = started, timestamp()
        outcome.save(here.scratch)
        results.add(number)
    wind_up()
    return 0


class Results:
    """What a child has computed on its way to the store.

    For the supervisor it is the link that says when the child need not go on:
    when a result cannot be stored.
    """

    def __init__(self, publish, parallel):
        self._publish, self._parallel = publish, parallel
        self._read, self._write = os.pipe()
        self._alarm, self._alarm_write = os.pipe()
        self._threads = []
        self.failure = None

    @property
    def ending(self):
        """A result could not be stored."""
        return self.failure is not None

    def add(self, number):
        """In the child: the outcome of this input is there. Waits while too many are."""
        os.write(self._write, b"%*d" % (RECORD, number))

    def sources(self):
        """What becomes readable when there is something to attend to: the first result, and one that could not be stored."""
        if self.ending:
            return []
        return [self._alarm if self._threads else self._read]

    def descriptors(self):
        """What the child must not keep open."""
        return self._read, self._alarm, self._alarm_write

    def attend(self):
        """Starts to bring results to the store. The supervisor calls it when the child exists: no thread may exist before."""
        if not self._threads:
            thread = late_import("threading").Thread
            self._threads = [thread(target=self._work, daemon=True) for _ in range(self._parallel)]
            for thread in self._threads:
                thread.start()

    def finish(self):
        """Waits until all that the child has left is in the store."""
        self.attend()
        for _ in self._threads:
            self.add(STOP)
        for thread in self._threads:
            thread.join()
        for fd in (self._read, self._write, self._alarm, self._alarm_write):
            os.close(fd)
        if self.failure:
            raise self.failure

    def _work(self):
        while (number := int(os.read(self._read, RECORD))) != STOP:
            try:
                if not self.failure:
                    self._publish(number)
            except Exception as exc:
                self.failure = exc
                os.write(self._alarm_write, b"\0")


class MapRunner(Runner):
    """One attempt at a chunk of a map."""

    def __init__(self, options, environ):
        super().__init__(options)
        index = environ.get("JOB_COMPLETION_INDEX", "")
        try:
            self._host = self._chunk = whole_number(index)
        except ValueError as exc:
            raise RunnerError(f"JOB_COMPLETION_INDEX={index!r:.80}, by which a pod knows its chunk of a map, {exc}") from None
        self._done = set()

    def _open_store(self):
        return MapStore(self._options.store)

    def _record_name(self, number):
        return job_name(self._options.job, f"attempts/{self._chunk}-{number}.json")

    def _variables(self):
        return dict(super()._variables(), KINETIC_HOST="0")  # pods of a map do not know each other

    def _run_call(self, call, place, errands, deadline):
        if call.kind != "function":
            raise RunnerError(f"a map needs a function, and {call.title} is not one")
        inputs = read_inputs(self._store, self._options, self._chunk, self._scratch)
        self._done = self._find_done(inputs)
        died = None
        while inputs := {number: line for number, line in inputs.items() if number not in self._done}:
            empty_directory(os.path.join(place.scratch, "inputs"))
            results = Results(self._publish_input, self._store.parallel)
            supervisor = Supervisor(self._log, errands, self._options.grace, deadline, results)
            try:
                status = supervisor.run(lambda: run_child(call, place, partial(run_inputs, inputs, results), self._store), self._hurry)
            finally:
                results.finish()
            left = [number for number in inputs if number not in self._done]
            if not left:
                break
            here = input_place(place, left[0])
            if supervisor.terminated or supervisor.timed_out or not os.path.isdir(here.scratch):
                return self._judge(call, status, supervisor)
            outcome = self._judge_status(call, status)
            self._say(f"input {left[0]}: {outcome.message}")
            if died == left[0]:
                outcome.started = outcome.finished = timestamp()
                outcome.save(here.scratch)
                self._publish_input(left[0])
            died = left[0]
        return Outcome(COMPLETED, 0)

    def _find_done(self, numbers):
        """Of all pods together these are no more requests than there are inputs, however small the chunks."""
        pages = -(-self._options.inputs // LIST_PAGE)
        if len(numbers) <= pages:
            return known_results(self._store, self._options.job, numbers)
        return listed_results(self._store, self._options.job)

    def _publish_input(self, number):
        store, folder = self._store, os.path.join(self._scratch, "inputs", str(number))
        outcome = Outcome.load(folder)
        name = results_name(self._options.job, str(number))
        try:
            if outcome.pickled:
                store.write(name + ".pkl", lambda: file_blocks(os.path.join(folder, "result.pkl")))
            verdict = {"ok": json.dumps(outcome.ok), "pickled": json.dumps(outcome.pickled)}
            store.create(name + ".json", lambda: self._input_result(number, outcome, folder), verdict)
        except AlreadyExists:
            pass  # of a pod that was taken for lost
        self._done.add(number)
        empty_directory(folder)
        os.rmdir(folder)

    def _input_result(self, number, outcome, folder):
        """Yields results/{index}.json: result.json, and of which input it is."""
        fields = {
            "version": VERSION,
            "index": number,
            "ok": outcome.ok,
            "pickle": f"results/{number}.pkl" if outcome.pickled else None,
            "error": outcome.error,
            "warnings": outcome.warnings,
            "host": self._host,
            "attempt": self._attempt,
            "started": outcome.started,
            "finished": outcome.finished,
        }
        yield encode_json(fields)[:-1] + b',"value":'
        path = os.path.join(folder, "value.json")
        yield from file_blocks(path) if outcome.ok and os.path.exists(path) else (b"null",)
        yield b"}\n"

    def _publish_to_store(self, outcome, finished):
        """Publishes the log. How the job has ended is known when all its pods have."""
        self._store.insist()
        self._publish_rest_of_log(outcome)
        self._record_end(outcome, finished)
        return None
