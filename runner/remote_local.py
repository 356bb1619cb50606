# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The store of local jobs."""

import os
import time

from remote_runner import AlreadyExists, NotFound, RunnerError, directory_of, write_all


class FileStore:
    """A store in a directory of this machine, with the methods of GCSStore.

    Writes are atomic: a reader sees an object whole or not at all. What is
    half-written lies below .tmp, as the client's does, and is synced before it
    gets its name.
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

    def write(self, name, source):
        """Writes an object, in place of an older one."""
        self._put(name, source, os.replace)

    def exists(self, name):
        """Whether there is such an object."""
        return os.path.exists(os.path.join(self.root, name))

    def list(self, folder):
        """Yields the names of the objects in a folder, without it."""
        path = os.path.join(self.root, folder)
        yield from os.listdir(path) if os.path.isdir(path) else ()

    def nothing(self, *_):
        """Files do not expire, are not waited for, and have no connection."""

    renew = insist = hurry = disconnect = nothing

    def _put(self, name, source, publish):
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
