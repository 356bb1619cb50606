# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The call: what a job runs."""

import math
import os
import sys

from .contract import LIMITS
from .documents import check_directory, check_path, field, parse_document, strings
from .errors import RunnerError, naming
from .store import copy_verified, read_verified
from .store.names import payload_name, record_name
from .text import shorten, write_all

CALL_LIMIT = LIMITS["call"]  # bytes of call.json, and of the inputs of a map
TITLE_LIMIT = 100  # characters of the name of a pickled function, which may be any text


def unlimited_integers():
    """Allow integers of any length in JSON; newer Pythons stop at 4300 digits."""
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)


def read_call(store, options):
    """Return the call of the job, after comparing its kind with the flags."""
    name = record_name(options.job, "call")
    unlimited_integers()
    call = Call(parse_document(read_verified(store, name, options.call, CALL_LIMIT), store.url(name)), store.url(name))
    if options.function and not call.is_function:
        raise RunnerError(f"{store.url(name)} has a {call.kind} call, but --function needs a function call")
    if bool(options.payload) != (call.kind == "pickle"):
        raise RunnerError(f"{store.url(name)} has a {call.kind} call: --payload is for a pickle call, which needs it")
    return call


class Call:
    """What to run: call.json after its checks. Paths are relative to the package root."""

    def __init__(self, document, where):
        self.kind = field(document, "kind", str, where)
        self.file = field(document, "file", str, where, "")
        self.module = field(document, "module", str, where, "")
        self.function = field(document, "function", str, where, "")
        self.kwargs = field(document, "kwargs", dict, where, {})
        self.data = field(document, "data", list, where, [])
        self.args = strings(document, "args", where)
        self.cwd = check_directory(field(document, "cwd", str, where, ""), where)
        self.payload = ""  # the path of the file, once it is there
        self.sys_path = [check_directory(path, where) for path in strings(document, "sys_path", where)]
        if self.file:
            check_path(self.file, where)
        needs = {"file": self.file, "module": self.module, "function": self.module and self.function, "command": self.args, "pickle": self.function}
        if self.kind not in needs:
            raise RunnerError(f"{where}: kind is {self.kind!r:.60}, expected one of {', '.join(needs)}")
        if not needs[self.kind]:
            raise RunnerError(f"{where}: a {self.kind} call does not say what to run")
        if self.module and "" in self.module.split("."):
            raise RunnerError(f"{where}: module is {self.module!r:.200}, expected a dotted name")

    @property
    def is_function(self):
        """Whether the call is one of a function, which is imported or unpickled."""
        return self.kind in ("function", "pickle")

    @property
    def title(self):
        if self.kind == "pickle":
            return shorten(" ".join(self.function.split()), TITLE_LIMIT) or self.kind
        if self.kind == "function":
            return f"{self.file or self.module}:{self.function}"
        return {"file": self.file, "module": f"python -m {self.module}"}.get(self.kind) or self.args[0]


def fetch_payload(store, options):
    """Write the verified payload of a pickled call to the scratch directory. Return its path. Only the process of the call unpickles it."""
    path = os.path.join(options.scratch, "payload.pkl")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with naming(path):
            copy_verified(store, payload_name(options.job), options.payload, math.inf, lambda block: write_all(fd, block))
    finally:
        os.close(fd)
    return path
