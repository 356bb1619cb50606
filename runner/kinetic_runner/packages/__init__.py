# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The packages that a job needs in addition to those of its image. Only --environment imports this."""
