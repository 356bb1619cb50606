# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files as inputs of a job."""

from __future__ import annotations

import os

from .pod import in_job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Union

VARIABLE = "KINETIC_DATA_"  # and the input's name in capitals: where the runner has put it


class Data:
    """Files that a job gets: a plain path for the function, a path-like object outside of jobs.

    It may be anywhere in the arguments of a decorated function, in what the function refers to, and in volumes=.

    Args:
        path: a file or directory of this machine, gs://BUCKET/FOLDER, hf://OWNER/NAME, or pvc://CLAIM/FOLDER. A
            gs:// folder ends with a slash.
        fuse: mount the files with Cloud Storage FUSE instead of copying them.

    Raises:
        ValueError: path is empty, or can't be mounted.
        FileNotFoundError: there is no such file on this machine.
    """

    __slots__ = ("fuse", "path")

    def __init__(self, path: Union[str, os.PathLike[str]], *, fuse: bool = False) -> None:
        typed = os.fspath(path) if isinstance(path, os.PathLike) else path
        if not isinstance(typed, str):
            raise TypeError(f"Data({typed!r:.60}): a path is a str or an os.PathLike of one, not {type(typed).__name__}")
        if not typed:
            raise ValueError("Data(''): the path is empty")
        if fuse and typed.startswith("hf://"):
            raise ValueError(f"Data({typed!r}, fuse=True): Hugging Face data sets can't be mounted: leave fuse out")
        self.path = typed if "://" in typed else local(typed)
        self.fuse = fuse

    @property
    def source(self) -> str:
        """The source as --data and --volume take it."""
        return self.path + (",fuse" if self.fuse else "")

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"Data({self.path!r}{', fuse=True' if self.fuse else ''})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Data) and (self.path, self.fuse) == (other.path, other.fuse)

    def __hash__(self) -> int:
        return hash((self.path, self.fuse))


def local(typed: str) -> str:
    """Return the absolute path of a file of this machine, which must exist.

    In a job, files that were Data here need not exist: a module that is imported there may name them.
    """
    path = os.path.abspath(os.path.expanduser(typed))
    if not in_job() and not os.path.exists(path):
        raise FileNotFoundError(f"Data({typed!r}): there is no {path}")
    return path


def path_of(name: str) -> str:
    """Return where the job has the input of this name. Pickled calls refer to it instead of a Data.

    Raises:
        FileNotFoundError: this is not the job that the call was pickled for.
    """
    try:
        return os.environ[VARIABLE + name.upper()]
    except KeyError:
        raise FileNotFoundError(f"the call needs its input {name}, which only its job has") from None


def refuse_misplaced(value: object, place: str) -> None:
    """Refuse a Data in a set or in a key of a dict: a path there would have another order, or be another key.

    Lists, tuples, dicts, sets and their subclasses are searched, at any depth.

    Args:
        value: an argument of the call.
        place: how messages call it, such as "argument 'cfg'".

    Raises:
        ValueError: it has one; the message says where.
    """
    seen: set[tuple[int, bool]] = set()
    stack = [(value, place, False)]
    while stack:
        value, place, hashed = stack.pop()
        if isinstance(value, Data) and hashed:
            raise ValueError(f"{value!r} is in {place}: put it into a list, or make it a value of a dict")
        if (id(value), hashed) in seen:
            continue
        seen.add((id(value), hashed))
        if isinstance(value, dict):
            stack.extend((key, f"a key of {place}", True) for key in value)
            stack.extend((item, f"{place}[{key!r}]", hashed) for key, item in value.items())
        elif isinstance(value, (set, frozenset)):
            stack.extend((item, f"the set {place}", True) for item in value)
        elif isinstance(value, (list, tuple)):
            stack.extend((item, f"{place}[{index}]", hashed) for index, item in enumerate(value))
