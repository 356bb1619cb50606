# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""kinetic.table: jobs side by side."""

from __future__ import annotations

import json
from typing import Any

import kinetic
import pytest
from conftest import BINARIES, Project
from kinetic.client import facts, mapping, payload, table

CALLS: list[tuple[str, Any]] = [
    ("train.py:train()", {}),
    ('train.py:train(lr=0.1, name="a, b=c")', {"lr": 0.1, "name": "a, b=c"}),
    ('train.py:train(conf={"a": [1, 2]}, n=null)', {"conf": {"a": [1, 2]}, "n": None}),
    ("train.py:train(token=…)", None),
    ("train.py:train(lr=0.1, na…", None),
    ("f(…)", None),
    ("python train.py --lr 0.1", None),
    ("", None),
]


@pytest.mark.parametrize("text, expected", CALLS)
def test_arguments_of_the_command_line(text: str, expected: Any) -> None:
    assert table.arguments(text) == expected


def test_arguments_of_a_call() -> None:
    def fit(lr: float, *more: object, conf: object = None) -> None: ...

    given = facts.arguments(fit, (0.1, "x" * 101, print), {"conf": {"a": [1, (2, object)]}})
    assert given == {"lr": 0.1, "more": ["<str>", "<builtin_function_or_method>"], "conf": {"a": [1, [2, "<type>"]]}}
    json.dumps(given)
    assert facts.brief(given) == given


def test_arguments_of_one_of_many_calls_are_short() -> None:
    given = facts.arguments(lambda xs, lr, name: None, ([0.123456] * 100, 0.1, "x" * 100), {})
    repeated = {**given, "more": [given["xs"]] * 9}
    assert facts.brief(repeated) == {"xs": "<list>", "lr": 0.1, "name": "x" * 100, "more": "<list>"}


TIMES: list[tuple[dict[str, Any], Any]] = [
    ({"started": "2026-11-25T20:32:32.850897Z", "finished": "2026-11-25T20:32:34Z"}, 1.149),
    ({"started": "2026-11-25T20:32:32.850897123Z", "finished": "2026-11-25T20:32:32.850897124Z"}, 0.0),
    ({}, None),
    ({"started": "soon"}, None),
]


@pytest.mark.parametrize("status, expected", TIMES)
def test_seconds(status: dict[str, Any], expected: Any) -> None:
    assert table.seconds(status) == expected


def test_a_job_that_runs_has_a_duration() -> None:
    took = table.seconds({"started": "2026-01-01T00:00:00Z"})
    assert took is not None
    assert took > 0


