# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a user should know about a call before it is submitted, or about its outputs."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import UsageError
from ..pod import in_job
from .report import speaker

NO_TERMINAL = "KINETIC_NO_TTY_DEBUG"  # set: wait for a debugger without a terminal
MOST_NAMES = 5  # of files, in a warning
PLACES = ("-a", "--accelerator", "--local", "--backend")  # flags that say on what a job runs


def default_accelerator(options: Mapping[str, Any], *, is_cell: bool = False) -> None:
    """Say that a call runs on cpu if nothing says on what, once in a program. A job that submits others is told nothing.

    Args:
        options: the parameters that count for the call.
        is_cell: a cell of a notebook is called, whose words are flags.
    """
    chosen = options.get("accelerator") is not None or options.get("local") or options.get("backend") == "local"
    if not chosen and not in_job() and not any(word.startswith(PLACES) for word in options.get("flags", ())):
        say_default(options.get("logs", "stderr"), "-a, such as %%kinetic -a l4" if is_cell else "accelerator=, such as @kinetic.run(accelerator='l4')")


@functools.lru_cache(maxsize=None)
def say_default(where: str, how: str) -> None:
    """Say it, the first time."""
    speaker(where)("note", "no accelerator is given, so this runs on cpu; choose one with " + how)


def refuse_starting_process() -> None:
    """Raise UsageError in a process of multiprocessing that imports the program again, before it does what it was started for.

    Processes start like that on macOS and Windows, and with Python 3.14 on Linux. Each would submit a job of its own.
    """
    module = sys.modules.get("multiprocessing.process")
    if module is not None and getattr(module.current_process(), "_inheriting", False):
        raise UsageError(
            "multiprocessing imports this program again, and its top level submits a job: "
            'put the call under `if __name__ == "__main__":`'
        )


def require_terminal() -> None:
    """Raise UsageError for a call that waits for a debugger where nobody could attach one.

    A debugger is attached while the call waits: in a program without a terminal, such as in CI, it would wait in vain.
    """
    if os.environ.get(NO_TERMINAL) or any(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        return
    raise UsageError(
        "debug=True waits for a debugger, and this program has no terminal: submit it with run_async() (a cell with --detach), "
        f"then attach with kubectl kinetic jobs debug ID; {NO_TERMINAL}=1 waits all the same"
    )


def incomplete(files: Sequence[Mapping[str, Any]], *, copied: bool, where: str) -> None:
    """Warn of outputs that the program had not finished.

    Args:
        files: the outputs, as they are listed.
        copied: whether they were copied to this machine.
        where: as logs= of kinetic.run.
    """
    names = [file["name"] for file in files if file.get("incomplete")]
    if names:
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        how = ": their copies end in .incomplete" if copied else ""
        speaker(where)("warning", f"outputs that were not finished: {', '.join(names[:MOST_NAMES])}{more}{how}")
