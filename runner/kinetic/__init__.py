# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Run Python functions on the TPUs and GPUs of a Kubernetes cluster."""
