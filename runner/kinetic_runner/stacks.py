# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the threads of all Python programs of a call are doing: for the runner's command stacks, and when the call hangs."""

import json
import os
import signal
import sys
import time

from .child.answer import FILE
from .environment import WORK

PATIENCE = 3.0  # seconds for the answer of a program
SETTLED = 0.1  # seconds without more of it, after which it is complete
LOOK = 0.01  # seconds between looks at the file
MOST = 1 << 20  # bytes of one answer that are kept
RUNNER = f'File "{os.path.dirname(os.path.abspath(__file__))}{os.sep}'


def main(argv, _):
    """Print a JSON object; return the exit code. argv[2] is the runner's directory."""
    path = os.path.join(argv[2] if argv[2:] else WORK, "scratch", FILE)
    if not sys.platform.startswith("linux"):
        print(f"kinetic: only Linux tells which programs can be asked, and this is {sys.platform}", file=sys.stderr)
        return 2
    print(json.dumps({"version": 1, "processes": ask_all(path)}))
    return 0


def ask_all(path, patience=PATIENCE):
    """Return the answer of each program that writes to the file, one after another: they share it."""
    try:
        file = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return []  # no Python program has started
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX)  # another command may be asking
        wanted = os.fstat(file)
        answers = []
        for pid in pids():
            if writes_to(pid, wanted) and catches(status_of(pid)):
                answers.append(ask(pid, file, patience))
        return answers
    finally:
        os.close(file)


def ask(pid, file, patience):
    """Return what a program says, with "text" empty if it does not answer."""
    status = status_of(pid)
    answer = {"pid": pid, "parent": int(status.get("PPid", "0")), "command": command_of(pid), "text": ""}
    begin = last = os.fstat(file).st_size
    try:
        os.kill(pid, signal.SIGURG)
    except OSError as exc:
        return dict(answer, why=exc.strerror)
    now = time.monotonic()
    until, changed = now + patience, now
    while now < until and not (last > begin and now - changed >= SETTLED):
        time.sleep(LOOK)
        now, size = time.monotonic(), os.fstat(file).st_size
        if size != last:
            last, changed = size, now
    if last > begin:
        return dict(answer, text=os.pread(file, min(last - begin, MOST), begin).decode("utf-8", "replace"))
    return dict(answer, why=f"no answer in {patience:g}s, state {status_of(pid).get('State', 'gone')}")


def pids():
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid())


def writes_to(pid, wanted):
    """Whether a process has the file open. A program that has closed it would write to whatever has its descriptor now."""
    folder = f"/proc/{pid}/fd"
    try:
        for name in os.listdir(folder):
            try:
                found = os.stat(os.path.join(folder, name))
            except OSError:
                continue  # it was closed meanwhile
            if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
                return True
    except OSError:
        pass  # it has ended, or belongs to another user
    return False


def status_of(pid):
    """Return the lines of /proc/PID/status by their names, none if the process has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            pairs = (line.partition(":") for line in file)
            return {name: value.strip() for name, _, value in pairs}
    except OSError:
        return {}


def catches(status):
    """Whether a process handles SIGURG."""
    return bool(int(status.get("SigCgt", "0"), 16) >> (signal.SIGURG - 1) & 1)


def command_of(pid):
    """Return the command line of a process, as words."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read(4096).decode("utf-8", "replace").rstrip("\0").split("\0")
    except OSError:
        return []


class Hang:
    """Notices a call that hangs: one that prints, writes and finishes nothing. It looks from time to time, in a thread of the errands, and notes where
    the call is.

    timeout is in seconds. restart says that the call is then ended. folders are where it writes files.
    """

    def __init__(self, timeout, restart, scratch, folders):
        self.timeout, self._restart = timeout, restart
        self._file, self._folders = os.path.join(scratch, FILE), folders
        self._at, self._told, self._texts = time.monotonic(), False, []
        self.over = False  # the call is to be ended

    @property
    def every(self):
        """The seconds between looks."""
        return max(self.timeout / 4, 0.05)

    def moved(self):
        """Note that the call has printed or finished something."""
        self._at, self._told = time.monotonic(), False

    def texts(self):
        """Yield what is to be printed, once."""
        while self._texts:
            yield self._texts.pop(0)

    def look(self, _=None):
        """Look whether the call hangs; if so, note its stacks. Takes as long as it takes to read its directories and to ask it."""
        idle = time.monotonic() - self._at
        if self._told or idle < self.timeout:
            return
        written = time.time() - newest(self._folders)
        if written < self.timeout:
            self._at = time.monotonic() - max(written, 0)
            return
        self._told = True
        where = self._stacks()
        self._texts.append(f"nothing was printed, written or finished for {self.timeout:g} seconds (--hang-timeout)\n{where}")
        self.over = self._restart

    def _stacks(self):
        try:
            answers = ask_all(self._file)
        except OSError as exc:
            return f"its stacks can't be read: {exc}"
        lines = [f"process {answer['pid']} ({' '.join(answer['command'])}):\n{without_runner(answer['text']) or answer['why']}" for answer in answers]
        return "\n".join(lines) or "it has no Python program that can be asked for its stacks"


def without_runner(text):
    """Return stacks without the runner's frames, which are the oldest of a function's call, and without empty lines."""
    lines, ours = [], False
    for line in text.splitlines():
        ours = line.startswith("  ") and (ours or RUNNER in line)
        if line and not ours:
            lines.append(line)
    return "\n".join(lines)


def newest(folders):
    """Return the time of the last change of a file in the folders, 0 if there is none."""
    last = 0.0
    for top in folders:
        for folder, _, names in os.walk(top):
            for name in names:
                try:
                    last = max(last, os.stat(os.path.join(folder, name)).st_mtime)
                except OSError:
                    pass  # it is gone
    return last
