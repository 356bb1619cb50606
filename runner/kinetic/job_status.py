# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The states of a job."""

from __future__ import annotations

import enum


class JobStatus(str, enum.Enum):
    """The state of a job, as `kubectl kinetic jobs status` prints it. It equals its word: `job.status() == "FAILED"` works."""

    # Kubernetes has the job, and no pod runs yet.
    PENDING = "PENDING"
    # The function is being called.
    RUNNING = "RUNNING"
    # The function returned.
    SUCCEEDED = "SUCCEEDED"
    # The function raised, or the job was ended otherwise.
    FAILED = "FAILED"
    # Nothing of the job is in the cluster any more; its result may still be in the store.
    NOT_FOUND = "NOT_FOUND"

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)  # by itself, Python 3.12 and older ones disagree

    @property
    def ended(self) -> bool:
        """Whether the state never changes again, unless the job is cleaned up."""
        return self not in (JobStatus.PENDING, JobStatus.RUNNING)
