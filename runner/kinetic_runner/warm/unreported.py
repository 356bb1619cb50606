# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The end of a call whose runner could not record it: it was killed, or the store was away for too long."""

import json
import signal
import threading
import time

from ..documents import VERSION
from ..errors import RunnerError, explain
from ..options import parse_options
from ..outcome import EXIT_KILLED, EXIT_RUNNER, KILLED, RUNNER_FAILURE, signal_name
from ..publish import end_metadata, end_of_result
from ..records import create_or_read
from ..store import open_store
from ..store.names import record_name
from ..text import tell, timestamp

PAUSE_SECONDS = 5.0  # between tries, each of which may take minutes
NOT_IN_END = ("value", "error", "recorded")  # of a report


def report_unreported(call):
    """Record the end of a call of this host in a thread, as soon as the store can be reached, unless its runner has recorded it."""
    if not report_of(call.end).get("recorded"):
        threading.Thread(target=_record, args=(call.job, call.argv, end_of(call.end)), daemon=True).start()


def report_of(end):
    """Return what the runner of a call has reported, as an object, given how the call ended."""
    return json.loads(end.get("report") or "{}")


def _record(job, argv, end):
    try:
        options = parse_options(["--job", job, *argv])
        store = open_store(options.store, options.emulator, options.metadata_host, options.credentials)
    except (OSError, RunnerError) as exc:
        return tell(f"kinetic: cannot record the end of call {job}: {explain(exc)}\n")
    while True:
        try:
            return end_of_result(store, job) or create_or_read(store, record_name(job, "end"), end, end_metadata(end))
        except (OSError, RunnerError):
            time.sleep(PAUSE_SECONDS)


def end_of(ended):
    """Return end.json of a call that has ended so."""
    report, code = report_of(ended), ended["code"]
    if "state" in report:
        return {name: value for name, value in report.items() if name not in NOT_IN_END} | {"host": 0, "by": "runner"}
    why = f"the runner of the call was killed by {signal_name(-code)}" if code < 0 else f"the runner of the call ended with exit code {code}"
    if code == -signal.SIGKILL:
        why += ": the memory of the pod may have run out"
    reason, exit_code = (KILLED, EXIT_KILLED) if code < 0 else (RUNNER_FAILURE, EXIT_RUNNER)
    now = timestamp()
    end = {"version": VERSION, "state": "FAILED", "reason": reason, "message": why, "exit_code": exit_code, "host": 0, "attempt": 1}
    return dict(end, started=now, finished=now, by="runner")
