# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Notebooks, with the kernel that Jupyter uses. All tests share one."""

from __future__ import annotations

import asyncio
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import Project, missing

REASON = "there is no Jupyter; make test-full installs it"
nbclient = pytest.importorskip("nbclient", reason=REASON)
nbformat = pytest.importorskip("nbformat", reason=REASON)
pytest.importorskip("ipykernel", reason=REASON)

BEGIN = """
%load_ext kinetic
import os, threading
import kinetic
kinetic.configure(local=True)
"""


class Notebook:
    def __init__(self, client: Any, directory: pathlib.Path) -> None:
        self.directory = directory
        self.count = 0
        self._client = client
        self._process, client.process_message = client.process_message, self._interrupting

    def _interrupting(self, msg: Any, *args: Any) -> Any:
        """Handle a message of the kernel. Interrupt it where a cell prints a line that says so."""
        if msg["msg_type"] == "stream" and "interrupt me" in msg["content"]["text"]:
            self._interrupt = asyncio.ensure_future(self._client.km.interrupt_kernel())
        return self._process(msg, *args)

    def outputs(self, source: str) -> list[Any]:
        """Run a cell, and return what it shows: a list of outputs as notebooks have them."""
        cell = nbformat.v4.new_code_cell(source)
        self._client.nb.cells.append(cell)
        self._client.execute_cell(cell, len(self._client.nb.cells) - 1, store_history=True)
        self.count = cell.execution_count
        return list(cell.outputs)

    def shown(self, source: str) -> str:
        """Run a cell that must not raise, and return its last value as it is shown, or ""."""
        outputs = self.outputs(source)
        assert [output for output in outputs if output["output_type"] == "error"] == [], outputs
        return "".join(output["data"]["text/plain"] for output in outputs if output["output_type"] == "execute_result")

    def error(self, source: str) -> tuple[str, str, str]:
        """Run a cell that must raise, and return the error: name, text, traceback."""
        (error,) = [output for output in self.outputs(source) if output["output_type"] == "error"]
        return error["ename"], error["evalue"], "\n".join(error["traceback"])


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    if missing():
        pytest.skip(missing())
    place = tmp_path_factory.mktemp("notebook")
    project = Project(place)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_RUNTIME_DIR", str(place / "runtime"))
        resources = {"metadata": {"path": str(project.directory)}}
        client = nbclient.NotebookClient(nbformat.v4.new_notebook(), kernel_name="python3", timeout=60, allow_errors=True, resources=resources)
        with client.setup_kernel(env=project.environment()):
            opened = Notebook(client, project.directory)
            opened.shown(BEGIN)
            yield opened


def test_function_of_another_cell(notebook: Notebook) -> None:
    notebook.shown("scale = 2\ndef helper(x):\n    return scale * x")
    notebook.shown("@kinetic.run()\ndef double(x):\n    return helper(x), 'KINETIC_JOB_ID' in os.environ")
    assert notebook.shown("double(4)") == "(8, True)"
    notebook.shown("scale = 3")
    assert notebook.shown("double(4)") == "(12, True)"
    notebook.shown("def helper(x):\n    return -x")
    assert notebook.shown("double(4)") == "(-4, True)"
    notebook.shown("@kinetic.run()\ndef double(x):\n    return 'again'")
    assert notebook.shown("double(4)") == "'again'"


def test_working_directory_is_packaged(notebook: Notebook) -> None:
    (notebook.directory / "models").mkdir()
    (notebook.directory / "models" / "__init__.py").write_text("WHERE = 'the project'\ndef where(): return WHERE, __file__\n")
    notebook.shown("import models\n@kinetic.run()\ndef where():\n    return models.where()[0], models.__file__")
    here, file = eval(notebook.shown("where()"))
    assert here == "the project"
    assert file.endswith("/models/__init__.py")


def test_open(notebook: Notebook) -> None:
    (notebook.directory / "words.txt").write_text("of the project")
    notebook.shown("@kinetic.run()\ndef words():\n    with open('words.txt') as file:\n        return file.read()")
    assert notebook.shown("words()") == "'of the project'"
    assert notebook.shown("%%kinetic\nwith open('words.txt') as file:\n    text = file.read()\ntext") == "'of the project'"


