# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is said while a job runs, and what its end becomes."""

from __future__ import annotations

import dataclasses
import json
import logging
import pathlib
import pickle
from typing import Any

import pytest
from kinetic import BatchHandle, JobHandle, JobNotFound, JobStatus, JobTimeout, KineticError, RemoteError, RemoteTraceback, UsageError, errors
from kinetic.client import process, result
from kinetic.client.report import Reporter, clean

SUBMITTED = {"event": "submitted", "job": {"job_id": "cpu-train", "hosts": 1}}
EVENTS: list[dict[str, Any]] = [
    {"event": "phase", "name": "packaged", "detail": "1 file, 3 B"},
    SUBMITTED,
    {"event": "progress", "name": "storing", "done": 1, "total": 2},
    {"event": "state", "state": "PENDING", "message": "waiting: no node"},
    {"event": "state", "state": "PENDING", "message": "waiting: no node"},
    {"event": "state", "state": "RUNNING", "message": "attempt 1"},
    {"event": "log", "host": 0, "stream": "stdout", "line": "epoch 1"},
    {"event": "warning", "message": "3 GiB"},
    {"event": "unknown", "to": "this version"},
]


def test_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    report = Reporter()
    for event in EVENTS:
        report(event)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "kinetic: packaged 1 file, 3 B",
        "kinetic: submitted cpu-train",
        "kinetic: waiting: no node",
        "kinetic: running: attempt 1",
        "epoch 1",
        "kinetic: warning: 3 GiB",
    ]


def test_outputs_are_told_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    report = Reporter()
    message = "1 output: kubectl kinetic jobs outputs cpu-a-1 cp out --local; to continue from there, run it with --resume-from cpu-a-1"
    report({"event": "note", "message": message})
    report({"event": "submitted", "job": {"job_id": "cpu-a-1", "backend": "local"}})
    report({"event": "note", "message": message})
    assert [line for line in capsys.readouterr().err.splitlines() if "output" in line] == [
        "kinetic: 1 output: kubectl kinetic jobs outputs cpu-a-1 cp out --local; to continue from there, run it with resume_from='cpu-a-1'",
        "kinetic: 1 output: kinetic.attach('cpu-a-1', local=True).outputs(to='out'); to continue from there, run it with resume_from='cpu-a-1'",
    ]


def test_brief(capsys: pytest.CaptureFixture[str]) -> None:
    report = Reporter(brief=True)
    for event in [*EVENTS, {"event": "phase", "name": "payload", "detail": "71 KiB"}, {"event": "phase", "name": "succeeded", "detail": "cpu-train"}]:
        report(event)
    report({"event": "state", "state": "RUNNING", "message": "attempt 2"})
    said = ["submitted cpu-train", "waiting: no node", "warning: 3 GiB", "running: attempt 2"]
    assert capsys.readouterr().err.replace("epoch 1\n", "").splitlines() == [f"kinetic: {line}" for line in said]


def test_progress_of_a_map(capsys: pytest.CaptureFixture[str]) -> None:
    report = Reporter()
    for done in (0, 50, 300, 301, 2000):
        report({"event": "progress", "name": "map", "done": done, "total": 2000})
    report({"event": "phase", "name": "map", "detail": "2,000/2,000 done"})
    assert capsys.readouterr().err.splitlines() == ["kinetic: map 300/2,000 done", "kinetic: map 2,000/2,000 done"]


