# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Publish what an attempt leaves: log, result, end and termination message, in this order.

The log goes first, before a possibly large value: when time is short, it shows
how far the call got. Once there is an end, log and result are complete.
"""

import binascii
import os
import time

from .contract import OBJECTS
from .documents import VERSION, parse_document
from .ending import try_to
from .errors import AlreadyExists, NotFound, Unreachable
from .options import TERMINATION_LOG
from .outcome import CRASHES, ERRORS, EXIT_TERMINATED, MESSAGE_LIMIT, RETRYABLE, TERMINATED, UNSAVED_LIMIT, Outcome
from .records import create_or_read, read_document
from .store.names import job_name, record_name, tail
from .text import encode_json, encode_text, file_blocks, shorten, timestamp

TERMINATION_LIMIT, TERMINATION_VALUE_LIMIT = 4096, 3 << 10  # bytes that Kubernetes keeps of a termination message, and of the value in it
END_LIMIT = 7 << 10  # bytes of the end in the metadata of a result, of which Cloud Storage takes 8 KiB
SLOW_SECONDS = 1.0  # from result to end; if it takes longer, another attempt may have written in between
DRAIN_SECONDS = 5.0  # for a reader of stdout that has stopped reading


def publish(attempt, outcome, may_end=True):
    """Publish how an attempt ended. Return the end of the job, or None if there is none or it cannot be published.

    If the result cannot be stored, the outcome becomes a failure of the runner.
    """
    finished, end = timestamp(), None
    try:
        if attempt.store is not None:
            if attempt.options.given:
                attempt.store.complete()
            end = publish_to_store(attempt, outcome, finished, may_end)
    except Exception as exc:
        attempt.publishing_failed(exc)
        text = f"cannot store the result: {attempt.explain(exc)}"
        outcome.become(attempt.failure(text, f"{outcome.message}; {text}" if outcome.message else text))
        if attempt.store is not None and not isinstance(exc, Unreachable):  # the record is small: there may be room for it
            end = try_to(attempt, outcome, "record how the job ended", lambda: publish_to_store(attempt, outcome, finished, may_end, False))
    write_termination_message(attempt, outcome, finished)
    return end


def publish_to_store(attempt, outcome, finished, may_end, whole=True):
    """Publish log, result and end, or the end alone. Return the end of the job, or None if it has not ended."""
    if whole:
        try_to(attempt, outcome, "store the end of the log", lambda: publish_log(attempt))
    elif may_end and (stored := end_of_result(attempt.store, attempt.options.job)):
        attempt.recorded = True
        return stored  # by us, although the store reported an error, or by another attempt
    begin = time.monotonic()
    end = end_document(attempt, outcome, finished) if may_end and ends_job(attempt, outcome) else None
    if try_to(attempt, outcome, "look for a later attempt", lambda: is_replaced(attempt)):
        kept = f"attempt {attempt.number + 1} has started in the meantime, so this one ends without a result"
        # The exit code of a call that succeeded would end the job.
        outcome.become(Outcome(TERMINATED, EXIT_TERMINATED, kept))
    else:
        kept = publish_result(attempt, outcome, finished, end) if whole else None
    if kept:
        attempt.recorded = True  # or will be, by the other attempt
        attempt.say(kept)
    elif end:
        found = try_to(attempt, outcome, "record how the job ended", lambda: publish_end(attempt, end)) or (end if whole else None)
        if whole and found is end and time.monotonic() - begin > SLOW_SECONDS:
            try_to(attempt, outcome, "check that the result is the one of this attempt", lambda: restore_result(attempt, outcome, finished))
        return found
    try_to(attempt, outcome, "record how the attempt ended", lambda: record_end(attempt, outcome, finished))
    return None


def is_replaced(attempt):
    """Return whether the next attempt has begun, because this one was taken for lost."""
    return attempt.number > 0 and attempt.store.exists(attempt.records.name(attempt.number + 1))


def ends_job(attempt, outcome):
    """Return whether no other attempt follows this one."""
    if attempt.final:
        return True
    if retried(attempt, outcome):
        return attempt.crashes >= attempt.options.retries
    return outcome.exit_code not in RETRYABLE


def retried(attempt, outcome):
    """Return whether --retries covers this outcome."""
    return outcome.exit_code in CRASHES or attempt.options.retry_on == "error" and outcome.reason in ERRORS


def record_end(attempt, outcome, finished):
    """Add the outcome to the attempt's record."""
    if attempt.number:
        outcome = attempt.why_it_ended(outcome)
        reason = None if outcome.exit_code == EXIT_TERMINATED else outcome.reason
        attempt.records.end(attempt.number, outcome.message, finished, reason)


