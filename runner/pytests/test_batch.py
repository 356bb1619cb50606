# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Maps: one job for many inputs."""

from __future__ import annotations

import pathlib
import pickle
from collections.abc import Iterator
from typing import Any

import kinetic
import pytest
from conftest import Project
from kinetic import UsageError
from kinetic.client import mapping, payload, tags
from kinetic.client.batch import arguments
from kinetic.client.inputs import Outcome

INPUTS: list[tuple[str, Any, Any]] = [
    ("auto", {"x": 1}, ((), {"x": 1})),
    ("auto", {}, ((), {})),
    ("auto", {"x y": 1}, (({"x y": 1},), {})),
    ("auto", {"class": 1}, (({"class": 1},), {})),
    ("auto", [1, 2], ((1, 2), {})),
    ("auto", (1, 2), ((1, 2), {})),
    ("auto", "text", (("text",), {})),
    ("single", [1, 2], (([1, 2],), {})),
    ("args", [1, 2], ((1, 2), {})),
    ("kwargs", {"x": 1}, ((), {"x": 1})),
]


@pytest.mark.parametrize("mode, value, expected", INPUTS)
def test_arguments(mode: str, value: Any, expected: Any) -> None:
    assert arguments(value, mode) == expected


@pytest.mark.parametrize("mode, value, message", [("args", 1, "is not a list or tuple"), ("kwargs", [1], "is not a dict"), ("all", 1, "expected one of auto")])
def test_arguments_that_are_refused(mode: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        arguments(value, mode)


COMMAND_LINE = '''import json, subprocess
    open("plain.py", "w").write("def plain(x):\\n    if x == 3: raise ValueError(x)\\n    return x + 10\\n")
    def of_the_command_line(inputs):
        open("in.jsonl", "w").write("".join(json.dumps(x) + "\\n" for x in inputs))
        job_id = f"cpu-plain-{inputs[-1]}"
        binary = os.path.join(os.environ["KINETIC_BIN"], "kubectl-kinetic_run")
        subprocess.run([binary, "plain.py:plain", "--map=in.jsonl", "--local", "--cleanup=false", f"--job-id={job_id}"], capture_output=True)
        return job_id
    '''
SCORE = """
import os, time, kinetic
kinetic.configure(local=True, logs="none")
GATE = os.path.abspath("gate")

class Odd(Exception):
    pass

class Model:
    def __init__(self, scale): self.scale = scale

    @kinetic.run()
    def score(self, x): return self.scale * x

@kinetic.run()
def square(x, y=0):
    if x == 3: raise Odd(x)
    return {x * x + y}

@kinetic.run()
def size(path): return path.rsplit("/", 1)[1]

@kinetic.run()
def twice(x): return x * 2

@kinetic.run()
def often(x):
    # fails twice for each input
    tries = os.path.join(os.environ["KINETIC_OUTPUT_DIR"], "tries")
    with open(tries, "a") as file: file.write(".")
    if os.path.getsize(tries) < 3: raise ValueError(x)
    return os.path.getsize(tries) - 1

def batch_of(batch):
    batch.wait()
    return type(batch.jobs[0].exception).__name__

@kinetic.run()
def opened(x, gate=GATE):
    # waits for the gate to open, except for 1
    if x == "no": raise ValueError(x)
    while x == 2 and not os.path.exists(gate): time.sleep(0.05)
    return x

@kinetic.run()
def begins(fifo):
    open(fifo, "w").close()
    time.sleep(600)

def caught(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except Exception as exc:
        return exc
    raise AssertionError("nothing was raised")

if __name__ == "__main__":
"""

CHUNKS = [(1, 1, 1), (10, 64, 1), (64, 64, 1), (65, 64, 2), (1000, 16, 63), (1000, 4, 64), (1000, 1, 250), (10_000, 64, 64), (10_000, 16, 157), (100_000, 16, 1000)]


@pytest.mark.parametrize("count, most, expected", CHUNKS)
def test_chunks(count: int, most: int, expected: int) -> None:
    assert mapping.chunk_for(count, most) == expected



class Table:
    """Like a DataFrame, which iterates over the names of its columns."""

    columns = property(lambda self: ["rate"])

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __repr__(self) -> str:
        return "a table"


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"max_concurrent": 0}, UsageError, "max_concurrent=0: expected at least 1, or None for as many as there are chunks"),
    ({"max_concurrent": 1.5}, TypeError, "max_concurrent=1.5: expected a whole number, or None for as many as there are chunks, not a float"),
    ({"max_concurrent": "3"}, TypeError, "max_concurrent='3': expected a whole number, or None for as many as there are chunks, not a str"),
    ({"chunk": 0}, UsageError, "chunk=0: expected at least 1, or None to choose it"),
    ({"chunk": "3"}, TypeError, "chunk='3': expected a whole number, or None to choose it, not a str"),
    ({"fail_fast": "no"}, TypeError, "fail_fast='no': expected True or False, not a str"),
    ({"retries": -1}, UsageError, "retries=-1: expected at least 0"),
    ({"retries": "3"}, TypeError, "retries='3': expected a whole number, not a str"),
    ({"input_mode": "each"}, UsageError, "input_mode='each': expected one of auto, single, args, kwargs"),
    ({"tags": {"é": "c"}}, UsageError, "tags['é']: expected a key of"),
    ({"tags": {"a b": "c", "a-b": "d"}}, UsageError, "tags: 'a b' and 'a-b' are both 'a-b' in Kubernetes: rename one"),
    ({"tags": {"a": ["c"]}}, TypeError, "tags['a']: expected a string, not a list"),
    ({"tags": ["x"]}, TypeError, "tags: expected a dict, not a list"),
    ({"inputs": None}, TypeError, "inputs=None: expected an iterable, such as a list, not None"),
    ({"inputs": "ab"}, TypeError, "inputs='ab': expected a list of inputs, not a str"),
    ({"inputs": {"rate": [1, 2]}}, TypeError, "inputs={'rate': [1, 2]}: expected a list of inputs"),
    ({"inputs": Table()}, TypeError, "inputs=a table: expected a list of inputs, such as table.to_dict('records')"),
    ({"name": 5}, TypeError, "name=5: expected a string, not an int"),
]


