# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Say that a store does not answer, while requests are tried again."""

import _thread
import math

FIRST_SECONDS, NEXT_SECONDS = 5.0, 30.0  # before the first message, and at least between two of them


class Outage:
    """Says that a store does not answer. All threads and stores of an attempt share one, so that only one of them says it."""

    def __init__(self, say):
        self.say = say
        self._told_at, self._lock = -math.inf, _thread.allocate_lock()

    def note(self, bucket, exc, began, now):
        """Note the failure of a request that has failed since began, a time.monotonic() as now is."""
        with self._lock:
            if now < max(began + FIRST_SECONDS, self._told_at + NEXT_SECONDS):
                return
            self._told_at = now
        self.say(f"gs://{bucket} has not answered for {now - began:.0f} seconds ({exc}): trying again")
