# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of the binaries: those that their errors name, in Python, and one that waits."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Optional

from . import checks
from .parameters import PARAMETERS, Duration, span

FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
# Those that say where a job is have the same names, and are part of many commands.
IN_PYTHON = {parameter.flag: f"{parameter.name}=" for parameter in PARAMETERS if parameter.flag and not parameter.of_target}
IN_PYTHON["--data"] = "a kinetic.Data argument"
IN_PYTHON["--local"] = "local=True"
SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}  # as checks.DURATION
LINE = "\n  in Python: "


def explained(message: str) -> str:
    """Return a message with another line for what the flags in it are in Python, if it has such flags."""
    known = dict.fromkeys(flag for flag in FLAG.findall(message) if flag in IN_PYTHON)
    return message + (LINE + ", ".join(f"{IN_PYTHON[flag]} for {flag}" for flag in known) if known else "")


def unexplained(message: str) -> str:
    """Return a message without that line, for who has typed the flags."""
    return re.sub(re.escape(LINE) + ".*", "", message)


def timeout_flag(timeout: Optional[Duration]) -> list[str]:
    """Return the words of a command line for how long to wait."""
    if timeout is None:
        return []
    checks.duration("timeout", timeout)
    return span("--timeout", timeout)


def seconds(timeout: Duration) -> float:
    """Return how many seconds a timeout is that timeout_flag takes."""
    if not isinstance(timeout, str) or checks.is_number(timeout):
        return float(timeout)
    return sum(float(number) * SECONDS[unit] for number, unit in re.findall(rf"({checks.NUMBER})([a-zµμ]+)", timeout))


def words_of(line: Sequence[str], names: Collection[str]) -> list[str]:
    """Return the words of a command line that give these flags, as `--name=value` or as two words."""
    return [word for word, before in zip(line, ["", *line]) if word.partition("=")[0] in names or before in names]
