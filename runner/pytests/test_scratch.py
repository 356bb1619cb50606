"""The directories of calls: what a killed process leaves, the next call removes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from conftest import Project

from kinetic.client import scratch

HOLDS = "from kinetic.client import scratch\nwith scratch.directory() as path:\n  print(path, flush=True)\n  input()\n"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def start() -> tuple[subprocess.Popen[str], str]:
    """Start a process in a call, and return the call's directory."""
    environment = {**os.environ, "PYTHONPATH": str(Path(scratch.__file__).parents[2])}
    process = subprocess.Popen([sys.executable, "-c", HOLDS], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def age(path: str) -> None:
    os.utime(path, (1, 1))


def test_directory_is_removed(temporary: Path) -> None:
    with scratch.directory() as path:
        assert os.stat(path).st_mode & 0o777 == 0o700
        Path(path, "payload.pkl").write_bytes(b"x")
        assert names(temporary) == [os.path.basename(path)]
    assert names(temporary) == []


def test_only_what_killed_processes_left_is_swept(temporary: Path) -> None:
    living, used = start()
    killed, left = start()
    Path(left, "payload.pkl").write_bytes(b"x")
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    others = temporary / "kinetic-of-somebody"
    others.mkdir()
    for path in (used, str(others)):
        age(path)
    with scratch.directory():
        assert os.path.exists(left), "it may be so new that it is not locked yet"
    age(left)
    with scratch.directory() as mine:
        assert names(temporary) == sorted([os.path.basename(used), os.path.basename(mine), others.name])
    living.communicate("\n")
    assert living.returncode == 0
    assert names(temporary) == [others.name]


def test_temporary_files_are_removed(project: Project) -> None:
    text = """
    import kinetic, os, tempfile, threading
    from kinetic.client import submission
    @kinetic.run()
    def train(n): pass
    for argument in (1, threading.Lock()):
        try:
            with submission.prepared(train, (argument,), {}) as (words, directory):
                assert os.stat(directory).st_mode & 0o777 == 0o700
                assert words[-1] == f"--payload={directory}/payload.pkl"
                raise ZeroDivisionError
        except (TypeError, ZeroDivisionError):
            pass
    assert os.listdir(tempfile.gettempdir()) == []
    """
    project.run(text)
