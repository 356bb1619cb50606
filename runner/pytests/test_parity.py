# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The Python API, compared with keras-kinetic's: each behaviour is the same, better, or different and announced."""

from __future__ import annotations

import json
import pathlib

import pytest
from conftest import REPOSITORY, Project, missing

SAME, BETTER, TOLD = "same", "better", "told"

# A behaviour, how it compares, and an expression that is true in PROGRAM. That of one that is told has the message which the user
# sees; or, if nothing is said at run time, the line of docs/from-keras-kinetic.md about it.
ROWS: list[tuple[str, str, str]] = [
    # kinetic.run
    ("run: accelerator by name", SAME, "option(kinetic.run(accelerator='l4'), 'accelerator') == 'l4'"),
    ("run: accelerator as the first argument", SAME, "option(kinetic.run('tpu-v6e-8'), 'accelerator') == 'tpu-v6e-8'"),
    ("run: without an accelerator, cpu instead of a TPU", TOLD, "'no accelerator is given, so this runs on cpu' in ADVICE"),
    ("run: container_image", SAME, "option(kinetic.run(container_image='bundled'), 'container_image') == 'bundled'"),
    ("run: base_image_repo", SAME, "option(kinetic.run(base_image_repo='r/x'), 'base_image_repo') == 'r/x'"),
    ("run: zone", SAME, "option(kinetic.run(zone='us-central1-a'), 'zone')"),
    ("run: project", SAME, "option(kinetic.run(project='p'), 'project')"),
    ("run: cluster", SAME, "option(kinetic.run(cluster='c'), 'cluster')"),
    ("run: namespace", SAME, "option(kinetic.run(namespace='n'), 'namespace')"),
    ("run: capture_env_vars", SAME, "option(kinetic.run(capture_env_vars=['A', 'B*']), 'capture_env_vars') == ['A', 'B*']"),
    ("run: capture_env_vars is no text", BETTER, "raises(TypeError, lambda: kinetic.run(capture_env_vars='A'))"),
    ("run: backend gke", SAME, "option(kinetic.run(backend='gke'), 'backend')"),
    ("run: backend pathways", SAME, "option(kinetic.run(backend='pathways'), 'backend')"),
    ("run: an unknown backend is a ValueError", SAME, "raises(ValueError, lambda: kinetic.run(backend='x'))"),
    ("run: volumes must be a dict", SAME, "raises(TypeError, lambda: kinetic.run(volumes=[1]))"),
    ("run: volumes at absolute paths", SAME, "raises(ValueError, lambda: kinetic.run(volumes={'data': kinetic.Data('.')}))"),
    ("run: volumes are Data", SAME, "raises(TypeError, lambda: kinetic.run(volumes={'/data': 'x'}))"),
    ("run: volumes in a local job", BETTER, "volume() == 'weights'"),
    ("run: spot", SAME, "option(kinetic.run(spot=True), 'spot') is True"),
    ("run: spot with debug warns", SAME, "warned(lambda: kinetic.run(spot=True, debug=True))"),
    ("run: output_dir", SAME, "option(kinetic.run(output_dir='gs://b/x'), 'output_dir')"),
    ("run: debug without a terminal", SAME, "raises(RuntimeError, lambda: add.with_options(debug=True)(1)) or raises(kinetic.UsageError, lambda: add.with_options(debug=True)(1))"),
    ("run: an unknown parameter names the nearest", BETTER, "'accelerator' in raised(TypeError, lambda: kinetic.run(acelerator='l4'))"),
    ("run: without parentheses", BETTER, "kinetic.run(lambda x: x + 1)(3) == 4"),
    # What it returns
    ("callable: a call returns the value", SAME, "add(2) == 3"),
    ("callable: run_async", SAME, "isinstance(JOB, kinetic.JobHandle)"),
    ("callable: run_async_map", SAME, "isinstance(BATCH, kinetic.BatchHandle)"),
    ("callable: map", BETTER, "list(square.map([1, 2])) == [1, 4]"),
    ("callable: with_options", BETTER, "option(add.with_options(spot=True), 'spot') is True"),
    ("callable: methods", SAME, "Model(3).fit(2) == 6"),
    ("callable: staticmethod above", SAME, "Model.half(4) == 2"),
    ("callable: partial", SAME, "kinetic.run(functools.partial(plain, 1))(2) == 3"),
    ("callable: lambda", SAME, "kinetic.run(lambda x: x + 1)(1) == 2"),
    ("callable: a callable object", SAME, "kinetic.run(Adder())(1) == 11"),
    ("callable: a classmethod object", BETTER, "kinetic.run(classmethod(plain)).__get__(None, Model).bound == (Model,)"),
    ("callable: a staticmethod object", SAME, "raises(TypeError, lambda: kinetic.run(staticmethod(plain)))"),
    ("callable: lru_cache", SAME, "raises(TypeError, lambda: kinetic.run(functools.lru_cache(plain)))"),
    ("callable: not callable", SAME, "raises(TypeError, lambda: kinetic.run(3))"),
    ("callable: in a job it runs the body", SAME, "nested() == 3"),
    ("callable: a generator is refused before submitting", BETTER, "raises((TypeError, ValueError), lambda: kinetic.run(generator)())"),
    ("callable: wrong arguments are refused before submitting", BETTER, "raises(TypeError, lambda: add(1, 2, 3))"),
    ("callable: an argument that can't be pickled is named", SAME, "'lock' in raised(Exception, lambda: add(threading.Lock()))"),
    ("callable: closures", SAME, "closure(5)() == 5"),
    ("callable: lambdas as values", SAME, "kinetic.run(lambda: (lambda: 7))()() == 7"),
    ("callable: dataclasses of the main program", SAME, "kinetic.run(lambda: Point(1, 2))() == Point(1, 2)"),
    ("callable: named tuples", SAME, "kinetic.run(lambda: Pair(1, 2))() == Pair(1, 2)"),
    ("callable: async def", SAME, "coroutine() == 4"),
    ("callable: the log is on standard error", TOLD, "'hello' in printed()[1] and not printed()[0] and tells('the log of a call', 'on standard output', '**standard error**')"),
    ("module: KINETIC_LOG_LEVEL has no effect", TOLD, "leveled() and tells('`KINETIC_LOG_LEVEL`', 'logs=\"logging\"')"),
    # JobHandle
    ("handle: status", SAME, "JOB.status() in (JobStatus.SUCCEEDED, JobStatus.NOT_FOUND)"),
    ("handle: tail(n)", SAME, "'hello' in TAIL"),
    ("handle: logs()", SAME, "'hello' in LOGS"),
    ("handle: logs(follow=True) gives lines", TOLD, "'hello' in FOLLOWED and 'print them with result(stream_logs=True)' in warning(lambda: JOB.logs(follow=True))"),
    ("handle: cancel", SAME, "kept(FAILED.cancel)"),
    ("handle: cleanup(k8s, gcs)", SAME, "parameters(kinetic.JobHandle.cleanup) >= {'k8s', 'gcs'}"),
    ("handle: result(timeout, cleanup) by position", SAME, "add.run_async(1).result(60, True) == 2"),
    ("handle: result(stream_logs=)", SAME, "add.run_async(1).result(stream_logs=True) == 2"),
    ("handle: result(cleanup_timeout=, cleanup_poll_interval=)", SAME, "add.run_async(1).result(cleanup_timeout=9, cleanup_poll_interval=1) == 2"),
    ("handle: result(on_status_change=)", SAME, "changes() == 'SUCCEEDED'"),
    ("handle: on_status_change that raises", SAME, "add.run_async(1).result(on_status_change=lambda s: 1 / 0) == 2"),
    ("handle: result(timeout=0)", SAME, "raises(TimeoutError, lambda: waiting().result(timeout=0))"),
    ("handle: a timeout is a TimeoutError", SAME, "issubclass(kinetic.JobTimeout, TimeoutError)"),
    ("handle: result again", BETTER, "JOB.result() == JOB.result() == 3"),
    ("handle: result of a failed job raises its exception", SAME, "raises(KeyError, FAILED.result)"),
    ("handle: and keeps all", BETTER, "FAILED.status() == JobStatus.FAILED"),
    ("handle: the traceback in the job", SAME, "'in fail' in failure().__cause__.__str__()"),
    ("handle: a custom exception comes back as itself", BETTER, "custom().code == 7"),
    ("handle: a value that can't be pickled", BETTER, "raises(kinetic.RemoteError, kinetic.run(lambda: threading.Lock()))"),
    ("handle: sys.exit", BETTER, "raises(kinetic.RemoteError, kinetic.run(lambda: sys.exit(3)))"),
    ("handle: job_id", SAME, "JOB.job_id.startswith('cpu-add-')"),
    ("handle: func_name", SAME, "JOB.func_name == 'add'"),
    ("handle: accelerator", SAME, "JOB.accelerator == 'cpu'"),
    ("handle: created_at", SAME, "JOB.created_at.startswith('20')"),
    ("handle: backend", SAME, "JOB.backend == 'local'"),
    ("handle: project, zone, cluster_name, namespace", SAME, "(KNOWN.project, KNOWN.zone, KNOWN.cluster_name, KNOWN.namespace) == ('p', 'z', 'main', 'team')"),
    ("handle: bucket_name", SAME, "KNOWN.bucket_name == 'b'"),
    ("handle: k8s_name", SAME, "KNOWN.k8s_name == 'kinetic-cpu-train'"),
    ("handle: image_uri", SAME, "KNOWN.image_uri == 'r/i:1'"),
    ("handle: display_name", SAME, "JOB.display_name"),
    ("handle: debug", SAME, "JOB.debug is False"),
    ("handle: group_id", SAME, "not JOB.group_id"),
    ("handle: to_dict and from_dict", SAME, "kinetic.JobHandle.from_dict(JOB.to_dict()) == JOB"),
    ("handle: to_json and from_json", SAME, "kinetic.JobHandle.from_json(JOB.to_json()) == JOB"),
    ("handle: it can be pickled", SAME, "pickle.loads(pickle.dumps(JOB)) == JOB"),
    # attach and list_jobs
    ("attach: by id", SAME, "kinetic.attach(FAILED.job_id) == FAILED"),
    ("attach: an unknown id", BETTER, "raises(LookupError, lambda: kinetic.attach('cpu-none-20260417-153012-abc1234'))"),
    ("list_jobs: what exists", SAME, "FAILED in kinetic.list_jobs()"),
    ("list_jobs: by position", TOLD, "'project=' in raised(TypeError, lambda: kinetic.list_jobs('p'))"),
    # maps
    ("map: input_mode", SAME, "pairs.run_async_map([[1, 2]], input_mode='args').results() == [3]"),
    ("map: max_concurrent", SAME, "square.run_async_map([1], max_concurrent=64).results() == [1]"),
    ("map: max_concurrent=0", SAME, "raises(ValueError, lambda: square.run_async_map([1], max_concurrent=0))"),
    ("map: no inputs", SAME, "raises(ValueError, lambda: square.run_async_map([]))"),
    ("map: any iterable", BETTER, "square.run_async_map(iter([2])).results() == [4]"),
    ("map: retries after an exception", SAME, "flaky.run_async_map([1], retries=1).results() == [2]"),
    ("map: fail_fast with cancel_running_on_fail=False", TOLD, "'fail_fast has no effect' in warning(lambda: square.run_async_map([1], fail_fast=True, cancel_running_on_fail=False))"),
    ("map: fail_fast alone ends what runs", TOLD, "stopped() == 'NOT_FOUND' and tells('`fail_fast=True` of a map', 'starts no more jobs', 'cancels the map')"),
    ("map: one job for all inputs", TOLD, "{job.job_id for job in BATCH.jobs} == {BATCH.job.job_id} and tells('a map', 'a job for each input', '**one job** for all')"),
    ("map: tags with any text", SAME, "square.run_async_map([1], tags={'owner': 'jane@x.org'}).tags == {'owner': 'jane@x.org'}"),
    ("map: name", SAME, "square.run_async_map([1], name='lr').name == 'lr'"),
    ("batch: results", SAME, "square.run_async_map([3, 1], name='two').results(return_exceptions=True)[1] == 1"),
    ("batch: group_id is the id of the job", TOLD, "BATCH.group_id == BATCH.job.job_id and tells('`group_id`', 'grp-', 'the id of the job')"),
    ("batch: results() deletes the record and the log", TOLD, "collected() == 'NOT_FOUND' and tells('the log after a job is deleted', 'gone', '`results()` of a map without a failure deletes both')"),
    ("batch: as_completed gives outcomes, not handles", TOLD, "isinstance(next(BATCH.as_completed()), Outcome) and tells('`as_completed()` of a map', 'handles', 'outcomes')"),
    ("batch: wait", SAME, "BATCH.wait().ended"),
    ("batch: jobs", SAME, "[job.index for job in BATCH.jobs] == [0, 1, 2]"),
    ("batch: a job has status, result, tail", SAME, "(BATCH.jobs[0].status(), BATCH.jobs[0].result()) == ('SUCCEEDED', 1)"),
    ("batch: statuses are pairs", SAME, "[state.value for _, state in BATCH.statuses()] == ['SUCCEEDED', 'FAILED', 'SUCCEEDED']"),
    ("batch: status_counts by words", SAME, "BATCH.status_counts().get('SUCCEEDED', 0) == 2"),
    ("batch: as_completed gives result() and job_id", SAME, "sorted(c.result() for c in BATCH.as_completed() if c.exception is None) == [1, 4] and all(c.job_id for c in BATCH.as_completed())"),
    ("batch: failures", SAME, "[job.index for job in BATCH.failures()] == [1]"),
    ("batch: submission_failures and unavailable_children", SAME, "not BATCH.submission_failures and not BATCH.unavailable_children"),
    ("batch: partial_results in the order of the inputs", SAME, "list(ERROR.partial_results) == [1, None, 4]"),
    ("batch: failures of the error", SAME, "[job.index for job in ERROR.failures] == [1]"),
    ("batch: the error can be pickled", SAME, "list(pickle.loads(pickle.dumps(ERROR)).partial_results) == [1, None, 4]"),
    ("attach_batch: poll_interval and poll_timeout", SAME, "kinetic.attach_batch(BATCH.group_id, poll_interval=1, poll_timeout=9).group_id == BATCH.group_id"),
    # Data
    ("Data: a missing file", SAME, "raises(FileNotFoundError, lambda: kinetic.Data('gone'))"),
    ("Data: an empty path", SAME, "raises(ValueError, lambda: kinetic.Data(''))"),
    ("Data: fuse with hf://", SAME, "raises(ValueError, lambda: kinetic.Data('hf://a/b', fuse=True))"),
    ("Data: fuse by position", SAME, "kinetic.Data('gs://b/x/', True).fuse is True"),
    ("Data: hf_trust_remote_code of other paths", SAME, "kinetic.Data('gs://b/x/', hf_trust_remote_code=True).hf_trust_remote_code"),
    ("Data: hf_trust_remote_code", TOLD, "'load_dataset' in raised(kinetic.UsageError, lambda: kinetic.Data('hf://a/b', hf_trust_remote_code=True))"),
    ("Data: is_gcs", SAME, "kinetic.Data('gs://b/x').is_gcs"),
    ("Data: is_dir", SAME, "kinetic.Data('.').is_dir"),
    ("Data: is_hf", SAME, "kinetic.Data('hf://a/b').is_hf"),
    ("Data: content_hash", SAME, "len(kinetic.Data('main.py').content_hash()) == 64"),
    ("Data: in lists and dicts", SAME, "read({'a': [kinetic.Data('weights')]}) == 'weights'"),
    ("Data: in closures", BETTER, "in_closure() == 'weights'"),
    # states and modules
    ("JobStatus: the five states", SAME, "{s.value for s in JobStatus} >= {'PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'NOT_FOUND'}"),
    ("JobStatus: equals its word", BETTER, "JobStatus.FAILED == 'FAILED'"),
    ("module kinetic.jobs", SAME, "importlib.import_module('kinetic.jobs').JobHandle is kinetic.JobHandle"),
    ("module kinetic.collections", SAME, "importlib.import_module('kinetic.collections').BatchHandle is kinetic.BatchHandle"),
    ("module kinetic.debug", SAME, "callable(importlib.import_module('kinetic.debug').cleanup_port_forward)"),
]

