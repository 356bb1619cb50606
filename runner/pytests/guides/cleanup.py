# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Detached jobs: what result() and cleanup() delete, and what a job is then."""

import kinetic
from where import ACCELERATOR


@kinetic.run(accelerator=ACCELERATOR)
def train_model():
    return {"final_loss": 0.123}


job = train_model.run_async()
final = job.result(cleanup=False)    # keep everything
print(final, job.status().value)
job.cleanup(k8s=True, gcs=False)     # later: delete pod, keep artifacts
print(job.status().value)
print(job.result())                  # the result is still in the store
print(job.status().value)