def publish_end(attempt, end):
    """Write end.json and return its content: a cancel, or a client that saw the workload go, may have been first."""
    attempt.tried_end = end
    found = create_or_read(attempt.store, record_name(attempt.options.job, "end"), end, end_metadata(end))
    attempt.recorded = True
    return found


def end_metadata(end):
    """Return the object metadata for end.json."""
    return {key: end[key] for key in ("state", "reason", "started", "finished")}


def publish_log(attempt):
    """Publish the rest of the log."""
    if attempt.log is not None and attempt.parts is not None:
        attempt.parts.publish_all(attempt.log.spool)


def publish_result(attempt, outcome, finished, end):
    """Write result.json, and with it the end of the job, if that follows.

    If another attempt's result takes precedence, return a sentence that says so.
    An attempt that was thought to be lost may get here late. Then there is a result
    of another attempt, which is replaced only if that attempt was earlier and did
    not end the job.
    """
    store, job, number = attempt.store, attempt.options.job, attempt.number
    pickled = None
    if outcome.has_pickle:
        pickled = pickle_name(attempt)
        store.write(job_name(job, pickled), lambda: pickle_blocks(outcome))
        if outcome.pickle_path:
            remove(outcome.pickle_path)  # a local job keeps its scratch directory
    name, generation = record_name(job, "result"), 0
    metadata = result_metadata(attempt, outcome, end)
    while True:
        try:
            return store.write(name, lambda: result_blocks(attempt, outcome, finished, pickled), generation, metadata)
        except AlreadyExists:
            generation, theirs = store.generation(name)
        if int(theirs.get("attempt", 0)) > number:
            return f"attempt {theirs['attempt']} has started in the meantime, and its result is kept"
        if read_end(store, job):
            return f"job {job} has ended in the meantime, and its result is kept"


def remove(path):
    """Remove a file that is no longer needed, if possible."""
    try:
        os.unlink(path)
    except OSError:
        pass


def read_end(store, job):
    """Return end.json, None if there is none."""
    try:
        return read_document(store, record_name(job, "end"))
    except NotFound:
        return None


def restore_result(attempt, outcome, finished):
    """Write result.json again if another attempt replaced it before this one ended the job."""
    name = record_name(attempt.options.job, "result")
    generation, theirs = attempt.store.generation(name)
    if theirs.get("attempt", str(attempt.number)) != str(attempt.number):
        pickled = pickle_name(attempt) if outcome.has_pickle else None
        attempt.store.write(name, lambda: result_blocks(attempt, outcome, finished, pickled), generation, result_metadata(attempt, outcome, None))


def pickle_name(attempt):
    return OBJECTS["pickle"] % tail(attempt.number)


def pickle_blocks(outcome):
    """Return the bytes of a pickle, which is in a file, or in the report of another host."""
    return file_blocks(outcome.pickle_path) if outcome.pickle_path else (binascii.a2b_base64(outcome.pickled),)


