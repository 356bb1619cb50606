# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Detached jobs: reattaching from another machine. The argument is the job's id."""

import sys

import kinetic
import where  # noqa: F401

job = kinetic.attach(sys.argv[1])
print(f"Status: {job.status().value}")
print(job.tail(n=20))
