# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The parameters of kinetic.run, and the flags that they become."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Callable, NamedTuple, Union

from ..data import Data
from ..errors import UsageError, on_purpose
from . import checks

BACKENDS = ("auto", "gke", "lws", "pathways", "local")
LOGS = ("stderr", "logging", "none")
Duration = Union[int, float, str]  # seconds, or text such as "90s" or "1h30m"


class Parameter(NamedTuple):
    """A parameter of kinetic.run.

    Attributes:
        name: the parameter's name.
        flag: the flag of the binaries, or "" if the package itself follows it.
        flags: returns the words of the command line for a value.
        check: raises TypeError or UsageError for a value that can't be right.
        summary: what it means, for the reference.
        of_target: whether it also says where to find the job later.
        also: words that others use for it, separated by spaces.
    """

    name: str
    flag: str
    flags: Callable[[str, Any], list[str]]
    check: checks.Check
    summary: str
    of_target: bool = False
    also: str = ""


def one(flag: str, value: object) -> list[str]:
    return [f"{flag}={value}"]


def switch(flag: str, value: object) -> list[str]:
    return [f"{flag}={'true' if value else 'false'}"]


def path(flag: str, value: Union[str, os.PathLike[str]]) -> list[str]:
    return [f"{flag}={os.path.expanduser(os.fspath(value))}"]


def unless(flag: str, value: bool) -> list[str]:
    return switch(flag, not value)


def span(flag: str, value: Duration) -> list[str]:
    return [f"{flag}={value}" if isinstance(value, str) else f"{flag}={value:.9g}s"]


def copied(flag: str, values: list[str]) -> list[str]:
    """The flag for each variable of this process, which must have them."""
    for name in values:
        if name not in os.environ:
            raise UsageError(f"secrets: this process has no variable {name}: set os.environ[{name!r}] before the call")
    return each(flag, values)


def variables(flag: str, values: Mapping[str, object]) -> list[str]:
    """NAME=VALUE for each, and NAME for those of this process."""
    for name, value in values.items():
        if value is None and name not in os.environ:
            raise UsageError(f"env[{name!r}]=None copies the variable of this process, which has none: give a value, or set os.environ[{name!r}]")
    return pairs(flag, values)


def each(flag: str, values: list[str]) -> list[str]:
    return [f"{flag}={value}" for value in values]


def pairs(flag: str, values: Mapping[str, object]) -> list[str]:
    """NAME=VALUE for each; a value of None leaves it to the binary."""
    return [f"{flag}={name}" if value is None else f"{flag}={name}={value}" for name, value in values.items()]


def volumes(flag: str, values: Mapping[str, Data]) -> list[str]:
    return [f"{flag}={mount}={data.source}" for mount, data in values.items()]


def words(flag: str, values: list[str]) -> list[str]:
    return list(values)


def nothing(flag: str, value: object) -> list[str]:
    return []


