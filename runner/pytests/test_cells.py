# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a cell of a notebook takes along, and what is refused, without a notebook."""

from __future__ import annotations

import ast
from typing import Any, Optional

import pytest
from kinetic import UsageError, errors
from kinetic.cell import cell
from kinetic.client import binaries, notebook
from kinetic.client.names import needed

NEEDED: dict[str, tuple[str, str]] = {
    "read": ("train(rows)", "rows train"),
    "assigned first": ("rows = load()\nlen(rows)", "len load"),
    "read, then assigned": ("rows = rows.dropna()", "rows"),
    "added to": ("total += 1", "total"),
    "an item": ("cache[key] = value", "cache key value"),
    "imported": ("import os.path, numpy as np\nfrom a import b as c\nos, np, c", ""),
    "deleted": ("del rows\nrows", "rows"),
    "assigned in one branch": ("if a:\n    x = 1\nx", "a x"),
    "assigned in both branches": ("if a:\n    x = 1\nelse:\n    x = 2\nx", "a"),
    "assigned in a loop": ("for i in range(3):\n    x = i\n    print(x)\nx", "print range x"),
    "a while loop": ("while a:\n    x = 1\nelse:\n    y = x", "a x"),
    "with": ("with open(p) as f:\n    text = f\ntext", "open p"),
    "try, each way": ("try:\n    import x\nexcept ImportError as exc:\n    x = exc\nfinally:\n    x\nexc", "ImportError exc"),
    "try, one way": ("try:\n    x = 1\nexcept E:\n    pass\nx", "E x"),
    "an annotation alone": ("x: int\nx", "int x"),
    "an annotated assignment": ("x: int = 1\nx", "int"),
    "a walrus": ("if (n := f()):\n    n\nn", "f"),
    "a walrus that reads its own name": ("(n := n + 1)", "n"),
    "an exception": ("try:\n    f()\nexcept E as exc:\n    exc", "E f"),
    "a comprehension": ("rows = 1\n[r * k for r in rows for k in r if q]", "q"),
    "a dict comprehension": ("{k: v for k, v in d}", "d"),
    "its own variable is not the cell's": ("[i for i in d]\ni", "d i"),
    "a lambda": ("f = lambda a, *b, c=d: a + b + c + e", "d e"),
    "a function": ("@deco\ndef f(a: A, b=B) -> C:\n    x = a\n    return f(x, g)\nf", "A B C deco g"),
    "a function before the assignment": ("def f():\n    return k\nk = 1", "k"),
    "a function after the assignment": ("k = 1\ndef f():\n    return k", ""),
    "an async function": ("async def f(a):\n    async with a as b, c:\n        async for d in b:\n            await d", "c"),
    "a class": ("class C(Base, meta=M):\n    rate = RATE\n    twice = rate\n    def f(self):\n        return rate, C", "Base M RATE rate"),
    "an f-string": ("f'{x:{w}}'", "w x"),
}


@pytest.mark.parametrize("text, names", NEEDED.values(), ids=NEEDED)
def test_names_that_a_cell_needs(text: str, names: str) -> None:
    assert " ".join(sorted(needed(ast.parse(text)))) == names


def test_match_statement() -> None:
    text = "match q:\n    case [a, *b] if a:\n        x = b\n    case {'k': c, **d}:\n        x = c, d\n    case C(e) as f:\n        x = e, f\nx"
    try:
        tree = ast.parse(text)
    except SyntaxError:
        pytest.skip("this Python has no match statement")
    assert needed(tree) == {"q", "C", "x"}


def test_what_ipython_made_stays() -> None:
    shell, theirs = object(), object()
    names = {"get_ipython": shell, "open": theirs, "rows": 1, "other": 2}
    tree = ast.parse("get_ipython(), open(rows), unknown")
    assert notebook.travelling(tree, names, {"get_ipython": shell, "open": None}) == {"rows", "open"}


def test_failure_is_shown_without_the_stack_of_the_notebook() -> None:
    exc = ZeroDivisionError("division by zero")
    exc.__cause__ = errors.RemoteTraceback("Traceback (most recent call last):\n  File \"<cell 1>\", line 2, in <module>\nZeroDivisionError: division by zero\n")
    notebook.shorten(exc)
    assert exc._render_traceback_() == [exc.__cause__.text.rstrip()]  # type: ignore[attr-defined]
    killed = errors.RemoteError("it was killed")
    notebook.shorten(killed)
    assert killed._render_traceback_() == ["RemoteError: it was killed"]  # type: ignore[attr-defined]


WORDS: dict[str, tuple[dict[str, Any], bool]] = {
    "": ({"flags": []}, False),
    "-a tpu-v6e-8 --spot": ({"flags": ["-a", "tpu-v6e-8", "--spot"]}, False),
    "--local --env X=1": ({"local": True, "flags": ["--env", "X=1"]}, False),
    "--local=false": ({"local": False, "flags": []}, False),
    "--local=False --debug=0": ({"local": False, "debug": False, "flags": []}, False),
    "--local=True --debug=1": ({"local": True, "debug": True, "flags": []}, False),
    "--cluster main -n team --store=gs://b": ({"cluster": "main", "namespace": "team", "store": "gs://b", "flags": []}, False),
    "--detach --debug": ({"debug": True, "flags": []}, True),
    "-d --label 'a=b c'": ({"flags": ["--label", "a=b c"]}, True),
}


@pytest.mark.parametrize("line", WORDS)
def test_words(line: str) -> None:
    assert notebook.parse_words(line) == WORDS[line]


def test_words_of_windows() -> None:
    line = r"""--package-root C:\src\new --label 'a=b c' --data "d=C:\my data" """
    words = ["--package-root", r"C:\src\new", "--label", "a=b c", "--data", r"d=C:\my data"]
    assert notebook.split(line, windows=True) == words
    assert notebook.split(r"a\ b '#c' #d", windows=False) == ["a b", "#c", "#d"]


