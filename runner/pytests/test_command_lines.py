# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The command lines that the binaries are given. A recorder stands in for them: it writes down its own."""

from __future__ import annotations

import datetime
import json
import pathlib
import signal
import sys
from typing import Any, Callable, Iterator, Optional

import kinetic
import pytest
from kinetic import JobHandle, JobStatus, NotInstalled, UsageError, VersionMismatch, options
from kinetic.client import binaries, checks

RECORDER = """#!{python}
import json, os, sys
with open({record!r}, "a") as file:
    file.write(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
answer = os.environ.get("ANSWER")
if answer:
    print(answer)
job = {{"job_id": "cpu-area", "func_name": "area", "accelerator": "cpu", "backend": "gke", "namespace": "team"}}
print(json.dumps({{"event": "submitted", "job": job}}), file=sys.stderr)
"""


class Recorded:
    def __init__(self, place: pathlib.Path) -> None:
        self._record = place / "record"
        for name in (binaries.RUN, binaries.JOBS):
            file = place / name
            file.write_text(RECORDER.format(python=sys.executable, record=str(self._record)))
            file.chmod(0o755)

    def lines(self) -> list[list[str]]:
        """The command lines so far, each without --events, which all have."""
        lines: list[list[str]] = [json.loads(line) for line in self._record.read_text().splitlines()]
        for line in lines:
            assert line.pop(1) == "--events=json"
        return lines


@pytest.fixture
def recorded(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    monkeypatch.setenv("KINETIC_BIN", str(tmp_path))
    return Recorded(tmp_path)


@kinetic.run(accelerator="l4", cluster="main", logs="none", timeout=60)
def area(width: int, height: int) -> int:
    return width * height


def test_run_async(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWER", '{"bundle": {"root": "/", "sysPath": [], "files": []}}')  # if it asks what is packaged
    handle = area.run_async(2, 3)
    line = recorded.lines()[-1]
    assert line[:3] == [binaries.RUN, "--accelerator=l4", "--cluster=main"]
    assert line[3].startswith("--payload=")
    assert line[4:] == ["--detach"]
    assert (handle.job_id, handle.func_name) == ("cpu-area", "area")


MAPS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["--accelerator=l4", "--cluster=main", "PAYLOAD", "INPUTS", "--parallelism=2", "--chunk=1"]),
    ({"max_concurrent": 1, "retries": 0}, ["--accelerator=l4", "--retries=0", "--cluster=main", "PAYLOAD", "INPUTS", "--parallelism=1", "--chunk=2"]),
    ({"max_concurrent": None, "chunk": 5}, ["--accelerator=l4", "--cluster=main", "PAYLOAD", "INPUTS", "--parallelism=2", "--chunk=5"]),
    (
        {"name": "areas", "tags": {"team": "vision"}, "project": "p", "cluster": "other"},
        ["--accelerator=l4", "--name=areas", "--label=team=vision", "--project=p", "--cluster=other", "PAYLOAD", "INPUTS", "--parallelism=2", "--chunk=1"],
    ),
]


@pytest.mark.parametrize("parameters, expected", MAPS)
def test_run_async_map(recorded: Recorded, monkeypatch: pytest.MonkeyPatch, parameters: dict[str, Any], expected: list[str]) -> None:
    monkeypatch.setenv("ANSWER", '{"bundle": {"root": "/", "sysPath": [], "files": []}}')
    batch = area.run_async_map([(2, 3), {"width": 4, "height": 5}], **parameters)
    files = {"--payload": "PAYLOAD", "--map": "INPUTS"}
    assert [files.get(word.partition("=")[0], word) for word in recorded.lines()[-1]] == [binaries.RUN, *expected, "--detach"]
    assert batch.group_id == "cpu-area"