PARAMETERS = (
    Parameter("accelerator", "--accelerator", one, checks.text, "what to run on: `cpu` (the default), `l4`, `a100x2`, `tpu-v6e-8`, `l4:spot`, …", also="gpu tpu"),
    Parameter("spot", "--spot", switch, checks.switch, "spot capacity: cheaper, but can be preempted at any time"),
    Parameter("hosts", "--hosts", one, checks.whole(1), "the number of hosts; for TPUs the topology determines it", also="nodes num_hosts"),
    Parameter("backend", "--backend", one, checks.one_of(*BACKENDS), "`auto` (the default), `gke`, `lws`, `pathways` or `local`"),
    Parameter("local", "--local", switch, checks.switch, "a process on this machine, with this Python, instead of a cluster", True),
    Parameter("container_image", "--image", one, checks.text, "`bundled` (the default), `prebuilt`, or the URI of an image of yours"),
    Parameter("base_image_repo", "--base-image-repo", one, checks.text, "the repository that has the images of build-image"),
    Parameter("python", "--python", one, checks.text, "the job's version of Python, X.Y; by default this one"),
    Parameter("requirements", "--requirements", path, checks.path, "the file that lists the packages to install; by default the nearest"),
    Parameter("package_root", "--package-root", path, checks.path, "the directory to package; by default the project of the code"),
    Parameter("env", "--env", variables, checks.variables, "variables, a dict; the value `None` copies this process's"),
    Parameter("capture_env_vars", "--capture-env", each, checks.names, "a list of names or patterns of variables to copy, such as `AWS_*`"),
    Parameter("secrets", "--secret-env", copied, checks.names, "a list of names of variables to copy as a Kubernetes Secret"),
    Parameter("volumes", "--volume", volumes, checks.volumes, "files at fixed paths, a dict of path and `kinetic.Data`"),
    Parameter("output_dir", "--output-dir", one, checks.path, "`KINETIC_OUTPUT_DIR`; by default the job's own place in the store"),
    Parameter("resume_from", "--resume-from", one, checks.text, "the id of a job whose outputs this one begins with"),
    Parameter("name", "--name", one, checks.text, "a name in the job's id instead of the function's"),
    Parameter("labels", "--label", pairs, checks.labels, "labels of the job and its pods, a dict", also="tags"),
    Parameter("annotations", "--annotation", pairs, checks.metadata, "annotations of the job and its pods, a dict"),
    Parameter("cpu", "--cpu", one, checks.cpu, "CPUs to request for each host, such as `4` or `500m`; by default `KINETIC_CPU`"),
    Parameter("memory", "--memory", one, checks.quantity, "memory to request for each host, such as `16Gi`; also its limit; by default `KINETIC_MEMORY`"),
    Parameter("disk", "--disk", one, checks.disk, "disk to request for each host, such as `50Gi`, or `150Gi,CLASS` for a volume"),
    Parameter("queue", "--queue", one, checks.text, "the Kueue LocalQueue to submit to"),
    Parameter("reservation", "--reservation", one, checks.text, "the reservation to use"),
    Parameter("priority_class", "--priority-class", one, checks.text, "the PriorityClass of the pods"),
    Parameter("service_account", "--service-account", one, checks.text, "the Kubernetes service account of the pods"),
    Parameter("overlay", "--overlay", path, checks.path, "a directory with a kustomize component that is applied last"),
    Parameter("retries", "--retries", one, checks.whole(0), "retries after a crash, such as running out of memory"),
    Parameter("max_runtime", "--max-runtime", span, checks.duration, "how long the function may run: seconds, or text such as `1h30m`"),
    Parameter("hang_timeout", "--hang-timeout", span, checks.duration, "after how long without output the stacks of the call's threads are printed: seconds, or text such as `10m`"),
    Parameter("processes_per_host", "--processes-per-host", one, checks.processes, "how often the call is started on each host, as torchrun does: a number, or `auto`"),
    Parameter("keep_warm", "--keep-warm", span, checks.keep_warm, "for how long the pod stays after the call and takes further ones: seconds, or text such as `10m`, `10m,clean`, or `10m,process`; 0 for not at all"),
    Parameter("cache", "--no-cache", unless, checks.switch, "`False`: neither use nor keep a compilation cache (JAX, `torch.compile`, Triton)"),
    Parameter("cache_size", "--cache-size", one, checks.text, "how much of that is kept for the next jobs, such as `500Mi`; by default `2Gi`"),
    Parameter("max_cost", "--max-cost", one, checks.dollars, "the cost in US dollars, at list prices, at which the job ends; all attempts count"),
    Parameter("timeout", "--timeout", span, checks.duration, "how long a call waits; the job keeps running after it. Seconds, or text such as `1h30m`"),
    Parameter("debug", "--debug", switch, checks.switch, "wait for a debugger before the call, which needs a terminal, or `run_async`; an image of your own needs debugpy"),
    Parameter("flags", "", words, checks.words, "other flags of `kubectl kinetic run`, as a list of words"),
    Parameter("logs", "", nothing, checks.one_of(*LOGS), 'where a job\'s log goes during a call: `stderr` (the default), `logging` (loggers `kinetic` and `kinetic.job`) or `none`'),
    Parameter("project", "--project", one, checks.text, "the Google Cloud project", True),
    Parameter("zone", "--zone", one, checks.text, "the zone or region of the GKE cluster", True),
    Parameter("cluster", "--cluster", one, checks.text, "the GKE cluster", True),
    Parameter("namespace", "--namespace", one, checks.text, "the Kubernetes namespace", True),
    Parameter("profile", "--profile", one, checks.text, "the profile that stands for the four above", True),
    Parameter("context", "--context", one, checks.text, "the kubeconfig context", True),
    Parameter("kubeconfig", "--kubeconfig", path, checks.path, "the kubeconfig", True),
    Parameter("store", "--store", one, checks.text, "the store: `gs://BUCKET`, or `file:///DIR` for local jobs", True),
)  # fmt: skip

PLACES = frozenset(parameter.name for parameter in PARAMETERS if parameter.of_target)
_BY_NAME = {parameter.name: parameter for parameter in PARAMETERS}


def check(given: Mapping[str, Any], function: str = "kinetic.run") -> None:
    """Raise TypeError or ValueError if a parameter is not one of this function, or has a value that can't be right."""
    for name, value in given.items():
        if name not in _BY_NAME:
            raise on_purpose(TypeError(f"{name!r} is not a parameter of {function}{nearest(name)}"))
        if value is None:
            continue
        _BY_NAME[name].check(name, value)


def nearest(name: str) -> str:
    return meant([p.name for p in PARAMETERS if name in p.also.split()]) or did_you_mean(name, _BY_NAME)


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return the end of a message about a name that is not one of these; "" if none is near."""
    import difflib

    return meant(difflib.get_close_matches(name, names, 1))


def meant(names: list[str]) -> str:
    return f": did you mean {names[0]!r}?" if names else ""


def flags(values: Mapping[str, Any]) -> list[str]:
    """Return the words of a command line for these parameters, and no others."""
    return [word for p in PARAMETERS if p.name in values for word in p.flags(p.flag, values[p.name])]
