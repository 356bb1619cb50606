# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The program that runs a job's call, in a pod or as a local process."""
