# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""docs/python-reference.md is made of the docstrings: KINETIC_UPDATE=1 pytest runner/pytests/test_reference.py writes it."""

from __future__ import annotations

import enum
import inspect
import os
import re
from typing import Any

import kinetic
from conftest import REPOSITORY
from kinetic.client.rerun import Repeatable
from kinetic.client.signature import Parameters

PAGE = REPOSITORY / "docs" / "python-reference.md"
HEAD = """# Python reference

```python
import kinetic
```

Every public name of the package. [Python](python.md) explains how they go together. A test writes this page from the docstrings.
"""
GROUPS = {
    "Functions": ("run", "configure", "attach", "attach_batch", "list_jobs", "table"),
    "In a job": ("output_dir", "checkpoint_dir", "host", "hosts", "attempt", "is_preempted", "in_job", "keep"),
    "Classes": ("RemoteCallable", "JobHandle", "BatchHandle", "JobStatus", "Data"),
    "Errors": (),  # the rest
}
LEFT_OUT = ("__version__", "load_ipython_extension")
MEMBERS = ("__call__", "__await__")  # beside those without an underscore
INTERNAL = ("by_reference", "by_value", "is_global", "named", "of", "original")  # public for other modules of the package
CONSTRUCTED = ("kinetic.Data",)  # by users


def test_reference() -> None:
    page = HEAD + "".join(group(title, names) for title, names in groups().items())
    if os.environ.get("KINETIC_UPDATE"):
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page


def groups() -> dict[str, list[str]]:
    """The public names, each in its group."""
    public = [name for name in kinetic.__all__ if name not in LEFT_OUT]
    named = {title: [name for name in names if name in public] for title, names in GROUPS.items()}
    named["Errors"] = sorted(set(public) - {name for names in named.values() for name in names})
    return named


def group(title: str, names: list[str]) -> str:
    return f"\n## {title}\n" + "".join(entry(f"kinetic.{name}", getattr(kinetic, name), 3) for name in names)


def entry(name: str, what: Any, level: int) -> str:
    """The section of one name, and of what is in it."""
    text = f"\n{'#' * level} {name}\n\n"
    if inspect.isclass(what) and issubclass(what, BaseException):
        bases = ", ".join(f"`{base.__name__}`" for base in what.__bases__)
        text += f"A {bases}. "
    elif not inspect.isclass(what) or name in CONSTRUCTED:
        text += f"```python\n{name}{signature(what)}\n```\n\n"
    text += described(inspect.getdoc(what) or "")
    if inspect.isclass(what) and issubclass(what, enum.Enum):
        text += "\n" + ", ".join(f"`{member.name}`" for member in what) + "\n"
    if inspect.isclass(what) and not issubclass(what, BaseException):
        members = {member: value for part in reversed(what.__mro__) if part in (what, Repeatable) for member, value in vars(part).items()}
        for member, value in members.items():
            shown = member in MEMBERS or not member.startswith("_") and member not in INTERNAL
            if shown and callable(getattr(value, "__func__", value)) and inspect.getdoc(value):
                text += entry(f"{name.rpartition('.')[2]}.{member}", getattr(value, "__func__", value), 4)
    return text


class Written(str):
    """An annotation as it is written in the source."""

    __repr__ = str.__str__


def signature(what: Any) -> str:
    """A signature without self, and with types as they are written."""
    found = inspect.signature(what)
    kept = [p.replace(annotation=Written(p.annotation)) for p in found.parameters.values() if p.name not in ("self", "cls")]
    if {p.name for p in kept} >= set(Parameters.__annotations__):  # kinetic.run describes them all
        kept = [p for p in kept if p.name not in Parameters.__annotations__]
        kept.append(inspect.Parameter("parameters", inspect.Parameter.VAR_KEYWORD))
    returns = "" if inspect.isclass(what) else f" -> {found.return_annotation}"
    return str(found.replace(parameters=kept, return_annotation=inspect.Signature.empty)) + returns


def described(doc: str) -> str:
    """A docstring as Markdown: sections become lists."""
    lines: list[str] = []
    code = False
    section = ""
    for line in doc.splitlines():
        heading = re.fullmatch(r"(Args|Raises|Attributes|Returns):", line)
        if heading:
            section = heading[1]
            lines += [f"**{section}**", ""]
        elif section and re.match(r" {4}\S", line):
            name, _, text = line.strip().partition(": ")
            lines.append(f"- `{name}`: {text}" if text else f"- {name}")
        elif section and line.strip():
            lines[-1] += " " + line.strip()
        else:
            if line.startswith("    ") != code and line.strip():
                code = not code
                lines.append("```python" if code else "```")
            section = "" if line.strip() else section
            lines.append(line[4:] if code else line)
    if code:
        lines.append("```")
    return "\n".join(lines).strip().replace("\n\n```\n", "\n```\n\n") + "\n"
