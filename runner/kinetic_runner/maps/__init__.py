# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A map: a function called once with each of many inputs, by pods that each have a chunk of them."""
