# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Detached jobs: a bounded wait for a job that does not end. The argument is the number of seconds."""

import sys

import kinetic
from where import ACCELERATOR


@kinetic.run(accelerator=ACCELERATOR)
def train_model():
    import threading
    threading.Event().wait()


job = train_model.run_async()
try:
    final = job.result(timeout=float(sys.argv[1]))
except TimeoutError:
    # Job is still running — handle is still valid; you can call .result()
    # again, .tail(), .cancel(), or just walk away.
    print(job.tail(n=50))
    print("still there:", job.status().value in ("PENDING", "RUNNING"))
job.cancel()
print(job.status().value)