def test_tags_are_labels_beside_others(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWER", '{"bundle": {"root": "/", "sysPath": [], "files": []}}')
    labelled = area.with_options(labels={"team": "audio", "run": "1"})
    labelled.run_async_map([(2, 3)], tags={"team": "vision"})
    assert [word for word in recorded.lines()[-1] if word.startswith("--label")] == ["--label=team=vision", "--label=run=1"]


TARGET = ["--cluster=main", "--namespace=team"]
STATUS = '{"state": "RUNNING"}'
COMMANDS: dict[str, tuple[Callable[[JobHandle[Any]], object], str, list[str]]] = {
    "status": (lambda job: job.status(), STATUS, ["status", "cpu-area", "--output=json"]),
    "wait": (lambda job: job.wait(1.5), STATUS, ["wait", "cpu-area", "--timeout=1.5s"]),
    "logs": (lambda job: job.logs(), "", ["logs", "cpu-area"]),
    "follow": (lambda job: list(job.logs(follow=True)), "", ["logs", "cpu-area", "--follow"]),
    "tail": (lambda job: job.tail(n=20), "", ["tail", "cpu-area", "--tail=20"]),
    "debug": (lambda job: job.debug_attach(0), "127.0.0.1:5678", ["debug", "cpu-area", "--port=0"]),
    "forward": (lambda job: job.forward(6006).close(), "127.0.0.1:6006", ["forward", "cpu-area", "6006:6006", "--host=0"]),
    "stacks": (lambda job: job.stacks(), "main thread:", ["stacks", "cpu-area"]),
    "stacks of one host": (lambda job: job.stacks(0), "main thread:", ["stacks", "cpu-area", "--host=0"]),
    "forward elsewhere": (lambda job: job.forward(80, 0, host=1).close(), "127.0.0.1:6006", ["forward", "cpu-area", "0:80", "--host=1"]),
    "cancel": (lambda job: job.cancel(), "", ["cancel", "cpu-area"]),
    "cleanup": (lambda job: job.cleanup(gcs=False), "", ["cleanup", "cpu-area", "--k8s=true", "--gcs=false", "--yes"]),
    "outputs": (lambda job: job.outputs(), '{"items": []}', ["outputs", "cpu-area", "ls", "--output=json"]),
}


@pytest.mark.parametrize("command, answer, words", COMMANDS.values(), ids=COMMANDS)
def test_handle(recorded: Recorded, monkeypatch: pytest.MonkeyPatch, command: Callable[[JobHandle[Any]], object], answer: str, words: list[str]) -> None:
    monkeypatch.setenv("ANSWER", answer)
    command(JobHandle("cpu-area", target={"cluster": "main", "namespace": "team"}))
    assert recorded.lines()[0] == [binaries.JOBS, *words, *TARGET]


def test_rerun_changes_what_it_is_told(recorded: Recorded) -> None:
    job = JobHandle[int]("cpu-area", target={"cluster": "main", "namespace": "team"})
    job.rerun({"lr": 0.1, "name": "x"}, accelerator="l4", namespace="other", timeout=3)
    (line,) = recorded.lines()
    assert line == [binaries.RUN, "--like=cpu-area", "--accelerator=l4", "--cluster=main", "--namespace=other", "--arg=lr=0.1", '--arg=name="x"', "--detach"]


def test_rerun_with_a_profile_goes_where_that_says(recorded: Recorded) -> None:
    job = JobHandle[int]("cpu-area", target={"project": "p", "zone": "z", "cluster": "main", "namespace": "team", "store": "gs://b"})
    job.rerun(profile="prod")
    assert recorded.lines() == [[binaries.RUN, "--like=cpu-area", "--profile=prod", "--store=gs://b", "--detach"]]


def test_address_for_a_debugger_is_printed(recorded: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("ANSWER", '127.0.0.1:5678\n{\n    "name": "Kinetic: cpu-area"\n}')
    JobHandle[int]("cpu-area").debug_attach()
    assert capsys.readouterr().out == '127.0.0.1:5678\n{\n    "name": "Kinetic: cpu-area"\n}\n'


def test_stacks_are_returned(recorded: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("ANSWER", "main thread:\n  step (train.py:41)\n")
    assert JobHandle[int]("cpu-area").stacks().rstrip("\n") == "main thread:\n  step (train.py:41)"
    assert capsys.readouterr().out == ""


def test_a_forwarded_port_has_an_address(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWER", "127.0.0.1:43210")
    with JobHandle[int]("cpu-area").forward(6006) as forwarded:
        assert (forwarded.port, forwarded.url) == (43210, "http://127.0.0.1:43210")
    monkeypatch.setenv("ANSWER", "")
    with pytest.raises(kinetic.KineticError):
        JobHandle[int]("cpu-area").forward(6006)


def test_result_passes_on_what_it_is_told(recorded: Recorded) -> None:
    with pytest.raises(kinetic.KineticError, match="reported no result"):
        JobHandle[int]("cpu-area").result(timeout="1h", cleanup=False, trust_store=True)
    (line,) = recorded.lines()
    assert line[1:3] == ["result", "cpu-area"]
    assert line[3].startswith("--output-file=")
    assert line[4:] == ["--cleanup=false", "--timeout=1h", "--trust-store"]


JOB = JobHandle[int]("cpu-area")
WRONG: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: JOB.result(timeout=-1), UsageError, "timeout=-1: expected more than 0 seconds, or None"),
    (lambda: JOB.wait(timeout=-1.5), UsageError, "timeout=-1.5: expected more than 0 seconds, or None"),
    (lambda: JOB.result(timeout=datetime.timedelta(1)), TypeError, "timeout=datetime.timedelta(days=1): expected seconds, or text such as '1h30m', not a timedelta"),  # type: ignore[arg-type]
    (lambda: JOB.result(cleanup="no"), TypeError, "cleanup='no': expected True or False, not a str"),  # type: ignore[arg-type]
    (lambda: JOB.cleanup(gcs=1), TypeError, "gcs=1: expected True or False, not an int"),  # type: ignore[arg-type]
    (lambda: JOB.tail("9"), TypeError, "n='9': expected a whole number, not a str"),  # type: ignore[arg-type]
    (lambda: JOB.rerun([1]), TypeError, "arguments=[1]: expected a dict, not a list"),  # type: ignore[arg-type]
    (lambda: JOB.rerun({"x": {1}}), UsageError, "arguments: Object of type set is not JSON serializable: only values of JSON's types can be changed; call the function again for others"),
    (lambda: JOB.rerun(acelerator="l4"), TypeError, "'acelerator' is not a parameter of kinetic.run: did you mean 'accelerator'?"),  # type: ignore[call-arg]
    (lambda: JOB.outputs(to=5), TypeError, "to=5: expected a path, not an int"),  # type: ignore[arg-type]
    (lambda: JOB.outputs(to=""), UsageError, "to='': expected a directory, such as '.'"),
    (lambda: JOB.debug_attach(-1), UsageError, "local_port=-1: expected at least 0"),
    (lambda: JOB.stacks(-1), UsageError, "host=-1: expected at least 0"),
    (lambda: JOB.forward(0), UsageError, "port=0: expected at least 1"),
    (lambda: JOB.forward("6006"), TypeError, "port='6006': expected a whole number, not a str"),  # type: ignore[arg-type]
    (lambda: kinetic.BatchHandle(JOB).results(timeout="0s"), UsageError, "timeout='0s': expected a positive duration, such as '90s', '15m', '1h30m' or '30d'"),
    (lambda: kinetic.attach(5), TypeError, "job_id=5: expected a string, not an int"),  # type: ignore[arg-type]
    (lambda: kinetic.attach(JOB), TypeError, "job_id=<JobHandle cpu-area>: expected a string, not a JobHandle: pass its job_id"),  # type: ignore[arg-type]
    (lambda: kinetic.attach_batch(None), TypeError, "group_id=None: expected a string, not None"),  # type: ignore[arg-type]
    (lambda: kinetic.list_jobs(status="DONE"), UsageError, "status='DONE': expected one of PENDING, RUNNING, SUCCEEDED, FAILED, NOT_FOUND, CANCELLED"),
    (lambda: kinetic.list_jobs(labels={"a": "x y"}), UsageError, "labels['a']='x y': expected " + checks.LETTERS),
    (lambda: kinetic.list_jobs(tags={"a": "x"}), TypeError, "'tags' are the labels of a map: write labels="),
    (lambda: JobHandle.from_json(5), TypeError, "text=5: expected a string, not an int"),  # type: ignore[arg-type]
    (lambda: kinetic.Data(None), TypeError, "Data(None): a path is a str or an os.PathLike of one, not NoneType"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("call, error, message", WRONG, ids=[message for _, _, message in WRONG])
def test_wrong_values_of_handles(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert (type(caught.value), str(caught.value)) == (error, message)


@pytest.mark.parametrize("to, how", [(None, ""), ("out", ": their copies end in .incomplete")])
def test_outputs_that_were_not_finished(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], to: Optional[str], how: str
) -> None:
    names = [f"{number}.ckpt" for number in range(7)]
    files = [{"name": "log.txt"}, *({"name": name, "incomplete": True} for name in names)]
    monkeypatch.setenv("ANSWER", json.dumps({"items": files}))
    assert JOB.outputs(to) == ["log.txt", *names]
    assert capsys.readouterr().err == f"kinetic: warning: outputs that were not finished: {', '.join(names[:5])} and 2 more{how}\n"


def test_attach(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWER", '{"id": "cpu-area-1", "function": "area", "backend": "local"}')
    handle = kinetic.attach("cpu-a", store="file:///s")
    assert recorded.lines() == [[binaries.JOBS, "describe", "cpu-a", "--output=json", "--store=file:///s"]]
    assert (handle.job_id, handle.func_name) == ("cpu-area-1", "area")


def test_list_jobs(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWER", '{"items": [{"id": "cpu-area-1", "function": "area", "accelerator": "cpu", "created": "2026-01-02T03:04:05Z"}]}')
    (handle,) = kinetic.list_jobs(status=JobStatus.FAILED, all=True, namespace="team")
    assert recorded.lines() == [[binaries.JOBS, "list", "--output=json", "--all", "--status=FAILED", "--namespace=team"]]
    assert (handle.job_id, handle.created_at) == ("cpu-area-1", "2026-01-02T03:04:05Z")
    kinetic.list_jobs(status="CANCELLED", labels={"team": "vision", "n": 1})  # type: ignore[dict-item]
    assert recorded.lines()[-1] == [binaries.JOBS, "list", "--output=json", "--status=CANCELLED", "--selector=team=vision,n=1"]


def test_only_places_of_configure_find_jobs(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "_defaults", {"cpu": "1", "env": {"A": "1"}, "namespace": "team"})
    monkeypatch.setenv("ANSWER", '{"state": "RUNNING", "id": "cpu-area-1", "items": []}')
    JobHandle("cpu-area", target={"cluster": "main"}).status()
    kinetic.attach("cpu-a", context=None)
    kinetic.list_jobs(local=True)
    assert [line[-1] for line in recorded.lines()] == ["--cluster=main", "--namespace=team", "--namespace=team"]
    assert not any(word.startswith(("--cpu", "--env")) for line in recorded.lines() for word in line)


def test_only_places_find_jobs() -> None:
    with pytest.raises(TypeError, match="'accelerator' does not say where a job is"):
        kinetic.attach("cpu-a", accelerator="l4")


def test_missing_binary(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETIC_BIN", str(tmp_path))
    with pytest.raises(NotInstalled, match=f"kubectl-kinetic_run is not in {tmp_path}, which KINETIC_BIN names: install kubectl-kinetic"):
        area.run_async(2, 3)


def test_binary_that_knows_no_events(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETIC_BIN", str(tmp_path))
    old = tmp_path / binaries.RUN
    old.write_text("#!/bin/sh\necho 'error: unknown flag: --events' >&2\nexit 2\n")
    old.chmod(0o755)
    with pytest.raises(VersionMismatch, match="kubectl-kinetic_run .of an unknown version.* ended with exit code 2 and no answer that kinetic .* reads: install"):
        area.run_async(2, 3)


KILLED = """#!/bin/sh
test -z "$SUBMITTED" || echo "$SUBMITTED" >&2
kill -s "$SIGNAL" $$
"""
SUBMITTED = {
    "cluster": ('{"job_id": "cpu-area", "cluster_name": "main", "namespace": "team"}', "kinetic.attach('cpu-area', cluster='main', namespace='team')"),
    "map": ('{"job_id": "cpu-area", "backend": "local", "map": {"inputs": 2}}', "kinetic.attach_batch('cpu-area', local=True)"),
}


@pytest.fixture
def dying(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Binaries that a signal ends: SIGNAL is which."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, also for programs that are started
    for name in (binaries.RUN, binaries.JOBS):
        file = tmp_path / name
        file.write_text(KILLED)
        file.chmod(0o755)
    monkeypatch.setenv("KINETIC_BIN", str(tmp_path))
    monkeypatch.setenv("SIGNAL", "KILL")
    yield monkeypatch
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("job, attach", SUBMITTED.values(), ids=SUBMITTED)
def test_killed_binary_that_has_submitted_a_job(dying: pytest.MonkeyPatch, job: str, attach: str) -> None:
    dying.setenv("SUBMITTED", f'{{"event": "submitted", "job": {job}}}')
    calls: list[Callable[[], object]] = [lambda: area.map([(2, 3)])] if "map" in job else [lambda: area(2, 3), lambda: area.run_async(2, 3)]
    for call in calls:
        with pytest.raises(kinetic.KineticError) as caught:
            call()
        assert type(caught.value) is kinetic.KineticError
        assert str(caught.value).startswith("kubectl-kinetic_run was killed by SIGKILL (this machine may be short of memory), and gave no answer: cpu-area may run on")
        assert str(caught.value).endswith(f"its handle: {attach}")


@pytest.mark.parametrize("name", ["TERM", "HUP"])
def test_killed_binary_that_is_asked_about_a_job(dying: pytest.MonkeyPatch, name: str) -> None:
    dying.setenv("SIGNAL", name)
    job, batch = JobHandle[int]("cpu-area", target={"cluster": "main"}), kinetic.BatchHandle[int](JobHandle("cpu-area", is_map=True, target={"local": True}))
    calls: dict[str, list[Callable[[], object]]] = {
        "attach('cpu-area', cluster='main')": [job.result, job.wait, job.status, job.logs, lambda: list(job.logs(follow=True)), lambda: job.forward(6006)],
        "attach_batch('cpu-area', local=True)": [batch.results, batch.wait],
    }
    for attach, asked in calls.items():
        for call in asked:
            with pytest.raises(kinetic.KineticError, match=f"^kubectl-kinetic_jobs was killed by SIG{name}, and gave no answer: cpu-area may run on\n") as caught:
                call()
            assert str(caught.value).endswith(f"its handle: kinetic.{attach}")


def test_killed_binary_that_names_no_job(dying: pytest.MonkeyPatch) -> None:
    with pytest.raises(kinetic.KineticError, match=r"kubectl-kinetic_run was killed by SIGKILL .*: kinetic.list_jobs\(\) has what it submitted$"):
        area.run_async(2, 3)
    with pytest.raises(kinetic.KineticError, match="kubectl-kinetic_jobs was killed by SIGKILL .*: try again$"):
        kinetic.list_jobs()
