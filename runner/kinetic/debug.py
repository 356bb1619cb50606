# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The names that programs for keras-kinetic import from here. `JobHandle.debug_attach` does it all."""

from __future__ import annotations

import kinetic

__all__ = ["DEBUGPY_PORT", "cleanup_port_forward", "start_port_forward"]  # pyright: ignore[reportUnsupportedDunderAll] # client.forward has them


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(kinetic._module("client.forward"), name)
