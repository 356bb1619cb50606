# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The blocks of code of a page of the documentation, and a machine that runs them as a reader would, with jobs on this machine.

A block is fenced. What follows "$ " in a console block is run by bash, and the lines below it must be in what it prints: a
line "…" stands for any lines, "…" in a line for any text. A Python block that begins with "# NAME.py" becomes that file; any
other is run. So does a text block that begins with "# NAME.txt". A comment in the line above changes that:

    <!-- not run: WHY -->       the block is not run; Python is compiled
    <!-- needs: NAME … -->      the block is run only where this machine has these Python modules, or programs
    <!-- exit code N -->        the last command ends with N
"""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator

from conftest import BINARIES, RUNNER, Project

BLOCK = re.compile(r"^(?:<!-- (?P<comment>.+?) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w./-]+\.(?:py|txt|toml|yaml))\n")

# What differs between two runs of a command: ids, times, durations and sizes, and the spaces that line up with them.
VARIES = [
    (re.compile(r"-\d{8}-\d{6}-[0-9a-f]{7}\b"), "-ID"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?Z?"), "TIME"),
    (re.compile(r"\b\d+ files?, "), "FILES, "),
    (re.compile(r"\b\d+(\.\d+)? [KMG]?i?B\b"), "SIZE"),
    (re.compile(r"\b\d+(\.\d+)?m?s\b"), "SECONDS"),
    (re.compile(r"\s+"), " "),
]


@dataclasses.dataclass
class Block:
    """A fenced block: its language, its text, the comment above it, and the line in which it begins."""

    language: str
    text: str
    comment: str
    line: int

    @property
    def skipped(self) -> bool:
        needed = self.comment.removeprefix("needs: ").split() if self.comment.startswith("needs: ") else []
        return self.comment.startswith("not run: ") or any(importlib.util.find_spec(name) is None and shutil.which(name) is None for name in needed)

    @property
    def explained(self) -> bool:
        """Whether the comment above is one that means something, or there is none."""
        return not self.comment or re.fullmatch(r"not run: .+|needs: [\w ]+|exit code \d+", self.comment) is not None

    @property
    def file(self) -> str:
        named = FILE.match(self.text)
        return named.group(1) if named else ""

    @property
    def code(self) -> int:
        """The exit code of the last command."""
        return int(self.comment.removeprefix("exit code ")) if self.comment.startswith("exit code ") else 0


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [Block(m["language"], m["text"], m["comment"] or "", page.count("\n", 0, m.start("text"))) for m in BLOCK.finditer(page)]


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines that are shown below it."""
    command, shown = "", list[str]()
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line[2:], []
        elif line.startswith("> ") or command.endswith("\\"):
            command += "\n" + line.removeprefix("> ")
        elif line.strip():
            shown.append(line)
    if command:
        yield command, shown


def plain(line: str) -> str:
    """A line without what differs between two runs."""
    for pattern, name in VARIES:
        line = pattern.sub(name, line)
    return line.strip()


def missing_lines(shown: list[str], printed: str) -> list[str]:
    """The lines that a page shows and a command has not printed."""
    have = [plain(line) for line in printed.splitlines()]
    return [line for line in shown if not any(re.fullmatch(re.escape(plain(line)).replace("…", ".*"), other) for other in have)]


class Machine:
    """A machine on which a reader tries a page. Every job runs here."""

    def __init__(self, project: Project, page: pathlib.Path) -> None:
        self._project, self._page = project, page
        programs = project.home / "programs"
        programs.mkdir()
        self._program(programs / "python3", f'exec {shlex.quote(sys.executable)} "$@"')
        self._program(programs / "kubectl", f'shift; exec {shlex.quote(str(BINARIES / "kubectl-kinetic"))} "$@"')
        self._program(programs / "kinetic", f'exec {shlex.quote(sys.executable)} -m kinetic "$@"')
        (programs / "sitecustomize.py").write_text("import kinetic\nkinetic.configure(local=True)\n")
        path = os.pathsep.join([str(programs), str(BINARIES), os.environ["PATH"]])
        self._environment = project.environment({"PATH": path, "PYTHONPATH": str(RUNNER), "COLUMNS": "200"})
        self._local = {**self._environment, "PYTHONPATH": os.pathsep.join([str(programs), str(RUNNER)])}

    @staticmethod
    def _program(file: pathlib.Path, text: str) -> None:
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)

    def do(self, block: Block) -> None:
        """Run a block, or write the file that it is."""
        if block.language == "python":
            compile(block.text, f"{self._page.name}:{block.line}", "exec")
        if block.skipped or block.language not in ("python", "console", "text", "toml", "yaml"):
            return
        if block.file:
            self._project.write(block.file, block.text)
        elif block.language == "python":
            self._project.write("block.py", block.text)
            self._bash("python3 block.py", self._local, block)
        elif block.language == "console":
            each = list(commands(block.text))
            for number, (command, shown) in enumerate(each, 1):
                code = block.code if number == len(each) else 0
                printed = self._bash(command, self._environment, block, code)
                lacking = missing_lines(shown, printed)
                assert not lacking, f"{self._page.name}:{block.line}: {command}\ndoes not print {lacking}, but\n{printed}"

    def _bash(self, command: str, env: dict[str, str], block: Block, code: int = 0) -> str:
        words = ["bash", "-c", command]
        done = subprocess.run(words, cwd=self._project.directory, env=env, text=True, timeout=180, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == code, f"{self._page.name}:{block.line}: {command}: exit code {done.returncode}, not {code}:\n{done.stdout}"
        return done.stdout


INDENTED = re.compile(r"^ {4,}(?:\$ )?((?:export \S+ && )?kubectl kinetic .*(?:\\\n.*)*)$", re.MULTILINE)


def own_commands(page: str) -> Iterator[list[str]]:
    """The words after "kubectl" of each command of this project that a page shows in a block, also those that can't be run here."""
    lines = INDENTED.findall(re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL))
    for block in blocks(page):
        if block.language in ("console", "sh"):
            lines += [command for command, _ in commands(block.text)]
    for line in lines:
        words = shlex.shlex(line.replace("\\\n", " "), posix=True, punctuation_chars=True)
        words.whitespace_split = True
        yield from _of_kubectl(list(words))


def _of_kubectl(words: list[str]) -> Iterator[list[str]]:
    """The commands of this project among words of a shell, each up to the next operator."""
    while "kinetic" in words:
        at = words.index("kinetic")
        begins, words = at > 0 and words[at - 1] == "kubectl", words[at:]
        ends = next((i for i, word in enumerate(words) if set(word) <= set("|&;<>()")), len(words))
        if begins and not any("…" in word for word in words[:ends]):
            yield words[:ends]
        words = words[max(ends, 1) :]
