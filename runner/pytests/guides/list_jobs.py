# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Detached jobs: what is on the cluster."""

import kinetic
import where  # noqa: F401

for j in kinetic.list_jobs():
    print(f"{j.job_id} {j.func_name} {j.status().value}")
