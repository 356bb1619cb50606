# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exceptions whose message is enough have no frames of the package."""

from __future__ import annotations

import pytest
from conftest import INTERRUPT, RUNNER, Project

PROGRAM = """
import kinetic, os, signal, threading, time
kinetic.configure(local=True)
BEGUN = os.path.expanduser("~/begun")

@kinetic.run
def train(steps): return steps

@kinetic.run
def fails(steps): raise ValueError(steps)

@kinetic.run
def waits(steps):
    open(BEGUN, "w").write("x")
    time.sleep(20)

def interrupt():
    os.mkfifo(BEGUN)
    threading.Thread(target=lambda: (open(BEGUN).read(), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()

"""
CALLS = {
    "a parameter that does not exist": ("kinetic.run(gpus=1)", "TypeError: 'gpus' is not a parameter of kinetic.run", 1),
    "of configure": ("kinetic.configure(cpu=None, retries=-1)", "kinetic.errors.UsageError: retries=-1: expected at least 0", 1),
    "an argument that is missing": ("train.run_async()", "TypeError: train() missing a required argument: 'steps'", 1),
    "an input that does not fit": ("train.map([{'step': 1}])", "TypeError: input 0: train() got an unexpected keyword argument 'step': did you mean 'steps'?", 1),
    "another kind of inputs": ("train.map(5)", "TypeError: inputs=5: expected an iterable, such as a list, not an int", 1),
    "what can't be sent": ("train.run_async(threading.Lock())", "TypeError: cannot send train(): argument 'steps' is of type _thread.lock", 2),
    "an input that fails": ("fails.map([1])", "kinetic.errors.BatchError: 1 of 1 inputs of ", 1),
    "a handle of nothing": ("kinetic.attach('cpu-none-1')", "kinetic.errors.JobNotFound: ", 1),
    "Ctrl-C in a map": ("interrupt(); waits.map([1])", "kinetic.errors.Interrupted: ", 1),
    "Ctrl-C in result": (f"job = waits.run_async(1)\n{INTERRUPT}job.result()", "kinetic.errors.Interrupted: ", 1),
}


@pytest.mark.parametrize("call, message, most", CALLS.values(), ids=CALLS)
def test_few_frames(local: Project, call: str, message: str, most: int) -> None:
    done = local.run(PROGRAM + call, code=130 if "Ctrl-C" in call else 1)
    said = done.stderr[done.stderr.index("Traceback (most recent call last):") :]
    assert ("\n" + message) in said
    assert said.count(f'File "{RUNNER}/kinetic/') <= most, said
