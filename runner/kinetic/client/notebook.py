# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""%%kinetic: a cell of a notebook as a job."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Optional

from .. import decorator, errors
from ..cell import cell as run_cell
from . import binaries, checks, flags
from .checks import HELP
from .names import needed
from .parameters import PARAMETERS

# Flags that are also parameters which the package itself follows, or which say where the job is.
OWN = {p.flag: p.name for p in PARAMETERS if p.of_target or p.name in ("debug", "package_root")}
OWN["-n"] = "namespace"
SWITCHES = ("local", "debug")
BOOLEANS = {**dict.fromkeys(("", "1", "t", "T", "true", "True", "TRUE"), True), **dict.fromkeys(("0", "f", "F", "false", "False", "FALSE"), False)}  # pflag's
DETACH = ("-d", "--detach")

# IPython's own syntax in the line of a magic: {name}, {name.attribute}, {name:format}
BRACES = re.compile(r"\{\s*(?P<name>[^\W\d]\w*)[^{}]*\}")
# and in a cell: %time f(), !ls, files = !ls, ?f, f?
ESCAPED = re.compile(r"\s*(?:[\w., ]+=\s*)?(?P<word>[%!?][^\s(]*).*|\s*[\w.]+\?+\s*")


class UsageError(errors.UsageError):
    """A mistake in a cell, or in the line above it. IPython shows it as one line, as it does for its own magics."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows."""
        return [f"UsageError: {self}"]


def load_ipython_extension(shell: Any) -> None:
    """Add %%kinetic to a notebook: %load_ext kinetic calls this."""

    def kinetic(line: str, cell: Optional[str] = None) -> object:
        """Run this cell as a job, and show the value of its last expression.

        %%kinetic -a tpu-v6e-8 --spot

        The words are those of `kubectl kinetic run`. With --detach, the value is the job's handle.
        The job has the variables, functions, classes and modules of the notebook that the cell
        uses. What the cell assigns stays in the job: let its last line be what you want back.

        %kinetic --help

        prints the flags.
        """
        __tracebackhide__ = True
        try:
            if cell is None:
                run_line(line)
                return None
            return run(line, cell, shell.user_ns, getattr(shell, "user_ns_hidden", {}), f"<cell {shell.execution_count}>")
        except errors.UsageError as exc:
            if isinstance(exc, UsageError) or isinstance(exc.__cause__, errors.RemoteTraceback):
                if not isinstance(exc, UsageError):
                    shorten(exc)
                raise  # the latter is what the cell has raised in the job
            raise UsageError(flags.unexplained(str(exc)).replace("kubectl kinetic run --help", "%kinetic --help")) from None
        except Exception as exc:
            if errors.says_all(exc):
                shorten(exc)
            raise

    shell.register_magic_function(kinetic, "line_cell", "kinetic")


def shorten(exc: Exception) -> None:
    """Let IPython show an exception of a job without the stack of the notebook, which leads to the cell and no further."""
    cause = exc.__cause__
    shown = cause.text.rstrip() if isinstance(cause, errors.RemoteTraceback) else f"{type(exc).__name__}: {exc}"
    with contextlib.suppress(AttributeError):  # of an exception with __slots__
        setattr(exc, "_render_traceback_", lambda: [shown])  # noqa: B010 # no type checker knows it


def run_line(line: str) -> None:
    """Print the flags, which is all that %kinetic is for.

    Raises:
        UsageError: that is not what was asked for.
    """
    if set(HELP).isdisjoint(line.split()):
        raise UsageError("%kinetic takes --help alone: write %%kinetic, with two percent signs, as the first line of a cell that is to be a job")
    print(binaries.help_of(binaries.RUN))


def run(line: str, text: str, names: dict[str, Any], hidden: Mapping[str, Any], filename: str) -> object:
    """Run a cell as a job, and return the value of its last expression, or the job's handle. With --help, print the flags.

    IPython has put the values of variables into the line.

    Args:
        line: what follows %%kinetic.
        text: the cell without that line.
        names: the variables of the notebook.
        hidden: those that IPython has made; they don't travel.
        filename: what tracebacks call the cell.

    Raises:
        UsageError: the cell can't run in a job; the message names the line.
        SyntaxError: it is not Python.
        Exception: as kinetic.RemoteCallable.__call__.
    """
    __tracebackhide__ = True
    parameters, detached = parse_words(line)
    if not set(HELP).isdisjoint(parameters["flags"]):
        run_line(line)
        return None
    refuse_braces(line, names)
    checks.words("%%kinetic", parameters["flags"])
    function = decorator.run(**parameters)(run_cell)
    source = "\n" + text  # so that lines have the numbers that the notebook shows
    tree = parse(source, filename)
    arguments = (notebook(sorted(travelling(tree, names, hidden)), names), source, filename, ends_with_semicolon(source, tree.body[-1]))
    return function.run_async(*arguments) if detached else function(*arguments)