def result_metadata(attempt, outcome, end):
    """Return the object metadata for result.json: with the end of the job, which is also in end.json if that could be written."""
    metadata = {"attempt": str(attempt.number), "ok": "true" if outcome.ok else "false"}
    if end is None:
        return metadata
    data = encode_json(end)
    if len(data) > END_LIMIT:
        data = encode_json(dict(end, message=shorten(end["message"], MESSAGE_LIMIT // 6), unsaved=[]))
    return dict(metadata, end=data.decode())


def end_of_result(store, job):
    """Return the end of a job whose result is stored, None if another attempt is to follow. Publish it, in the place of the runner that could not."""
    _, metadata = store.generation(record_name(job, "result"))
    if "end" not in metadata:
        return None
    name = record_name(job, "end")
    end = parse_document(metadata["end"].encode(), f"the end in the metadata of {store.url(record_name(job, 'result'))}", VERSION)
    return create_or_read(store, name, end, end_metadata(end))


def result_blocks(attempt, outcome, finished, pickled):
    """Yield result.json; a large value is not read into memory."""
    fields = {
        "version": VERSION,
        "ok": outcome.ok,
        "pickle": pickled,
        **hash_fields(outcome),
        "error": outcome.error,
        "warnings": outcome.warnings,
        "differs": outcome.differs,
        "host": outcome.host,
        "attempt": attempt.number,
        "started": attempt.started,
        "finished": finished,
    }
    yield from with_value(fields, outcome)


def with_value(fields, outcome):
    """Yield a document with the value as its last member."""
    yield encode_json(fields)[:-1] + b',"value":'
    yield from file_blocks(outcome.value_path) if outcome.value_path else (encode_text(outcome.value or "null"),)
    yield b"}\n"


def hash_fields(outcome):
    """Return the members that only a pickled call has: those with which a reader verifies its pickle, and what is only about the JSON."""
    if outcome.pickle_sha256 is None:
        return {}
    return {"pickle_sha256": outcome.pickle_sha256, "pickle_size": outcome.pickle_size, "json_warnings": outcome.json_warnings}


def pickle_fields(attempt, outcome):
    """Return the member that vouches for the pickle of a pickled call, or for those of a chunk, wherever the end is told."""
    if outcome.hashes is not None:
        return {"hashes": outcome.hashes}
    if outcome.pickle_sha256 is None or attempt.host:  # only host 0 stores one
        return {}
    return {"pickle": {"name": pickle_name(attempt), "sha256": outcome.pickle_sha256, "size": outcome.pickle_size}}


def end_document(attempt, outcome, finished):
    """Return end.json of a job that ended with this outcome."""
    return {
        "version": VERSION,
        "state": "SUCCEEDED" if outcome.ok else "FAILED",
        "reason": outcome.reason,
        "message": outcome.message,
        "exit_code": outcome.exit_code,
        "host": outcome.host,
        "attempt": attempt.number,
        "started": attempt.job_started,
        **({"called": attempt.called} if attempt.called else {}),
        "finished": finished,
        "by": "runner",
        **pickle_fields(attempt, outcome),
        **unsaved_fields(outcome.unsaved),
    }


def unsaved_fields(unsaved):
    """Return the members that name outputs which could not be saved: the first ones, and how many there are."""
    if not unsaved:
        return {}
    return {"unsaved": [item._asdict() for item in unsaved[:UNSAVED_LIMIT]], "unsaved_total": len(unsaved)}


def write_termination_message(attempt, outcome, finished):
    """Write the termination message, if this is a container."""
    path = attempt.options.termination_log
    if not path or path == TERMINATION_LOG and not os.path.exists(path):
        return
    try:
        fields = end_document(attempt, outcome, finished)
        for name in ("host", "by", "unsaved"):
            fields.pop(name, None)
        if attempt.options.warm:
            fields.update(recorded=attempt.recorded, bundle=attempt.options.bundle)
        with open(path, "wb") as file:
            file.write(termination_message(fields, outcome))
    except Exception as exc:
        attempt.say(f"warning: cannot write the termination message: {exc}")


def tell_host_of_end(attempt):
    """Tell a warm host that the job had ended before this attempt. The exit code alone doesn't show it."""
    if attempt.options.warm:
        with open(attempt.options.termination_log, "wb") as file:
            file.write(encode_json({"had_ended": True, "recorded": True}))


def termination_message(fields, outcome):
    """Return JSON of less than 4096 bytes, with the value or the error as far as there is room."""
    data, error, limit = encode_json(fields), outcome.error, MESSAGE_LIMIT
    if error is None and outcome.value is not None and len(value := encode_text(outcome.value)) < TERMINATION_VALUE_LIMIT:
        data = data[:-1] + b',"value":' + value + b"}"
    while error is not None and limit:
        fields["message"] = shorten(fields["message"], limit)
        fields["error"] = {"type": shorten(error["type"], 200), "message": shorten(error["message"], limit)}
        data = encode_json(fields)
        if len(data) < TERMINATION_LIMIT:
            break
        limit //= 2
    return data


def say_end(attempt, end):
    """Print the last lines, after which readers of the log leave."""
    if attempt.log is not None:
        ours = end is attempt.tried_end  # another end was read from the store, which nobody vouches for
        attempt.log.say_end(attempt.options.job, end.get("pickle") if ours else None)


def flush_log(attempt):
    """Wait briefly for a slow reader of stdout."""
    if attempt.log is not None:
        attempt.log.drain(min(time.monotonic() + DRAIN_SECONDS, attempt.leave_by))
