# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The runner that waits for the next call, and the calls that runners have got."""

import binascii
import json
import os
import re
import signal
import sys
import time
from contextlib import suppress

from ..bundle.unpack import remove
from ..log import VALUE_FILE
from ..process import PROGRAM, close_all
from ..text import tell, timestamp
from .frames import PAYLOAD_LIMIT, encode
from .handover import KEPT
from .ready import LAST_SIZE
from .similar import NONE

OBJECT_NAME = re.compile(r"(?:[\w-][\w.-]*/)*[\w-][\w.-]*", re.ASCII)
LAST_LIMIT = 32 << 10  # bytes of the variables of a call up to which a similar one is prepared
BLOCK = 64 << 10  # bytes of a log that are searched at a time
MASKED = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)


def check(order):
    """Raise ValueError if an order is no call."""
    objects = order.get("objects", {})
    if not all(isinstance(word, str) for word in (order["id"], *order["argv"], *order["environ"].values(), *objects.values())):
        raise ValueError("a call consists of texts")
    if not isinstance(order.get("idle", 0), (int, float)):
        raise ValueError("the idle time is a number of seconds")
    if not all(map(OBJECT_NAME.fullmatch, objects)):
        raise ValueError("an object has no name of the store")
    if len(encode(order)) > PAYLOAD_LIMIT:
        raise ValueError("a call is too large for a frame")


class ReadyRunner:
    """A runner, and the interpreter below it, that wait for a call.

    last is the last call. A call with its variables and packages uses that interpreter, which hands it to the process
    at the socket kept, if there is one.
    """

    def __init__(self, work, last, kept):
        order, self._order = os.pipe()
        argv = [sys.executable, "-u", PROGRAM, "ready", "--work", work]
        actions = [(os.POSIX_SPAWN_DUP2, order, 0)]
        self.pid = os.posix_spawn(argv[0], argv, dict(os.environ, **{KEPT: kept}), file_actions=actions, setpgroup=0, setsigmask=(), setsigdef=MASKED)
        close_all(order)
        self._tell(last)

    def _tell(self, last):
        """Tell it the last call, on the pipe: everybody could read it in its environment. It must fit there, since nobody may read it yet."""
        text = json.dumps(last).encode()
        if len(text) > LAST_LIMIT:
            text = json.dumps(NONE).encode()
        with suppress(BrokenPipeError):
            os.write(self._order, LAST_SIZE.pack(len(text)) + text)

    def give(self, argv, environ):
        """Let it run a call."""
        line = json.dumps({"argv": argv, "environ": environ}).encode() + b"\n"
        try:
            while line:
                line = line[os.write(self._order, line) :]
        finally:
            self.dismiss()  # also if it has died

    def dismiss(self):
        """Close the pipe to it. Without a call, it ends."""
        close_all(self._order)
        self._order = -1


class HostedCall:
    """A call on this host: who runs it, what it has printed, and how it ended."""

    def __init__(self, job, folder):
        self.job, self.began, self.started = job, time.monotonic(), timestamp()
        self.pid, self.code, self.argv = 0, None, []  # of its runner
        self.log, self._report = (os.path.join(folder, job + end) for end in (".log", ".json"))
        self._value, self._given = self.log + VALUE_FILE, os.path.join(folder, job + ".given")
        self._file = None
        self.is_dropped = False  # whether its output is no longer here
        self.was_stopped = False  # whether its runner was told to end it

    @property
    def seconds(self):
        """For how long it has been running."""
        return time.monotonic() - self.began

    def keep(self, objects):
        """Keep objects that the client is storing, in base64 by their names. Return the flags of the runner for them."""
        try:
            for name, text in objects.items():
                path = os.path.join(self._given, name)
                os.makedirs(self._given, mode=0o700, exist_ok=True)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(binascii.a2b_base64(text))
        except (OSError, ValueError) as exc:
            return tell(f"kinetic: cannot keep what call {self.job} consists of: {exc}\n") or []  # the store has it soon
        return ["--given", self._given] * bool(objects)

    def start(self, runner, argv, environ):
        """Give the call to a runner that waits."""
        self.argv = argv
        runner.give(["--job", self.job, *argv, "--warm", "--log-file", self.log, "--termination-log", self._report], environ)
        self.pid = runner.pid

    def stop(self):
        """Tell its runner to end it."""
        if self.pid and self.code is None:
            self.was_stopped = True
            os.kill(self.pid, signal.SIGTERM)

    def output(self, offset, size):
        """Return what the log has from an offset, at most size bytes."""
        try:
            if self._file is None:
                self._file = os.open(self.log, os.O_RDONLY)
            return os.pread(self._file, size, offset)
        except FileNotFoundError:
            return b""

    @property
    def value(self):
        """Its value as JSON text, once it has returned and is about to end. None before, and for a large one."""
        try:
            with open(self._value, encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def start_of(self, lines):
        """Return the offset at which the last lines begin, 0 for a negative number."""
        if lines < 0:
            return 0
        try:
            with open(self.log, "rb") as file:
                at, left = file.seek(0, os.SEEK_END), lines + 1
                while at and left:
                    size = min(at, BLOCK)
                    at = file.seek(at - size)
                    block = file.read(size)
                    end = size
                    while left and (end := block.rfind(b"\n", 0, end)) >= 0:
                        left -= 1
                        if not left:
                            return at + end + 1
                return 0
        except FileNotFoundError:
            return 0

    @property
    def end(self):
        """How it ended: its exit code, and what a pod would report to its cluster."""
        try:
            with open(self._report, encoding="utf-8") as file:
                return {"id": self.job, "code": self.code, "report": file.read()}
        except FileNotFoundError:
            return {"id": self.job, "code": self.code}

    @property
    def report(self):
        """What its runner has reported, as an object, empty if it was killed."""
        try:
            return json.loads(self.end.get("report") or "{}")
        except ValueError:  # the disk was full
            return {}

    @property
    def size(self):
        """How many bytes of output are here."""
        with suppress(FileNotFoundError):
            return os.path.getsize(self.log)
        return 0

    def drop_given(self):
        """Remove what the client has given: the store has it."""
        if os.path.isdir(self._given):
            remove(self._given)

    def drop_output(self):
        """Remove what it has printed, and its value. How it ended can still be read."""
        close_all(-1 if self._file is None else self._file)
        self._file, self.is_dropped = None, True
        for path in (self.log, self._value):
            with suppress(FileNotFoundError):
                os.unlink(path)

    def forget(self):
        """Remove its files. The store has its log."""
        self.drop_output()
        self.drop_given()
        with suppress(FileNotFoundError):
            os.unlink(self._report)
