# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The names that programs for keras-kinetic import from here: `from kinetic.collections import BatchHandle`."""

from __future__ import annotations

import kinetic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = ["BatchError", "BatchHandle", "attach_batch", "map"]  # pyright: ignore[reportUnsupportedDunderAll] # kinetic has them


def map(submit_fn: Any, inputs: Iterable[Any], **parameters: Any) -> object:
    """Submit a map, and return its handle: what `function.run_async_map(inputs)` does.

    Args:
        submit_fn: a function with @kinetic.run(), or its method run_async.
        inputs: what to call it with.
        **parameters: those of run_async_map.

    Raises:
        TypeError: submit_fn is neither.
    """
    function = getattr(submit_fn, "__self__", submit_fn)
    if not isinstance(function, kinetic.RemoteCallable):
        raise TypeError(f"kinetic.collections.map() takes a function with @kinetic.run() or its run_async, not {submit_fn!r:.60}")
    return function.run_async_map(inputs, **parameters)


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(kinetic, name)