@pytest.mark.parametrize("parameters, error, message", WRONG)
def test_wrong_parameters(parameters: dict[str, Any], error: type[Exception], message: str) -> None:
    function: Any = kinetic.run(local=True)(len)
    for call in (function.map, function.run_async_map):
        with pytest.raises(error) as caught:
            call(**{"inputs": [1], **parameters})
        assert type(caught.value) is error
        assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "most, message",
    [
        ({"MOST_LINE": 100}, r"^input 1: its pickle takes more than \d+ MiB: pass large data as kinetic.Data$"),
        ({"MOST_LINES": 300}, r"^input 1: with it, the pickles of the inputs take more than \d+ MiB: pass large data as kinetic.Data$"),
    ],
)
def test_inputs_that_are_too_large(most: dict[str, int], message: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in most.items():
        monkeypatch.setattr(mapping, name, value)
    plan = mapping.Plan(["x", "x" * 200], "auto", None, None, False)
    with pytest.raises(UsageError, match=message):
        mapping.write(str(tmp_path / "inputs"), kinetic.run(local=True)(len), plan, payload.Inputs(), [], None)


TAGS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"team": "vision", "owner": "jane@x.org"}, {"labels": {"old": "x", "team": "vision"}, "annotations": {"owner": "jane@x.org"}}),
    ({"learning rate": "0.1", "n": 3}, {"labels": {"old": "x", "n": 3}, "annotations": {"learning-rate": "0.1"}}),
    ({"note": "any text: " * 9}, {"labels": {"old": "x"}, "annotations": {"note": "any text: " * 9}}),
    ({"x.org/a": "b", "x.org/c": "d e"}, {"labels": {"old": "x", "x.org/a": "b"}, "annotations": {"x.org/c": "d e"}}),
]


