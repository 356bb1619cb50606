# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a payload has, and what can be called from it where the client's modules are missing."""

from __future__ import annotations

import io
import json
import platform
import stat
import types

import cloudpickle
import pytest
from conftest import Project

from kinetic.client.payload import Inputs, Pickler

# Calls what payload.pkl has, as a job does: in another process, with the project's modules and cloudpickle's own files alone.
CALL = """
import json, os, pathlib, pickle, sys
with open("payload.pkl", "rb") as file:
    for name, text in json.loads(file.readline())["modules"].items():
        path = pathlib.Path("modules", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    sys.path.insert(0, os.path.abspath("modules"))
    import cloudpickle
    assert cloudpickle.__file__.startswith(os.path.abspath("modules"))
    function, args, kwargs = pickle.load(file)
print(function(*args, **kwargs))
"""


def write(project: Project, program: str, call: str, **env: str) -> str:
    """Write payload.pkl with the call of a program, such as "train(1)". Return the flags for its inputs."""
    capture = f"""
from kinetic import RemoteCallable
from kinetic.client import payload, project
inputs = payload.Inputs()
def capture(self, *args, **kwargs):
    with project.travelling(project.strangers(project.current(), [])):
        payload.write("payload.pkl", self, (*self.bound, *args), kwargs, inputs)
RemoteCallable.__call__ = capture
{call}
print(*inputs.flags())
"""
    return project.run("import kinetic\n" + program + capture, env=env).stdout.strip()


def call(project: Project, **env: str) -> str:
    """Return what the call in payload.pkl returns, as text."""
    return project.run(CALL, name="job.py", env={"KINETIC_JOB_ID": "cpu-test", **env}).stdout.strip()


def test_header(project: Project) -> None:
    write(project, "@kinetic.run()\ndef train(): return 1", "train()")
    file = project.directory / "payload.pkl"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    header = json.loads(file.read_bytes().split(b"\n")[0])
    assert header.pop("modules").keys() >= {"cloudpickle/__init__.py", "cloudpickle/cloudpickle.py"}
    assert header == {"kinetic_payload": 1, "python": platform.python_version(), "cloudpickle": cloudpickle.__version__, "function": "train"}


CELL = """
import linecache
def cell(text, filename):
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    exec(compile(text, filename, "exec"), globals())
cell({text!r}, "<cell 1>")
"""


def test_code_keeps_the_name_of_its_file() -> None:
    """Which cloudpickle after 3.1 leaves out."""

    class Later(Pickler):
        dispatch_table = {types.CodeType: lambda code: (str, ("<dynamic-code>", code.co_name))}

    code = compile("", "train.py", "exec")
    assert Later(io.BytesIO(), Inputs()).reducer_override(code) == (str, ("train.py", "<module>"))


@pytest.mark.parametrize("size, shown", [(0, True), (1 << 18, False)], ids=["small", "large"])
def test_source_that_is_in_no_file_travels_with_its_code(project: Project, size: int, shown: bool) -> None:
    text = f"@kinetic.run()\ndef train(n):\n    def inner(): return 1 / n  # {'x' * size}\n    return inner()\n"
    write(project, CELL.format(text=text), "train(0)")
    payload = (project.directory / "payload.pkl").read_bytes()
    assert payload.count(b"return inner()") == shown
    failing = CALL.replace("print(function", "import traceback\ntry: print(function") + "except ZeroDivisionError: traceback.print_exc()"
    done = project.run(failing, name="job.py", env={"KINETIC_JOB_ID": "cpu-test"})
    assert ('File "<cell 1>", line 3, in inner\n    def inner(): return 1 / n' in done.stderr) == shown


