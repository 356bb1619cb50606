# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What submits jobs and fetches their results. The runner's zip leaves it out: in a job, only a job that submits others needs it."""
