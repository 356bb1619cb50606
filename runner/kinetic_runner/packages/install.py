# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Install the environment of a job: a list of wheels, each named by its hash, or requirements that pip resolves first."""

import math
import os
import threading
import time
from collections import namedtuple

from ..bundle.unpack import empty_directory
from ..documents import SHA256, field, parse_document
from ..errors import BadEnvironment, Mismatch, NotFound, RunnerError, naming
from ..process import PYTHON
from ..records import create_or_read, read_document
from ..store import copy_verified, in_parallel, read_verified
from ..store.names import blob_name, environment_name
from .venv import PYTHON_VERSION, Venv
from .wheel import install

DOCUMENT_LIMIT = 16 << 20  # bytes

Entry = namedtuple("Entry", "file sha256 size url")  # of a wheel in a list


def provide(attempt, fetch_package):
    """Fetch the package and install the environment. Return the names of the objects that this needs."""
    began, steps = time.monotonic(), [fetch_package]
    options, store = attempt.options, attempt.store
    name = blob_name(options.environment)
    where, needed = store.url(name), [name]
    document = parse_document(read_verified(store, name, options.environment, DOCUMENT_LIMIT), where)
    folder, venv, memory, resolved = os.path.join(attempt.scratch, "wheels"), Venv(options.venv), None, None
    empty_directory(folder)
    if options.warm:
        from .update import Memory

        memory = Memory(venv).recall()
    if "wheels" not in document:
        needed.append(environment_name(options.job))
        try:
            document = read_document(store, needed[-1])
        except NotFound:
            if known := memory and memory.resolved(options.environment):
                document = create_or_read(store, needed[-1], known)
            else:
                from .resolve import is_fixed, resolve

                steps.pop()()  # requirements may name files in it
                wish, document = document, resolve(attempt, document, where, folder)
                resolved = document if is_fixed(wish) else None
        where = store.url(needed[-1])
    wheels = parse_wheels(document, where)
    attempt.begin_cache([wheel.file for wheel in wheels])
    missing = wheels
    if memory:
        missing = memory.make_room(wheels)
    else:
        venv.make()
    installation = Installation(store, missing, folder, venv)
    in_parallel(lambda step: step(), [*steps, installation.run], len(steps) + 1)
    empty_directory(folder)
    os.rmdir(folder)
    if memory:
        memory.note(installation.files, options.environment, resolved)
    if missing or not memory:
        attempt.say(f"installed {len(missing)} package{'' if len(missing) == 1 else 's'} in {time.monotonic() - began:.1f} s")
    return needed + [blob_name(wheel.sha256) for wheel in wheels]


def parse_wheels(document, where):
    """Return the wheels of a list after checking that it is for this Python."""
    try:
        python = field(document, "python", str, where)
        wheels = [parse_wheel(entry, where) for entry in field(document, "wheels", list, where)]
    except RunnerError as exc:
        raise BadEnvironment(str(exc)) from None
    if python != PYTHON_VERSION:
        raise BadEnvironment(
            f"the packages of the job are for Python {python}, but the image has {PYTHON_VERSION} ({PYTHON}): "
            f"submit the job with --python {PYTHON_VERSION}, or with an image that has {python}"
        )
    if len({wheel.sha256 for wheel in wheels}) < len(wheels):
        raise BadEnvironment(f"{where} lists a wheel twice")
    return wheels


def parse_wheel(entry, where):
    entry = entry if isinstance(entry, dict) else {}
    members = (("file", str, None), ("sha256", str, None), ("size", int, 0), ("url", str, ""))
    wheel = Entry(*(field(entry, name, kind, where, default) for name, kind, default in members))
    if not SHA256.fullmatch(wheel.sha256) or wheel.size < 0 or wheel.url and not wheel.url.startswith(("https://", "http://")):
        raise BadEnvironment(f"{where}: malformed wheel {wheel.file!r:.100}: SHA-256 {wheel.sha256!r:.70}, {wheel.size} bytes, URL {wheel.url.partition('?')[0]!r:.100}")
    return wheel


class Installation:
    """The installation of wheels: fetched several at a time, installed in their order."""

    def __init__(self, store, wheels, folder, venv):
        self._store, self._wheels, self._folder, self._venv = store, wheels, folder, venv
        self.files = {}  # that it has written, below site-packages, by the hash of their wheel
        self._web = None
        self._turn, self._fetched, self._next = threading.Lock(), set(), 0

    def run(self):
        """Install them."""
        urls = [wheel.url for wheel in self._wheels if wheel.url]
        if urls:
            from .web import Web

            self._web = Web(any(url.startswith("https://") for url in urls))
        in_parallel(self._take, range(len(self._wheels)), max(self._store.parallel, 1))

    def _take(self, number):
        """Fetch a wheel, then install those whose turn it is."""
        wheel = self._wheels[number]
        path = self._path(wheel)
        if not os.path.exists(path):  # pip may have left it here
            self._fetch(wheel, path)
        self._fetched.add(number)
        with self._turn:
            while self._next in self._fetched:
                wheel = self._wheels[self._next]
                self.files[wheel.sha256] = install(self._path(wheel), self._title(wheel), self._venv)
                os.unlink(self._path(wheel))
                self._next += 1

    def _path(self, wheel):
        return os.path.join(self._folder, wheel.sha256)

    def _title(self, wheel):
        return f"the wheel {wheel.file} ({self._store.url(blob_name(wheel.sha256))})"

    def _fetch(self, wheel, path):
        """Fetch a wheel from the store or, if it is not there, from its URL."""
        try:
            return copy(self._store, blob_name(wheel.sha256), wheel, path)
        except Mismatch as exc:
            raise BadEnvironment(f"cannot install the wheel {wheel.file}: {exc}") from None
        except NotFound as exc:
            if not wheel.url:
                raise BadEnvironment(f"cannot install the wheel {wheel.file}: {exc}: submit the job again to upload it") from None
        from .web import retry

        try:
            retry(wheel.url, lambda: copy(self._web, wheel.url, wheel, path))
        except Mismatch:
            text = f"cannot install the wheel {wheel.file}: {self._web.url(wheel.url)} does not have the SHA-256 {wheel.sha256}, which the job names"
            raise BadEnvironment(f"{text}: submit the job again with another index or release") from None


def copy(source, name, wheel, path):
    """Copy a wheel from a store, or the web, to a file and check its hash."""
    with naming(path), open(path, "wb") as file:
        copy_verified(source, name, wheel.sha256, wheel.size or math.inf, file.write)
