# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Calls whose runners recorded no end: they were killed, the store was away for too long, or their pod was lost."""

import json
import signal
import threading
import time

from ..contract import OBJECTS
from ..documents import VERSION
from ..errors import RunnerError, explain
from ..options import parse_options
from ..outcome import EXIT_KILLED, EXIT_RUNNER, KILLED, RUNNER_FAILURE, signal_name
from ..publish import end_metadata, end_of_result
from ..records import create_or_read, whole
from ..store import open_store
from ..store.names import record_name
from ..text import tell, timestamp

PAUSE_SECONDS = 5.0  # between tries, each of which may take minutes
NOT_IN_END = ("value", "error", "recorded")  # of a report


def record_end(call):
    """Record the end of a call of this host, which its runner has not recorded, in a thread, as soon as the store can be reached."""
    threading.Thread(target=_record, args=(call.job, call.argv, end_of(call)), daemon=True).start()


def _record(job, argv, end):
    try:
        store = store_of(job, argv)
    except (OSError, RunnerError) as exc:
        return tell(f"kinetic: cannot record the end of call {job}: {explain(exc)}\n")
    while True:
        try:
            return end_of_result(store, job) or create_or_read(store, record_name(job, "end"), end, end_metadata(end))
        except (OSError, RunnerError):
            time.sleep(PAUSE_SECONDS)


def store_of(job, argv):
    """Return the store that the flags of a call name."""
    options = parse_options(["--job", job, *argv])
    return open_store(options.store, options.emulator, options.metadata_host, options.credentials)


def end_of(call):
    """Return end.json of a call."""
    report, code = call.report, call.code
    if "state" in report:
        return {name: value for name, value in report.items() if name not in NOT_IN_END} | {"host": 0, "by": "runner"}
    why = f"the runner of the call was killed by {signal_name(-code)}" if code < 0 else f"the runner of the call ended with exit code {code}"
    if code == -signal.SIGKILL:
        why += ": the memory of the pod may have run out"
    reason, exit_code = (KILLED, EXIT_KILLED) if code < 0 else (RUNNER_FAILURE, EXIT_RUNNER)
    now = timestamp()
    end = {"version": VERSION, "state": "FAILED", "reason": reason, "message": why, "exit_code": exit_code, "host": 0, "attempt": 1}
    return dict(end, started=now, finished=now, by="runner")


def unended(store, host):
    """Return the calls that were given to a host and have no end, those that have begun first. A call with a variable that may be a secret is not among them."""
    folder, begun, others = OBJECTS["warm_calls"] % host, [], []
    for job in store.list(folder):
        if store.exists(record_name(job, "end")):
            continue
        with store.open(folder + job) as file:
            order = json.loads(whole(file))
        if order.get("argv"):
            (begun if store.exists(OBJECTS["attempt"] % (job, "", 1)) else others).append(order)
    return begun + others
