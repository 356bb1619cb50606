# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What kinetic.run takes and refuses, and what it makes of a function in this process."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
from typing import Any, Callable

import kinetic
import pytest
from kinetic.client import parameters


@kinetic.run(accelerator="l4")
def area(width: int, height: int = 2) -> int:
    """The area."""
    return width * height


class Model:
    def __init__(self, scale: int) -> None:
        self.scale = scale

    @kinetic.run(accelerator="l4")
    def predict(self, value: int) -> int:
        return self.scale * value

    @classmethod
    @kinetic.run()
    def name(cls) -> str:
        return cls.__name__

    @kinetic.run(accelerator="l4")
    @classmethod
    def both(cls, value: int) -> tuple[str, int]:
        return cls.__name__, value


class Larger(Model):
    @kinetic.run
    @classmethod
    def both(cls, value: int) -> tuple[str, int]:  # type: ignore[override]
        above: Any = super().both
        return above(value + 1)  # type: ignore[no-any-return]


@kinetic.run()
async def fetch(url: str) -> bytes:
    return url.encode()


def types_are_kept() -> None:
    """mypy checks this; nothing calls it."""
    number: int = area(1, height=2)
    handle: kinetic.JobHandle[int] = area.run_async(1)
    number = handle.result(timeout=60)
    number = Model(1).predict(2)
    number = Model(1).predict.submit(2).result()
    number = area.with_options(spot=True)(1)
    content: bytes = fetch("x")
    area("1")  # type: ignore[arg-type]
    area.run_async(1, 2, 3)  # type: ignore[call-arg]
    number = kinetic.run("l4", spot=True)(Model(1).predict.__wrapped__)(Model(1), 2)
    kinetic.run(acelerator="l4")  # type: ignore[call-overload]
    kinetic.run(hosts="2")  # type: ignore[call-overload]
    kinetic.configure(acelerator="l4")  # type: ignore[call-arg]
    area.with_options(hosts="2")  # type: ignore[arg-type]
    text: str = area(1)  # type: ignore[assignment]
    print(number, content, text)


def test_looks_like_the_function() -> None:
    assert (area.__name__, area.__doc__, area.__module__) == ("area", "The area.", __name__)
    assert area.__wrapped__(2, 3) == 6
    assert repr(area) == "<kinetic.run of area>"


def test_call_in_a_job_is_a_plain_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETIC_JOB_ID", "cpu-train")
    assert area(3) == 6
    assert Model(2).predict(4) == 8
    assert Model.name() == "Model"  # type: ignore[call-arg]


def test_methods_keep_their_options() -> None:
    assert Model(1).predict.options.given == {"accelerator": "l4"}
    assert Model.predict.__name__ == "predict"


def test_with_options() -> None:
    spot = area.with_options(accelerator=None, spot=True)
    assert (spot.options.given, area.options.given) == ({"spot": True}, {"accelerator": "l4"})
    assert (spot.__name__, spot.__wrapped__) == ("area", area.__wrapped__)
    with pytest.raises(TypeError, match="'spott' is not a parameter of kinetic.run: did you mean 'spot'"):
        area.with_options(spott=True)  # type: ignore[call-arg]


def test_text_is_the_accelerator() -> None:
    assert kinetic.run("tpu-v6e-8", spot=True)(max).options.given == {"accelerator": "tpu-v6e-8", "spot": True}
    with pytest.raises(TypeError, match=r"kinetic.run\('cpu', accelerator='l4'\): give one accelerator"):
        kinetic.run("cpu", accelerator="l4")


SPOT: dict[str, dict[str, Any]] = {"parameter": {"spot": True}, "suffix": {"accelerator": "L4:Spot "}}


@pytest.mark.parametrize("given", SPOT.values(), ids=SPOT)
def test_debugging_on_spot_warns(given: dict[str, Any]) -> None:
    with pytest.warns(UserWarning, match="a preemption ends the debugging session"):
        kinetic.run(debug=True, **given)


