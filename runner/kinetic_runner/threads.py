# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Threads, as many as the limits allow."""

import threading


class Later:
    """An action that goes on in a thread, or is done at once if there can be none."""

    def __init__(self, action):
        self._action, self._failure = action, None
        self._threads = start_threads(1, self._run)
        if not self._threads:
            self._run()

    def _run(self):
        try:
            self._action()
        except Exception as exc:
            self._failure = exc

    def join(self):
        """Wait for its end. Raise what it has raised."""
        for thread in self._threads:
            thread.join()
        if self._failure is not None:
            raise self._failure


def start_threads(count, work):
    """Start up to count threads that do the work. Return those that run, fewer if a limit is reached.

    They are daemons: the process can exit, for example on SIGTERM, without waiting for them.
    """
    started = []
    for _ in range(count):
        thread = threading.Thread(target=work, daemon=True)
        try:
            thread.start()
        except RuntimeError:
            break
        started.append(thread)
    return started
