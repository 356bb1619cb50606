# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What results() of a map keeps, and what it reads again; and threads that call it at once."""

from __future__ import annotations

import copy
import json
import os
import pathlib
import pickle
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any, Optional

import kinetic
import pytest
from conftest import Project
from kinetic import BatchError, BatchHandle, Interrupted, JobHandle, JobTimeout, UntrustedResult
from kinetic.client import batch as batches
from kinetic.client import binaries, flags

UNLOADABLE = """
import os, kinetic
kinetic.configure(local=True, logs="none")

class Odd:
    def __reduce__(self): return load, ()

def load():
    import os, kinetic
    if not kinetic.in_job() and "LIBRARY" not in os.environ: raise LookupError("no library")
    return 7

@kinetic.run()
def odd(x): return Odd() if x == 1 else x

batch = odd.run_async_map([0, 1, 2])
first = batch.jobs[1]
for read in (batch.results, batch.results, first.result):
    try:
        read()
    except kinetic.KineticError as exc:
        print(type(exc).__name__, "LookupError: no library" in str(exc))
os.environ["LIBRARY"] = "1"
print(batch.results(), first.result(), batch.job.status().value)
print(batch.results(), [each.index for each in batch.failures()])
"""


def test_values_that_can_be_loaded_later(local: Project) -> None:
    out = local.run(UNLOADABLE).stdout.splitlines()
    assert out == ["BatchError True", "BatchError True", "RemoteError True", "[0, 7, 2] 7 NOT_FOUND", "[0, 7, 2] []"]


def test_an_input_is_read_again_after_results(local: Project) -> None:
    text = UNLOADABLE.replace("print(batch.results(), first.result(), batch.job.status().value)", "print(first.result())").replace(", first.result)", ")")
    assert local.run(text).stdout.splitlines() == ["BatchError True", "BatchError True", "7", "[0, 7, 2] []"]


def test_a_single_input_is_read_again(local: Project) -> None:
    text = UNLOADABLE.replace("(batch.results, batch.results, first.result)", "(batch.jobs[2].result, first.result, first.result)")
    text = text.replace("print(batch.results(), first.result(), batch.job.status().value)", "print(first.result(), batch.jobs[0].result())")
    assert local.run(text).stdout.splitlines() == ["RemoteError True", "RemoteError True", "7 0", "[0, 7, 2] []"]


# A map of which 1 is not trusted. Its results come once the fifo was opened, if there is one; a timeout expires at once.
STAND_IN = """#!{python}
import json, os, sys
with open({record!r}, "a") as file:
    file.write(json.dumps(sys.argv[2:]) + "\\n")
if sys.argv[2] == "result":
    if any(word.startswith("--timeout") for word in sys.argv) and "EXPIRES" in os.environ:
        sys.stderr.write(json.dumps({{"event": "error", "kind": "timeout", "code": 124, "message": "expired"}}) + "\\n")
        sys.exit(124)
    if "FIFO" in os.environ:
        open(os.environ["FIFO"], "w").close()
        open(os.environ["FIFO"]).close()
    print(json.dumps({{"index": 0, "ok": True, "value": 10}}))
    trusted = "--trust-store" in sys.argv or "TRUSTED" in os.environ
    print(json.dumps({{"index": 1, "ok": True, "value": 11}} if trusted else {{"index": 1, "ok": False, "error": {{"type": "UntrustedResult", "message": "no"}}}}))
    if not trusted:
        sys.stderr.write(json.dumps({{"event": "error", "kind": "job_failed", "code": 1, "message": "1 of 2"}}) + "\\n")
        sys.exit(1)
if sys.argv[2] == "status":
    print('{{"state": "RUNNING"}}')
"""


class Map:
    """A map whose binary is a stand-in."""

    def __init__(self, place: pathlib.Path) -> None:
        self._record = place / "record"
        file = place / binaries.JOBS
        file.write_text(STAND_IN.format(python=sys.executable, record=str(self._record)))
        file.chmod(0o755)
        self.batch = BatchHandle[int](JobHandle("cpu-area", is_map=True, target={"cluster": "main"}))

    def commands(self) -> list[str]:
        """The commands of jobs that were run."""
        return [json.loads(line)[0] for line in self._record.read_text().splitlines()]


