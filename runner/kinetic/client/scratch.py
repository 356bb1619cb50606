"""Directories for the files that are exchanged with the binaries."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from typing import Optional

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PREFIX = "kinetic-client-"
YOUNG = 60.0  # seconds within which a new directory is locked


@contextlib.contextmanager
def directory() -> Iterator[str]:
    """Yield a new directory, which only this user can read, and remove it afterwards.

    It is locked meanwhile, so that the next call of any process can remove what a killed one has left.
    """
    sweep(tempfile.gettempdir())
    path = tempfile.mkdtemp(prefix=PREFIX)
    held = try_lock(path)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        release(held)


def sweep(parent: str) -> None:
    """Remove this user's directories that no living process has. Errors are ignored."""
    try:
        left = [entry for entry in os.scandir(parent) if entry.name.startswith(PREFIX)]
    except OSError:
        return
    for entry in left:
        with contextlib.suppress(OSError):
            about = entry.stat(follow_symlinks=False)
            if fcntl is None or about.st_uid != os.getuid() or time.time() - about.st_mtime < YOUNG:
                continue
            held = try_lock(entry.path)
            if held is not None:
                shutil.rmtree(entry.path, ignore_errors=True)
                release(held)


def try_lock(path: str) -> Optional[int]:
    """Lock a directory, and return what release takes; None if another process has it, or directories can't be locked."""
    if fcntl is None:
        return None
    fd = None
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        release(fd)
        return None
    return fd


def release(held: Optional[int]) -> None:
    """Release a lock."""
    if held is not None:
        os.close(held)
