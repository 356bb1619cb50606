# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Calls as files: a line of JSON about the call, then the pickle of (function, args, kwargs)."""

from __future__ import annotations

import base64
import dataclasses
import functools
import io
import itertools
import json
import linecache
import os
import pathlib
import platform
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, Optional

try:
    import cloudpickle
except ModuleNotFoundError:
    advice = "kinetic sends calls with the package cloudpickle, which this Python does not have: pip install cloudpickle"
    raise ModuleNotFoundError(advice, name="cloudpickle") from None

from .. import pod, source
from ..data import Data, path_of
from ..decorator import RemoteCallable, lookup
from ..errors import KineticError, UsageError, on_purpose
from . import culprit
from .misplaced import refuse_misplaced

VERSION = 1  # of the header
PROTOCOL = 5
MOST_SOURCE = 256 << 10  # characters of the source in one pickle
NAMELESS = "<dynamic-code>"  # the file of all code in pickles of cloudpickle after 3.1; tracebacks need its name

# What dataclasses compare by identity, by id, with the name that it has there. As copies, they would make all fields optional.
UNIQUE = {id(value): name for name, value in vars(dataclasses).items() if type(value).__module__ == "dataclasses"}


class Inputs:
    """The Data of a call, by the names that the job knows them by."""

    def __init__(self) -> None:
        self._names: dict[Data, str] = {}

    def name(self, data: Data) -> str:
        """Return the name of an input; the same for equal ones."""
        return self._names.setdefault(data, f"data{len(self._names)}")

    def flags(self) -> list[str]:
        """The words of a command line that bring the inputs."""
        return [f"--data={name}={data.source}" for data, name in self._names.items()]


class Pickler(cloudpickle.CloudPickler):  # type: ignore[misc]
    """Pickles a call: a Data becomes a look-up of its path, a decorated function one of its module where the job has that.

    A function with a cache travels without what is in the cache.
    """

    def __init__(self, file: IO[bytes], inputs: Inputs) -> None:
        super().__init__(file, protocol=PROTOCOL)
        self._inputs = inputs
        self._seen: set[str] = set()  # what code was in
        self._room = MOST_SOURCE

    def reducer_override(self, obj: Any) -> Any:
        """Return how to pickle an object, as pickle.Pickler.reducer_override does."""
        if isinstance(obj, Data):
            return path_of, (self._inputs.name(obj),)
        if id(obj) in UNIQUE:
            return UNIQUE[id(obj)]
        if type(obj) is pathlib.WindowsPath:  # which no job can have
            return pathlib.Path, (obj.as_posix(),)
        if isinstance(obj, RemoteCallable):
            return obj.by_reference() if is_importable(obj) else obj.by_value()
        if is_own_cache(obj):
            return functools.lru_cache(**obj.cache_parameters()), (obj.__wrapped__,)
        if isinstance(obj, types.MethodType) and isinstance(obj.__self__, type) and has_module(obj.__self__.__module__):
            name = obj.__func__.__name__
            if getattr(obj.__self__, name, None) == obj:  # cloudpickle would send the code of a class method
                return getattr, (obj.__self__, name)
        if isinstance(obj, types.CodeType):
            return self._with_source(obj)
        reduced: Any = super().reducer_override(obj)
        if isinstance(obj, type) and isinstance(reduced, tuple) and reduced[0].__name__ == "_make_skeleton_class":
            reduced[1][3].setdefault("__qualname__", obj.__qualname__)  # else a class of a function counts as one of the module
        if isinstance(obj, types.FunctionType) and isinstance(reduced, tuple):
            refuse_outputs(obj, reduced[2][1]["__globals__"])
        return reduced

    def _with_source(self, code: types.CodeType) -> Any:
        """Return how to pickle code. Of a file that the job can't have, such as a notebook's cell, the source goes along, once."""
        filename, reduce = code.co_filename, self.dispatch_table.get(types.CodeType)
        text = "" if filename in self._seen else source_of(filename)
        self._seen.add(filename)
        if reduce is None:
            return super().reducer_override(code)
        reduced: Any = reduce(code)
        make, args = reduced
        args = tuple(filename if arg == NAMELESS else arg for arg in args)
        if not text or len(text) > self._room:
            return make, args
        self._room -= len(text)
        return source.code, (text, filename, make, args)


def refuse_outputs(function: types.FunctionType, values: Mapping[str, Any]) -> None:
    """Refuse a global that is a directory of outputs of this machine: what the job writes there is lost.

    Raises:
        UsageError: a global is one.
    """
    for name, value in values.items():
        if pod.is_outside(value):
            lost = f"what {function.__qualname__}() writes there in a job is lost"
            raise UsageError(f"{name} is {str(value)!r}, a path of this machine; {lost}: call kinetic.output_dir() or checkpoint_dir() in the function")


