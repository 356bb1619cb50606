# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""How a call ended."""

import signal
import time
from collections import namedtuple

from .contract import EXITS
from .text import shorten

COMPLETED, EXCEPTION, EXIT_CODE, BAD_RESULT = "Completed", "Exception", "ExitCode", "BadResult"
NO_PROGRAM = "NoProgram"
DEADLINE_EXCEEDED, RUNNER_FAILURE = "DeadlineExceeded", "RunnerFailure"
# Final: no retry changes the packages of the job, its inputs or its payload.
BAD_ENVIRONMENT, BAD_DATA, BAD_PAYLOAD = "BadEnvironment", "BadData", "BadPayload"
KILLED, TERMINATED, DISRUPTED = "Killed", "Terminated", "Disrupted"
STOPPED = "Stopped"  # never the end of a job: the call of a host was stopped because another one had failed
ERRORS = (EXCEPTION, EXIT_CODE, NO_PROGRAM, BAD_RESULT)  # in the user's code, which --retry-on error retries

EXIT_DEADLINE, EXIT_RUNNER, EXIT_KILLED, EXIT_TERMINATED = (EXITS[name] for name in ("deadline", "runner", "killed", "terminated"))
# The cluster may start another attempt after these.
RETRYABLE = (EXIT_RUNNER, EXIT_KILLED, EXIT_TERMINATED)
CRASHES = (EXIT_RUNNER, EXIT_KILLED)

UNSAVED_LIMIT = 20  # outputs that end.json names
MESSAGE_LIMIT = 1000  # characters of a message in end.json

Unsaved = namedtuple("Unsaved", "path size why")  # an output that could not be saved


class Outcome:
    """How a call ended, as it is published.

    value is the value as JSON text. It is None if value_path names a file with the
    JSON, or if there is no value. pickle_path names a file with the exact value, or with
    the exception that a pickled call raised; pickled has a small one in base64.
    """

    FIELDS = (
        "reason", "exit_code", "message", "error", "warnings", "differs", "returned", "value", "value_path",
        "pickle_path", "pickled", "pickle_sha256", "pickle_size", "at", "started", "finished",
    )  # fmt: skip

    def __init__(self, reason, exit_code, message="", error=None):
        self.reason, self.exit_code, self.message = reason, exit_code, shorten(message, MESSAGE_LIMIT)
        self.error = error
        if error is None and reason != COMPLETED:
            self.error = {"type": reason, "message": self.message, "traceback": ""}
        self.warnings = []
        self.json_warnings = 0  # how many of them, the first ones, only say how the JSON differs from a pickled value
        self.differs = False  # the value differs from what was returned, see warnings
        self.returned = False  # the function returned, rather than called sys.exit
        self.value = self.value_path = self.pickle_path = self.pickled = None
        self.pickle_sha256 = self.pickle_size = None  # only of a pickled call
        self.hashes = None  # the hash of a chunk's list of hashes
        self.unsaved = []  # outputs that could not be saved
        self.host, self.at = 0, time.time()  # whose call it was, and when it ended
        self.started = self.finished = None  # only for an input of a map

    @property
    def ok(self):
        return self.reason == COMPLETED

    @property
    def has_pickle(self):
        return bool(self.pickle_path or self.pickled)

    @property
    def failed(self):
        return self.reason not in (COMPLETED, STOPPED, TERMINATED)

    def become(self, other):
        """Become another outcome of the same host."""
        vars(self).update(vars(other), host=self.host)

    def to_json(self):
        """Return the fields that the child reports, ready for JSON."""
        return {name: getattr(self, name) for name in self.FIELDS}

    @classmethod
    def from_json(cls, fields):
        """Return the outcome that to_json described."""
        outcome = cls(fields["reason"], fields["exit_code"])
        for name in cls.FIELDS:
            setattr(outcome, name, fields[name])
        outcome.json_warnings = len(outcome.warnings)  # the child knows of no others
        return outcome


def outcome_of_exit(title, code):
    """Return the outcome of a program that ended with an exit code."""
    if code == 0:
        return Outcome(COMPLETED, 0)
    kept = code if 0 < code < EXIT_DEADLINE else 1
    note = "" if kept == code else f", reported as {kept}"
    return Outcome(EXIT_CODE, kept, f"{title} ended with exit code {code}{note}")


def outcome_of_signal(title, number, out_of_memory):
    """Return the outcome of a program killed by a signal that the runner did not send.

    out_of_memory is the sentence that says so; "" if memory did not run out, None if that is not known.
    """
    if number == signal.SIGKILL and out_of_memory:
        return Outcome(KILLED, EXIT_KILLED, out_of_memory)
    return Outcome(KILLED, EXIT_KILLED, f"{title} was killed by {signal_name(number)}")


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
