# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Loads what a job has pickled, without a change to the classes of this program."""

from __future__ import annotations

import functools
import io
import os
import pathlib
import pickle
import sys
import weakref
from collections.abc import Callable
from typing import IO, Any

MAKE = ("_make_skeleton_class", "_make_skeleton_enum")  # cloudpickle finds a class that it has sent or made before, or makes it
FILL = "_class_setstate"  # and then sets all attributes of it

_bare: weakref.WeakSet[type] = weakref.WeakSet()  # classes that were made, and not filled: another thread is at it, or it failed

# Windows has no such paths: what stands for them there can't open anything.
PATHS = {"PosixPath": pathlib.PurePosixPath} if os.name == "nt" else {}


def load(stream: IO[bytes]) -> Any:
    """Return what is pickled in a stream, from where it is."""
    return Unpickler(stream).load()


class Unpickler(pickle.Unpickler):
    """Leaves a class of this program as it is, whatever the job has changed in its copy. A class that only the job has is made."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream)
        self._known = known()

    def find_class(self, module: str, name: str, /) -> Any:
        """Return what a module has under a name, as pickle.Unpickler.find_class does."""
        found = PATHS.get(name) if module.partition(".")[0] == "pathlib" else None
        found = found or super().find_class(module, name)
        if module.startswith("cloudpickle."):  # which module it is depends on the version
            change = self._make if name in MAKE else self._fill if name == FILL else None
            return found if change is None else functools.partial(change, found)
        return functools.partial(load_storage, found) if (module, name) == ("torch.storage", "_load_from_bytes") else found

    def _make(self, make: Callable[..., type], *args: Any) -> type:
        kind = make(*args)
        if kind not in self._known:
            _bare.add(kind)
        return kind

    def _fill(self, fill: Callable[[type, Any], type], kind: type, state: Any) -> type:
        if kind in self._known and kind not in _bare:
            return kind
        fill(kind, state)
        _bare.discard(kind)
        return kind


def load_storage(load: Callable[[bytes], Any], data: bytes) -> Any:
    """Return what a tensor of PyTorch is made of: in this machine's memory, if the job had it on a GPU that this machine lacks."""
    try:
        return load(data)
    except RuntimeError:
        return sys.modules["torch"].load(io.BytesIO(data), map_location="cpu", weights_only=False)


def known() -> set[type]:
    """Return the classes that cloudpickle has sent or made; none if it is not loaded, which no handle does."""
    cloudpickle = sys.modules.get("cloudpickle.cloudpickle")
    tracked = getattr(cloudpickle, "_DYNAMIC_CLASS_TRACKER_BY_CLASS", None)
    references = [] if tracked is None else tracked.keyrefs()
    return {kind for kind in (reference() for reference in references) if kind is not None}
