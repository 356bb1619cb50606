# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The outcome of a pickled call: what it returned or raised, as a pickle."""

import binascii
import hashlib
import io
import os
import pickle
import types

from . import culprit, outcomes, values
from .exceptions import save_exception
from .payload import BadPayload
from .pickles import Sink, save
from .wording import repr_of, type_name

JSON_LIMIT = 1 << 20  # bytes of a value that is there as JSON, too


class Kept(Sink):
    """The Sink of a result, with its hash. Up to inline bytes stay in memory, in data."""

    def __init__(self, path, inline):
        super().__init__(path)
        self.size, self.data = 0, b""
        self._inline, self._digest = inline, hashlib.sha256()

    @property
    def sha256(self):
        return self._digest.hexdigest()

    def write(self, data):
        view = data.raw() if isinstance(data, pickle.PickleBuffer) else memoryview(data)
        self.size += view.nbytes
        self._digest.update(view)
        if self._file is None and self.size <= self._inline:
            self.data += view
            return
        if self.data:
            super().write(self.data)
            self.data = b""
        super().write(view)

    def open(self):
        """Return what was written, as a file."""
        return io.BytesIO(self.data) if self.data else open(self.path, "rb")


def of_value(value, call):
    """Return the outcome of a call that returned."""
    if isinstance(value, (types.GeneratorType, types.AsyncGeneratorType)):
        return outcomes.of_generator(value, call)
    outcome = outcomes.outcome_of("Completed", 0)
    outcome["returned"] = True
    if not call.get("keep_value", True):
        return outcome
    try:
        sink = save(value, lambda: sink_of(call))
    except OSError as exc:
        return outcomes.of_lost_value(exc, sink_of(call).path, "the pickle of the value")
    if sink is None:
        return of_unpicklable(value, call)
    keep(outcome, sink)
    try:
        converted = values.convert(value, JSON_LIMIT)
    except values.TooLarge:
        outcome.update(warnings=["only the pickle has the value: it is too large for JSON"], differs=True)
        return outcome
    outcome.update(warnings=list(converted.warnings), differs=bool(converted.warnings))
    return outcomes.keep_json(outcome, converted.data, call)


def of_exception(exc, call):
    """Return the outcome of a call that raised. Only an Exception is pickled: others would end the program that loads it."""
    if isinstance(exc, BadPayload):
        return of_bad_payload(exc, call)
    outcome = outcomes.of_exception(exc, call)
    try:
        if isinstance(exc, Exception):
            keep(outcome, save_exception(exc, lambda: sink_of(call)))
        elif outcome["reason"] == "Completed":  # sys.exit()
            keep(outcome, save(None, lambda: sink_of(call)))
    except OSError:
        pass  # its text is there all the same
    return outcome


def of_bad_payload(exc, call):
    """Return the outcome of a payload that can't be unpickled."""
    cause, error = exc.__cause__, {"type": "BadPayload", "message": str(exc), "traceback": ""}
    if cause is not None:
        error.update(type=type_name(type(cause)), traceback=outcomes.traceback_of(cause, call))
        outcomes.tell(error["traceback"])
    outcomes.tell(f"kinetic: {exc}\n")
    return outcomes.outcome_of("BadPayload", 1, str(exc), error)


def of_unpicklable(value, call):
    """Return the outcome of a call whose value can't be pickled."""
    place, kind = culprit.find(value)
    message = (
        f"{call['title']} returned what cannot be pickled: {place} is of type {kind}: "
        "return only what the caller needs, and save the rest in the output directory"
    )
    outcomes.tell(f"kinetic: {message}\n")
    return outcomes.outcome_of("BadResult", 1, message, {"type": "TypeError", "message": message, "traceback": "", "repr": repr_of(value)})


def sink_of(call):
    return Kept(os.path.join(call["scratch"], "result.pkl"), call.get("inline_pickle", 0))


def keep(outcome, sink):
    """Note in an outcome the pickle that was written, if any."""
    if sink is not None:
        outcome.update(pickle_sha256=sink.sha256, pickle_size=sink.size)
        if sink.data:
            outcome["pickled"] = binascii.b2a_base64(sink.data, newline=False).decode()
        else:
            outcome["pickle_path"] = sink.path
