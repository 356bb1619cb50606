# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The inputs of maps, one by one."""

from __future__ import annotations

import pickle

import kinetic
import pytest
from conftest import Project
from kinetic.client.inputs import Outcome

JOB: kinetic.JobHandle[int] = kinetic.JobHandle("cpu-square", func_name="square")


def test_an_outcome_is_like_a_handle() -> None:
    done, failed = Outcome(4, 16, None, JOB), Outcome(5, None, ValueError("no"), JOB)
    assert (done.result(timeout=1), done.job_id, done.group_id, done.group_index, done.group_kind, done.func_name) == (
        16, "cpu-square", "cpu-square", 4, "map", "square",
    )  # fmt: skip
    assert (done.status(), failed.status()) == ("SUCCEEDED", "FAILED")
    with pytest.raises(ValueError, match="no"):
        failed.result()
    assert done == Outcome(4, 16, None, kinetic.JobHandle("cpu-other"))
    assert repr(pickle.loads(pickle.dumps(failed))) == "Outcome(index=5, value=None, exception=ValueError('no'))"


def test_an_input_cannot_be_cancelled_alone() -> None:
    with pytest.raises(kinetic.UsageError, match=r"input 4 of cpu-square can't be cancelled alone: BatchHandle.cancel\(\) ends the map"):
        Outcome(4, 16, None, JOB).cancel()


SQUARE = """
import os, pickle, time, kinetic
kinetic.configure(local=True, logs="none")

@kinetic.run()
def square(x):
    print("square of", x)
    if x == 3: raise ValueError(x)
    return x * x

@kinetic.run()
def waits(path):
    while path and not os.path.exists(path): time.sleep(0.05)
    return 1

def caught(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except Exception as exc:
        return exc
    raise AssertionError("nothing was raised")

if __name__ == "__main__":
"""

PROGRAMS = {
    "one after the other": (
        "batch = square.run_async_map([1, 3, 5])\n"
        "    print([job.result() if job.index != 1 else repr(caught(job.result)) for job in batch.jobs])\n"
        "    print(len(batch.jobs), batch.jobs[-1].result(), [job.index for job in batch.jobs[1:]], batch.jobs)",
        "[1, 'ValueError(3)', 25]\n3 25 [1, 2] <3 inputs of {id}>",
    ),
    "failures": (
        "batch = square.run_async_map([1, 3, 5])\n    batch.wait()\n"
        "    print([(job.index, repr(job.exception), 'ValueError: 3' in job.tail(), job.status() == 'FAILED', repr(job)) for job in batch.failures()])",
        "[(1, 'ValueError(3)', True, True, '<InputHandle 1 of {id}>')]",
    ),
    "failures that results has seen": (
        "batch = square.run_async_map([1, 3])\n    batch.results(return_exceptions=True)\n    batch.cleanup()\n"
        "    print([(job.index, repr(job.exception)) for job in batch.failures()], len(batch.jobs), batch.jobs[0].result(), batch.jobs[0].status().value)",
        "[(1, 'ValueError(3)')] 2 1 NOT_FOUND",
    ),
    "of a map that was cleaned up": (
        "batch = square.run_async_map([2, 4])\n    again = kinetic.attach_batch(batch.group_id)\n    batch.results(cleanup=False)\n    batch.cleanup()\n"
        "    print([[job.status().value for job in each.jobs] for each in (batch, again, pickle.loads(pickle.dumps(batch)), kinetic.BatchHandle.from_json(batch.to_json()))])",
        "[['NOT_FOUND', 'NOT_FOUND'], ['NOT_FOUND', 'NOT_FOUND'], ['NOT_FOUND', 'NOT_FOUND'], ['NOT_FOUND', 'NOT_FOUND']]",
    ),
    "logs": (
        "batch = square.run_async_map([4])\n    print(list(batch.jobs[0].logs(follow=True)), repr(batch.jobs[0].logs()))",
        "['[chunk 0] square of 4'] '[chunk 0] square of 4\\n'",
    ),
    "is it done": (
        "gate = os.path.abspath('gate')\n"
        "    batch = waits.run_async_map(['', gate])\n"
        "    first = batch.jobs[0].result()\n"
        "    print(first, type(caught(batch.jobs[1].result, timeout=0)).__name__, type(caught(batch.results, timeout=0)).__name__)\n"
        "    open(gate, 'w').close()\n"
        "    batch.wait()\n    print(batch.jobs[1].result(timeout=0), batch.results(timeout=0))",
        "1 JobTimeout JobTimeout\n1 [1, 1]",
    ),
    "pickled": (
        "batch = square.run_async_map([2, 3])\n"
        "    job = pickle.loads(pickle.dumps(batch.jobs[0]))\n"
        "    print(job.result(), pickle.loads(pickle.dumps(batch)).jobs[0].result())",
        "4 4",
    ),
    "what a map knows": (
        "batch = square.run_async_map([2], name='squares')\n    print(batch.name, batch.submission_failures, batch.unavailable_children, batch.job.group_id == batch.group_id)",
        "squares {} {} True",
    ),
}


@pytest.mark.parametrize("program, text", PROGRAMS.values(), ids=PROGRAMS)
def test_inputs(local: Project, program: str, text: str) -> None:
    done = local.run(SQUARE + "    " + program + ("\n    print(batch.group_id)" if "{id}" in text else ""))
    out = done.stdout.splitlines()
    expected = text.replace("{id}", out.pop()) if "{id}" in text else text
    assert "\n".join(out) == expected