def test_class_of_the_notebook(notebook: Notebook) -> None:
    notebook.shown("class Point:\n    def __init__(self, x):\n        self.x = x\n    def moved(self):\n        return Point(self.x + 1)")
    notebook.shown("@kinetic.run()\ndef move(point):\n    return point.moved()")
    assert notebook.shown("moved = move(Point(1))\ntype(moved) is Point, moved.x") == "(True, 2)"
    assert notebook.shown("%%kinetic\nPoint(5).moved()").startswith("<__main__.Point")
    assert notebook.shown("type(_) is Point, _.x") == "(True, 6)"


def test_handle(notebook: Notebook) -> None:
    notebook.shown("@kinetic.run()\ndef half(x):\n    return x / 2")
    (shown,) = [output for output in notebook.outputs("job = half.run_async(3)\njob") if output["output_type"] == "execute_result"]
    assert shown["data"]["text/plain"].startswith("<JobHandle cpu-half-")
    assert "<th>function</th><td>half</td>" in shown["data"]["text/html"]
    assert notebook.shown("await job") == "1.5"


def test_value_of_a_cell(notebook: Notebook) -> None:
    notebook.shown("rows = [1, 2, 3]")
    assert notebook.shown("%%kinetic --local\nrows = rows + [4]\ntotal = sum(rows)\ntotal, 'KINETIC_JOB_ID' in os.environ") == "(10, True)"
    assert notebook.shown(f"_, Out[{notebook.count}], rows, 'total' in globals()") == "((10, True), (10, True), [1, 2, 3], False)"


def test_cell_that_calls_a_decorated_function(notebook: Notebook) -> None:
    notebook.shown("@kinetic.run()\ndef job_id():\n    return os.environ['KINETIC_JOB_ID']")
    assert notebook.shown("%%kinetic\nimport os\njob_id() == os.environ['KINETIC_JOB_ID'], os.environ['KINETIC_JOB_ID'][:9]") == "(True, 'cpu-cell-')"


def test_class_of_the_cell(notebook: Notebook) -> None:
    notebook.shown("%%kinetic\nclass Pair:\n    first = 1\n    def twice(self):\n        return 2 * self.first, Pair\nPair()")
    assert notebook.shown("_.twice()") == "(2, __main__.Pair)"


def test_cell_without_value(notebook: Notebook) -> None:
    assert notebook.shown("%%kinetic\nx = 1") == ""
    assert notebook.shown("%%kinetic\n1;") == ""


def test_variables_in_the_flags(notebook: Notebook) -> None:
    notebook.shown("colour = 'blue'")
    assert notebook.shown("%%kinetic --env COLOUR={colour}\nimport os\nos.environ['COLOUR']") == "'blue'"


def test_functions_see_what_the_cell_assigns(notebook: Notebook) -> None:
    notebook.shown("steps = 1\ndef train():\n    return steps")
    assert notebook.shown("%%kinetic\nsteps = 5\ntrain()") == "5"


def test_old_values_stay_here(notebook: Notebook) -> None:
    notebook.shown("lock = threading.Lock()")
    assert notebook.shown("%%kinetic\nlock = 'new'\nlock") == "'new'"


def test_await_in_a_cell(notebook: Notebook) -> None:
    assert notebook.shown("%%kinetic\nimport asyncio\nawait asyncio.sleep(0, 7)") == "7"


def test_detached_cell(notebook: Notebook) -> None:
    notebook.shown("n = 3")
    assert notebook.shown("%%kinetic --detach\nn * n").startswith("<JobHandle cpu-cell-")
    assert notebook.shown("_.result(timeout=60)") == "9"


def test_log_is_shown(notebook: Notebook) -> None:
    outputs = notebook.outputs("%%kinetic\nprint('training')")
    assert "training\n" in "".join(output["text"] for output in outputs if output["output_type"] == "stream")


def test_exception(notebook: Notebook) -> None:
    name, text, traceback = notebook.error("%%kinetic\nx = 0\n1 / x")
    assert (name, text) == ("ZeroDivisionError", "division by zero")
    assert f'File "<cell {notebook.count}>", line 3, in <module>\n    1 / x\n' in traceback


def test_exception_of_a_function(notebook: Notebook) -> None:
    notebook.shown("def helper(x):\n    return 1 / x  # of a cell")
    notebook.shown("@kinetic.run()\ndef inverse(x):\n    return helper(x)")
    _, _, traceback = notebook.error("inverse(0)")
    remote = traceback.split("(host 0, attempt 1)")[1].split("ZeroDivisionError")[0]
    assert "line 2, in helper\n    return 1 / x  # of a cell\n" in remote