CALLS: dict[str, tuple[str, str, str]] = {
    "a function of the script": ("@kinetic.run()\ndef train(n, m=2): return n + m", "train(1)", "3"),
    "without parentheses": ("@kinetic.run\ndef train(n): return n", "train(n=4)", "4"),
    "a lambda": ("double = kinetic.run()(lambda n: 2 * n)", "double(4)", "8"),
    "a closure": ("def make(k):\n    @kinetic.run()\n    def times(n): return k * n\n    return times", "make(3)(4)", "12"),
    "a partial": ("import functools\ntrain = kinetic.run()(functools.partial(divmod, 7))", "train(2)", "(3, 1)"),
    "a method": ("class M:\n    k = 5\n    @kinetic.run()\n    def times(self, n): return self.k * n", "M().times(4)", "20"),
    "a class method": ("class M:\n    k = 5\n    @classmethod\n    @kinetic.run()\n    def times(cls, n): return cls.k * n", "M.times(4)", "20"),
    "a static method": ("class M:\n    @staticmethod\n    @kinetic.run()\n    def one(): return 1", "M.one()", "1"),
    "a callable object": ("class M:\n    def __call__(self, n): return n\nmodel = kinetic.run()(M())", "model(6)", "6"),
    "other decorated functions, as plain ones": (
        "@kinetic.run()\ndef a(n): return n and b(n - 1) or 'end'\n@kinetic.run()\ndef b(n): return a(n)",
        "a(2)",
        "end",
    ),
    "a function with a cache": (
        "import functools\n@functools.lru_cache(7, typed=True)\ndef load(n): return n\n"
        "@kinetic.run()\ndef train(n): return load(n) + load(n), load.cache_info().hits, load.cache_parameters(), load.__name__",
        "train(4)",
        "(8, 1, {'maxsize': 7, 'typed': True}, 'load')",
    ),
    "one that calls itself": (
        "import functools\n@functools.lru_cache(None)\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
        "@kinetic.run()\ndef train(n): return fib(n), fib.cache_info().misses",
        "train(90)",
        "(2880067194370816120, 91)",
    ),
    "one that is made in a function": (
        "import functools, math\ndef make(k): return functools.lru_cache()(lambda n: k * n)\n@kinetic.run()\ndef train(f, g): return f(4), g(9.0)",
        "train(make(3), functools.lru_cache()(functools.partial(math.pow, 2)))",
        "(12, 512.0)",
    ),
    "a method with a cache": ("import functools\nclass M:\n    @functools.lru_cache()\n    def half(self, n): return n / 2\n@kinetic.run()\ndef train(m): return m.half(4)", "train(M())", "2.0"),
}


@pytest.mark.parametrize("program, statement, value", CALLS.values(), ids=CALLS)
def test_calls(project: Project, program: str, statement: str, value: str) -> None:
    write(project, program, statement)
    assert call(project) == value


HELPER = """
import functools
import kinetic
WHERE = {where!r}

def plain(): return WHERE

@functools.lru_cache(maxsize=None)
def cached(): return WHERE

@kinetic.run()
def decorated(): return WHERE
"""


@pytest.mark.parametrize("function", ["plain", "decorated", "cached"])
@pytest.mark.parametrize("name", ["helper", "pkg.helper"])
def test_modules_of_the_project_travel_by_reference(project: Project, name: str, function: str) -> None:
    file = project.write(name.replace(".", "/") + ".py", HELPER.format(where="client"))
    write(project, f"import {name}\n@kinetic.run()\ndef train(): return {name}.{function}()", "train()")
    file.write_text(HELPER.format(where="job"))
    assert call(project) == "job"


def test_decorated_function_of_the_project_travels_by_reference(project: Project) -> None:
    file = project.write("helper.py", HELPER.format(where="client"))
    write(project, "import helper", "helper.decorated()")
    file.write_text(HELPER.format(where="job"))
    assert call(project) == "job"


METHODS = """
import kinetic
WHERE = {where!r}

class Model:
    def __init__(self, scale): self.scale = scale

    @kinetic.run()
    def where(self): return WHERE, self.scale

    scale = 3

    @classmethod
    @kinetic.run()
    def decorated(cls): return WHERE, cls.scale

    @classmethod
    def plain(cls): return WHERE, cls.scale

    @staticmethod
    @kinetic.run()
    def static(): return WHERE, 3
"""
CALLS_OF_METHODS = (
    "Model(3).where()",
    "Model(3).where.with_options(spot=True)()",
    "Model.decorated()",
    "Model.static()",
    "kinetic.run()(Model.plain)()",
    "kinetic.run()(lambda: Model.decorated())()",
)


@pytest.mark.parametrize("text", CALLS_OF_METHODS)
def test_methods_of_the_project_travel_by_reference(project: Project, text: str) -> None:
    file = project.write("helper.py", METHODS.format(where="client"))
    write(project, "from helper import Model", text)
    file.write_text(METHODS.format(where="job"))
    assert call(project) == "('job', 3)"


def test_copy_of_a_decorated_function_travels_by_reference(project: Project) -> None:
    file = project.write("helper.py", HELPER.format(where="client"))
    write(project, "import helper", "helper.decorated.with_options(spot=True)()")
    file.write_text(HELPER.format(where="job"))
    assert call(project) == "job"


@pytest.mark.usefixtures("local")  # it asks what is packaged
@pytest.mark.parametrize("function", ["plain", "decorated", "cached"])
def test_modules_from_elsewhere_travel_by_value(project: Project, function: str) -> None:
    elsewhere = project.home / "lib" / "helper.py"
    elsewhere.parent.mkdir()
    elsewhere.write_text(HELPER.format(where="client"))
    program = f"import sys; sys.path.append({str(elsewhere.parent)!r}); import helper\n@kinetic.run()\ndef train(): return helper.{function}()"
    write(project, program, "train()")
    elsewhere.unlink()
    assert call(project) == "client"