@pytest.mark.filterwarnings("error")
def test_other_debugging_does_not_warn() -> None:
    kinetic.run(debug=True, accelerator="l4")
    kinetic.run(debug=False, spot=True)


def test_help_lists_every_parameter() -> None:
    """For functions with **parameters, whose signature would tell nothing."""
    functions: list[Callable[..., Any]] = [kinetic.run, kinetic.configure, kinetic.RemoteCallable.with_options]
    for function in functions:
        shown = inspect.signature(function).parameters
        assert [name for name in shown if name not in ("self", "function")] == [p.name for p in parameters.PARAMETERS]
    assert inspect.signature(kinetic.run).parameters["hosts"].annotation == "Optional[int]"
    assert "\n    hosts: the number of hosts; " in (inspect.getdoc(kinetic.run) or "")


def test_method_with_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETIC_JOB_ID", "cpu-train")
    assert Model(2).predict.with_options(spot=True)(4) == 8


def test_pickled_by_name_where_the_module_has_it() -> None:
    assert pickle.loads(pickle.dumps(area)) is area
    assert pickle.loads(pickle.dumps(Model.predict)) is Model.predict


def test_class_methods_are_bound_to_their_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETIC_JOB_ID", "cpu-train")
    model: Any = Model
    larger: Any = Larger
    assert (model.both(2), Model(1).both(2), larger.both(2)) == (("Model", 2), ("Model", 2), ("Larger", 3))
    assert model.both.with_options(spot=True)(2) == ("Model", 2)
    assert (model.both.bound, model.both.options.given) == ((Model,), {"accelerator": "l4"})
    static = vars(Model)["both"]
    assert pickle.loads(pickle.dumps(static)) is static
    make, parts = static.by_value()
    assert make(*parts).__get__(None, Larger)(2) == ("Larger", 2)
    assert static.with_options(spot=True).__get__(None, Larger)(2) == ("Larger", 2)


def test_a_copy_has_all_options() -> None:
    """Pickles leave out what may be secret."""
    function: Any = kinetic.run(local=True)(len).with_options(env={"TOKEN": "x"}, flags=["--max-cost=5"])
    for made in (copy.copy(function), copy.deepcopy(function)):
        assert made.options.given == function.options.given


def test_a_copy_of_a_function_of_a_module_is_that_function() -> None:
    function: Any = vars(Model)["both"]
    assert copy.copy(function) is function
    assert copy.deepcopy([function])[0] is function


def test_a_deep_copy_is_bound_to_a_copy() -> None:
    class Step:
        @kinetic.run(local=True)
        def fit(self) -> None: ...

    step: Any = Step()
    step.run = step.fit
    copied = copy.deepcopy(step)
    assert copied.run.bound[0] is copied


def cached() -> Any:
    return functools.lru_cache(maxsize=None)(max)


def numbers() -> Any:
    yield 1


async def later_numbers() -> Any:
    yield 1


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "classmethod of a generator": (lambda: classmethod(numbers), "is a generator function"),
    "classmethod of a decorated one": (lambda: classmethod(area), "area is already decorated"),
    "staticmethod": (lambda: staticmethod(print), "can't decorate a staticmethod: write @staticmethod above @kinetic.run"),
    "cache": (cached, "can't decorate max, which has a cache: write @functools.lru_cache above"),
    "no function": (lambda: 3, "3 is not callable"),
    "twice": (lambda: area, "area is already decorated"),
    "generator": (lambda: numbers, "numbers is a generator function.*let it return a list"),
    "async generator": (lambda: later_numbers, "later_numbers is a generator function"),
    "partial of a generator": (lambda: functools.partial(numbers), "is a generator function"),
}


@pytest.mark.parametrize("make, message", REFUSED.values(), ids=REFUSED)
def test_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        kinetic.run()(make())


def test_name_of_a_partial() -> None:
    assert kinetic.run()(functools.partial(sum, [1])).__name__ == "sum"
