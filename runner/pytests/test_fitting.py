# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is said of arguments that don't fit, which is what Python says."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from typing import Any, Callable

import kinetic
import pytest
from conftest import Project
from kinetic.client import culprit, facts
from kinetic.client.fitting import binder, complaint


def plain(steps: int) -> None: ...
def optional(steps: int, rate: float = 0.1) -> None: ...
def nothing() -> None: ...
def named(steps: int, *, rate: float = 0.1) -> None: ...
def any_of(steps: int, *more: int) -> None: ...
def any_name(steps: int, **more: int) -> None: ...


CALLS: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any], str]] = {
    "a misspelt name": (plain, (), {"step": 1}, "got an unexpected keyword argument 'step': did you mean 'steps'?"),
    "another name": (plain, (1,), {"colour": 1}, "got an unexpected keyword argument 'colour'"),
    "too many": (plain, (1, 2, 3), {}, "takes 1 positional argument but 3 were given"),
    "too many of some that have defaults": (optional, (1, 2, 3), {}, "takes from 1 to 2 positional arguments but 3 were given"),
    "one too many": (nothing, (1,), {}, "takes 0 positional arguments but 1 was given"),
    "by position what has only a name": (named, (1, 2), {}, "takes 1 positional argument but 2 were given"),
    "a missing one": (plain, (), {}, ""),
    "any number": (any_of, (1, 2, 3), {}, ""),
    "any name": (any_name, (), {"steps": 1, "step": 1}, ""),
}


@pytest.mark.parametrize("function, args, kwargs, want", CALLS.values(), ids=CALLS)
def test_complaint(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], want: str) -> None:
    assert complaint(inspect.signature(function), args, kwargs) == want
    if want:
        with pytest.raises(TypeError) as raised:
            function(*args, **kwargs)
        assert want.partition(":")[0] in str(raised.value)


class Unknown:
    """A function whose annotations can't be evaluated, which Python 3.14 does for its signature."""

    __name__ = __qualname__ = "unknown"

    @property
    def __signature__(self) -> inspect.Signature:
        raise NameError("name 'Tensor' is not defined")

    def __call__(self, steps: int) -> int:
        return steps


def test_annotations_for_type_checkers_alone() -> None:
    unknown = Unknown()
    binder(types.SimpleNamespace(__wrapped__=unknown))((1,), {})  # type: ignore[arg-type]
    assert facts.arguments(unknown, (1,), {"b": 2}) == {"0": 1, "b": 2}
    assert list(culprit.arguments(unknown, (1,), {})) == [("argument 0", 1)]
    if sys.version_info >= (3, 14):
        names: dict[str, Any] = {}
        exec("def train(steps: Tensor): return steps", names)
        assert facts.arguments(names["train"], (1,), {}) == {"steps": 1}


class Model:
    @classmethod
    @kinetic.run()
    def train(cls, steps: int = 10) -> int:
        return steps

    @kinetic.run()
    def predict(self, steps: int = 10) -> int:
        return steps


class Larger(Model):
    """Has its class method from Model."""


UNBOUND: dict[str, Any] = {
    "run_async": lambda train: train.run_async(5),
    "a class of its own as an argument": lambda train: train.run_async(int),
    "without arguments": lambda train: train.submit(),
    "map": lambda train: train.map([5]),
    "changed options": lambda train: train.with_options(accelerator="l4").run_async(5),
    "changed options in a call": lambda train: train.with_options(accelerator="l4")(5),
}


@pytest.mark.parametrize("call", UNBOUND.values(), ids=UNBOUND)
def test_a_class_method_that_lost_its_class(call: Any) -> None:
    """Since Python 3.13, the classmethod makes a method of the decorated function itself. Here it is made in every Python."""
    train = types.MethodType(vars(Model)["train"].__func__, Larger)
    with pytest.raises(TypeError, match=r"Model\.train has lost its class: .* write @kinetic.run above @classmethod"):
        call(train)