def test_logging(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    report = Reporter("logging")
    for event in EVENTS:
        report(event)
    assert ("kinetic.job", logging.INFO, "epoch 1") in caplog.record_tuples
    assert ("kinetic", logging.WARNING, "3 GiB") in caplog.record_tuples


def test_warnings_of_a_result_that_the_log_has_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    report = Reporter()
    report({"event": "log", "host": 0, "line": "rank 3 | kinetic: warning: value.loss is NaN"})
    report({"event": "result", "state": "SUCCEEDED", "ok": True, "warnings": ["value.loss is NaN", "value.step is a set"]})
    assert [line for line in capsys.readouterr().err.splitlines() if line.startswith("kinetic: ")] == ["kinetic: warning: value.step is a set"]


def test_none(capsys: pytest.CaptureFixture[str]) -> None:
    report = Reporter("none")
    for event in EVENTS:
        report(event)
    assert capsys.readouterr() == ("", "")


class Program:
    """Stands for a binary that prints a line, and then an address."""

    process: Any = None

    def __init__(self, *words: Any, **output: Any) -> None:
        self._events: Any = iter([{"event": "note", "message": "host 1 does not answer"}, {"event": "output", "line": "127.0.0.1:6006"}])

    def __iter__(self) -> Any:
        return self._events


@pytest.mark.parametrize("logs, said", [("none", ""), ("stderr", "kinetic: host 1 does not answer\n")])
@pytest.mark.parametrize("look", [JobHandle.stacks, JobHandle.debug_attach, lambda job: job.forward(6006)], ids=["stacks", "debug", "forward"])
def test_looking_inside_obeys_logs(look: Any, logs: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def require(name: str, words: list[str], on_event: Any, **more: Any) -> None:
        for event in Program():
            on_event(event)

    monkeypatch.setattr(process, "require", require)
    monkeypatch.setattr(process, "Running", Program)
    job: JobHandle[int] = JobHandle("cpu-train")
    job.obey({"logs": logs})
    look(job)
    assert capsys.readouterr().err == said


def test_status_changes() -> None:
    states: list[str] = []
    report = Reporter("none", states.append)
    for event in [*EVENTS, {"event": "result", "state": "SUCCEEDED", "ok": True}]:
        report(event)
    assert states == ["PENDING", "RUNNING", "SUCCEEDED"]


@pytest.mark.parametrize("event, prefix", [({"host": 1}, "[host 1] "), ({"chunk": 2}, "[chunk 2] ")])
def test_lines_of_several_pods(event: dict[str, Any], prefix: str, capsys: pytest.CaptureFixture[str]) -> None:
    report = Reporter()
    report({"event": "submitted", "job": {"job_id": "x", "hosts": 4}})
    report({"event": "log", "line": "epoch 1", **event})
    assert capsys.readouterr().err.endswith(f"\n{prefix}epoch 1\n")


@pytest.mark.parametrize("line", [b"plain text\n", b"{}\n", b"[1]\n", b'{"event"\n', b"\xff\n"])
def test_what_is_not_an_event(line: bytes) -> None:
    assert process.parse(line) is None


KINDS = [("usage", UsageError), ("usage", ValueError), ("job_not_found", JobNotFound), ("timeout", JobTimeout), ("timeout", TimeoutError), ("forbidden", KineticError)]


@pytest.mark.parametrize("kind, error", KINDS)
def test_errors_of_binaries(kind: str, error: type[Exception]) -> None:
    exc = errors.of_kind(kind, 7, "it failed", "try this")
    assert isinstance(exc, error)
    assert (str(exc), exc.kind, exc.code) == ("it failed\n  next: try this", kind, 7)


FAILED: dict[str, Any] = {
    "event": "result", "job": "cpu-train", "state": "FAILED", "reason": "Exception", "ok": False, "host": 2, "attempt": 3,
    "error": {"type": "ValueError", "message": "no rows", "traceback": "Traceback …\nValueError: no rows\n"},
}  # fmt: skip
KILLED = errors.of_kind("job_failed", 1, "job cpu-train failed: out of memory", "kubectl kinetic jobs logs cpu-train")


def test_own_exception(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "result.pkl"
    file.write_bytes(pickle.dumps(ValueError("no rows")))
    with pytest.raises(ValueError, match="no rows") as caught:
        result.raise_failure(str(file), FAILED, KILLED)
    cause = caught.value.__cause__
    assert isinstance(cause, RemoteTraceback)
    assert (cause.host, cause.attempt, cause.text) == (2, 3, FAILED["error"]["traceback"])
    assert "(host 2, attempt 3)\nTraceback …\nValueError: no rows" in str(cause)


@pytest.mark.parametrize("content", [None, pickle.dumps(None), b"no pickle", b"cnosuch\nThing\n)R."], ids=["missing", "null", "broken", "unknown module"])
def test_remote_error(tmp_path: pathlib.Path, content: Any) -> None:
    file = tmp_path / "result.pkl"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(RemoteError, match="cpu-train failed: ValueError: no rows") as caught:
        result.raise_failure(str(file), FAILED, KILLED)
    error = caught.value
    assert (error.job_id, error.reason, error.type, error.traceback) == ("cpu-train", "Exception", "ValueError", FAILED["error"]["traceback"])
    assert isinstance(error.__cause__, RemoteTraceback)


def test_value_of_a_job_of_the_command_line(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "result"
    file.write_text('{"loss": 0.5}')
    assert result.value_of(str(file), {"job": "cpu-train", "pickle": None}) == {"loss": 0.5}


def test_killed(tmp_path: pathlib.Path) -> None:
    event = {**FAILED, "reason": "OOMKilled", "error": None}
    with pytest.raises(RemoteError, match="^job cpu-train failed: out of memory\n  next: kubectl") as caught:
        result.raise_failure(str(tmp_path / "result.pkl"), event, KILLED)
    assert (caught.value.reason, caught.value.type, caught.value.__cause__) == ("OOMKilled", None, None)


OUT_OF_MEMORY = "out of memory: it used all of its 100Mi; request more with --memory"


@pytest.mark.parametrize("error", [None, {"type": "Killed", "message": OUT_OF_MEMORY, "traceback": ""}], ids=["the pod", "the call"])
def test_out_of_memory(tmp_path: pathlib.Path, error: Any) -> None:
    event = {**FAILED, "reason": "Killed", "error": error}
    killed = errors.of_kind("job_failed", 1, f"job cpu-train failed: {OUT_OF_MEMORY}")
    with pytest.raises(RemoteError) as caught:
        result.raise_failure(str(tmp_path / "result.pkl"), event, killed)
    assert str(caught.value).partition(": ")[2] == f"{OUT_OF_MEMORY}\n  in Python: memory= for --memory"


def test_exit_code(tmp_path: pathlib.Path) -> None:
    event = {**FAILED, "reason": "ExitCode", "error": {"type": "ExitCode", "message": "train ended with exit code 3", "traceback": ""}}
    with pytest.raises(RemoteError, match="^cpu-train failed: train ended with exit code 3$") as caught:
        result.raise_failure(str(tmp_path / "result.pkl"), event, KILLED)
    assert caught.value.type is None


def test_value_that_cannot_be_loaded_is_kept(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    file = tmp_path / "result.pkl"
    file.write_bytes(b"cnosuch\nThing\n)R.")
    with pytest.raises(KineticError, match="can't be loaded here .*No module named 'nosuch'") as caught:
        result.value_of(str(file), {"job": "cpu-train", "pickle": {}})
    kept = str(caught.value).rsplit(" ", 1)[1]
    assert pathlib.Path(kept).read_bytes() == b"cnosuch\nThing\n)R."


HANDLE = {"job_id": "cpu-train", "func_name": "train", "accelerator": "cpu", "created_at": "2026-01-02T03:04:05Z"}


def test_handle_survives_json() -> None:
    handle: JobHandle[int] = JobHandle.of({**HANDLE, "namespace": "team"}, {"cluster": "main"})
    again = JobHandle.from_json(handle.to_json())
    assert again.to_json() == handle.to_json()
    assert repr(again) == "<JobHandle cpu-train: train on cpu (main)>"


def test_a_handle_is_a_dataclass() -> None:
    handle: JobHandle[int] = JobHandle.of({**HANDLE, "namespace": "team", "map": {}}, {"cluster": "main", "kubeconfig": pathlib.Path("k")})
    about = dataclasses.asdict(handle)
    assert about["target"] == {"cluster": "main", "kubeconfig": "k", "namespace": "team"}
    assert json.loads(handle.to_json()) == {"version": 1, **about}
    with pytest.raises(dataclasses.FrozenInstanceError):
        handle.job_id = "cpu-other"  # type: ignore[misc]


def test_handles_of_the_same_job_are_equal() -> None:
    submitted, found = JobHandle[Any]("cpu-train", target={"cluster": "main"}), JobHandle[Any]("cpu-train", func_name="train")
    assert submitted == found
    assert len({submitted, found, pickle.loads(pickle.dumps(found)), JobHandle[Any]("cpu-other")}) == 2
    assert BatchHandle[Any](submitted) == BatchHandle[Any](found, fail_fast=True)
    assert len({BatchHandle[Any](submitted), BatchHandle[Any](found)}) == 1


@pytest.mark.parametrize(
    "text, message",
    [
        ("{}", "not a handle"),
        ("x", "not a handle that to_json made: 'x'"),
        ('{"version": 2, "job_id": "cpu-train"}', "the handle of cpu-train has version 2, and this package reads up to 1: install a newer version"),
    ],
)
def test_handles_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        JobHandle.from_json(text)


def test_handle_keeps_the_cluster() -> None:
    handle: JobHandle[int] = JobHandle.of({**HANDLE, "project": "p", "cluster_name": "main"}, {"project": "mine"})
    assert '"target": {"project": "mine", "cluster": "main"}' in handle.to_json()


def test_local_handle_says_so() -> None:
    handle: JobHandle[int] = JobHandle.of({**HANDLE, "backend": "local"}, {})
    assert "train on cpu (local)" in repr(handle)


def test_html_is_escaped() -> None:
    handle: JobHandle[int] = JobHandle.of({**HANDLE, "func_name": "<lambda>"}, {})
    assert "&lt;lambda&gt;" in handle._repr_html_()


def test_states_that_never_change() -> None:
    assert [state.value for state in JobStatus if state.ended] == ["SUCCEEDED", "FAILED", "NOT_FOUND"]


def test_control_sequences_are_escaped() -> None:
    assert clean("\x1b]0;title\x07 \x1b[31mred\x1b[0m\ta\x9bb") == "\\x1b]0;title\\x07 \x1b[31mred\x1b[0m\ta\\x9bb"


@pytest.mark.parametrize(
    "text",
    ['{"version": 1, "job_id": "--help"}', '{"version": "x", "job_id": "a1"}', '{"version": 1, "job_id": "a1", "target": "x"}',
     '{"version": 1, "job_id": "a1", "target": {"flags": "--x"}}', "[]", "nothing"],
)  # fmt: skip
def test_text_that_is_no_handle(text: str) -> None:
    with pytest.raises(UsageError, match="not a handle"):
        JobHandle.from_json(text)