@pytest.mark.usefixtures("local")  # it asks what is packaged
def test_module_of_the_project_under_another_name_travels_by_value(project: Project) -> None:
    project.write("lib/helper.py", HELPER.format(where="client"))
    write(project, "import sys; sys.path.append('lib'); import helper\n@kinetic.run()\ndef train(): return helper.plain()", "train()")
    assert call(project) == "client"


@pytest.mark.usefixtures("local")  # it asks what is packaged
def test_nothing_of_a_home_is_relied_on(project: Project) -> None:
    helper = project.write("helper.py", HELPER.format(where="client"))
    (project.directory / ".ssh").mkdir()
    (project.directory / "pyproject.toml").unlink()
    text = "import __main__, helper\ndel __main__.__file__\n@kinetic.run()\ndef train(): return helper.plain()"  # as in a notebook
    assert write(project, text, "train()", HOME=str(project.directory)) == ""
    helper.unlink()
    assert call(project) == "client"


def test_virtual_environment_in_the_project_is_installed_code(project: Project) -> None:
    file = project.write("venv/lib/python3/site-packages/installed.py", HELPER.format(where="client"))
    program = f"import sys; sys.path.append({str(file.parent)!r}); import installed\n@kinetic.run()\ndef train(): return installed.plain()"
    write(project, program, "train()")
    file.write_text(HELPER.format(where="job"))
    assert call(project, PYTHONPATH=f"{project.environment()['PYTHONPATH']}:{file.parent}") == "job"


def test_what_may_be_secret_does_not_travel_with_a_cache(project: Project) -> None:
    program = "import functools\n@functools.lru_cache()\n@kinetic.run(env={'TOKEN': 'hidden'})\ndef load(): return 5\n@kinetic.run()\ndef train(): return load()"
    write(project, program, "train()")
    assert b"hidden" not in (project.directory / "payload.pkl").read_bytes().partition(b"\n")[2]
    assert call(project) == "5"


DATA = """
import os
class Config:
    def __init__(self, data): self.data = data
TRAIN = kinetic.Data("gs://b/train/")
@kinetic.run()
def train(a, *rest, **more):
    return a, rest, more["cfg"].data, os.path.join(TRAIN, "x")
"""


def test_data_become_paths(project: Project) -> None:
    project.write("images/1.png", "")
    call_text = "train(kinetic.Data('images'), [kinetic.Data('images')], cfg=Config(kinetic.Data('gs://b/c/', fuse=True)))"
    flags = write(project, DATA, call_text).split()
    names = {source: name for name, source in (flag[len("--data=") :].split("=") for flag in flags)}
    assert names.keys() == {f"{project.directory}/images", "gs://b/train/", "gs://b/c/,fuse"}
    where = {f"KINETIC_DATA_{name.upper()}": f"/{source}" for source, name in names.items()}
    images = f"/{project.directory}/images"
    assert call(project, **where) == str((images, ([images],), "/gs://b/c/,fuse", "/gs://b/train/x"))


UNPICKLABLE: dict[str, tuple[str, str, str]] = {
    "an argument": ("@kinetic.run()\ndef train(n, m): pass", "train(1, threading.Lock())", "argument 'm' is of type _thread.lock, which can't be pickled"),
    "an argument by name": ("@kinetic.run()\ndef train(**more): pass", "train(m=threading.Lock())", "argument 'm' is of type _thread.lock"),
    "one of many": ("@kinetic.run()\ndef train(*all): pass", "train(1, (i for i in []))", "argument 1 is of type builtins.generator.*: pass a list"),
    "in containers": ("@kinetic.run()\ndef train(cfg): pass", "train({'k': [1, threading.Lock()]})", r"argument 'cfg'\['k'\]\[1\] is of type _thread.lock"),
    "an attribute": (
        "class C: pass\nc = C(); c.inner = C(); c.inner.lock = threading.Lock()\n@kinetic.run()\ndef train(cfg): pass",
        "train(c)",
        "argument 'cfg'.inner.lock is of type _thread.lock",
    ),
    "self": (
        "class C:\n    def __init__(self): self.lock = threading.Lock()\n    @kinetic.run()\n    def fit(self): pass",
        "C().fit()",
        "cannot send fit.*: argument 'self'.lock is",
    ),
    "a slot": (
        "class C:\n    __slots__ = ('lock',)\nc = C(); c.lock = threading.Lock()\n@kinetic.run()\ndef train(cfg): pass",
        "train(c)",
        "argument 'cfg'.lock is of type _thread.lock",
    ),
    "a global": ("lock = threading.Lock()\n@kinetic.run()\ndef train(): return lock", "train()", "the global 'lock' of train is"),
    "a global of a function it calls": (
        "lock = threading.Lock()\ndef helper(): return lock\n@kinetic.run()\ndef train(): return helper()",
        "train()",
        "the global 'lock' of helper is",
    ),
    "a variable": ("def make(lock):\n    @kinetic.run()\n    def train(): return lock\n    return train", "make(threading.Lock())()", "the variable 'lock' of train is"),
    "a default": ("@kinetic.run()\ndef train(lock=threading.Lock()): pass", "train()", "the default of 'lock' of train is"),
    "an open file": ("@kinetic.run()\ndef train(f): pass", "train(open('x', 'w'))", "argument 'f' is of type _io.TextIOWrapper.*kinetic.Data"),
    "an object of its own": (
        "class C:\n    def __reduce__(self): raise ValueError('no way')\n@kinetic.run()\ndef train(c): pass",
        "train([C()])",
        r"argument 'c'\[0\] is of type __main__.C, which can't be pickled \(no way\): create it in the function",
    ),
    "too deep": ("deep = []\nfor _ in range(100000): deep = [deep]\n@kinetic.run()\ndef train(c): pass", "train(deep)", "nested too deeply"),
}


