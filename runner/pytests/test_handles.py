# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Handles: what they know, and what programs for keras-kinetic ask of them."""

from __future__ import annotations

from typing import Any

import kinetic
import pytest
from conftest import Project
from kinetic.client import process

THEIRS = {  # as keras-kinetic stores one
    "job_id": "job-0a1b2c3d", "backend": "gke", "project": "p", "cluster_name": "main", "zone": "z", "namespace": "team", "bucket_name": "p-kn-main-jobs",
    "k8s_name": "kinetic-job-0a1b2c3d", "image_uri": "r/i:1", "accelerator": "l4", "func_name": "train", "display_name": "kinetic-train-job-0a1b2c3d",
    "created_at": "2026-01-02T03:04:05Z",
}  # fmt: skip
PRINTED = {
    "job_id": "cpu-train", "backend": "gke", "project": "p", "cluster_name": "main", "zone": "z", "namespace": "team", "store": "gs://b/x",
    "k8s_name": "kinetic-cpu-train", "image_uri": "r/i:1", "debug": True, "labels": {"team": "x"}, "func_name": "train",
}  # fmt: skip


def test_a_handle_knows_where_its_job_is() -> None:
    job: kinetic.JobHandle[Any] = kinetic.JobHandle.of(PRINTED, {})
    assert (job.backend, job.project, job.zone, job.cluster_name, job.namespace) == ("gke", "p", "z", "main", "team")
    assert (job.bucket_name, job.k8s_name, job.image_uri, job.debug) == ("b", "kinetic-cpu-train", "r/i:1", True)
    assert (job.display_name, job.group_id, job.group_kind, job.group_index) == ("kinetic-train-cpu-train", None, None, None)
    with pytest.raises(AttributeError):
        job.backend = "local"  # type: ignore[misc]


def test_a_handle_that_was_found() -> None:
    found: kinetic.JobHandle[Any] = kinetic.JobHandle.of({"id": "m", "workload": "kinetic-m", "image": "r/i:1", "map": True, "hostCount": 1, "project": "p", "zone": "z", "debug": True}, {"cluster": "main"})
    assert (found.k8s_name, found.image_uri, found.cluster_name, found.group_id, found.group_kind) == ("kinetic-m", "r/i:1", "main", "m", "map")
    assert (found.project, found.zone, found.debug) == ("p", "z", True)


def test_what_a_handle_does_not_know_is_empty() -> None:
    job = kinetic.JobHandle[Any]("cpu-train", target={"local": True})
    assert (job.backend, job.project, job.bucket_name, job.k8s_name, job.debug) == ("local", "", "", "", False)


def test_dicts() -> None:
    job: kinetic.JobHandle[Any] = kinetic.JobHandle.of(PRINTED, {})
    again = kinetic.JobHandle.from_dict(job.to_dict())
    assert (again, again.to_dict(), again.to_json()) == (job, job.to_dict(), job.to_json())
    theirs = kinetic.JobHandle.from_dict(THEIRS).to_dict()
    assert {name: theirs[name] for name in THEIRS} == THEIRS
    assert theirs["target"] == {"project": "p", "zone": "z", "cluster": "main", "namespace": "team"}


@pytest.mark.parametrize("fields", [{}, {"job_id": "--help"}, {"version": 9, "job_id": "a1"}])
def test_dicts_that_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(kinetic.UsageError, match="not a handle|has version 9"):
        kinetic.JobHandle.from_dict(fields)


