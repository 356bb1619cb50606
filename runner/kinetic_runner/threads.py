# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Threads, as many as the limits allow."""

import threading


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
