# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Values of classes of the program: what a job changes in its copy of a class stays in the job."""

from __future__ import annotations

import io
import pathlib
import pickle
import subprocess
import sys
from typing import Any

import pytest
from conftest import RUNNER, Project

from kinetic.client import loading

CLASSES = """
import abc, enum, os
import kinetic

kinetic.configure(local=True, logs="none")

class Result:
    count = 0
    def __init__(self, x): self.x = x
    def where(self): return os.getpid()
    @kinetic.run(env={"A_TOKEN": "s3cret"})
    def remote(self): return self.x

class Failed(Exception):
    count = 0

class Shape(abc.ABC):
    count = 0

class Colour(enum.Enum):
    RED = 1

@kinetic.run()
def change(x):
    if x < 0:
        Failed.count = 5
        raise Failed(x)
    for kind in (Result, Shape, Colour):
        kind.count = 5
    Result.added = True
    class Inner(Result):
        def twice(self): return 2 * self.x
    return Result(x), Inner(x), Shape, Colour.RED

def unchanged():
    assert vars(Result) == before, vars(Result)
    assert (Failed.count, Shape.count, hasattr(Colour, "count")) == (0, 0, False)
    assert Result(1).where() == os.getpid()

def check(values):
    result, inner, shape, red = values
    assert (type(result), shape, red) == (Result, Shape, Colour.RED)
    assert isinstance(inner, Result) and inner.twice() == 6
    unchanged()

before = dict(vars(Result))
"""

LOADED = {
    "a call": "check(change(3))",
    "a handle": "job = change.run_async(3)\ncheck(job.result(cleanup=False))\ncheck(job.result())",
    "a map": "for values in change.map([3, 3]): check(values)",
    "an exception": "try:\n    change(-1)\nexcept Failed as exc:\n    assert exc.args == (-1,)\n    unchanged()\nelse:\n    raise AssertionError",
}


@pytest.mark.parametrize("text", LOADED.values(), ids=LOADED)
def test_classes_of_the_program_stay_as_they_are(local: Project, text: str) -> None:
    local.run(f"{CLASSES}\n{text}")


# The class needs a module that is missing at the first try. What the first try has made is kept alive, as by a notebook's traceback.
AGAIN = """
import io, sys, types
from kinetic.client import loading

data = open(sys.argv[1], "rb").read()
first = loading.Unpickler(io.BytesIO(data))
try:
    first.load()
except ModuleNotFoundError as exc:
    kept = exc
sys.modules["late"] = types.ModuleType("late")
exec("class Part: pass", vars(sys.modules["late"]))
print(loading.load(io.BytesIO(data)).twice(3), loading.load(io.BytesIO(data)).twice(4), type(kept).__name__)
"""


def test_a_class_that_could_not_be_made_at_first(tmp_path: pathlib.Path) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    pickled = io.BytesIO()
    late = type(sys)("late")
    exec("class Part: pass", vars(late))
    made: dict[str, Any] = {"__name__": "__main__"}
    exec("class Whole:\n    part = None\n    def twice(self, x): return 2 * x", made)
    made["Whole"].part = late.Part
    sys.modules["late"] = late
    try:
        cloudpickle.dump(made["Whole"](), pickled)
    finally:
        del sys.modules["late"]
    file = tmp_path / "value.pkl"
    file.write_bytes(pickled.getvalue())
    done = subprocess.run([sys.executable, "-c", AGAIN, str(file)], env={"PYTHONPATH": str(RUNNER)}, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("6 8 ModuleNotFoundError\n", "")


def test_a_tensor_of_a_gpu_that_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    torch: Any = type(sys)("torch")
    storage: Any = type(sys)("torch.storage")
    exec("def _load_from_bytes(data):\n  if data == b'cuda': raise RuntimeError('no CUDA device')\n  return data", vars(storage))
    torch.load = lambda file, map_location, weights_only: (file.read(), map_location)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch.storage", storage)

    class Tensor:
        def __init__(self, device: bytes) -> None:
            self.device = device

        def __reduce__(self) -> Any:
            return storage._load_from_bytes, (self.device,)

    assert loading.load(io.BytesIO(pickle.dumps([Tensor(b"cpu"), Tensor(b"cuda")]))) == [b"cpu", (b"cuda", "cpu")]


def test_paths_of_a_job_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(loading.PATHS, "PosixPath", pathlib.PurePosixPath)
    path = loading.load(io.BytesIO(pickle.dumps(pathlib.PosixPath("/kinetic/x"))))
    assert path == pathlib.PurePosixPath("/kinetic/x") and not hasattr(path, "open")
