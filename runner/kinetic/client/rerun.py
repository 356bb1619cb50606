# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Repeats the call of a job."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Optional

from ..errors import UsageError, brief
from ..options import described, merged
from . import binaries, checks, process
from .facts import Facts
from .parameters import PLACES, check, flags
from .report import Reporter

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .signature import Parameters


class Repeatable(Facts):
    """What a handle needs to make its call again."""

    of: Callable[..., Any]

    @described
    @brief
    def rerun(self, arguments: Optional[Mapping[str, Any]] = None, /, **changes: Unpack[Parameters]) -> Self:
        """Submit the job's call again, with the project's code as it is now, and return the new job's handle.

        A pickled function, such as a decorated one, keeps its arguments, and its code if it is of the script or a notebook. result() deletes the call unless it has cleanup=False.

        Args:
            arguments: arguments of the function to change, by name, of JSON's types. They can't be changed for a pickled function.
            **changes: parameters of kinetic.run to change.

        Raises:
            UsageError: the call was deleted, or can't be repeated like this.
            TypeError, ValueError: as kinetic.run.
        """
        check(changes)
        given: dict[str, Any] = {name: value for name, value in changes.items() if value is not None}
        target = merged(self.target, {name: value for name, value in given.items() if name in PLACES})
        given.pop("timeout", None)  # is for a call that waits
        report = Reporter(given.get("logs") or self.logs_to())
        words = [f"--like={self.job_id}", *flags({**given, **target}), *argument_flags(arguments or {}), "--detach"]
        process.require(binaries.RUN, words, report)
        handle: Self = self.of(report.job, target)
        handle.obey(given)
        return handle


def argument_flags(arguments: Mapping[str, Any]) -> list[str]:
    """Return the words of a command line for arguments."""
    if not isinstance(arguments, Mapping):
        raise checks.wrong_type("arguments", arguments, "a dict")
    try:
        return [f"--arg={name}={json.dumps(value, allow_nan=False)}" for name, value in arguments.items()]
    except (TypeError, ValueError) as exc:
        raise UsageError(f"arguments: {exc}: only values of JSON's types can be changed; call the function again for others") from exc