def source_of(filename: str) -> str:
    """Return the source that is in no file, but that tracebacks show the lines of; else ""."""
    is_text = filename in linecache.cache and not os.path.exists(filename)
    return "".join(linecache.getlines(filename)) if is_text else ""


def is_importable(function: RemoteCallable[Any, Any]) -> bool:
    """Report whether the job can import a decorated function."""
    return function.is_global() and has_module(function.__module__)


def is_own_cache(obj: Any) -> bool:
    """Report whether this is a function with a cache that the job can't find in a module, under its name."""
    if not isinstance(obj, functools._lru_cache_wrapper):
        return False
    name = getattr(obj, "__qualname__", "")  # functools.partial has none
    return not has_module(obj.__module__) or lookup(sys.modules.get(obj.__module__), name) is not obj


def has_module(name: str) -> bool:
    """Report whether the job has a module, by which what is in it can be named."""
    parts = name.split(".")
    above = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
    return name != "__main__" and not above & cloudpickle.list_registry_pickle_by_value()


def called(function: RemoteCallable[Any, Any]) -> Callable[..., Any]:
    """Return what the job calls: the function itself, or its decorated form where the job imports that."""
    original = function.original()
    if original is not None and is_importable(original):
        return original
    return function.__wrapped__


def write(
    path: str,
    function: RemoteCallable[Any, Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    inputs: Inputs,
    main: Optional[str] = None,
    shown: Optional[Sequence[Mapping[str, Any]]] = None,
) -> None:
    """Write a call into a new file that only this user can read. Large arguments are written without a copy in memory.

    Args:
        path: the file.
        function: what to call.
        args: the positional arguments.
        kwargs: the arguments by name.
        inputs: gets the Data that the call has.
        main: what the code of the script has as its file.
        shown: what lists of jobs show of the arguments.

    Raises:
        TypeError: something can't be pickled; the message says where it is and what to do.
        ValueError: a Data is where it can't be.
        UsageError: a global is a directory of outputs of this machine.
        KineticError: the disk is full.
    """
    for place, value in culprit.arguments(function, args, kwargs):
        refuse_misplaced(value, place)
    call = (called(function), tuple(args), dict(kwargs))
    with create(path) as file:
        file.write(header(function.__name__, main, shown))
        try:
            Pickler(file, inputs).dump(call)
        except UsageError:
            raise
        except OSError as exc:
            raise KineticError(f"cannot write the call to {path}: {exc.strerror}: TMPDIR names a directory for it") from exc
        except Exception as exc:
            raise on_purpose(culprit.error(function, args, kwargs, exc, lambda sink: Pickler(sink, Inputs()))) from exc


def encode(
    function: RemoteCallable[Any, Any], shared: Sequence[Any], args: Sequence[Any], kwargs: Mapping[str, Any], inputs: Inputs
) -> str:
    """Return the arguments of one call of a map as a line of its inputs. Those before them, which all calls share, are in the payload.

    Raises:
        TypeError, ValueError: as write.
    """
    for place, value in itertools.islice(culprit.arguments(function, (*shared, *args), kwargs), len(shared), None):
        refuse_misplaced(value, place)
    sink = io.BytesIO()
    try:
        Pickler(sink, inputs).dump((tuple(args), dict(kwargs)))
    except UsageError:
        raise
    except Exception as exc:
        raise on_purpose(culprit.error(function, (*shared, *args), kwargs, exc, lambda sink: Pickler(sink, Inputs()))) from exc
    return json.dumps(base64.b64encode(sink.getvalue()).decode()) + "\n"


def create(path: str) -> IO[bytes]:
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def header(name: str, main: Optional[str], shown: Optional[Sequence[Mapping[str, Any]]]) -> bytes:
    """Return the first line of a payload."""
    about = {
        "kinetic_payload": VERSION,
        "python": platform.python_version(),
        "cloudpickle": cloudpickle.__version__,
        "function": name,
        "modules": own_modules(),
        **({"main": main} if main else {}),
        **({} if shown is None else {"arguments": shown}),
    }
    text = json.dumps(about, ensure_ascii=False)  # for people, as are the texts in it
    return text.encode(errors="backslashreplace") + b"\n"  # half a character is written as JSON does


@functools.lru_cache(maxsize=None)
def own_modules() -> dict[str, str]:
    """Return the source files of cloudpickle by path, so that nothing has to be installed where the call runs."""
    package = pathlib.Path(cloudpickle.__file__).parent
    return {f"{package.name}/{file.name}": file.read_text(encoding="utf-8") for file in sorted(package.glob("*.py"))}
