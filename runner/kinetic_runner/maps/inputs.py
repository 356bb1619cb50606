# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The inputs of a pod, and their state in the store."""

import os
import re
from itertools import chain, islice

from ..call import CALL_LIMIT
from ..contract import OBJECTS
from ..errors import NotFound, RunnerError
from ..records import read_document
from ..store import copy_verified, in_parallel
from ..store.gcs import LIST_PAGE
from ..store.names import blob_name


def result_name(job, number):
    """Return the name of the result of an input."""
    return OBJECTS["input_result"] % (job, number)


def tries_name(job, number):
    """Return the name of the list of the attempts that have started an input."""
    return OBJECTS["input_tries"] % (job, number)


def ranges(text):
    """Return ranges of the numbers in text such as 0-0,5-9; [] if it is empty."""
    if text and not re.fullmatch("[0-9]{1,9}-[0-9]{1,9}(,[0-9]{1,9}-[0-9]{1,9})*", text):
        raise RunnerError(f"--only: {text!r:.80} is not a list of ranges such as 0-0,5-9")
    pairs = (part.split("-") for part in text.split(",") if part)
    return [range(int(first), int(last) + 1) for first, last in pairs]


def chunk_of(options, chunk):
    """Return the numbers of the inputs in a chunk, in order."""
    everything = chain.from_iterable(ranges(options.only) or [range(options.inputs)])
    numbers = list(islice(everything, chunk * options.chunk, (chunk + 1) * options.chunk))
    if not numbers:
        raise RunnerError(f"chunk {chunk} has no inputs")
    return numbers


def fetch_inputs(store, options, numbers, scratch):
    """Write the lines of a chunk's inputs to a file; return its path."""
    everything, path = os.path.join(scratch, "inputs.jsonl"), os.path.join(scratch, "chunk.jsonl")
    with open(everything, "wb") as file:
        copy_verified(store, blob_name(options.map), options.map, CALL_LIMIT, file.write)
    wanted, count = set(numbers), 0
    with open(everything, "rb") as source, open(path, "wb") as target:
        for count, line in enumerate(source, 1):
            if count - 1 in wanted:
                target.write(line.rstrip(b"\n") + b"\n")
    if count != options.inputs:
        raise RunnerError(f"the map has {count} inputs, expected {options.inputs}")
    os.unlink(everything)
    return path


def find_done(store, options, numbers):
    """Return the inputs that have a result.

    All pods together make at most as many requests as there are inputs, however small the chunks.
    """
    pages = -(-options.inputs // LIST_PAGE)
    if len(numbers) > pages:
        return {number for number, kind in listed(store, options.job) if kind == "json"} & set(numbers)
    done = set()

    def ask(number):
        if store.exists(result_name(options.job, number)):
            done.add(number)

    in_parallel(ask, numbers, store.parallel)
    return done


def find_unpickled(store, options, numbers):
    """Return the inputs that have failed without a pickle: for such a result no pod needs to vouch."""
    failed = set()

    def read(number):
        try:
            result = read_document(store, result_name(options.job, number))
        except NotFound:
            return
        if not result.get("ok") and "pickle_sha256" not in result:
            failed.add(number)

    in_parallel(read, list(numbers), store.parallel)
    return failed


def listed(store, job):
    """Yield number and kind of each object in the results."""
    for name in store.list(OBJECTS["results"] % job):
        number, _, kind = name.partition(".")
        if number.isdecimal():
            yield int(number), kind


def find_tries(store, options, numbers):
    """Return, by input, the attempts known to have started it."""
    tries = {}

    def read(number):
        try:
            tries[number] = read_document(store, tries_name(options.job, number)).get("attempts", [])
        except NotFound:
            pass

    in_parallel(read, numbers, store.parallel)
    return tries
