# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Detached jobs: a first one. With --leave, the program ends while the job runs."""

import sys

import kinetic
from where import ACCELERATOR


@kinetic.run(accelerator=ACCELERATOR)
def train_model():
    # Long-running training code
    print("training")
    return {"final_loss": 0.123}


job = train_model.run_async()
print(f"Submitted: {job.job_id}")
if "--leave" in sys.argv:
    sys.exit()

# ... do something else, possibly close the script entirely ...
final = job.result(timeout=3600)  # blocks until done
print(final)
