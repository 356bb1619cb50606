# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The parameters that functions were given. The client knows what they mean; a job, which has no client, needs none of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, TypeVar

from .errors import brief
from .pod import in_job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .client.signature import Parameters

F = TypeVar("F", bound=Callable[..., Any])

PRIVATE = ("env", "flags", "kubeconfig")  # what a payload, which goes to a bucket, never has
CLUSTERS = ("project", "zone", "cluster", "namespace", "profile", "context")  # what a profile or a context replaces
_defaults: dict[str, Any] = {}


def described(function: F) -> F:
    """Give a function with **parameters the signature and the help that list them all. A job, which has no client, needs none."""
    try:
        from .client.signature import describe
    except ModuleNotFoundError:
        return function
    describe(function)
    return function


def check(given: Mapping[str, Any], function: str = "kinetic.run") -> None:
    """Raise TypeError or ValueError for a wrong parameter of this function. In a job, whose client may have another version or be missing, all pass."""
    if in_job():
        return
    try:
        from .client import parameters
    except ModuleNotFoundError:  # the environment of the job's process was cleared
        return
    parameters.check(given, function)


@described
@brief
def configure(**parameters: Unpack[Parameters]) -> None:
    """Set parameters of all decorated functions of this program. Those of a function itself count before these.

    Args:
        **parameters: parameters of kinetic.run. None takes one back.

    Raises:
        TypeError: there is no such parameter, or its value has the wrong type.
        ValueError: a value is wrong.
    """
    check(parameters, "kinetic.configure")
    for name, value in parameters.items():
        if value is None:
            _defaults.pop(name, None)
        else:
            _defaults[name] = value


def merged(general: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of two levels, of which own counts first. A profile or a context in it says all of where jobs are."""
    if own.get("profile") or own.get("context"):
        general = {name: value for name, value in general.items() if name not in CLUSTERS}
    return {**general, **own}


class Options:
    """The parameters of one function: those it was given, and those of configure for the rest.

    Args:
        given: parameters by name. None counts as not given.

    Raises:
        TypeError, ValueError: as configure.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        check(given)
        self.given = {name: value for name, value in given.items() if value is not None}

    def all(self) -> dict[str, Any]:
        """The parameters that count now, by name."""
        return merged(_defaults, self.given)

    def require(self) -> None:
        """Raise TypeError or ValueError if what counts now is wrong: in a job that submits jobs, nothing has checked it yet."""
        client().check(self.all())

    def flags(self, *, waiting: bool = True) -> list[str]:
        """The words of the command line that submits a job; without waiting, not those of a call that waits."""
        values = {name: value for name, value in self.all().items() if (waiting or name != "timeout") and (name != "keep_warm" or name in self.given)}
        words: list[str] = client().flags(values)
        return words

    def target(self) -> dict[str, Any]:
        """The parameters that say where to find the job later."""
        values = self.all()
        target = {name: value for name, value in values.items() if name in client().PLACES}
        if values.get("backend") == "local":
            target["local"] = True
        return target


def client() -> Any:
    """Return the module that knows the parameters."""
    from . import _module

    return _module("client.parameters")
