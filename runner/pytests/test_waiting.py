# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Waiting for jobs on this machine: timeouts, states, Ctrl-C."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys

import pytest
from conftest import INTERRUPT, Project

SLOW = """
import os, sys, kinetic
@kinetic.run(local=True)
def wait():
    print("begun", flush=True)
    with open(os.environ["FIFO"]) as file:
        file.read()
"""

ALIVE = """
import os, signal, kinetic
@kinetic.run(local=True)
def alive():
    with open(os.environ["ALIVE"], "w"):
        while True: signal.pause()
"""


def test_timeout(local: Project) -> None:
    text = """
import kinetic
os.mkfifo(os.environ["FIFO"])
job = wait.run_async()
try:
    job.result(timeout=0.2)
except TimeoutError as exc:
    print(type(exc).__name__)
job.cancel()
print(job.status().value, job.end)
"""
    done = local.run(SLOW + text, env={"FIFO": str(local.home / "fifo")})
    assert done.stdout.splitlines() == ["JobTimeout", "NOT_FOUND ended CANCELLED"]


def test_status_changes(local: Project) -> None:
    text = """
import kinetic
os.mkfifo(os.environ["FIFO"])
def changed(state):
    print(state.value)
    if state is kinetic.JobStatus.RUNNING:
        open(os.environ["FIFO"], "w").close()  # the job ends
job = wait.run_async()
print(job.end)
job.result(on_status_change=changed)
print(job.status().value, job.end)
"""
    done = local.run(SLOW + text, env={"FIFO": str(local.home / "fifo")})
    assert done.stdout.splitlines() == ["None", "RUNNING", "SUCCEEDED", "NOT_FOUND ended SUCCEEDED, its value was collected"]


@pytest.mark.parametrize("times", [1, 2])
def test_interrupt(local: Project, times: int) -> None:
    fifo = local.home / "fifo"
    local.write("main.py", SLOW + 'os.mkfifo(os.environ["FIFO"])\ntry:\n    wait()\nexcept kinetic.Interrupted as exc:\n    print(exc.job_id, exc.__context__, exc)')
    env = local.environment({"FIFO": str(fifo)})
    words = [sys.executable, "main.py"]
    with subprocess.Popen(words, cwd=local.directory, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any("begun" in line for line in process.stderr)
        for _ in range(times):
            process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0, err
    assert out.startswith("cpu-wait-")
    assert " None " in out
    assert "its handle: kinetic.attach('cpu-wait-" in out


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
def test_a_job_in_the_foreground_ends_with_its_program(local: Project, number: signal.Signals) -> None:
    alive = local.home / "alive"
    os.mkfifo(alive)
    default = "" if number == signal.SIGKILL else f"import signal; signal.signal({int(number)}, signal.SIG_DFL)\n"  # the tests may run under nohup
    local.write("main.py", ALIVE + default + "alive()")
    with subprocess.Popen([sys.executable, "main.py"], cwd=local.directory, env=local.environment({"ALIVE": str(alive)}), stderr=subprocess.DEVNULL) as process:
        with open(alive, "rb") as job:  # once the call has opened it
            process.send_signal(number)
            ended = select.select([job], [], [], 60)[0]
            process.kill()
            assert ended, "the job still runs"
            assert job.read() == b""
    assert process.returncode == -number


def test_a_job_in_the_background_outlives_its_program(local: Project) -> None:
    alive = local.home / "alive"
    os.mkfifo(alive)
    local.write("main.py", ALIVE + "print(alive.run_async().job_id, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)")
    with subprocess.Popen([sys.executable, "main.py"], cwd=local.directory, env=local.environment({"ALIVE": str(alive)}), stdout=subprocess.PIPE, text=True) as process:
        with open(alive, "rb") as job:
            job_id, _ = process.communicate(timeout=60)
            done = local.run(f"import kinetic\njob = kinetic.attach({job_id.strip()!r}, local=True)\nprint(job.status().value)\njob.cancel()", name="other.py")
            assert done.stdout == "RUNNING\n"
            assert job.read() == b""


INTERRUPTED = {
    "result": "job.result()",
    "wait": "job.wait()",
    "the log": "list(job.logs(follow=True))",
    "a result with its log": "job.result(stream_logs=True)",
    "results": "batch.results()",
    "as they come": "list(batch.as_completed())",
    "the end of a map": "batch.wait()",
    "an input": "batch.jobs[0].result()",
}


# Ctrl-C is pressed in the middle of this. The binary may not handle that yet: then it says nothing itself.
MOMENTS = {
    "while the binary starts": """
starting = process.start
def interrupted(name, words):
    process.start = starting
    child = starting(name, words)
    os.kill(os.getpid(), signal.SIGINT)
    return child
process.start = interrupted
""",
    "when it has started": INTERRUPT,
}


@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS)
@pytest.mark.parametrize("call", INTERRUPTED.values(), ids=INTERRUPTED)
def test_an_interrupted_handle_names_its_job(local: Project, call: str, moment: str) -> None:
    begin = "handle = job = wait.run_async()" if "batch" not in call else "handle = batch = wait.run_async_map([()])"
    text = f"""
import signal
from kinetic.client import process
os.mkfifo(os.environ["FIFO"])
{begin}
{moment}
try:
    {call}
except kinetic.Interrupted as exc:
    print(exc.job_id == (handle if {begin.startswith("handle = job")} else batch.job).job_id)
    print(str(exc).rpartition("its handle: ")[2])
    handle.cancel()
"""
    function = "attach" if "batch" not in call else "attach_batch"
    same, attach = local.run(SLOW + text, env={"FIFO": str(local.home / "fifo")}).stdout.splitlines()
    assert same == "True"
    assert attach.startswith(f"kinetic.{function}('cpu-wait-")
    assert attach.endswith("', local=True)")


def test_jobs_are_awaited_without_waiting_for_each_other(local: Project) -> None:
    text = """
import asyncio, concurrent.futures
os.mkfifo(os.environ["FIFO"])
@kinetic.run(local=True)
def quick(x): return x
async def main():
    asyncio.get_running_loop().set_default_executor(concurrent.futures.ThreadPoolExecutor(1))  # which others may use up
    slow = wait.run_async()
    async def first(): return await slow
    waiting = asyncio.ensure_future(first())
    print(await quick.run_async(7))
    try:
        await asyncio.wait_for(slow, 0.1)
    except asyncio.TimeoutError:
        print("TimeoutError")
    open(os.environ["FIFO"], "w").close()
    print(await waiting)
asyncio.run(main())
"""
    assert local.run(SLOW + text, env={"FIFO": str(local.home / "fifo")}).stdout.splitlines() == ["7", "TimeoutError", "None"]


STOPPED = """
import asyncio, kinetic
class Own(StopIteration): pass
@kinetic.run(local=True, logs="none")
def stop(own):
    if own:
        raise Own(7)
    next(iter([]))
async def main(own):
    job = stop.run_async(own)
    try:
        await job
    except RuntimeError as exc:
        print(type(exc).__name__, type(exc.__cause__).__name__, type(exc.__cause__.__cause__).__name__)
    try:
        job.result()
    except StopIteration as exc:
        print(type(exc).__name__)
asyncio.run(main(False))
asyncio.run(main(True))
"""


def test_stop_iteration_is_awaited(local: Project) -> None:
    assert local.run(STOPPED).stdout.splitlines() == ["RuntimeError StopIteration RemoteTraceback", "StopIteration", "RuntimeError Own RemoteTraceback", "Own"]
