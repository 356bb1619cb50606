# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What no pod needs: the store and the runner of local jobs, and the help."""

import os
import signal
import time

from .remote_runner import AlreadyExists, Log, NotFound, Runner, RunnerError, Spool, directory_of, write_all

RETRY_DELAYS = (0.1, 0.5, 2.0)

HELP = {  # the value and the meaning of each of the runner's flags
    "--job": ("ID", "of the job"),
    "--store": ("URL", "gs://bucket, or file:// and an absolute path"),
    "--call": ("SHA256", "of the job's call.json"),
    "--bundle": ("SHA256", "of the bundle's index"),
    "--output-dir": ("DIR", "KINETIC_OUTPUT_DIR, a directory or gs://; default: the job's own in the store"),
    "--max-runtime": ("SECONDS", "of this attempt; 0: no bound"),
    "--max-disruptions": ("N", "end the job when it has lost its pod more often; default 100"),
    "--retries": ("N", "end the job when it has crashed more often; default: as Kubernetes says"),
    "--map": ("SHA256", "of the inputs of a map, lines of JSON"),
    "--chunk": ("N", "inputs for each pod; default 1"),
    "--inputs": ("N", "of them in all"),
    "--only": ("0-0,5-9", "the inputs that are divided into chunks; default: all"),
    "--release": ("NAMESPACE/NAME", "the job's LeaderWorkerSet, which host 0 scales to zero in the end"),
    "--chips": ("KIND:N", "that each of several hosts has: gpu:8, tpu:4; default: none"),
    "--grace": ("SECONDS", "from SIGTERM to SIGKILL; default 25"),
    "--work": ("DIR", "for workspace/ and scratch/"),
    "--log-file": ("PATH", "keep the log there instead of printing it"),
    "--termination-log": ("PATH", '"" for none'),
    "--final": ("", "no other attempt will follow, however this one ends"),
}


def usage():
    """What --help prints."""
    lines = [f"  {name} {value:<{25 - len(name)}} {text}" for name, (value, text) in HELP.items()]
    return "\n".join(["usage: remote_runner.py FLAGS", "Runs one call of a Kinetic job."] + lines)


class FileStore:
    """A store in a directory of this machine, with the methods of GCSStore.

    Writes are atomic: a reader sees an object whole or not at all. What is
    half-written lies below .tmp, as the client's does, and is synced before it
    gets its name. What the operating system refuses is tried a few times.
    """

    parallel = 1  # how many objects are best read at a time

    def __init__(self, url):
        self.root = directory_of(url, "store")
        if not os.path.isdir(self.root):
            raise RunnerError(f"store {url}: there is no such directory")

    def url(self, name):
        """The full name of an object, for messages."""
        return f"file://{self.root}/{name}"

    def outputs(self, job):
        """What KINETIC_OUTPUT_DIR is when the user chose none."""
        return os.path.join(self.root, job, "outputs")

    def open(self, name):
        """A binary file of the object's bytes; NotFound if there is none."""
        try:
            return open(os.path.join(self.root, name), "rb")
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(f"{self.url(name)} does not exist") from None

    def create(self, name, source, _metadata=None):
        """Writes an object that must not exist yet; AlreadyExists if it does. Files have no metadata."""
        try:
            self._put(name, source, os.link)
        except FileExistsError:
            raise AlreadyExists(f"{self.url(name)} exists already") from None

    def write(self, name, source, _generation=None):
        """Writes an object, in place of an older one. Files have no generation."""
        self._put(name, source, os.replace)

    def nothing(self, *_):
        """Files do not expire, are not waited for, and have no connection."""

    renew = insist = hurry = disconnect = nothing

    def _put(self, name, source, publish):
        for delay in RETRY_DELAYS:
            try:
                return self._try_to_put(name, source, publish)
            except FileExistsError:
                raise
            except OSError:
                time.sleep(delay)
        return self._try_to_put(name, source, publish)

    def _try_to_put(self, name, source, publish):
        path = os.path.join(self.root, name)
        temporary = os.path.join(self.root, ".tmp", f"runner-{os.getpid()}-{time.time_ns()}")
        for folder in (os.path.dirname(path), os.path.dirname(temporary)):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        try:
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(fd, "wb", buffering=0) as file:
                for block in source():
                    write_all(fd, block)
                os.fsync(fd)
            publish(temporary, path)
        finally:
            if os.path.lexists(temporary):
                os.unlink(temporary)


class LocalRunner(Runner):
    """The one attempt at a local job, which has a process group of its own and keeps its log in a file."""

    def _open_log(self):
        return Log(Spool(self._options.log_file, keep=True), None)

    def _conclude(self, end, outcome=None):
        """Ends what the call left running. In a container it would end with the runner."""
        if os.getpgrp() == os.getpid():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.killpg(0, signal.SIGTERM)