@pytest.mark.parametrize("program, statement, message", UNPICKLABLE.values(), ids=UNPICKLABLE)
def test_unpicklable(project: Project, program: str, statement: str, message: str) -> None:
    text = f"import re, sys\ntry:\n    {statement}\nexcept TypeError as exc:\n    assert re.search({message!r}, str(exc)), exc\nelse:\n    sys.exit('sent')"
    write(project, "import threading\n" + program, text)


def test_misplaced_data(project: Project) -> None:
    program = "@kinetic.run()\ndef train(cfg): pass"
    text = "try:\n    train({kinetic.Data('gs://b/c/')})\nexcept ValueError as exc:\n    assert \"the set argument 'cfg'\" in str(exc)\nelse:\n    1 / 0"
    write(project, program, text)


LARGE = """
import resource
import numpy
SIZE = 200 << 20
array = numpy.ones(SIZE, numpy.uint8)
@kinetic.run()
def train(a): return int(a.sum())
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
"""


def test_large_array_is_not_copied(project: Project) -> None:
    pytest.importorskip("numpy")
    write(project, LARGE, "train(array)\nassert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < (SIZE >> 10) // 4")
    assert call(project) == str(200 << 20)


def test_wrong_arguments_are_told_as_by_a_call(project: Project) -> None:
    text = """
    import kinetic
    @kinetic.run()
    def train(n): pass
    try:
        train()
    except TypeError as exc:
        assert str(exc) == "train() missing a required argument: 'n'", exc
    else:
        1 / 0
    """
    project.run(text)


@pytest.mark.parametrize(
    "call, shown",
    [
        ("train(10, 0.1, text='gr\u00fcn')", '{"steps": 10, "rate": 0.1, "text": "gr\u00fcn"}'),
        ("train(True, None, text='\\udc80')", '{"steps": true, "rate": null, "text": "\\udc80"}'),
        ("train([1], float('nan'), text='x' * 41)", '{"steps": "-", "rate": "-", "text": "-"}'),
        ("train(10**5000, 'y' * 40, text='x' * 40)", '{"steps": "-", "rate": "%s", "text": "%s"}' % ("y" * 40, "x" * 40)),
        ("train(1, **{f'n{n}': 1 for n in range(20)})", "null"),
        ("train('a' * 40, 'a' * 40, **{name: 'a' * 40 for name in 'bcdef'})", '{"steps": "A", "rate": "A", "b": "A", "c": "A", "d": "-", "e": "-", "f": "-"}'.replace("A", "a" * 40)),
        ("Model().fit(3)", '{"steps": 3}'),
        ("functools.partial(train, 1)(2)", '{"steps": 1, "rate": 2}'),
    ],
)  # fmt: skip
def test_arguments_in_the_header(project: Project, call: str, shown: str) -> None:
    program = f"""
import functools, json
import kinetic
from kinetic.client import payload, process
@kinetic.run(local=True)
def train(steps, rate=0, *args, **more): pass
class Model:
    @kinetic.run(local=True)
    def fit(self, steps): pass
def stop(binary, words, report):
    file = next(word.partition("=")[2] for word in words if word.startswith("--payload="))
    found = json.loads(open(file, "rb").readline()).get("arguments")
    print(json.dumps(found and {{one["name"]: one.get("value", "-") for one in found}}, ensure_ascii=False).encode(errors="backslashreplace").decode())
    raise SystemExit
process.require = stop
kinetic.RemoteCallable.__call__ = kinetic.RemoteCallable.run_async
{call}
"""
    assert project.run(program).stdout.strip() == shown
