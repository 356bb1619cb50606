# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What stands for the client's names in a job that has no client: they can be imported and named in annotations."""

from __future__ import annotations

from .errors import NotInstalled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Absent(type):
    """A class that can't be used, and says why."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotInstalled(cls.__doc__ or "")

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotInstalled(cls.__doc__ or "")

    def __getitem__(cls, item: object) -> Absent:
        return cls


def stand_in(name: str, error: NotInstalled) -> Absent:
    """Return what stands for a name: calling it, or using an attribute of it, raises an error like this one."""
    return Absent(name, (), {"__doc__": str(error), "__module__": "kinetic"})
