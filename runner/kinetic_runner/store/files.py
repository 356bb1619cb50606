# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A store in a directory on this machine, for local jobs."""

import errno
import os
import time

from ..contract import OBJECTS
from ..errors import AlreadyExists, NotFound, RunnerError, naming
from ..text import write_all
from . import directory_of

RETRY_DELAYS = (0.1, 0.5, 2.0)  # seconds before retries of a failed system call


class FileStore:
    """A store in a directory on this machine, with the methods of GCSStore.

    Writes are atomic: a reader sees a whole object or none. Like the client, it
    writes to .tmp first, and syncs the file before it gets its name.
    """

    parallel = 1  # how many objects to read at a time

    def __init__(self, url):
        self.root = directory_of(url, "store")
        if not os.path.isdir(self.root):
            raise RunnerError(f"store {url}: the directory does not exist")

    def url(self, name):
        """Return the full name of an object, for messages."""
        return f"file://{self.root}/{name}"

    def outputs(self, job):
        """Return the default of KINETIC_OUTPUT_DIR."""
        return os.path.join(self.root, OBJECTS["outputs"] % job)

    def open(self, name):
        """Return a binary file of the object's bytes. Raise NotFound if there is none."""
        try:
            return open(os.path.join(self.root, name), "rb")
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(f"{self.url(name)} does not exist") from None

    def exists(self, name):
        """Return whether there is such an object."""
        return os.path.exists(os.path.join(self.root, name))

    def create(self, name, source, metadata=None):
        """Write a new object. Raise AlreadyExists if there is one. Files have no metadata."""
        self.write(name, source, 0)

    def write(self, name, source, generation=None, metadata=None):
        """Write or replace an object. Raise AlreadyExists if generation is 0 and there is one."""
        try:
            self._put(name, source, os.link if generation == 0 else os.replace)
        except FileExistsError:
            raise AlreadyExists(f"{self.url(name)} already exists") from None

    def generation(self, name):
        """Return no generation and no metadata: files have neither."""
        return None, {}

    def list(self, folder):
        """Yield the names of the objects in a folder, relative to it."""
        try:
            yield from os.listdir(os.path.join(self.root, folder))
        except FileNotFoundError:
            return  # an empty folder does not exist

    def renew(self, name, age=0, first=None):
        """Do nothing: files do not expire."""

    def hurry(self, moment):
        """Do nothing: files cause no waiting."""

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
            try:
                os.makedirs(folder, mode=0o700, exist_ok=True)
            except FileExistsError:  # that would say that the object exists
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder) from None
        try:
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with naming(path), open(fd, "wb", buffering=0) as file:
                for block in source():
                    write_all(fd, block)
                os.fsync(fd)
            publish(temporary, path)
        finally:
            if os.path.lexists(temporary):
                os.unlink(temporary)