@pytest.mark.parametrize("ask", [kinetic.JobHandle.status, kinetic.JobHandle.cleanup, lambda job: job.ended])
def test_a_job_that_is_elsewhere_is_not_gone(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    error = {"kind": "elsewhere", "code": 2, "message": "job cpu-train is in another cluster: choose it with --context"}
    monkeypatch.setattr(process, "run", lambda *words, **more: process.Answer(2, b"", error))
    with pytest.raises(kinetic.KineticError, match="is in another cluster") as caught:
        ask(kinetic.JobHandle[Any]("cpu-train"))
    assert (caught.value.kind, isinstance(caught.value, kinetic.JobNotFound)) == ("elsewhere", False)


POSITIONAL = [
    (lambda: kinetic.list_jobs("p", "z"), "write kinetic.list_jobs(project='p', zone='z')"),
    (lambda: kinetic.attach("id", "p", "c"), "write kinetic.attach('id', project='p', cluster='c')"),
    (lambda: kinetic.attach_batch("id", "p"), "write kinetic.attach_batch('id', project='p')"),
]


@pytest.mark.parametrize("call, message", POSITIONAL)
def test_places_are_given_by_name(call: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == f"where jobs are is given by name: {message}"


def test_states_are_their_words() -> None:
    state = kinetic.JobStatus.FAILED
    assert state == "FAILED"
    counts: dict[str, int] = {state: 1}
    assert counts["FAILED"] == 1
    assert (str(state), f"{state}", f"{state:>17}", repr(state)) == ("JobStatus.FAILED", "JobStatus.FAILED", " JobStatus.FAILED", "<JobStatus.FAILED: 'FAILED'>")


PROGRAM = """
import os, sys, logging, warnings, kinetic
kinetic.configure(local=True)
@kinetic.run()
def work(n):
    for i in range(n): print("line", i)
    return n

@kinetic.run()
def wait(fifo):
    print("begun", flush=True)
    open(fifo).close()
    return 1

def caught(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except Exception as exc:
        return exc
    raise AssertionError("nothing was raised")

fifo = os.path.abspath("fifo")
os.mkfifo(fifo)
"""
PROGRAMS = {
    "lines while it runs": (
        "job = wait.run_async(fifo)\nlines = job.logs(follow=True)\nprint(next(lines))\nopen(fifo, 'w').close()\nprint(list(lines), job.result())",
        "begun\n[] 1",
    ),
    "lines that nobody wants": (
        "job = work.run_async(3)\njob.wait()\nlines = job.logs(follow=True)\nprint(next(lines))\nlines.close()\nprint(list(lines))",
        "line 0\n[]",
    ),
    "lines of a job that fails": ("job = work.run_async('x')\nprint(list(job.logs(follow=True))[-1][:10])", "TypeError:"),
    "lines that nobody reads": (
        "job = work.run_async(1)\nwith warnings.catch_warnings(record=True) as caught:\n    warnings.simplefilter('always')\n    job.logs(follow=True)\n"
        "print(str(caught[0].message).replace(job.job_id, 'ID'))",
        "the lines of logs(follow=True) of ID were not read: iterate over them, or print them with result(stream_logs=True)",
    ),
    "is it done": (
        "job = wait.run_async(fifo)\nprint([type(caught(call, timeout=0)).__name__ for call in (job.result, job.wait)])\n"
        "open(fifo, 'w').close()\njob.wait()\nprint(job.wait(timeout=0).value, job.result(timeout=0), job.result(timeout=0))",
        "['JobTimeout', 'JobTimeout']\nSUCCEEDED 1 1",
    ),
    "parameters without effect": (
        "job = work.run_async(1)\nprint(job.result(cleanup_timeout=180, cleanup_poll_interval=2, cleanup=False))\n"
        "job.cancel(cleanup_timeout=180)\njob.cleanup(cleanup_timeout=180, cleanup_poll_interval=2)",
        "1",
    ),
    "a callback that raises": (
        "def changed(state): raise LookupError(state.value)\nlogging.basicConfig(stream=sys.stdout, format='%(name)s %(message)s')\n"
        "job = work.run_async(1)\njob.wait()\nprint(job.result(on_status_change=changed))",
        "kinetic on_status_change raised for the state SUCCEEDED; the waiting goes on\nTraceback (most recent call last):\nLookupError: SUCCEEDED\n1",
    ),
}


@pytest.mark.parametrize("program, text", PROGRAMS.values(), ids=PROGRAMS)
def test_handles(local: Project, program: str, text: str) -> None:
    out = local.run(PROGRAM + program).stdout.splitlines()
    assert "\n".join(line for line in out if not line.startswith(" ")) == text


@pytest.mark.parametrize("open_one", ["lines = job.logs(follow=True)\nnext(lines)", "batch = wait.run_async_map(['/dev/null', fifo])\nbatch.jobs[0].result()"])
def test_a_program_that_stops_reading_ends(local: Project, open_one: str) -> None:
    done = local.run(PROGRAM + f"job = wait.run_async(fifo)\n{open_one}\njob.cancel()\nprint('end', flush=True)")
    assert (done.stdout, "Traceback" in done.stderr, "Exception ignored" in done.stderr) == ("end\n", False, False)
    assert not list(local.home.glob("kinetic-*"))
    if "map" in open_one:
        (local.directory / "fifo").open("w").close()  # which ends the map


def test_a_result_with_its_log(local: Project) -> None:
    done = local.run(PROGRAM + "states = []\nprint(work.run_async(3).result(stream_logs=True, timeout=60, on_status_change=states.append), states[-1].value)")
    assert done.stdout == "3 SUCCEEDED\n"
    assert [line for line in done.stderr.splitlines() if line.startswith("line")] == ["line 0", "line 1", "line 2"]


def test_a_result_with_its_log_that_comes_too_late(local: Project) -> None:
    done = local.run(PROGRAM + "job = wait.run_async(fifo)\nprint(type(caught(job.result, 0.5, stream_logs=True)).__name__)\njob.cancel()")
    assert done.stdout == "JobTimeout\n"

QUIET = """
import pickle, sys, kinetic
kinetic.configure(local=True)

@kinetic.run(logs="none")
def quiet(n):
    print("line")
    if n == 2: raise ValueError("two")
    return n

@kinetic.run()
def loud(n):
    return quiet.__wrapped__(n)

def end_of(handle, call):
    try:
        call()
    except Exception as exc:
        print(type(exc).__name__)

def mark(): print("--", file=sys.stderr)
"""
SILENCE = {
    "the decorator": "quiet.run_async(1).result()",
    "a copy of the handle": "pickle.loads(pickle.dumps(quiet.run_async(1))).result()",
    "await": "import asyncio\nasync def wait(): await quiet.run_async(1)\nasyncio.run(wait())",
    "configure": "kinetic.configure(logs='none')\nloud.run_async(1).result()",
    "configure, of a handle that was found": "job = quiet.run_async(1)\nkinetic.configure(logs='none')\nkinetic.attach(job.job_id).result()",
    "configure is changed later": "kinetic.configure(logs='none')\njob = loud.run_async(1)\nkinetic.configure(logs=None)\njob.result()",
    "a map": "batch = quiet.run_async_map([1, 2])\nend_of(batch, batch.results)",
    "an input": "batch = quiet.run_async_map([1, 2])\nend_of(batch, batch.jobs[1].result)",
}


@pytest.mark.parametrize("program", SILENCE.values(), ids=SILENCE)
def test_handles_obey_logs(local: Project, program: str) -> None:
    assert local.run(QUIET + program).stderr == ""


def test_handles_log_where_logs_says(local: Project) -> None:
    text = """
import logging, os, time
TOLD = os.path.expanduser("~/told")
class Told(logging.Handler):
    def emit(self, record):
        if record.getMessage() == "running: attempt 1": open(TOLD, "w").close()
logging.basicConfig(stream=sys.stdout, format="%(name)s %(message)s", level=logging.INFO)
logging.getLogger("kinetic").addHandler(Told())
@kinetic.run(logs="logging")
def waits():
    while not os.path.exists(TOLD): time.sleep(0.01)
waits.run_async().result()
"""
    done = local.run(QUIET + text)
    assert "kinetic running: attempt 1\n" in done.stdout
    assert done.stderr == ""


def test_a_log_that_is_asked_for_is_printed(local: Project) -> None:
    assert local.run(QUIET + "quiet.run_async(1).result(stream_logs=True)").stderr == "line\n"


def test_a_failed_map_says_why_once(local: Project) -> None:
    text = "batch = loud.run_async_map([1, 2])\nbatch.wait()\nmark()\nlist(batch.as_completed())\nmark()\nend_of(batch, batch.results)\nend_of(batch, batch.results)"
    _, first, again = local.run(QUIET + text).stderr.split("--\n")
    assert first.count("input 1: ValueError: two\n") == first.count("kinetic: next: kubectl") == 1
    assert again == ""


ENDS = {
    "while it runs": ("job = wait.run_async(fifo)\nprint(job.ended)\nopen(fifo, 'w').close()\njob.wait()\nprint(job.ended == 'SUCCEEDED', repr(job.ended))", "None\nTrue <JobStatus.SUCCEEDED: 'SUCCEEDED'>"),
    "its workload is gone": ("job = work.run_async(1)\njob.result()\nprint(job.status().value, repr(job.ended))", "NOT_FOUND <JobStatus.SUCCEEDED: 'SUCCEEDED'>"),
    "failed": ("job = work.run_async('x')\njob.wait()\nprint(repr(job.ended))", "<JobStatus.FAILED: 'FAILED'>"),
    "cancelled": ("job = wait.run_async(fifo)\njob.cancel()\nprint(job.ended)", "CANCELLED"),
    "nothing is left": ("job = work.run_async(1)\njob.wait()\njob.cleanup()\nprint(job.ended)", "None"),
}  # fmt: skip


@pytest.mark.parametrize("program, text", ENDS.values(), ids=ENDS)
def test_how_it_ended(local: Project, program: str, text: str) -> None:
    assert local.run(PROGRAM + program).stdout.strip() == text


TYPED = """
import sys, kinetic
from kinetic.client import binaries, process
from kinetic.client.report import Reporter

kinetic.configure(local=True)

def typed(target):
    '''Submit a job on the command line, and return its handle.'''
    report = Reporter("none")
    process.require(binaries.RUN, [target, "--local", "--detach"], report)
    return kinetic.attach(report.job["job_id"])

print(typed("train.py:train").result())
print("--", file=sys.stderr)
job = typed("train.py:train")
job.result(stream_logs=True)
try:
    typed("train.py:fail").result()
except kinetic.RemoteError as exc:
    print(exc)
"""


def test_a_job_of_the_command_line(local: Project) -> None:
    local.write("train.py", "def train(): return {'loss': float('nan')}\ndef fail(): raise ValueError('no')\n")
    done = local.run(TYPED)
    value, failure, why = done.stdout.splitlines()
    assert value == "{'loss': None}"
    assert failure.endswith(" failed: ValueError: no")
    assert why.startswith("  (it is not raised as ValueError: the job was submitted on the command line, or ")
    alone, with_log = done.stderr.split("--\n")
    assert alone.count("kinetic: warning: value.loss is NaN: null in JSON\n") == with_log.count("value.loss is NaN: null in JSON\n") == 1
    assert alone.count("kinetic: exact value, pickled: file://") == 1
