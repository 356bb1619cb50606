"""What a process keeps, without a warm host."""

import kinetic
import pytest


class Model:
    """A class of the project."""


def double(number):
    return 2 * number


def test_it_is_made_once():
    made = []
    kept = [kinetic.keep("list", lambda: made.append(1) or [7]) for _ in range(2)]
    assert kept == [[7], [7]]
    assert kept[0] is kept[1]
    assert made == [1]


@pytest.mark.parametrize(("value", "name"), [(Model(), "Model"), (Model, "Model"), (double, "double")])
def test_code_of_the_project(value, name):
    with pytest.raises(TypeError, match=f"cannot keep 'x': {name} is defined in your project"):
        kinetic.keep("x", lambda: value)


def test_a_failure_is_not_kept():
    with pytest.raises(ZeroDivisionError):
        kinetic.keep("failure", lambda: 1 // 0)
    assert kinetic.keep("failure", lambda: 5) == 5
