# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The names that programs for keras-kinetic import from here: `from kinetic.jobs import JobHandle`."""

from __future__ import annotations

import kinetic

__all__ = ["JobHandle", "JobStatus", "attach", "list_jobs"]  # pyright: ignore[reportUnsupportedDunderAll] # kinetic has them


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(kinetic, name)
