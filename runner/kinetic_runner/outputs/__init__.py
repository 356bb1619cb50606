# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Outputs: what a program writes to a directory of the pod, and its copy in the store."""