@pytest.fixture
def stand_in(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Map:
    monkeypatch.setenv("KINETIC_BIN", str(tmp_path))
    return Map(tmp_path)


def test_values_that_are_trusted_later(stand_in: Map) -> None:
    batch = stand_in.batch
    with pytest.raises(BatchError) as caught:
        batch.results()
    assert [(each.index, type(each.exception)) for each in caught.value.failures] == [(1, UntrustedResult)]
    assert batch.results(trust_store=True) == batch.results() == [10, 11]
    assert stand_in.commands() == ["result", "result", "cleanup"]


class Reading:
    """A thread that calls results(), from when its binary has begun until it may end."""

    def __init__(self, batch: BatchHandle[int], fifo: pathlib.Path) -> None:
        self._fifo = fifo
        self.values: Optional[list[int]] = None
        self._thread = threading.Thread(target=self._read, args=[batch], daemon=True)
        self._thread.start()
        open(fifo, encoding="utf-8").close()

    def _read(self, batch: BatchHandle[int]) -> None:
        self.values = batch.results()

    def end(self) -> None:
        open(self._fifo, "w", encoding="utf-8").close()
        self._thread.join(60)


@pytest.fixture
def reading(stand_in: Map, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reading]:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for name, value in {"FIFO": str(fifo), "TRUSTED": "1", "EXPIRES": "1"}.items():
        monkeypatch.setenv(name, value)
    thread = Reading(stand_in.batch, fifo)
    yield thread
    if thread.values is None:
        thread.end()


def test_one_of_two_threads_reads(stand_in: Map, reading: Reading) -> None:
    found: list[Any] = []
    other = threading.Thread(target=lambda: found.extend(stand_in.batch.results()), daemon=True)
    with pytest.raises(JobTimeout, match="cpu-area: another thread is still reading its results after 0.001 s"):
        stand_in.batch.results("1ms")
    other.start()
    reading.end()
    other.join(60)
    assert found == reading.values == [10, 11]
    assert stand_in.commands() == ["result", "cleanup"]


def test_a_thread_that_does_not_wait(stand_in: Map, reading: Reading) -> None:
    with pytest.raises(JobTimeout, match="cpu-area is RUNNING: it has not ended yet"):
        stand_in.batch.results(timeout=0)
    with pytest.raises(kinetic.UsageError, match="timeout=-1: expected more than 0 seconds"):
        stand_in.batch.results(timeout=-1)
    assert stand_in.commands() == ["result", "status"]


class Turn:
    """A lock that another thread has until it is waited for."""

    def __init__(self, interrupted: bool = False) -> None:
        self.waited: list[float] = []
        self._interrupted = interrupted

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if blocking:
            self.waited.append(timeout)
        if blocking and self._interrupted:
            raise KeyboardInterrupt
        return blocking

    def release(self) -> None: ...


@pytest.mark.parametrize("timeout, waited, rest", [(None, -1, None), (90, 90, 80), ("1m", 60, 50), ("10", 10, batches.SOON)])
def test_who_has_waited_for_another_thread_waits_for_the_rest(
    stand_in: Map, monkeypatch: pytest.MonkeyPatch, timeout: Any, waited: float, rest: Optional[float]
) -> None:
    clock = iter((100.0, 110.0))
    monkeypatch.setattr(batches, "time", types.SimpleNamespace(monotonic=lambda: next(clock)))
    turn = Turn()
    vars(stand_in.batch)["_turn"] = os.getpid(), turn
    with stand_in.batch._alone(timeout) as left:
        assert (turn.waited, left) == ([waited], rest)


def test_interrupted_while_another_thread_reads(stand_in: Map) -> None:
    vars(stand_in.batch)["_turn"] = os.getpid(), Turn(interrupted=True)
    with pytest.raises(Interrupted, match=r"its handle: kinetic.attach_batch\('cpu-area', cluster='main'\)") as caught:
        stand_in.batch.results()
    assert caught.value.job_id == "cpu-area"


def test_copies_have_locks_of_their_own(stand_in: Map) -> None:
    for again in (pickle.loads(pickle.dumps(stand_in.batch)), copy.copy(stand_in.batch), copy.deepcopy(stand_in.batch)):
        assert vars(again)["_turn"] is not vars(stand_in.batch)["_turn"]
        assert again.results(trust_store=True) == [10, 11]


def test_in_a_forked_process_nobody_waits_for_a_thread_of_its_parent(stand_in: Map) -> None:
    vars(stand_in.batch)["_turn"] = os.getpid() + 1, Turn(interrupted=True)
    with stand_in.batch._alone(None) as rest:
        assert rest is None


SECONDS = {"90": 90, "1.5": 1.5, "1h30m": 5400, "2d12h": 216_000, "1m.5s": 60.5, "250ms": 0.25, "3us5µs": 8e-6, "7ns": 7e-9}


@pytest.mark.parametrize("text, number", SECONDS.items())
def test_seconds_of_a_timeout(text: str, number: float) -> None:
    assert flags.seconds(text) == pytest.approx(number)
    assert flags.seconds(number) == number
