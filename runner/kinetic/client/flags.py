# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the flags that the binaries' errors name are in Python."""

from __future__ import annotations

import re

from ..options import PARAMETERS

FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
# Those that say where a job is have the same names, and are part of many commands.
IN_PYTHON = {parameter.flag: f"{parameter.name}=" for parameter in PARAMETERS if parameter.flag and not parameter.of_target}
IN_PYTHON["--data"] = "a kinetic.Data argument"
LINE = "\n  in Python: "


def explained(message: str) -> str:
    """Return a message with another line for what the flags in it are in Python, if it has such flags."""
    known = dict.fromkeys(flag for flag in FLAG.findall(message) if flag in IN_PYTHON)
    return message + (LINE + ", ".join(f"{IN_PYTHON[flag]} for {flag}" for flag in known) if known else "")


def unexplained(message: str) -> str:
    """Return a message without that line, for who has typed the flags."""
    return re.sub(re.escape(LINE) + ".*", "", message)