def parse_words(line: str) -> tuple[dict[str, Any], bool]:
    """Return the parameters of kinetic.run for what follows %%kinetic, and whether not to wait for the job.

    Raises:
        UsageError: it is not quoted as in a shell, or has a value that is neither true nor false.
    """
    parameters: dict[str, Any] = {}
    try:
        rest = iter(split(line))
    except ValueError as exc:
        raise UsageError(f"%%kinetic {line}: {str(exc).lower()}") from None
    others, detached = [], False
    for word in rest:
        flag, equals, value = word.partition("=")
        name = OWN.get(flag)
        if word in DETACH:
            detached = True
        elif name is None:
            others.append(word)
        elif name in SWITCHES:
            if value not in BOOLEANS:
                raise UsageError(f"%%kinetic {line}: {word}: expected true or false")
            parameters[name] = BOOLEANS[value]
        else:
            parameters[name] = value if equals else next(rest, "")
    return {**parameters, "flags": others}, detached


def split(line: str, windows: bool = os.name == "nt") -> list[str]:
    """Return the words of a line, as a shell does; on Windows a backslash belongs to a path."""
    words = shlex.shlex(line, posix=True)
    words.whitespace_split, words.commenters = True, ""
    if windows:
        words.escape = ""
    return list(words)


def refuse_braces(line: str, names: Mapping[str, Any]) -> None:
    """Raise UsageError for a {name} in a line: IPython leaves it if it can't put a value there."""
    for found in BRACES.finditer(line):
        if found["name"] not in names:
            raise UsageError(f"%%kinetic {line}: the notebook has no variable {found['name']!r} for {found[0]}")
    for found in BRACES.finditer(line):
        raise UsageError(f"%%kinetic {line}: {found[0]} can't be evaluated in the notebook")


def parse(source: str, filename: str) -> ast.Module:
    """Return the syntax tree of a cell.

    Raises:
        UsageError: the cell has what a job can't run.
        SyntaxError: it is not Python.
    """
    try:
        tree = ast.parse(source, filename)
        compile(source, filename, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as exc:
        found = escaped(line_of(source, exc.lineno))
        if not found:
            raise
        raise UsageError(f"line {exc.lineno}: {found} is for IPython, which the job does not have: put it into another cell") from None
    if not tree.body:
        raise UsageError("line 2: the cell has no code after %%kinetic")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            raise UsageError(f"line {node.lineno}: from {node.module} import * hides which names come from the notebook: import the names you use")
    return tree


def escaped(line: str) -> str:
    """Return what a line has of IPython's own syntax, such as %time or !ls, or ""."""
    match = ESCAPED.fullmatch(line)
    return match["word"] or "?" if match else ""


def line_of(source: str, number: Optional[int]) -> str:
    """Return a line, from 1, as Python counts them; "" if there is none."""
    return "".join(source.split("\n")[number - 1 : number]) if number else ""


def travelling(tree: ast.Module, names: Mapping[str, Any], hidden: Mapping[str, Any]) -> set[str]:
    """Return the names of the notebook that a cell needs."""
    return {name for name in needed(tree) if name in names and not (name in hidden and hidden[name] is names[name])}


def notebook(travelling: Iterable[str], names: dict[str, Any]) -> Callable[[], object]:
    """Return a function that reads some variables of the notebook, and so takes them along when it is pickled."""
    function: Callable[[], object] = eval(f"lambda: [{', '.join(travelling)}]", names)
    function.__name__ = "cell"  # what messages say that needs them
    return function


def ends_with_semicolon(source: str, last: ast.stmt) -> bool:
    """Report whether the last statement of a cell ends with a semicolon: then nothing is shown."""
    return line_of(source, last.end_lineno).encode()[last.end_col_offset :].lstrip().startswith(b";")