@pytest.mark.parametrize("given, expected", TAGS)
def test_tags(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert tags.tagged({"labels": {"old": "x"}}, given) == expected


def test_fail_fast_that_must_not_cancel_warns() -> None:
    with pytest.warns(UserWarning, match="all its inputs go on after a failure, and fail_fast has no effect"):
        plan = mapping.Plan([1], "auto", 64, None, True, False)
    assert not plan.cancels


def test_handles_that_are_no_maps() -> None:
    with pytest.raises(ValueError, match="cpu-f is not a map"):
        kinetic.BatchHandle.from_json(kinetic.JobHandle[Any]("cpu-f").to_json())
    with pytest.raises(ValueError, match="not a handle"):
        kinetic.BatchHandle.from_json("[]")


def test_a_batch_error_names_the_exception_of_a_call_first() -> None:
    job = kinetic.JobHandle[Any]("m")
    failures = [Outcome(0, None, kinetic.RemoteError("gone"), job), Outcome(1, None, ValueError("no"), job)]
    error = kinetic.BatchError("m", failures, [None, None, 3])
    assert str(error) == "2 of 3 inputs of m failed; the first is input 1: ValueError: no"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.group_id, again.partial_results, again.submission_failures) == (str(error), "m", [None, None, 3], {})
    assert [(each.index, repr(each.exception), each.job_id) for each in again.failures][1] == (1, "ValueError('no')", "m")


