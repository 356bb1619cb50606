# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A store in a directory of this machine, for local jobs."""

import os
import time

from ..errors import AlreadyExists, NotFound, RunnerError, naming
from ..text import write_all
from . import directory_of

RETRY_DELAYS = (0.1, 0.5, 2.0)  # seconds; what the operating system refuses is tried again


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
            raise RunnerError(f"store {url}: the directory does not exist")

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

    def exists(self, name):
        """Reports whether there is such an object."""
        return os.path.exists(os.path.join(self.root, name))

    def create(self, name, source, metadata=None):
        """Writes an object that must not exist yet; AlreadyExists if it does. Files have no metadata."""
        self.write(name, source, 0)

    def write(self, name, source, generation=None, metadata=None):
        """Writes an object, in place of an older one; AlreadyExists if generation is 0 and there is one."""
        try:
            self._put(name, source, os.link if generation == 0 else os.replace)
        except FileExistsError:
            raise AlreadyExists(f"{self.url(name)} already exists") from None

    def generation(self, name):
        """Files have neither a generation nor metadata."""
        return None, {}

    def list(self, folder):
        """Yields the names of the objects in a folder, without the folder's."""
        try:
            yield from os.listdir(os.path.join(self.root, folder))
        except FileNotFoundError:
            return  # an empty folder does not exist

    def renew(self, name):
        """Files do not expire."""

    def hurry(self, moment):
        """Files are not waited for."""

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
            with naming(path), open(fd, "wb", buffering=0) as file:
                for block in source():
                    write_all(fd, block)
                os.fsync(fd)
            publish(temporary, path)
        finally:
            if os.path.lexists(temporary):
                os.unlink(temporary)
