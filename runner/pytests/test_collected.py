# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Values that were computed: no Ctrl-C, no kill and no failed cleanup loses one."""

from __future__ import annotations

import pathlib
import pickle
import signal
from typing import Any

import kinetic
import pytest
from conftest import Project
from kinetic.client import process, result
from kinetic.client.report import Reporter

# What is unpickled here can call something first.
VALUES = """
on_load = None

class Value:
    def __init__(self, x): self.x = x
    def __reduce__(self): return make, (self.x,)

def make(x):
    if on_load is not None: on_load()
    return Value(x)
"""
PROGRAM = """
import os, pickle, signal, sys, kinetic
import values
from kinetic.client import process

kinetic.configure(local=True, logs="none")

@kinetic.run()
def work(x): return values.Value(x)

def press(): os.kill(os.getpid(), signal.SIGINT)

def values_of(said): return pickle.load(open(said.rpartition("its value is kept in ")[2].partition(":")[0], "rb"))

def interrupted(call):
    try:
        call()
    except KeyboardInterrupt as exc:
        values.on_load = None
        return exc
    raise AssertionError("it was not interrupted")

def press_when_it_has_ended():
    following = process.Running.__next__
    def pressed(running):
        try:
            return following(running)
        except StopIteration:
            process.Running.__next__ = following
            press()
            raise
    process.Running.__next__ = pressed
"""
AFTER_CLEANUP = """
deleting = kinetic.JobHandle.cleanup
def then(call):
    def cleanup(job, *args):
        deleting(job, *args)
        call()
    kinetic.JobHandle.cleanup = cleanup
def fail(): raise kinetic.KineticError("the store is gone")
"""
INTERRUPTED = {
    "a result while it is unpickled": ("job = work.run_async(7)\nvalues.on_load = press\nprint(interrupted(job.result).job_id == job.job_id, job.result().x)", "True 7"),
    "a call while its value is unpickled": ("values.on_load = press\nprint(kinetic.attach(interrupted(lambda: work(7)).job_id, local=True).result().x)", "7"),
    "a result after the deletion": (
        "job = work.run_async(7)\npress_when_it_has_ended()\nexc = interrupted(job.result)\nprint(exc.job_id == job.job_id, job.result().x, values_of(str(exc)).x)",
        "True 7 7",
    ),
    "a call after the deletion": (
        "press_when_it_has_ended()\nsaid = str(interrupted(lambda: work(7)))\n"
        "file = said.rpartition('its value is kept in ')[2].partition(':')[0]\nprint(pickle.load(open(file, 'rb')).x, os.stat(os.path.dirname(file)).st_mode & 0o77)",
        "7 0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("program, text", INTERRUPTED.values(), ids=INTERRUPTED)
def test_an_interrupt_keeps_the_value(local: Project, program: str, text: str) -> None:
    local.write("values.py", VALUES)
    assert local.run(PROGRAM + program).stdout.strip() == text


@pytest.mark.parametrize("call", ["work.run_async(7).result()", "work(7)"])
def test_a_program_that_is_killed_leaves_the_value_in_the_store(local: Project, call: str) -> None:
    local.write("values.py", VALUES)
    local.run(PROGRAM + f"values.on_load = lambda: os.kill(os.getpid(), signal.SIGKILL)\n{call}", code=-signal.SIGKILL)
    done = local.run(PROGRAM + "print([job.result().x for job in kinetic.list_jobs(all=True, local=True)])")
    assert done.stdout == "[7]\n"


# The waiting is cancelled while the value is unpickled.
CANCELLED = """
import asyncio, threading
from kinetic.client.interrupts import Stop
asked, ask = threading.Event(), Stop.ask
def told(stop):
    ask(stop)
    asked.set()
Stop.ask = told
async def main():
    loop, task, job = asyncio.get_running_loop(), asyncio.current_task(), work.run_async(7)
    values.on_load = lambda: (loop.call_soon_threadsafe(task.cancel), asked.wait())
    try:
        await job
    except asyncio.CancelledError as exc:
        values.on_load = None
        print(job.result().x, values_of(str(exc)).x)
asyncio.run(main())
"""


def test_a_cancelled_await_keeps_the_value(local: Project) -> None:
    local.write("values.py", VALUES)
    assert local.run(PROGRAM + CANCELLED).stdout == "7 7\n"


MAPS = {
    "map, a failed cleanup": ("then(fail)\nprint([value.x for value in work.map([7, 8])])", "[7, 8]"),
    "results, a failed cleanup": ("then(fail)\nprint([value.x for value in work.run_async_map([7, 8]).results()])", "[7, 8]"),
    "as_completed, a failed cleanup": (
        "then(fail)\nprint([outcome.value.x for outcome in work.run_async_map([7, 8]).as_completed(cleanup=True)])",
        "[7, 8]",
    ),
    "map, interrupted": ("then(press)\nprint([value.x for value in values_of(str(interrupted(lambda: work.map([7, 8]))))])", "[7, 8]"),
    "results, interrupted": (
        "batch = work.run_async_map([7, 8])\nthen(press)\nsaid = str(interrupted(batch.results))\n"
        "print([value.x for value in batch.results() + values_of(said)])",
        "[7, 8, 7, 8]",
    ),
    "inputs that were taken before": (
        "batch = work.run_async_map([7, 8])\njobs = batch.jobs\nbatch.results()\nprint([job.result().x for job in jobs])",
        "[7, 8]",
    ),
}


@pytest.mark.parametrize("program, text", MAPS.values(), ids=MAPS)
def test_values_of_a_map(local: Project, program: str, text: str) -> None:
    local.write("values.py", VALUES)
    assert local.run(PROGRAM + AFTER_CLEANUP + program).stdout.strip() == text


def test_a_failed_cleanup_is_a_warning(local: Project) -> None:
    local.write("values.py", VALUES)
    said = local.run(PROGRAM + AFTER_CLEANUP + "then(fail)\nwork.with_options(logs='stderr').map([7])").stderr
    assert " was not deleted: the store is gone" in said


# Another thread begins to wait for the same handle before the first has the value, and its binary comes after the value was deleted.
WAITERS = """
import threading
job = work.run_async(7)
run, began, deleted, got = process.run, threading.Event(), threading.Event(), []
def late(*args, **more):
    process.run = run
    began.set()
    deleted.wait()
    return run(*args, **more)
def wait():
    try:
        got.append(job.result(cleanup=CLEANUP).x)
    except Exception as exc:
        got.append(exc)
process.run = late
second = threading.Thread(target=wait)
second.start()
began.wait()
"""
DELETED = {
    "the first has returned": "print(job.result().x)\ndeleted.set()\nsecond.join()\nprint(got)",
    "the first deletes": """
confirm = process.Running.confirm
def confirmed(running):
    confirm(running)
    running.process.wait()
    deleted.set()
    second.join()
process.Running.confirm = confirmed
print(job.result().x)
print(got)
""",
}


@pytest.mark.parametrize("cleanup", ["True", "False"])
@pytest.mark.parametrize("program", DELETED.values(), ids=DELETED)
def test_all_who_wait_for_a_handle_get_its_value(local: Project, program: str, cleanup: str) -> None:
    local.write("values.py", VALUES)
    done = local.run(PROGRAM + WAITERS.replace("CLEANUP", cleanup) + program)
    assert done.stdout == "7\n[7]\n"


def test_the_value_of_a_job_that_failed_is_not_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "value.pkl"
    file.write_bytes(pickle.dumps(7))

    def run(name: str, words: list[str], on_event: Any, **more: Any) -> process.Answer:
        on_event({"event": "result", "state": "FAILED", "ok": True, "pickle": {}, "job": "cpu-train"})
        return process.Answer(1, b"", {"kind": "job_failed", "message": "host 1 failed"})

    monkeypatch.setattr(process, "run", run)
    kept: list[Any] = []
    with pytest.raises(kinetic.KineticError, match="host 1 failed"):
        result.fetch("kubectl-kinetic_jobs", [], str(file), Reporter("none"), kept=kept)
    assert kept == []