PROGRAMS = {
    "values, in order": ("print(square.map([1, (2, 10), {'x': 4}]))", "[{1}, {14}, {16}]"),
    "a method": ("print(Model(3).score.map(range(4)))", "[0, 3, 6, 9]"),
    "data": (
        "open('1.csv', 'w').close(), open('2.csv', 'w').close()\n    print(size.map([kinetic.Data('1.csv'), kinetic.Data('2.csv')]))",
        "['1.csv', '2.csv']",
    ),
    "a failure": (
        "error = caught(square.map, [1, 3, 2])\n"
        "    print(type(error).__name__, [(each.index, type(each.exception) is Odd) for each in error.failures], error.partial_results)",
        "BatchError [(1, True)] [{1}, None, {4}]",
    ),
    "exceptions in place": ("print(square.run_async_map([1, 3]).results(return_exceptions=True))", "[{1}, Odd(3)]"),
    "as they come": ("print(sorted(each.index for each in square.run_async_map([1, 3, 5]).as_completed()))", "[0, 1, 2]"),
    "counts": (
        "batch = square.run_async_map([1, 3, 5])\n    batch.wait()\n    print({state.value: count for state, count in batch.status_counts().items()})",
        "{'SUCCEEDED': 2, 'FAILED': 1}",
    ),
    "attached": (
        "batch = kinetic.attach_batch(square.run_async_map([1, 3]).group_id, local=True, poll_interval=1, poll_timeout=9)\n"
        "    batch.wait()\n    print([(each.index, each.exception) for each in batch.failures()], repr(batch)[:13])",
        "[(1, Odd(3))] <BatchHandle",
    ),
    "no map": ("job = square.run_async(1)\n    print(type(caught(kinetic.attach_batch, job.job_id, local=True)).__name__)", "JobNotFound"),
    "a method's input that can't be pickled": (
        "print(str(caught(Model(1).score.map, [(n for n in [])])).partition(',')[0])",
        "input 0: cannot send score(): argument 'x' is of type builtins.generator",
    ),
    "no inputs": ("print(caught(square.map, []))", "there are no inputs for square"),
    "an input that doesn't fit": ("print(caught(square.map, [1, (1, 2, 3)]))", "input 1: square() takes from 1 to 2 positional arguments but 3 were given"),
    "an input that can't be pickled": (
        "print(str(caught(square.map, [1, (n for n in [])])).partition(',')[0])",
        "input 1: cannot send square(): argument 'x' is of type builtins.generator",
    ),
    "an input of another mode": ("print(caught(square.map, [1], input_mode='kwargs'))", "input 0: the input 1 is not a dict of arguments, as input_mode='kwargs' needs"),
    "a list as the only argument": ("print(twice.map([[1]], input_mode='single'))", "[[1, 1]]"),
    "inputs that are made one by one": ("print(square.map(n for n in range(3)))", "[{0}, {1}, {4}]"),
    "inputs that are made by calls": ("print(square.map(twice(n) for n in range(3)))", "[{0}, {4}, {16}]"),
    "inputs that wait for the calls of another thread": (
        "import threading\n"
        "    def inputs():\n"
        "        other = threading.Thread(target=twice, args=[1])\n"
        "        other.start()\n"
        "        other.join()\n"
        "        yield 1\n"
        "    print(square.map(inputs()))",
        "[{1}]",
    ),
    "an input that makes a call when it is pickled": (
        "class Late:\n"
        "        def __reduce__(self): return int, (twice(1),)\n"
        "    print(square.map([Late()]))",
        "[{4}]",
    ),
    "retries of an exception": ("print(often.map([1, 2], retries=2), batch_of(often.run_async_map([3], retries=1)))", "[2, 2] ValueError"),
    "no retries of an exception": ("print(batch_of(often.run_async_map([1])), batch_of(often.run_async_map([2], retries=0)))", "ValueError ValueError"),
    "a failure that lets the others go on": (
        "error = caught(square.run_async_map([3, 1], fail_fast=True, cancel_running_on_fail=False).results)\n    print(error.partial_results)",
        "[None, {1}]",
    ),
    "tags": ("print(square.run_async_map([1], tags={'team': 'x', 'owner': 'jane@x.org'}).tags)", "{'team': 'x', 'owner': 'jane@x.org'}"),
    "no retries": ("print(square.map([1], retries=0))", "[{1}]"),
    "states": (
        "batch = square.run_async_map([1, 3, 5])\n    batch.wait()\n    print([(index, state.value) for index, state in batch.statuses()], batch.status_counts().get('FAILED'))",
        "[(0, 'SUCCEEDED'), (1, 'FAILED'), (2, 'SUCCEEDED')] 1",
    ),
    "states while it runs": (
        "batch = opened.run_async_map([1, 2])\n"
        "    first = next(batch.as_completed())\n"
        "    print(first.value, [state.value for _, state in batch.statuses()])\n"
        "    open(GATE, 'w').close()\n"
        "    print(batch.results(), type(caught(batch.statuses)).__name__)",
        "1 ['SUCCEEDED', 'RUNNING']\n[1, 2] JobNotFound",
    ),
    "a timeout": (
        "batch = opened.run_async_map([2])\n"
        "    print([type(caught(wait, timeout=0.1)).__name__ for wait in (batch.wait, batch.results)])\n"
        "    open(GATE, 'w').close()\n"
        "    print(batch.results(timeout='1h'))",
        "['JobTimeout', 'JobTimeout']\n[2]",
    ),
    "cancelled": (
        "batch = opened.run_async_map([1, 2])\n"
        "    next(batch.as_completed())\n"
        "    batch.cancel()\n"
        "    error = caught(batch.results)\n"
        "    print([each.index for each in error.failures], error.partial_results, [state.value for _, state in batch.statuses()])",
        "[1] [1, None] ['SUCCEEDED', 'NOT_FOUND']",
    ),
    "cancelled before any input is done": (
        "batch = opened.run_async_map([2, 3])\n"
        "    batch.cancel()\n"
        "    print([type(caught(batch.results)).__name__ for _ in range(2)], batch.status_counts())",
        "['RemoteError', 'RemoteError'] {<JobStatus.NOT_FOUND: 'NOT_FOUND'>: 2}",
    ),
    "of the command line": (
        COMMAND_LINE + "batch = kinetic.attach_batch(of_the_command_line([1, 3]), local=True)\n"
        "    error = caught(batch.results)\n"
        "    print(error.partial_results, error.failures[0].exception, batch.jobs[0].result(), sorted(each.index for each in batch.as_completed()))\n"
        "    batch = kinetic.attach_batch(of_the_command_line([1, 2]), local=True)\n"
        "    print(batch.results(cleanup=False), batch.results())",
        "[11, None] cpu-plain-3: input 1 failed: ValueError: 3 11 [0, 1]\n[11, 12] [11, 12]",
    ),
    "the first failure ends it": (
        "error = caught(opened.run_async_map(['no', 2], fail_fast=True, cancel_running_on_fail=True).results)\n    print([each.index for each in error.failures], repr(error.failures[0].exception))",
        "[0, 1] ValueError('no')",
    ),
    "the first failure ends a call": (
        "error = caught(opened.map, ['no', 2], fail_fast=True)\n    print([each.index for each in error.failures], repr(error.failures[0].exception))",
        "[0, 1] ValueError('no')",
    ),
    "kept, and deleted": (
        "batch = square.run_async_map([1, 2])\n"
        "    print(batch.results(cleanup=False) == batch.results(ordered=False, cleanup=False), batch.wait().value)\n"
        "    batch.cleanup()\n    print(type(caught(batch.results)).__name__)",
        "True SUCCEEDED\nJobNotFound",
    ),
    "interrupted": (
        "import signal, threading\n"
        "    os.mkfifo('begun')\n"
        "    threading.Thread(target=lambda: (open('begun').read(), os.kill(os.getpid(), signal.SIGINT))).start()\n"
        "    try:\n        begins.map([os.path.abspath('begun')])\n"
        "    except kinetic.Interrupted as exc:\n        print(\"kinetic.attach_batch('cpu-begins-\" in str(exc))",
        "True",
    ),
    "as text": (
        "batch = square.run_async_map([1, 2], fail_fast=True)\n"
        "    again = kinetic.BatchHandle.from_json(batch.to_json())\n"
        "    print(again.results(), again.to_json() == batch.to_json(), '<th>map</th>' in again._repr_html_())",
        "[{1}, {4}] True True",
    ),
    "a reader that stops": ("print(next(square.run_async_map([1, 2]).as_completed()).index in (0, 1))", "True"),
}


