# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a handle knows about its job."""

from __future__ import annotations

import html
import inspect
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

from ..job_status import JobStatus
from ..options import Options
from .parameters import flags

# What the binaries print about a job, each with its name in the description of a job that was found, if that differs.
NAMES = {
    "backend": "backend",
    "project": "project",
    "zone": "zone",
    "cluster_name": "cluster",
    "namespace": "namespace",
    "bucket_name": "bucket_name",
    "store": "store",
    "k8s_name": "workload",
    "image_uri": "image",
    "labels": "labels",
    "debug": "debug",
}
CANCELLED = "CANCELLED"  # how a job ended; its state is NOT_FOUND, or FAILED until the workload is gone
BUCKET = "gs://"
SHORT = 100  # characters of an argument that is kept
SHOWN, MOST_SHOWN = 42, 200  # characters of an argument, as JSON, that lists of jobs show, and of all of a call
MOST_NAMED = 20  # arguments
BRIEF = 1000  # characters of all arguments of a call that is one of many


def known(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is printed about a job that handles keep."""
    facts = {name: job.get(name) or job.get(other) for name, other in NAMES.items()}
    facts = {name: value for name, value in facts.items() if value and isinstance(value, (str, bool, dict))}
    count = inputs(job)
    return {**facts, "inputs": count} if count else facts


def inputs(job: Mapping[str, Any]) -> int:
    """Return how many inputs a map has, 0 if that is not printed or it is none."""
    submitted, found = job.get("map"), job.get("inputs")
    if isinstance(submitted, dict):
        found = submitted.get("inputs")
    elif isinstance(found, dict):
        found = found.get("total")
    return found if isinstance(found, int) else 0


def ending(status: Mapping[str, Any]) -> Optional[str]:
    """Return how a job ended, by its status: as JobHandle.ended has it."""
    if not JobStatus(status["state"]).ended:
        return None
    word: str = CANCELLED if status.get("reason") == "Cancelled" else status.get("ended") or status["state"]
    return None if word == JobStatus.NOT_FOUND else word if word == CANCELLED else JobStatus(word)


def arguments(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by name, as JobHandle.args has them."""
    return {name: short(value) for name, value in bound(function, args, kwargs).items()}


def signature_of(function: Callable[..., Any], **options: Any) -> inspect.Signature:
    """Return what inspect.signature does, also for annotations with names that exist for type checkers alone.

    Raises:
        TypeError: it has none.
        ValueError: it does not tell.
    """
    if sys.version_info >= (3, 14):  # which evaluates annotations when they are read
        import annotationlib

        options["annotation_format"] = annotationlib.Format.FORWARDREF
    try:
        return inspect.signature(function, **options)
    except NameError as exc:
        raise ValueError(str(exc)) from exc


def bound(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a call by name."""
    try:
        signature = signature_of(function)
        given = dict(signature.bind(*args, **kwargs).arguments)
    except (TypeError, ValueError):  # a built-in function that does not tell
        return {**{str(index): value for index, value in enumerate(args)}, **kwargs}
    more = next((name for name, parameter in signature.parameters.items() if parameter.kind is parameter.VAR_KEYWORD), "")
    by_name = given.pop(more, {})
    return {**given, **by_name}


def shown(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], skip: int = 0) -> Optional[list[dict[str, Any]]]:
    """Return the arguments of a call as the header of its payload has them, None if they are too many.

    Short texts and numbers have a value there. The binaries hide values that look secret.

    Args:
        function: what is called.
        args: the positional arguments.
        kwargs: the arguments by name.
        skip: how many arguments at the beginning are left out, such as the instance of a method.
    """
    given = list(bound(function, args, kwargs).items())[skip:]
    if len(given) > MOST_NAMED:
        return None
    room, found = MOST_SHOWN, []
    for name, value in given:
        size = len(json.dumps(value)) if is_plain(value) else SHOWN + 1
        fits = size <= min(SHOWN, room)
        room -= size if fits else 0
        found.append({"name": name, "value": value} if fits else {"name": name})
    return found


def is_plain(value: object) -> bool:
    """Report whether a value is a text, or what JSON has a word or number for, and not too long."""
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, int) and abs(value) < 10**SHOWN or isinstance(value, str) and len(value) <= SHOWN


def brief(given: Mapping[str, object]) -> dict[str, Any]:
    """Return what arguments has returned; with the types of lists and dicts alone if it is long, since a map has many of it."""
    return dict(given) if len(repr(given)) <= BRIEF else {name: short(value, 0) for name, value in given.items()}


def short(value: object, depth: int = 3) -> object:
    """Return a short text or number as it is, a few of them in a list or dict, and of anything else the type."""
    if value is None or isinstance(value, (bool, int, float)) or isinstance(value, str) and len(value) <= SHORT:
        return value
    if depth and type(value) in (list, tuple) and len(value) <= SHORT:  # type: ignore[arg-type]
        return [short(item, depth - 1) for item in value]  # type: ignore[attr-defined]
    if depth and type(value) is dict and len(value) <= SHORT:
        return {str(key): short(item, depth - 1) for key, item in value.items()}
    return f"<{type(value).__name__}>"


class Facts:
    """What a handle knows about its job, as properties. One that it doesn't know is empty."""

    job_id: str
    func_name: str
    accelerator: str
    created_at: str
    is_map: bool
    target: Mapping[str, Any]
    about: Mapping[str, Any]

    def _text(self, name: str, parameter: str = "") -> str:
        return str(self.about.get(name) or self.target.get(parameter) or "")

    @property
    def backend(self) -> str:
        """What runs it, such as "gke" or "local"."""
        return "local" if self.target.get("local") else self._text("backend", "backend")

    @property
    def project(self) -> str:
        """The Google Cloud project."""
        return self._text("project", "project")

    @property
    def zone(self) -> str:
        """The zone or region of the GKE cluster."""
        return self._text("zone", "zone")

    @property
    def cluster_name(self) -> str:
        """The GKE cluster."""
        return self._text("cluster_name", "cluster")

    @property
    def namespace(self) -> str:
        """The Kubernetes namespace."""
        return self._text("namespace", "namespace")

    @property
    def bucket_name(self) -> str:
        """The bucket of the store."""
        store = self._text("store", "store")
        return self._text("bucket_name") or (store[len(BUCKET) :].partition("/")[0] if store.startswith(BUCKET) else "")

    @property
    def k8s_name(self) -> str:
        """The name of the Kubernetes Job, or of the LeaderWorkerSet."""
        return self._text("k8s_name").rpartition("/")[2]

    @property
    def image_uri(self) -> str:
        """The image of its pods."""
        return self._text("image_uri")

    @property
    def display_name(self) -> str:
        """A name for people."""
        return f"kinetic-{self.func_name or 'job'}-{self.job_id}"

    @property
    def debug(self) -> bool:
        """Whether it waits for a debugger."""
        return bool(self.about.get("debug"))

    @property
    def group_id(self) -> Optional[str]:
        """The id of the map, if it is one."""
        return self.job_id if self.is_map else None

    @property
    def group_kind(self) -> Optional[str]:
        """ "map", if it is one."""
        return "map" if self.is_map else None

    @property
    def group_index(self) -> Optional[int]:
        """None: the inputs of a map, in BatchHandle.jobs, have a number."""
        return None

    @property
    def args(self) -> Optional[dict[str, Any]]:
        """The arguments of the call by name. Only the handle that the call returned has them: to_json leaves them out, since they may be secret.

        What is no short text or number is replaced by its type.
        """
        args: Optional[dict[str, Any]] = vars(self).get("_args")
        return args

    def remember(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Note what the function was called with."""
        vars(self)["_args"] = arguments(function, args, kwargs)

    def obey(self, options: Mapping[str, Any]) -> None:
        """Note what logs= said for the call."""
        vars(self)["_logs"] = options.get("logs")

    def logs_to(self) -> str:
        """Return where to say what happens to the job: as logs= said for the call, or else to configure."""
        return str(vars(self).get("_logs") or Options({}).all().get("logs", "stderr"))

    def named(self) -> dict[str, Any]:
        """Return what says which job it is when Ctrl-C ends a binary that is asked about it."""
        return {"job_id": self.job_id, "map": self.is_map, "target": self.target}

    def _words(self, command: str, *words: str) -> list[str]:
        """Return the command line of a command of jobs for this job."""
        return [command, self.job_id, *words, *flags(self.target)]

    def __repr__(self) -> str:
        where = "local" if self.target.get("local") else self.target.get("cluster") or self.target.get("context")
        about = " ".join(filter(None, (self.func_name, self.accelerator and f"on {self.accelerator}", where and f"({where})")))
        return f"<JobHandle {self.job_id}: {about}>" if about else f"<JobHandle {self.job_id}>"

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        rows = {"job": self.job_id, "function": self.func_name, "accelerator": self.accelerator, "submitted": self.created_at}
        cells = "".join(f"<tr><th>{name}</th><td>{html.escape(value)}</td></tr>" for name, value in rows.items() if value)
        return f"<table>{cells}</table>"