def test_a_class_method_that_has_its_class() -> None:
    check = binder(vars(Model)["train"].__func__)
    check((Model, 5), {})
    check((Larger, 5), {})
    check((), {"cls": Model})
    binder(vars(Model)["train"].__func__.__get__(Model))((5,), {})
    binder(Model.predict)((5,), {})


TRAIN = """
import kinetic
class Model:
    scale = 2
    @kinetic.run(local=True, logs="none")
    @classmethod
    def train(cls, steps=10):
        return cls.__name__, cls.scale * steps
    @kinetic.run(local=True, logs="none")
    @classmethod
    def again(cls):
        return cls.train(1), Model.train.__wrapped__(Larger, 1)
class Larger(Model):
    scale = 3
"""

CALL = """
print(Model.train(5), Larger.train(), Model().train(6))
print(Larger.train.run_async(5).result(), Larger.train.with_options(max_runtime="1h").submit(steps=5).result())
print(Larger.train.map([1, 2]), Larger.again())
"""


@pytest.mark.parametrize("module", ["", "models.py"])
def test_class_methods_in_jobs(local: Project, module: str) -> None:
    if module:
        local.write(module, TRAIN)
    done = local.run(("from models import Model, Larger\n" if module else TRAIN) + CALL)
    assert done.stdout.splitlines() == [
        "('Model', 10) ('Larger', 30) ('Model', 12)",
        "('Larger', 15) ('Larger', 15)",
        "[('Larger', 3), ('Larger', 6)] (('Larger', 3), ('Larger', 3))",
    ]


def given_rate(function: Callable[..., Any]) -> Callable[..., Any]:
    """As hydra.main and mock.patch do, it supplies an argument."""

    @functools.wraps(function)
    def called(*args: Any) -> Any:
        return function(*args, rate=0.1)

    return called


def passing_on(function: Callable[..., Any]) -> Callable[..., Any]:
    """As most decorators do, it passes on all that it gets. This one supplies an argument, too, if it is missing."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{"rate": 0.1, **kwargs})

    return called


def given_one(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(steps: int) -> Any:
        return function(steps, 0.1)

    return called


def needs(steps: int, rate: float) -> float:
    return steps * rate


FITTING: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]] = {
    "an argument that a decorator supplies": (given_rate(needs), (3,), {}),
    "one that a decorator that passes on the others supplies": (passing_on(needs), (3,), {}),
    "one of a partial": (functools.partial(given_one(needs)), (3,), {}),
    "what a decorator would refuse": (given_one(needs), (), {"steps": 1, "rate": 2}),  # its own signature may be another's
}


@pytest.mark.parametrize("function, args, kwargs", FITTING.values(), ids=FITTING)
def test_what_one_signature_takes_fits(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    binder(kinetic.run()(function))(args, kwargs)


NOT_FITTING: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any], str]] = {
    "of a function": (needs, (3,), {}, "missing a required argument: 'rate'"),
    "of one whose decorator supplies some": (given_one(needs), (), {}, "missing a required argument: 'steps'"),
    "too many": (given_one(needs), (1, 2, 3), {}, "takes 1 positional argument but 3 were given"),
    "too many to pass on": (passing_on(needs), (1, 2, 3), {}, "takes 2 positional arguments but 3 were given"),
    "a misspelt name to pass on": (passing_on(needs), (), {"stpes": 1}, "got an unexpected keyword argument 'stpes': did you mean 'steps'?"),
    "a name that neither has": (given_rate(needs), (), {"colour": 1}, "got an unexpected keyword argument 'colour'"),
}


@pytest.mark.parametrize("function, args, kwargs, message", NOT_FITTING.values(), ids=NOT_FITTING)
def test_what_no_signature_takes_is_refused(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError) as raised:
        binder(kinetic.run()(function))(args, kwargs)
    assert str(raised.value) == f"needs() {message}"
