# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the code of a job asks about its job. Everything here works outside of a job, too."""

from __future__ import annotations

import os

__all__ = ["attempt", "checkpoint_dir", "commit", "host", "hosts", "in_job", "is_preempted", "output_dir"]

_OUTSIDE = "kinetic-outputs"  # the directory of outputs outside of a job
_outside_dirs: set[str] = set()  # what output_dir() has returned outside of a job
_MARKER = ".kinetic-outputs"  # keeps that directory from being packaged with the code of the next job


def in_job() -> bool:
    """Report whether this code runs in a job."""
    return bool(os.environ.get("KINETIC_JOB_ID"))


def host() -> int:
    """Return the number of this host, from 0 to hosts() - 1. Outside of a job it is 0."""
    return int(os.environ.get("KINETIC_HOST") or 0)


def hosts() -> int:
    """Return how many hosts the job has. Outside of a job it is 1."""
    return int(os.environ.get("KINETIC_HOSTS") or 1)


def attempt() -> int:
    """Return the number of this attempt at the job, from 1. It grows when the job starts again. Outside of a job it is 1."""
    return int(os.environ.get("KINETIC_ATTEMPT") or 1)


def output_dir() -> str:
    """Return the directory for files to keep, as an absolute path. It exists.

    What a job writes there outlives it, and its next attempt finds it again. In a map, each
    input has its own: call this in the function, not when its module is imported. Outside of a
    job it is KINETIC_OUTPUT_DIR, which then must not be a gs:// URL, or, if that is not
    set, the directory kinetic-outputs below the current one.
    """
    path = os.environ.get("KINETIC_OUTPUT_PATH") if in_job() else None
    path = path or os.environ.get("KINETIC_OUTPUT_DIR")
    if path and "://" in path:
        raise ValueError(f"KINETIC_OUTPUT_DIR={path} is a directory only in a job: set it to a local directory, or unset it, to run this code here")
    if not path:
        path = _outside(os.path.abspath(_OUTSIDE))
    path = os.path.abspath(path)
    os.makedirs(path, exist_ok=True)
    if not in_job() and not (os.getcwd() + os.sep).startswith(path.rstrip(os.sep) + os.sep):
        _outside_dirs.add(path)
    return path


def is_outside(value: object) -> bool:
    """Report whether a value is a path in a directory of outputs that is not a job's. A directory around the program doesn't count."""
    path = str(value) if isinstance(value, str) or type(value).__module__.startswith("pathlib") else ""
    return any(path == folder or path.startswith(folder + os.sep) for folder in _outside_dirs)


def checkpoint_dir() -> str:
    """Return the directory checkpoints in output_dir(), as an absolute path. It exists.

    An attempt after a preemption or a crash finds the checkpoints of the one before it there,
    as does a job that was submitted with --resume-from.
    """
    path = os.path.join(output_dir(), "checkpoints")
    os.makedirs(path, exist_ok=True)
    return path


def commit(timeout: float | None = None) -> list[str]:
    """Save all finished outputs now, and return when a restore would bring them.

    All files below output_dir() that no program has open count as one finished state, as if they
    had been renamed into place. Without a call, a file that was written in place counts only
    when the program has lived on for a while. Call it on each host that has written.

    Return the outputs that are left out because a program has them open. Raise TimeoutError if it takes longer than
    timeout seconds, and OSError if they can't be saved. Outside of a job and in a
    local job, whose outputs are where they were written, it returns at once.
    """
    path = os.environ.get("KINETIC_COMMIT_SOCKET")
    if not path:
        return []
    import json  # not needed to import this module
    import socket
    import time

    until = None if timeout is None else time.monotonic() + timeout
    line = b""
    with socket.socket(socket.AF_UNIX) as peer:
        try:
            peer.settimeout(timeout)
            peer.connect(path)
            peer.sendall(f"commit {os.environ.get('KINETIC_INPUT', '')}\n".encode())
            while not line.endswith(b"\n"):
                peer.settimeout(None if until is None else max(until - time.monotonic(), 0.001))
                data = peer.recv(1 << 16)
                if not data:
                    break
                line += data
        except socket.timeout:  # another class before Python 3.10
            raise TimeoutError(f"the outputs were not saved within {timeout:g} seconds") from None
        except OSError as exc:
            raise OSError(f"the outputs are not saved: the runner does not answer: {exc}") from None
    reply = json.loads(line or b'{"error": "the job is about to end"}')
    if reply["error"]:
        raise OSError(f"the outputs are not saved: {reply['error']}")
    left_out: list[str] = reply["left_out"]
    return left_out


def is_preempted() -> bool:
    """Report whether the job was told to stop, such as by a preemption, a cancel, or the end of --max-runtime.

    There are 25 seconds to save what is needed, 12 on a spot machine, and 10 after --max-runtime. Then leave with
    sys.exit(): a preempted job starts again elsewhere, while a function that returns has finished.

        if kinetic.is_preempted():
            save(model)
            sys.exit()

    Without it, SIGTERM ends a Python program at once. From the first call in the main
    thread on, it does not, unless the program has a handler of its own, which stays.
    Outside of a job nothing changes, and the answer is False.
    """
    if not in_job():
        return False
    if not _stop.watching:
        _stop.watch()
    file = os.environ.get("KINETIC_STOP_FILE")  # of all processes of the job
    return _stop.came or bool(file and os.path.exists(file))


class _Stop:
    """SIGTERM in this process."""

    def __init__(self) -> None:
        self.came = self.watching = False

    def watch(self) -> None:
        """Handle SIGTERM, if nothing else does."""
        import signal  # not needed to import this module

        try:
            if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
                signal.signal(signal.SIGTERM, self._handle)
            self.watching = True
        except ValueError:
            pass  # only the main thread can

    def _handle(self, number: int, frame: object) -> None:
        self.came = True


_stop = _Stop()


def _outside(path: str) -> str:
    """Make the directory for outputs outside of a job, unless it is there."""
    try:
        os.mkdir(path)
    except FileExistsError:
        return path
    with open(os.path.join(path, _MARKER), "w", encoding="utf-8") as file:
        file.write("Outputs of code that ran outside of a job. Because of this file, kubectl kinetic run doesn't package the directory with the code.\n")
    return path
