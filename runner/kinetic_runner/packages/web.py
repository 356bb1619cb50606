# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files of package indexes, to read as from a store."""

import http.client
import time
import urllib.error
import urllib.request

from ..errors import BadEnvironment, RunnerError, Transient
from ..store.http import REQUEST_SECONDS, RETRY_STATUS, tls_context

PAUSES = (0.5, 2.0, 5.0)  # seconds between tries


def shown(url):
    """Return a URL for messages: without its query, which may be a signature."""
    return url.partition("?")[0]


class Web:
    """Reads URLs. Unlike access to the store, this uses the proxies that the environment names, as pip does."""

    def __init__(self, https):
        handlers = [urllib.request.HTTPSHandler(context=tls_context())] if https else []
        self._opener = urllib.request.build_opener(*handlers)

    @staticmethod
    def url(name):
        """Return the full name of a file, for messages."""
        return shown(name)

    def open(self, url):
        """Return a binary file. Raise BadEnvironment if the server refuses, Transient if it may answer later."""
        try:
            return Body(self._opener.open(url, timeout=REQUEST_SECONDS))
        except urllib.error.HTTPError as exc:
            exc.close()
            if exc.code in RETRY_STATUS:
                raise Transient(f"the server answered {exc.code}") from None
            raise BadEnvironment(f"cannot fetch {shown(url)}: the server answered {exc.code} {exc.reason}: submit the job again with another index or release") from None
        except (OSError, http.client.HTTPException) as exc:
            raise Transient(str(getattr(exc, "reason", exc)) or type(exc).__name__) from None


class Body:
    """The body of an answer. Raises Transient if it is incomplete."""

    def __init__(self, answer):
        self._answer = answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._answer.close()

    def read(self, size):
        """Return at most size bytes, none at the end."""
        try:
            block = self._answer.read(size)
        except (OSError, http.client.HTTPException) as exc:
            raise Transient(str(exc) or type(exc).__name__) from None
        if not block and self._answer.length:
            raise Transient(f"the answer is {self._answer.length} bytes short")
        return block


def retry(url, action):
    """Call action until it does not raise Transient. Raise RunnerError if that takes too long."""
    for pause in PAUSES + (None,):
        try:
            return action()
        except Transient as exc:
            problem = exc
        if pause is not None:
            time.sleep(pause)
    raise RunnerError(f"cannot fetch {shown(url)}: {problem} ({len(PAUSES) + 1} tries): check that the pod's node can reach it, then submit again")
