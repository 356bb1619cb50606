# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Threads, of which there may be fewer than one would like."""

import threading


def start_threads(count, work):
    """Starts up to count threads that do the work; returns those that run, fewer where a limit is reached.

    They are daemons: the end of the process, as by SIGTERM, need not wait for what they read.
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
