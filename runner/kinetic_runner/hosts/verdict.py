# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The outcome of an attempt, from the reports of its hosts."""

import binascii
import hashlib

from ..documents import field, strings
from ..outcome import UNSAVED_LIMIT, Outcome, Unsaved
from ..text import shorten

TRACEBACK_LIMIT = 20_000  # characters of another host's error: the last ones
WARNINGS_LIMIT, WARNING_CHARACTERS = 20, 1000  # of another host


def verdict(outcomes, gone, hosts):
    """Return the outcome of an attempt from the outcomes by host, or None if they do not decide it.

    The first failure is the cause of the others. If a host is gone, failures
    prove nothing: its loss may have caused them.
    """
    if all(host in outcomes and outcomes[host].ok for host in range(hosts)):
        return outcomes[0]
    failures = [] if gone else [outcome for outcome in outcomes.values() if outcome.failed]
    return min(failures, key=lambda outcome: outcome.at, default=None)


def report(outcome, ahead):
    """Return a member's report of its call, with when that ended by the leader's clock, which is so many seconds ahead."""
    error = outcome.error and {key: text[-TRACEBACK_LIMIT:] for key, text in outcome.error.items()}
    fields = {key: getattr(outcome, key) for key in ("reason", "exit_code", "message", "pickled")}
    warnings = [shorten(text, WARNING_CHARACTERS) for text in outcome.warnings[:WARNINGS_LIMIT]]
    return dict(fields, error=error, warnings=warnings, unsaved=[file._asdict() for file in outcome.unsaved[:UNSAVED_LIMIT]], at=outcome.at + ahead)


def reported(host, message):
    """Return the outcome that a member reported, or raise RunnerError if it is malformed."""
    where = f"the report of host {host}"
    kinds = (("reason", str), ("exit_code", int), ("message", str))
    outcome = Outcome(*(field(message, key, kind, where) for key, kind in kinds))
    if not outcome.ok:
        error = field(message, "error", dict, where)
        outcome.error = {key: field(error, key, str, f"{where}: error") for key in ("type", "message", "traceback")}
    keep_pickle(outcome, field(message, "pickled", str, where, ""))
    outcome.warnings = strings(message, "warnings", where)
    outcome.unsaved = [unsaved(file, where) for file in field(message, "unsaved", list, where, [])]
    outcome.host, outcome.at = host, field(message, "at", float, where)
    return outcome


def keep_pickle(outcome, pickled):
    """Keep the pickle of an exception, in base64. This host then knows its hash."""
    try:
        data = binascii.a2b_base64(pickled)
    except ValueError:
        return
    if data:
        outcome.pickled, outcome.pickle_sha256, outcome.pickle_size = pickled, hashlib.sha256(data).hexdigest(), len(data)


def unsaved(fields, where):
    """Return an output that a member could not save."""
    fields = fields if isinstance(fields, dict) else {}
    return Unsaved(*(field(fields, name, kind, where) for name, kind in (("path", str), ("size", int), ("why", str))))
