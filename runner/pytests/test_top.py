# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The screen of `kubectl kinetic top`, on a terminal, as somebody who presses keys sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator

import pytest
from conftest import BINARIES, Project

pyte = pytest.importorskip("pyte")

PATIENCE = 60  # seconds, which only a failing test takes
TALKS = """
import time
def talks():
    while True:
        print("still here", flush=True)
        time.sleep(0.2)
"""


class Terminal:
    """A terminal with a program on it."""

    def __init__(self, project: Project, argv: list[str], columns: int, env: dict[str, str]) -> None:
        self.screen = pyte.Screen(columns, 16)
        self.stream = pyte.ByteStream(self.screen)
        self.written = b""
        self.master, own = pty.openpty()
        self.resize(columns)
        self.before = termios.tcgetattr(own)

        def take() -> None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        more = {"TERM": "xterm-256color", "LANG": "C.UTF-8", **env}
        self.process = subprocess.Popen(
            argv, stdin=own, stdout=own, stderr=own, cwd=project.directory, env=project.environment(more), start_new_session=True, preexec_fn=take
        )
        self.own = own

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 16, columns, 0, 0))
        self.screen.resize(16, columns)

    def press(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def read(self) -> None:
        if select.select([self.master], [], [], 0.1)[0]:
            data = os.read(self.master, 65536)
            self.written += data
            self.stream.feed(data)

    def sees(self, pattern: str) -> str:
        """Wait until a line of the screen matches, and return that line."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for line in map(str, self.screen.display):
                if re.search(pattern, line):
                    return line
            self.read()
        raise AssertionError(f"no line matches {pattern!r}:\n" + "\n".join(self.screen.display))

    def ends(self) -> int:
        """Return the exit code, once the terminal is as it was before."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            self.read()
        code = self.process.wait(timeout=1)
        self.read()
        assert termios.tcgetattr(self.own) == self.before
        assert self.written.count(b"\x1b[?1049h") == self.written.count(b"\x1b[?1049l") > 0
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.own)


@pytest.fixture
def talking(local: Project) -> Iterator[Project]:
    """A project with two jobs that run on this machine."""
    local.write("f.py", TALKS)
    for name in "first-of-two-jobs-1", "second-of-two-jobs-1":
        command(local, "run", "f.py:talks", "--local", "--detach", "--job-id", name)
    yield local
    command(local, "jobs", "cleanup", "--all", "-y", "--local")


def command(project: Project, *words: str) -> None:
    subprocess.run([BINARIES / "kubectl-kinetic", *words], cwd=project.directory, env=project.environment(), check=True, capture_output=True, timeout=PATIENCE)


def top(project: Project, columns: int = 80, env: dict[str, str] | None = None) -> Terminal:
    return Terminal(project, [str(BINARIES / "kubectl-kinetic"), "top", "--local"], columns, env or {})


def test_keys(talking: Project) -> None:
    terminal = top(talking)
    try:
        terminal.sees(r"^Jobs on this machine: 2 running")
        terminal.sees(r"^JOB +STATE +AGE +CPU +MEMORY +LAST LINE")
        terminal.sees(r"^second-of-two-jobs-1 +RUNNING .* still here")
        terminal.press("\x1b[B")  # down
        terminal.sees(r"^first-of-two-jobs-1, phase run")
        terminal.press("c")
        terminal.sees(r"^Cancel job first-of-two-jobs-1\? y or n")
        terminal.press("n")
        terminal.sees(r"^q quit   l log")
        terminal.press("s")
        terminal.sees(r"^  talks \(f.py:[56]\)")
        terminal.sees(r"^Press Enter to go back\.")
        terminal.press("\n")
        terminal.sees(r"^first-of-two-jobs-1, phase run")
        terminal.press("l")
        terminal.sees(r"^still here")
        terminal.press("\x03")  # which ends the log, and not what showed it
        terminal.sees(r"^(\^C)?Press Enter to go back\.")
        terminal.press("\n")
        terminal.sees(r"^first-of-two-jobs-1, phase run")
        terminal.resize(140)
        terminal.sees(r"^JOB +STATE +PHASE +AGE +CPU +MEMORY +LAST LINE")
        terminal.press("cy")
        terminal.sees(r"^cancelled first-of-two-jobs-1")
        terminal.sees(r"^first-of-two-jobs-1 +CANCELLED")
        terminal.sees(r"^second-of-two-jobs-1 +RUNNING")
        terminal.press("q")
        assert terminal.ends() == 0
    finally:
        terminal.close()


def test_ctrl_c_is_no_failure(talking: Project) -> None:
    terminal = top(talking, env={"NO_COLOR": "1"})
    try:
        terminal.sees(r"^first-of-two-jobs-1 +RUNNING")
        terminal.press("\x03")
        assert terminal.ends() == 0
        assert not re.search(rb"\x1b\[(?:\d+;)*3[0-7]m", terminal.written)
    finally:
        terminal.close()


def test_a_terminal_that_cannot_move_gets_a_list(talking: Project) -> None:
    terminal = top(talking, env={"TERM": "dumb"})
    try:
        terminal.sees(r"^first-of-two-jobs-1 +RUNNING")
        assert terminal.process.wait(timeout=PATIENCE) == 0
        assert b"\x1b" not in terminal.written
    finally:
        terminal.close()
