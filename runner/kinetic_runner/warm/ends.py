# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Calls whose runners recorded no end: they were killed, the store was away for too long, or their pod was lost."""

import hmac
import json
import signal
import threading
import time

from ..contract import OBJECTS
from ..documents import VERSION
from ..errors import NotFound, RunnerError, Unreachable, explain
from ..options import parse_options
from ..outcome import DISRUPTED, EXIT_KILLED, EXIT_RUNNER, EXIT_TERMINATED, KILLED, RUNNER_FAILURE, TERMINATED, signal_name
from ..publish import end_metadata, end_of_result
from ..records import create_or_read, whole
from ..store import open_store
from ..store.given import GivenStore
from ..store.names import record_name
from ..text import tell, timestamp

LABEL = "kinetic warm call 1\0"  # what the key signs
LOOK_SECONDS = 60.0  # for the look at the records of a lost pod, meanwhile the host serves nobody
PAUSE_SECONDS = 5.0  # between tries, each of which may take minutes
NOT_IN_END = ("value", "error", "recorded", "bundle")  # of a report


def record_end(call, lost=""):
    """Record the end of a call of this host, which its runner has not recorded, as soon as the store can be reached. Return the thread that does so.

    lost is why the host ends, if it lost another.
    """
    thread = threading.Thread(target=_record, args=(call, end_of(call, lost)), daemon=True)
    thread.start()
    return thread


def _record(call, end):
    job, argv = call.job, call.argv
    while True:
        try:
            options = parse_options(["--job", job, *argv])
            store = store_with(options)
            if options.given:
                GivenStore(store, options.given, job, tell).complete()
                call.drop_given()
            end["attempt"] = max(1, len(list(store.list(OBJECTS["attempts"] % job))))
            return end_of_result(store, job) or create_or_read(store, record_name(job, "end"), end, end_metadata(end))
        except (OSError, Unreachable):
            time.sleep(PAUSE_SECONDS)
        except RunnerError as exc:
            return tell(f"kinetic: cannot record the end of call {job}: {explain(exc)}\n")


def store_of(job, argv):
    """Return the store that the flags of a call name."""
    return store_with(parse_options(["--job", job, *argv]))


def store_with(options):
    """Return the store that the options of a call name."""
    return open_store(options.store, options.emulator, options.metadata_host, options.credentials)


def end_of(call, lost):
    """Return end.json of a call."""
    report = call.report
    if "state" in report:
        end = {name: value for name, value in report.items() if name not in NOT_IN_END} | {"host": 0, "by": "runner"}
    else:
        reason, exit_code, why = what_ended(call)
        end = {"version": VERSION, "state": "FAILED", "reason": reason, "message": why, "exit_code": exit_code, "host": 0}
        end.update(started=call.started, finished=timestamp(), by="runner")
    if lost and end["reason"] == TERMINATED:
        end.update(reason=DISRUPTED, message=lost)
    return dict(end, exit_code=1) if end["reason"] == DISRUPTED else end


def what_ended(call):
    """Return why a call ended whose runner has reported nothing: the reason, the exit code, and a sentence."""
    code = call.code
    if call.was_stopped and code in (-signal.SIGTERM, EXIT_TERMINATED):  # its runner had just started
        return TERMINATED, EXIT_TERMINATED, "the call was terminated before it started"
    if code >= 0:
        return RUNNER_FAILURE, EXIT_RUNNER, f"the runner of the call ended with exit code {code}"
    why = f"the runner of the call was killed by {signal_name(-code)}"
    if code == -signal.SIGKILL:
        why += ": the memory of the pod may have run out"
    return KILLED, EXIT_KILLED, why


def unended(store, host, secret):
    """Return the calls that have begun on a host and have no end.

    Only a call whose record is signed with the host's key is among them: others can write to the store, too. A record lacks the
    call if a variable may be a secret.
    """
    store.hurry(time.monotonic() + LOOK_SECONDS)
    found, folder = [], OBJECTS["warm_calls"] % host
    for job in store.list(folder):
        if store.exists(record_name(job, "end")) or not store.exists(OBJECTS["attempt"] % (job, "", 1)):
            continue
        with store.open(folder + job) as file:
            order = order_of(whole(file), host, secret)
        if order is not None and order.get("id") == job and not is_elsewhere(store, job, host):
            found.append(order)
    return found


def is_elsewhere(store, job, host):
    """Report whether another host has a call: it was submitted again, since its first submit was interrupted."""
    try:
        with store.open(record_name(job, "handle")) as file:
            return json.loads(whole(file)).get("host", host) != host
    except (AttributeError, NotFound, ValueError):
        return False


def order_of(record, host, secret):
    """Return the call in a record, None if nobody with the host's key has written it."""
    try:
        document = json.loads(record)
        text, mac = document["call"], bytes.fromhex(document["mac"])
    except (KeyError, TypeError, ValueError):
        return None
    if not hmac.compare_digest(hmac.digest(secret, f"{LABEL}{host}\0{text}".encode(), "sha256"), mac):
        return None
    return json.loads(text)
