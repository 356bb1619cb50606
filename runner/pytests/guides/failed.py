# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Detached jobs: a job that fails is kept, with its log."""

import kinetic
from kinetic.job_status import JobStatus
from where import ACCELERATOR


@kinetic.run(accelerator=ACCELERATOR)
def train_model():
    raise ValueError("no rows")


job = train_model.run_async()
try:
    job.result()
except ValueError as exc:
    print(exc, job.status() is JobStatus.FAILED)
print("ValueError: no rows" in job.tail())
job.cleanup()
print(job.status() is JobStatus.NOT_FOUND)
