# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files as inputs of a job."""

from __future__ import annotations

import os

from .errors import UsageError
from .pod import in_job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Union

HF = "hf://"
VARIABLE = "KINETIC_DATA_"  # and the input's name in capitals: where the runner has put it


class Data:
    """Files that a job gets: a plain path for the function, a path-like object outside of jobs.

    It may be anywhere in the arguments of a decorated function, in what the function refers to, and in volumes=.

    Args:
        path: a file or directory of this machine, gs://BUCKET/FOLDER, hf://OWNER/NAME, or pvc://CLAIM/FOLDER. A
            gs:// folder ends with a slash.
        fuse: mount the files with Cloud Storage FUSE instead of copying them.
        hf_trust_remote_code: True is refused for hf://, since a job runs no code of a data set while it loads that. For any other
            path it has no effect.

    Attributes:
        path: the absolute path, or the URL.
        fuse: also is_fuse: whether the files are mounted.
        hf_trust_remote_code: as given.
        is_gcs: whether they are in a bucket of Cloud Storage.
        is_hf: whether it is a data set of Hugging Face.
        is_dir: whether the job gets a directory, as far as the path tells.

    Raises:
        ValueError: path is empty, or can't be mounted.
        FileNotFoundError: there is no such file on this machine.
    """

    __slots__ = ("fuse", "hf_trust_remote_code", "path")

    def __init__(self, path: Union[str, os.PathLike[str]], fuse: bool = False, hf_trust_remote_code: bool = False) -> None:
        typed = os.fspath(path) if isinstance(path, os.PathLike) else path
        if not isinstance(typed, str):
            raise TypeError(f"Data({typed!r:.60}): a path is a str or an os.PathLike of one, not {type(typed).__name__}")
        if not typed:
            raise ValueError("Data(''): the path is empty")
        if typed.startswith(HF) and hf_trust_remote_code:
            advice = f"load it in the function instead: datasets.load_dataset({typed[len(HF):]!r}, trust_remote_code=True)"
            raise UsageError(f"Data({typed!r}, hf_trust_remote_code=True): a job runs no code of a data set while it loads that: {advice}")
        if typed.startswith(HF) and fuse:
            raise ValueError(f"Data({typed!r}): fuse=True is not supported for Hugging Face datasets, which can't be mounted: omit it")
        self.path = typed if "://" in typed else local(typed)
        self.fuse = fuse
        self.hf_trust_remote_code = hf_trust_remote_code

    @property
    def source(self) -> str:
        """The source as --data and --volume take it: a comma of the path is not one before an option."""
        return self.path.replace(",", "\\,") + (",fuse" if self.fuse else "")

    @property
    def is_gcs(self) -> bool:
        """Whether the files are in a bucket of Cloud Storage."""
        return self.path.startswith("gs://")

    @property
    def is_hf(self) -> bool:
        """Whether it is a data set of Hugging Face."""
        return self.path.startswith(HF)

    @property
    def is_fuse(self) -> bool:
        """Whether the job mounts the files instead of copying them."""
        return self.fuse

    @property
    def is_dir(self) -> bool:
        """Whether the job gets a directory, as far as the path tells: one of a bucket ends with a slash."""
        return self.path.endswith("/") if self.is_gcs else "://" in self.path or os.path.isdir(self.path)

    def content_hash(self) -> str:
        """Return the SHA-256 of the names and contents of files of this machine, in hexadecimal.

        The order of the files, their times and permissions, and empty directories don't count. Links to directories are not followed.

        Raises:
            ValueError: the files are not on this machine.
            OSError: one can't be read.
        """
        if "://" in self.path:
            raise ValueError(f"{self!r}.content_hash(): only files of this machine have one")
        from .client.digest import digest

        return digest(self.path)

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