def test_failed_cell_shows_the_stack_of_the_job_alone(notebook: Notebook) -> None:
    _, _, traceback = notebook.error("%%kinetic\n1 / 0")
    assert [line for line in traceback.splitlines() if "File" in line] == [f'  File "<cell {notebook.count}>", line 2, in <module>']


@pytest.mark.parametrize("source", ["inverse(0)", "inverse.run_async(0).result()"])
def test_stack_has_little_of_the_package(notebook: Notebook, source: str) -> None:
    notebook.shown("@kinetic.run()\ndef inverse(x):\n    return 1 / x")
    name, _, traceback = notebook.error(source)
    assert name == "ZeroDivisionError"
    remote, _, local = traceback.partition("direct cause")
    assert ("runner/kinetic" in remote, local.count("runner/kinetic")) == (False, 1), traceback  # IPython shows the last frame in any case


def test_unpicklable_variable(notebook: Notebook) -> None:
    name, text, _ = notebook.error("lock = threading.Lock()\nget_ipython().run_cell_magic('kinetic', '', 'lock')")
    assert (name, text.split(",")[0]) == ("TypeError", "cannot send cell(): the global 'lock' of cell is of type _thread.lock")


def test_magic_in_a_cell(notebook: Notebook) -> None:
    name, text, _ = notebook.error("%%kinetic\n1\n%time 2")
    assert (name, text.split(",")[0]) == ("UsageError", "line 3: %time is for IPython")


def test_wrong_flag(notebook: Notebook) -> None:
    name, text, _ = notebook.error("%%kinetic --acelerator l4\n1")
    assert name == "UsageError"
    assert "--acelerator" in text
    assert "kubectl kinetic run --help" not in text


@pytest.mark.parametrize("words", ["-- x", "--local -- x"])
def test_arguments_of_a_script(notebook: Notebook, words: str) -> None:
    name, text, _ = notebook.error(f"%%kinetic {words}\n1")
    assert (name, text.split(":")[:2]) == ("UsageError", ["%%kinetic", " '--' comes before the arguments of a script"])


def test_help(notebook: Notebook) -> None:
    (output,) = notebook.outputs("%%kinetic --help\n1")
    assert "--accelerator" in output["text"]


def test_line_magic_prints_the_flags(notebook: Notebook) -> None:
    (output,) = notebook.outputs("%kinetic --help")
    assert "--accelerator" in output["text"]


@pytest.mark.parametrize("source", ["%%kinetic --local --nosuch\n1", "%%kinetic --name 'a\n1", "%%kinetic --name {nosuch}\n1", "%%kinetic\n# later", "%kinetic"])
def test_mistakes_are_shown_in_one_line(notebook: Notebook, source: str) -> None:
    name, text, traceback = notebook.error(source)
    assert (name, traceback) == ("UsageError", f"UsageError: {text}")


def test_interrupt(notebook: Notebook) -> None:
    name, text, _ = notebook.error("%%kinetic\nimport threading\nprint('interrupt me', flush=True)\nthreading.Event().wait()")
    assert name == "Interrupted"
    assert "cpu-cell-" in text
    assert notebook.shown("%%kinetic\n1 + 1") == "2"  # the kernel keeps working


# Prints the line once the kernel has a child process that waits for a result.
WATCH = """
def watch():
    mine = f"PPid:\\t{os.getpid()}\\n"
    while True:
        for status in pathlib.Path("/proc").glob("[0-9]*/status"):
            try:
                if mine in status.read_text() and b"\\0result\\0" in (status.parent / "cmdline").read_bytes():
                    return print("interrupt me", flush=True)
            except OSError:
                pass  # the process has ended
threading.Thread(target=watch).start()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_interrupted_wait(notebook: Notebook) -> None:
    notebook.shown("import pathlib\n@kinetic.run()\ndef wait():\n    threading.Event().wait()\njob = wait.run_async()")
    name, _, _ = notebook.error(WATCH + "job.result()")
    assert name == "Interrupted"
    assert notebook.shown("job.status().value") == "'RUNNING'"
    notebook.shown("job.cancel()")


def test_directory_that_is_not_packaged(notebook: Notebook) -> None:
    notebook.shown("os.chdir(os.path.expanduser('~'))")
    outputs = notebook.outputs("%%kinetic\nsorted(os.listdir())")
    notebook.shown(f"os.chdir({str(notebook.directory)!r})")
    assert outputs[-1]["data"]["text/plain"] == "[]"
