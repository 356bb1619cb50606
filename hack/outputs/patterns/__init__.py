# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The ways in which programs write what they want to keep."""

from . import append, bulk, commit, database, disk, foreign, handler, inplace
from . import lightning, mapped, names, newdir, pointer, renamed, replace, workers

_MODULES = [replace, inplace, append, newdir, renamed, pointer, workers, mapped]
_MODULES += [database, names, handler, lightning, bulk, foreign, disk, commit]

# {name: pattern}
PATTERNS = {name: pattern for module in _MODULES for name, pattern in module.PATTERNS.items()}
