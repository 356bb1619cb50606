# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The ways in which programs write what they want to keep."""

from . import append, bulk, commit, database, disk, foreign, handler, inplace, lightning, mapped, names, newdir, pointer, renamed, replace, workers

# {name: pattern}
PATTERNS = {}
for _module in (replace, inplace, append, newdir, renamed, pointer, workers, mapped, database, names, handler, lightning, bulk, foreign, disk, commit):
    PATTERNS.update(_module.PATTERNS)
