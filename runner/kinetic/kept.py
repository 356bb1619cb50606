# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What stays in the process of a warm host from one call to the next."""

from __future__ import annotations

import os
import sys
from functools import partial
from itertools import chain, islice
from types import CodeType, FunctionType, GeneratorType, MethodType, ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Optional, TypeVar

    T = TypeVar("T")

__all__ = ["keep"]

_INSTALLED = tuple(f"{os.sep}{folder}{os.sep}" for folder in ("site-packages", "dist-packages"))
_CODE = (FunctionType, MethodType, GeneratorType)
_kept: dict[str, tuple[Any, Any]] = {}  # the code that made each value, and the value


def keep(name: str, make: Callable[[], T]) -> T:
    """Return what make() returned when this process first kept something with this name, or call it now.

    With keep_warm="10m,process", later calls on the warm host run in the same process: they find weights, datasets
    and whatever else takes long to make. Everywhere else, make() is called once in each call. The value is made again
    if the code of `make` or its defaults have changed, or if it is in another module now. What `make` calls or refers to is not compared.

    Your code may have changed between two calls, so that its functions, its generators and objects of its classes can't be kept: raise
    TypeError for them, also in a list, a tuple, a set, a dict or a functools.partial.
    """
    code = _code_of(make)
    if name in _kept and _kept[name][0] != code:
        del _kept[name]  # two of them may need too much memory
    if name not in _kept:
        value = make()
        for part in _parts(value):
            for owner, module in ((part, getattr(part, "__module__", None)), (type(part), type(part).__module__), (part, _module_of(part))):
                if isinstance(module, str) and _is_of_project(module, owner):
                    kind = getattr(part, "__qualname__", part.__name__ if isinstance(part, ModuleType) else type(part).__qualname__)
                    raise TypeError(f"cannot keep {name!r}: {kind} is defined in your project, whose code may change; keep its weights or its data instead")
        _kept[name] = code, value
    kept: T = _kept[name][1]
    return kept


def _code_of(make: Any) -> Any:
    """Return what is equal for two functions with the same code in modules of the same name, wherever in these it is; for what has no code, its name."""
    if isinstance(make, partial):
        return _code_of(make.func), _plain(make.args), _plain(tuple(make.keywords.items()))
    wrapped = getattr(make, "__dict__", {}).get("__wrapped__")
    if callable(wrapped):  # make is decorated: its own code is the decorator's
        return _code_of(wrapped)
    code = make if isinstance(make, CodeType) else getattr(make, "__code__", None)
    if not isinstance(code, CodeType):
        return getattr(make, "__module__", None), getattr(make, "__qualname__", None)
    consts = [_code_of(const) if isinstance(const, CodeType) else (type(const), const) for const in code.co_consts]
    defaults = _plain(getattr(make, "__defaults__", None)), _plain(tuple((getattr(make, "__kwdefaults__", None) or {}).items()))
    return getattr(make, "__module__", ""), code.co_name, code.co_code, code.co_names, code.co_freevars, consts, defaults


def _plain(value: Any) -> Any:
    """Return text, numbers, and tuples of them with their types; of other values, which may not be comparable, only that they are there."""
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return (type(value), value) if isinstance(value, (str, bytes, int, float, type(None))) else ...


def _parts(value: Any) -> Iterator[Any]:
    """Yield a value and what it consists of, as far as it can be seen: of what is large, only some."""
    yield value
    if isinstance(value, partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, (list, tuple, set, frozenset, dict)):
        yield from islice(chain.from_iterable(value.items()) if isinstance(value, dict) else value, 1000)


def _module_of(value: Any) -> Optional[str]:
    """Return the name of a module, or of the one whose code a generator runs; None for other values."""
    if isinstance(value, ModuleType):
        return value.__name__
    frame = getattr(value, "gi_frame", None)
    return frame.f_globals.get("__name__") if isinstance(value, GeneratorType) and frame else None


def _is_of_project(module: str, owner: Any) -> bool:
    """Report whether a module is neither one of Python nor installed. owner says that it is of this module."""
    loaded = sys.modules.get(module) or sys.modules.get(module.partition(".")[0])
    if module == "__main__":
        return True
    if loaded is None:  # its code has come with a pickle; classes in C may name any module
        return isinstance(owner, _CODE) or isinstance(owner, type) and any(isinstance(member, FunctionType) for member in vars(owner).values())
    file = vars(loaded).get("__file__") if isinstance(loaded, ModuleType) else None
    if not isinstance(file, str):
        return False
    return not file.startswith(os.path.dirname(os.__file__) + os.sep) and not any(folder in file for folder in _INSTALLED)
