# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What editors, type checkers and help() show of the parameters of kinetic.run."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable, Optional, TypedDict, Union

from .parameters import PARAMETERS

if TYPE_CHECKING:
    from ..data import Data
    from .parameters import Duration

PLACE = "PARAMETERS"  # in a docstring: where the parameters go
Path = Union[str, "os.PathLike[str]"]


class Parameters(TypedDict, total=False):
    """The types of the parameters of kinetic.run, for editors and type checkers."""

    accelerator: Optional[str]
    spot: Optional[bool]
    hosts: Optional[int]
    backend: Optional[str]
    local: Optional[bool]
    container_image: Optional[str]
    base_image_repo: Optional[str]
    python: Optional[str]
    requirements: Optional[Path]
    package_root: Optional[Path]
    env: Optional[Mapping[str, Optional[str]]]
    capture_env_vars: Optional[list[str]]
    secrets: Optional[list[str]]
    volumes: Optional[Mapping[str, Data]]
    output_dir: Optional[str]
    resume_from: Optional[str]
    name: Optional[str]
    labels: Optional[Mapping[str, str]]
    annotations: Optional[Mapping[str, str]]
    cpu: Union[str, float, None]
    memory: Optional[str]
    disk: Optional[str]
    queue: Optional[str]
    reservation: Optional[str]
    priority_class: Optional[str]
    service_account: Optional[str]
    overlay: Optional[Path]
    retries: Optional[int]
    max_runtime: Optional[Duration]
    hang_timeout: Optional[Duration]
    processes_per_host: Union[int, str, None]
    keep_warm: Optional[Duration]
    cache: Optional[bool]
    cache_size: Optional[str]
    max_cost: Optional[float]
    timeout: Optional[Duration]
    debug: Optional[bool]
    flags: Optional[list[str]]
    logs: Optional[str]
    project: Optional[str]
    zone: Optional[str]
    cluster: Optional[str]
    namespace: Optional[str]
    profile: Optional[str]
    context: Optional[str]
    kubeconfig: Optional[Path]
    store: Optional[str]


def describe(function: Callable[..., Any]) -> None:
    """Give a function with **parameters a signature that lists those of kinetic.run, and a docstring that says what they are."""
    own = inspect.signature(function)
    types = {name: getattr(kind, "__forward_arg__", kind) for name, kind in Parameters.__annotations__.items()}
    listed = [inspect.Parameter(p.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=types[p.name]) for p in PARAMETERS]
    kept = [p for p in own.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    setattr(function, "__signature__", own.replace(parameters=[*kept, *listed]))  # noqa: B010 # no type checker knows it
    if function.__doc__ is not None:  # as with python -OO
        lines = "\n        ".join(f"{p.name}: {p.summary.replace('`', '')}" for p in PARAMETERS)
        function.__doc__ = function.__doc__.replace(PLACE, lines)
