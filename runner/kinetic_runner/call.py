# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The call: what a job runs."""

import sys

from .documents import check_directory, check_path, field, strings
from .errors import RunnerError

CALL_LIMIT = 256 << 20  # bytes of call.json, and of the inputs of a map


def unlimited_integers():
    """Allow integers of any length in JSON; newer Pythons stop at 4300 digits."""
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)


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
        self.sys_path = [check_directory(path, where) for path in strings(document, "sys_path", where)]
        if self.file:
            check_path(self.file, where)
        needs = {"file": self.file, "module": self.module, "function": self.module and self.function, "command": self.args}
        if self.kind not in needs:
            raise RunnerError(f"{where}: kind is {self.kind!r:.60}, expected one of {', '.join(needs)}")
        if not needs[self.kind]:
            raise RunnerError(f"{where}: a {self.kind} call does not say what to run")
        if self.module and "" in self.module.split("."):
            raise RunnerError(f"{where}: module is {self.module!r:.200}, expected a dotted name")

    @property
    def title(self):
        if self.kind == "function":
            return f"{self.file or self.module}:{self.function}"
        return {"file": self.file, "module": f"python -m {self.module}"}.get(self.kind) or self.args[0]
