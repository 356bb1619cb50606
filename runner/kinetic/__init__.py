# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Run Python functions on the TPUs and GPUs of a Kubernetes cluster.

    import kinetic

    @kinetic.run(accelerator="tpu-v6e-8")
    def train(): ...

    loss = train()
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing for it would take longer than all the rest
if TYPE_CHECKING:
    from typing import Any

    from .client.batch import BatchHandle as BatchHandle, attach_batch as attach_batch
    from .client.finding import attach as attach, list_jobs as list_jobs
    from .client.handle import JobHandle as JobHandle
    from .client.notebook import load_ipython_extension as load_ipython_extension
    from .client.table import table as table
    from .data import Data as Data
    from .decorator import RemoteCallable as RemoteCallable, run as run
    from .errors import (
        BatchError as BatchError,
        Interrupted as Interrupted,
        JobNotFound as JobNotFound,
        JobTimeout as JobTimeout,
        KineticError as KineticError,
        NotInstalled as NotInstalled,
        RemoteError as RemoteError,
        RemoteTraceback as RemoteTraceback,
        UntrustedResult as UntrustedResult,
        UsageError as UsageError,
        VersionMismatch as VersionMismatch,
    )
    from .job_status import JobStatus as JobStatus
    from .kept import keep as keep
    from .options import configure as configure
    from .pod import (
        attempt as attempt,
        checkpoint_dir as checkpoint_dir,
        host as host,
        hosts as hosts,
        in_job as in_job,
        is_preempted as is_preempted,
        output_dir as output_dir,
    )

__version__ = "0.1.0.dev0"

# Where each name is defined. A module is imported when one of its names is first used.
_HOMES = {
    "BatchError": "errors",
    "BatchHandle": "client.batch",
    "Data": "data",
    "Interrupted": "errors",
    "JobHandle": "client.handle",
    "JobNotFound": "errors",
    "JobStatus": "job_status",
    "JobTimeout": "errors",
    "KineticError": "errors",
    "NotInstalled": "errors",
    "RemoteCallable": "decorator",
    "RemoteError": "errors",
    "RemoteTraceback": "errors",
    "UntrustedResult": "errors",
    "UsageError": "errors",
    "VersionMismatch": "errors",
    "attach": "client.finding",
    "attach_batch": "client.batch",
    "attempt": "pod",
    "checkpoint_dir": "pod",
    "commit": "pod",
    "configure": "options",
    "host": "pod",
    "hosts": "pod",
    "in_job": "pod",
    "is_preempted": "pod",
    "keep": "kept",
    "list_jobs": "client.finding",
    "load_ipython_extension": "client.notebook",
    "output_dir": "pod",
    "run": "decorator",
    "table": "client.table",
}
_MODULES = ("collections", "debug", "job_status", "jobs")  # kinetic.job_status works without importing it by name

__all__ = [*_HOMES, "__version__"]  # pyright: ignore[reportUnsupportedDunderAll] # it sees the imports above


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return _module(name)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = _value(name)
    globals()[name] = value
    return value


def _value(name: str) -> object:
    """Return what has a name. In a job without the client, its names stand for themselves: annotations have them."""
    from .errors import NotInstalled, stand_in

    try:
        return getattr(_module(_HOMES[name]), name)
    except NotInstalled as exc:
        return stand_in(name, exc)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, *_MODULES])


def _module(name: str) -> Any:
    """Import a module of the package.

    In a job the package comes from the runner's zip, without the client. If it is installed there as well, that has one.
    """
    from importlib import import_module

    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as exc:
        if exc.name != f"{__name__}.client":
            raise
    from pkgutil import extend_path

    __path__[:] = extend_path(__path__, __name__)
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as exc:
        from .errors import NotInstalled

        raise NotInstalled("a job that submits jobs needs the package kubectl-kinetic installed: add it to the project's requirements") from exc
