# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The bundle: the packaged files of a job, from verified blobs into the workspace."""