REFUSED: dict[str, tuple[str, str]] = {
    "a magic": ("x = 1\n%time f()", "line 3: %time is for IPython, which the job does not have: put it into another cell"),
    "a cell magic": ("%%bash\nls", "line 2: %%bash is for IPython"),
    "a shell command": ("!pip install x", "line 2: !pip is for IPython"),
    "an indented one": ("if a:\n    !ls", "line 3: !ls is for"),
    "an assigned one": ("files, n = !ls", "line 2: !ls is for"),
    "a question": ("x.y?", r"line 2: \? is for"),
    "a question before": ("?x", r"line 2: \?x is for"),
    "a star": ("def f():\n    return 1\nfrom os.path import *", r"line 4: from os.path import \* hides which names come from the notebook"),
    "nothing": ("", "line 2: the cell has no code"),
    "comments alone": ("\n# later\n", "line 2: the cell has no code"),
}


@pytest.mark.parametrize("text, message", REFUSED.values(), ids=REFUSED)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}"):
        notebook.run("--local", text, {}, {}, "<cell 1>")


LINES = {
    "an open quote": ("--name 'a", "%%kinetic --name 'a: no closing quotation"),
    "no such variable": ("--name {nosuch} --env A={x}", "%%kinetic --name {nosuch} --env A={x}: the notebook has no variable 'nosuch' for {nosuch}"),
    "no such attribute": ("--name {x.nosuch}", "%%kinetic --name {x.nosuch}: {x.nosuch} can't be evaluated in the notebook"),
    "a flag that starts no job": (
        "--explain",
        "%%kinetic: '--explain' starts no job, which would bring the value: type kubectl kinetic run FILE:FUNCTION with it in a shell",
    ),
}


@pytest.mark.parametrize("line, message", LINES.values(), ids=LINES)
def test_lines_that_are_refused(line: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        notebook.run(line, "1", {"x": 1}, {}, "<cell 1>")
    assert str(caught.value) == message


class Shell:
    """What of IPython's shell the extension uses."""

    user_ns: dict[str, Any] = {}
    execution_count = 1

    def register_magic_function(self, magic: Any, kind: str, name: str) -> None:
        assert (kind, name) == ("line_cell", "kinetic")
        self.magic = magic


@pytest.fixture
def magic() -> Any:
    """What %%kinetic and %kinetic call."""
    shell = Shell()
    notebook.load_ipython_extension(shell)
    return shell.magic


@pytest.mark.parametrize("line, cell", [("--name 'a", "1"), ("--explain", "1"), ("", "\n"), ("", None), ("-a l4", None)])
def test_mistakes_are_shown_in_one_line(magic: Any, line: str, cell: Optional[str]) -> None:
    with pytest.raises(UsageError) as caught:
        magic(line, cell)
    assert type(caught.value).__name__ == "UsageError"
    assert caught.value._render_traceback_() == [f"UsageError: {caught.value}"]  # type: ignore[attr-defined] # in IPython alone


def test_line_magic_prints_the_flags(magic: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(binaries, "help_of", lambda name: f"the flags of {name}")
    magic("--help")
    magic("--help", "1")
    assert capsys.readouterr().out == "the flags of kubectl-kinetic_run\n" * 2


SYNTAX = {"yield": "1\nyield 2", "return": "1\nreturn 2", "a string": "1\ns = 'what?", "an operator": "1\na = b ! c", "nonlocal": "1\nnonlocal x"}


@pytest.mark.parametrize("text", SYNTAX.values(), ids=SYNTAX)
def test_not_python(text: str) -> None:
    with pytest.raises(SyntaxError) as caught:
        notebook.run("--local", text, {}, {}, "<cell 1>")
    assert (caught.value.filename, caught.value.lineno) == ("<cell 1>", 3)


SEMICOLONS = {"1": False, "1;": True, "(1) ; # shown?": True, "'ü';": True, "1 # ;": False, "f('''\n''');": True, "1; 2": False}


@pytest.mark.parametrize("text", SEMICOLONS)
def test_ends_with_semicolon(text: str) -> None:
    assert notebook.ends_with_semicolon(text, ast.parse(text).body[-1]) is SEMICOLONS[text]


CELLS: dict[str, tuple[str, object]] = {
    "an expression": ("2 * k", 6),
    "a statement": ("x = k", None),
    "an assignment to a name of the notebook": ("k += 1\nread()", 4),
    "a loop": ("for i in range(3):\n    i", None),
    "await": ("import asyncio\nawait asyncio.sleep(0, k)", 3),
    "an async comprehension": ("async def numbers():\n    yield k\n[n async for n in numbers()]", [3]),
    "an annotation": ("x: int = k\nx", 3),
    "annotations that are not evaluated": ("from __future__ import annotations\nx: nothing = k\nx", 3),
    "annotations that are evaluated": ("def f(a: int): pass\nf.__annotations__", {"a": int}),
    "a global": ("def f():\n    global k\n    k = 9\nf()\nread()", 9),
    "names of a class": ("class C:\n    size = k\nC.size", 3),
}


@pytest.mark.parametrize("text, value", CELLS.values(), ids=CELLS)
def test_cell_in_its_job(text: str, value: object) -> None:
    names: dict[str, Any] = {"k": 3}
    exec("def read(): return k", names)
    assert cell(notebook.notebook(["k", "read"], names), "\n" + text, "<cell 1>", False) == value
    assert "_kinetic_value" not in names


def test_value_that_is_not_wanted() -> None:
    assert cell(notebook.notebook([], {}), "\n1", "<cell 1>", True) is None