@pytest.mark.parametrize("program, text", PROGRAMS.values(), ids=PROGRAMS)
def test_map(local: Project, program: str, text: str) -> None:
    assert local.run(SCORE + "    " + program).stdout.strip() == text


LEFT = """
import kinetic
kinetic.configure(local=True)

class Odd:
    def __reduce__(self):
        return load, ()

def load():
    import kinetic
    if not kinetic.in_job():
        raise LookupError("only in a job")
    return Odd()

@kinetic.run()
def square(x):
    return x * x

@kinetic.run()
def odd(x):
    return Odd() if x == 1 else x

batch = square.run_async_map([1, 2, 3])
for outcome in batch.as_completed(cleanup=True):
    break
print(batch.results(), batch.results(), batch.failures(), batch.job.status().value)
batch = odd.run_async_map([0, 1, 2])
print([str(each).partition("LookupError")[1] or each for each in batch.results(return_exceptions=True)])
print(sorted(path.name for path in __import__("pathlib").Path.home().rglob("*.json") if path.parent.name == "results"))
"""


def test_what_was_not_read_is_not_deleted(local: Project) -> None:
    read, unloadable, left = local.run(LEFT).stdout.splitlines()
    assert read == "[1, 4, 9] [1, 4, 9] [] NOT_FOUND"
    assert unloadable == "[0, 'LookupError', 2]"
    assert left == "['0.json', '1.json', '2.json']"