PROGRAM = """
import collections, contextlib, dataclasses, functools, importlib, inspect, io, json, os, pickle, sys, threading, time, warnings
import kinetic
from kinetic.client.inputs import Outcome
from kinetic.job_status import JobStatus

@dataclasses.dataclass
class Point:
    x: int
    y: int

Pair = collections.namedtuple("Pair", "x y")

class Custom(Exception):
    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code = code

class Adder:
    def __call__(self, x): return x + 10

class Model:
    def __init__(self, scale): self.scale = scale
    @kinetic.run()
    def fit(self, x): return self.scale * x
    @staticmethod
    @kinetic.run()
    def half(x): return x // 2

def plain(a, b): return a + b
def generator(): yield 1

@kinetic.run()
def add(a, b=1):
    print("hello")
    return a + b

@kinetic.run()
def fail(): raise KeyError("gone")

@kinetic.run()
def wait():
    while not os.path.exists(GATE): time.sleep(0.01)

@kinetic.run()
def square(x):
    if x == 3: raise ValueError(x)
    return x * x

@kinetic.run()
def held(x):
    while x != 3: time.sleep(0.01)
    raise ValueError(x)

@kinetic.run()
def pairs(a, b): return a + b

@kinetic.run()
def flaky(x):
    tries = os.path.join(os.environ["KINETIC_OUTPUT_DIR"], "tries")
    with open(tries, "a") as file: file.write(".")
    if os.path.getsize(tries) < 2: raise ValueError(x)
    return os.path.getsize(tries)

@kinetic.run()
def nested(): return add(1, b=2)

@kinetic.run()
async def coroutine(): return 4

@kinetic.run()
def read(tree):
    with open(tree["a"][0]) as file: return file.read()

def in_closure():
    data = kinetic.Data("weights")
    @kinetic.run()
    def opened():
        with open(data) as file: return file.read()
    return opened()

def volume():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        @kinetic.run(volumes={os.path.abspath("mounted"): kinetic.Data("weights")})
        def opened():
            with open(os.environ["KINETIC_VOLUME_0"] + "/weights") as file: return file.read()
        return opened()

def closure(x): return kinetic.run(lambda: x)
def option(function, name):
    made = function(plain) if not isinstance(function, kinetic.RemoteCallable) else function
    return made.options.all().get(name)
def parameters(function): return set(inspect.signature(function).parameters)
def kept(action): return action() is None
def raises(kind, action):
    try: action()
    except kind: return True
    return False
def raised(kind, action):
    try: action()
    except kind as exc: return str(exc)
    return ""
def warning(action):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        action()
    return "".join(str(each.message) for each in found)
def warned(action): return bool(warning(action))
def tells(first, *cells):
    rows = [line.split(" | ") for line in open("from-keras-kinetic.md") if line.startswith(f"| {first} | ")]
    return len(rows) == 1 and len(rows[0]) == len(cells) + 1 and all(cell in found for cell, found in zip(cells, rows[0][1:]))
def printed(logs="stderr"):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        add.with_options(logs=logs)(1)
    return out.getvalue(), err.getvalue()
def leveled():
    before = printed()[1].count("\\n")
    os.environ["KINETIC_LOG_LEVEL"] = "FATAL"
    try: return printed()[1].count("\\n") == before > 0
    finally: del os.environ["KINETIC_LOG_LEVEL"]
def stopped():
    batch = held.run_async_map([3, 1], fail_fast=True)
    try: batch.results()
    except kinetic.BatchError: return batch.job.status().value
def collected():
    batch = square.run_async_map([1])
    batch.results()
    try: return batch.job.logs()
    except kinetic.JobNotFound: return batch.job.status().value
def changes():
    seen = []
    add.run_async(1).result(on_status_change=seen.append)
    return seen[-1].value
def failure():
    try: FAILED.result()
    except KeyError as exc: return exc
def custom():
    try: kinetic.run(raise_custom)()
    except Custom as exc: return exc
def raise_custom(): raise Custom(7, "no")
def waiting(): return WAITING

said = io.StringIO()
GATE = os.path.abspath("gate")
os.environ["KINETIC_STORE"] = ""
kinetic.configure(local=True, logs="none")
from kinetic.client import advice
with contextlib.redirect_stderr(said): advice.default_accelerator({})
ADVICE = said.getvalue()
WAITING = wait.run_async()
FAILED = fail.run_async()
FAILED.wait()
JOB = add.run_async(2)
TAIL, FOLLOWED, LOGS = (JOB.wait(), JOB.tail(5))[1], list(JOB.logs(follow=True)), JOB.logs()
KNOWN = kinetic.JobHandle.of({
    "job_id": "cpu-train", "backend": "gke", "project": "p", "cluster_name": "main", "zone": "z", "namespace": "team",
    "store": "gs://b/x", "k8s_name": "kinetic-cpu-train", "image_uri": "r/i:1",
}, {})
BATCH = square.run_async_map([1, 3, 2])
try: BATCH.results(cleanup=False)
except kinetic.BatchError as exc: ERROR = exc

answers = {}
for name, _, expression in json.load(open("rows.json")):
    try: answers[name] = bool(eval(expression)) or "it is false"
    except Exception as exc: answers[name] = f"{type(exc).__name__}: {exc}"
open(GATE, "w").close()
WAITING.result()
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What each row's expression gives in a program that runs jobs on this machine."""
    if missing():
        pytest.skip(missing())
    project = Project(tmp_path_factory.mktemp("parity"))
    project.write("rows.json", json.dumps(ROWS))
    project.write("from-keras-kinetic.md", (REPOSITORY / "docs" / "from-keras-kinetic.md").read_text(encoding="utf-8"))
    pathlib.Path(project.directory, "weights").write_text("weights", encoding="utf-8")
    done = project.run(PROGRAM, timeout=600)
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("name", [name for name, _, _ in ROWS])
def test_behaviour(name: str, answers: dict[str, object]) -> None:
    assert answers[name] is True


def test_each_behaviour_has_a_verdict_and_is_named_once() -> None:
    assert {verdict for _, verdict, _ in ROWS} == {SAME, BETTER, TOLD}
    assert len({name for name, _, _ in ROWS}) == len(ROWS)