PROGRAM = """
import json, os, kinetic
kinetic.configure(local=True, logs="none")

@kinetic.run()
def fit(lr, n=1):
    if not lr: raise ValueError("no rate")
    return {"loss": 1 - lr, "text": "x" * n}

@kinetic.run()
def waits():
    import time
    time.sleep(600)

def show(rows):
    for row in rows:
        if row["seconds"] is not None: row["seconds"] = row["seconds"] >= 0
        if row["name"] and row["state"] == "NOT_FOUND": row["error"] = "JobNotFound"
        print(json.dumps({name: value for name, value in row.items() if name not in ("id", "name")}))

def ended(*jobs):
    for job in jobs: job.wait()
    return jobs
"""
PROGRAMS = {
    "handles": (
        "jobs = ended(fit.run_async(0.5), fit.run_async(lr=0))\nshow(kinetic.table(jobs))\n"
        "print([(row['id'], row['name']) for row in kinetic.table(jobs)] == [(job.job_id, 'fit') for job in jobs])",
        '{"args": {"lr": 0.5}, "state": "SUCCEEDED", "seconds": true, "value": {"loss": 0.5, "text": "x"}, "error": null}\n'
        '{"args": {"lr": 0}, "state": "FAILED", "seconds": true, "value": null, "error": "ValueError: no rate"}\nTrue',
    ),
    "ids": (
        "job, = ended(fit.run_async(0.5))\nshow(kinetic.table([job.job_id, 'cpu-none-1'], local=True))",
        '{"args": {"lr": 0.5}, "state": "SUCCEEDED", "seconds": true, "value": {"loss": 0.5, "text": "x"}, "error": null}\n'
        '{"args": null, "state": "NOT_FOUND", "seconds": null, "value": null, "error": "job \\"cpu-none-1\\" not found; list jobs with kubectl kinetic jobs list --all --local"}',
    ),
    "one job, whose value was collected": (
        "job, = ended(fit.run_async(0.5))\njob.result()\nshow(kinetic.table(job))\nshow(kinetic.table(job.job_id))",
        '{"args": {"lr": 0.5}, "state": "SUCCEEDED", "seconds": true, "value": {"loss": 0.5, "text": "x"}, "error": null}\n'
        '{"args": {"lr": 0.5}, "state": "SUCCEEDED", "seconds": true, "value": null, "error": null}',
    ),
    "one that was cancelled": ("job = waits.run_async()\njob.cancel()\nprint([row['state'] for row in kinetic.table(job)])", "['CANCELLED']"),
    "a value that JSON has no room for": (
        "show(kinetic.table(ended(fit.run_async(0.5, 2_000_000))))",
        '{"args": {"lr": 0.5, "n": 2000000}, "state": "SUCCEEDED", "seconds": true, "value": null, "error": "only the pickle has the value: it is too large for JSON"}',
    ),
    "a map": (
        "batch, = ended(fit.run_async_map([0.5, {'lr': 0}, [0.25, 1]]))\nshow(kinetic.table(batch))\nbatch.results(return_exceptions=True)\nshow(kinetic.table(batch))",
        '{"args": {"lr": 0.5}, "state": "SUCCEEDED", "seconds": null, "value": {"loss": 0.5, "text": "x"}, "error": null, "index": 0}\n'
        '{"args": {"lr": 0}, "state": "FAILED", "seconds": null, "value": null, "error": "ValueError: no rate", "index": 1}\n'
        '{"args": {"lr": 0.25, "n": 1}, "state": "SUCCEEDED", "seconds": null, "value": {"loss": 0.75, "text": "x"}, "error": null, "index": 2}\n' * 2,
    ),
    "a map that results() has deleted": (
        "batch = fit.run_async_map([0.5, {'lr': 0.25}])\nbatch.results(ordered=False)\nshow(kinetic.table([batch]))\nshow(kinetic.table(batch.job))",
        '{"args": {"lr": 0.5}, "state": "SUCCEEDED", "seconds": null, "value": {"loss": 0.5, "text": "x"}, "error": null, "index": 0}\n'
        '{"args": {"lr": 0.25}, "state": "SUCCEEDED", "seconds": null, "value": {"loss": 0.75, "text": "x"}, "error": null, "index": 1}\n'
        '{"args": null, "state": "NOT_FOUND", "seconds": null, "value": null, "error": "JobNotFound"}',
    ),
    "a map that was attached, or read from text": (
        "batch, = ended(fit.run_async_map([0.5]))\nshow(kinetic.table([kinetic.attach_batch(batch.group_id), kinetic.BatchHandle.from_json(batch.to_json())]))",
        '{"args": null, "state": "SUCCEEDED", "seconds": null, "value": {"loss": 0.5, "text": "x"}, "error": null, "index": 0}\n' * 2,
    ),
}


@pytest.mark.parametrize("program, text", PROGRAMS.values(), ids=PROGRAMS)
def test_table(local: Project, program: str, text: str) -> None:
    assert local.run(PROGRAM + program).stdout.strip() == text.strip()


def test_a_large_value_of_the_command_line_is_not_read(local: Project) -> None:
    """Its JSON may have any size."""
    local.write("large.py", "def large(n): return 'x' * n\n")
    text = f"""
import os, subprocess, kinetic
for n in ("1000", "3000000"):
    id = "cpu-large-" + n
    subprocess.run([{str(BINARIES / "kubectl-kinetic_run")!r}, "large.py:large", "--arg=n=" + n, "--local", "--cleanup=false", "--job-id=" + id], check=True, stdout=subprocess.DEVNULL)
    row, = kinetic.table(id, local=True)
    print(row["args"], len(row["value"] or ""), row["error"])
"""
    assert local.run(text).stdout.splitlines() == ["{'n': 1000} 1000 None", "{'n': 3000000} 0 a value has more than 1 MiB: result() returns it"]


def test_the_first_inputs_of_a_map_are_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(mapping, "MOST_KNOWN", 2)
    function: Any = kinetic.run()(lambda x, y=0: x)
    known: list[dict[str, Any]] = []
    plan = mapping.Plan([1, (2, 3), 4], "auto", None, None, False)
    assert mapping.write(str(tmp_path / "inputs"), function, plan, payload.Inputs(), [], known) == 3
    assert known == [{"x": 1}, {"x": 2, "y": 3}]


def test_nothing() -> None:
    assert kinetic.table([]) == []
