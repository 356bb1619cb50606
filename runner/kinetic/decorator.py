# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""kinetic.run, and what it makes of a function."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar, overload

from .errors import UsageError, brief, on_purpose, says_all
from .options import PRIVATE, Options, described, merged
from .pod import in_job

if TYPE_CHECKING:
    from typing import Protocol

    from typing_extensions import ParamSpec, Unpack

    from .client.batch import BatchHandle
    from .client.handle import JobHandle
    from .client.signature import Parameters
else:
    ParamSpec = TypeVar  # Python 3.9 has none, and at run time nothing looks at it

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class RemoteCallable(Generic[P, R]):
    """A function whose calls run as jobs. In a job it is the function itself.

    Attributes:
        __wrapped__: the function, for calls in this process.
        options: its parameters.
        bound: the arguments that come first in each call: the instance of a method, or the class of a class method.
    """

    __wrapped__: Callable[P, R]
    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[P, R], options: Mapping[str, Any], bound: tuple[Any, ...] = ()) -> None:
        inner = innermost(function)
        functools.update_wrapper(self, inner, updated=())
        self.__wrapped__ = function
        self.__name__ = getattr(inner, "__name__", type(inner).__name__)  # a callable object has none
        self.__qualname__ = getattr(inner, "__qualname__", self.__name__)
        self.options = Options(options)
        self.bound = bound

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function as a job, stream its log, and return its value.

        Raises:
            Exception: what the function raised, with the traceback in the job as its cause.
            RemoteError: the job failed otherwise.
            JobTimeout: timeout has expired; the job keeps running.
            Interrupted: Ctrl-C; the job keeps running unless it is local.
            KineticError: it could not be submitted.
            TypeError: something can't be pickled.
        """
        if in_job():
            if is_imported_by_job():
                note_early_call(self.__name__)
            return self.__wrapped__(*self.bound, *args, **kwargs)  # pyright: ignore[reportCallIssue] # P is without those that are bound
        __tracebackhide__ = True  # in pytest; IPython shows the last frame in any case
        try:
            value: R = submission().call(self, (*self.bound, *args), kwargs)
        except BaseException as exc:
            if says_all(exc):
                raise exc.with_traceback(None)
            raise
        return value

    @brief
    def run_async(self, *args: P.args, **kwargs: P.kwargs) -> JobHandle[R]:
        """Submit the call as a job, and return its handle.

        Raises:
            KineticError: it could not be submitted.
            TypeError: something can't be pickled.
        """
        refuse_while_importing()
        handle: JobHandle[R] = submission().submit(self, (*self.bound, *args), kwargs)
        return handle

    submit = run_async

    @brief
    def run_async_map(
        self,
        inputs: Iterable[Any],
        *,
        input_mode: str = "auto",
        max_concurrent: Optional[int] = 64,
        chunk: Optional[int] = None,
        retries: Optional[int] = None,
        fail_fast: bool = False,
        cancel_running_on_fail: Optional[bool] = None,
        name: Optional[str] = None,
        tags: Optional[Mapping[str, str]] = None,
        project: Optional[str] = None,
        cluster: Optional[str] = None,
    ) -> BatchHandle[R]:
        """Submit one job that calls the function with each of many inputs, and return its handle. It keeps running without this program.

        Args:
            inputs: what to call the function with.
            input_mode: how an input becomes arguments. "single": the only one; "args": a list or tuple of all;
                "kwargs": a dict of all; "auto": by its type.
            max_concurrent: how many pods run at a time at most; None for as many as there are chunks.
            chunk: how many inputs a pod gets; None to choose. The results of a chunk come when its pod ends.
            retries: how often an input that raised is called again, and how often a pod that crashed starts again. By default,
                and with kinetic.run(retries=), only crashes are retried.
            fail_fast: cancel the map when a program that reads its results sees the first failure.
            cancel_running_on_fail: False makes fail_fast have no effect: the inputs of a map are one job, so if the running ones are to
                go on, so do all others. A warning tells you.
            name: a name in the job's id.
            tags: labels of the job and its pods, beside those of kinetic.run; annotations where Kubernetes takes no label.
            project: the Google Cloud project, as for kinetic.run.
            cluster: the GKE cluster, as for kinetic.run.

        Raises:
            ValueError: there are no inputs, or a parameter is wrong.
            TypeError: an input can't be pickled, or doesn't fit the function.
            KineticError: it could not be submitted.
        """
        refuse_while_importing()
        function = self._changed(retries=retries, name=name, tags=tags, project=project, cluster=cluster)
        plan = mapping().Plan(inputs, input_mode, max_concurrent, chunk, fail_fast, cancel_running_on_fail)
        batch: BatchHandle[R] = mapping().submit(function, plan)
        return batch

    @brief
    def map(
        self,
        inputs: Iterable[Any],
        *,
        input_mode: str = "auto",
        max_concurrent: Optional[int] = 64,
        chunk: Optional[int] = None,
        retries: Optional[int] = None,
        fail_fast: bool = False,
        cancel_running_on_fail: Optional[bool] = None,
        name: Optional[str] = None,
        tags: Optional[Mapping[str, str]] = None,
        project: Optional[str] = None,
        cluster: Optional[str] = None,
    ) -> list[R]:
        """Return the values of the function for each of many inputs, in their order. The parameters are those of run_async_map.

        Raises:
            BatchError: an input failed. It has the other values.
            JobTimeout: timeout has expired; the map keeps running.
            Interrupted: Ctrl-C; the map keeps running unless it is local.
            ValueError, TypeError, KineticError: as run_async_map.
        """
        refuse_while_importing()
        function = self._changed(retries=retries, name=name, tags=tags, project=project, cluster=cluster)
        plan = mapping().Plan(inputs, input_mode, max_concurrent, chunk, fail_fast, cancel_running_on_fail)
        values: list[R] = mapping().call(function, plan)
        return values

    def _changed(self, *, tags: Optional[Mapping[str, str]], **changes: Any) -> RemoteCallable[P, R]:
        """Return a copy of it for a map; a parameter that is None is left as it is."""
        self.options.require()
        given = {name: value for name, value in changes.items() if value is not None}
        if given.get("retries"):
            given["flags"] = ["--retry-on=error", *self.options.all().get("flags", [])]
        if tags is not None:
            given.update(mapping().tagged(self.options.all(), tags))
        changed = self.with_options(**given)
        changed.options.require()
        return changed

    @overload
    def __get__(self, instance: None, owner: Optional[type] = None) -> RemoteCallable[P, R]: ...

    @overload
    def __get__(self, instance: object, owner: Optional[type] = None) -> RemoteCallable[..., R]: ...

    def __get__(self, instance: Optional[object], owner: Optional[type] = None) -> RemoteCallable[..., R]:
        """Return the method of an instance. Its job gets a copy of the instance."""
        if instance is None:
            return self
        return RemoteCallable(self.__wrapped__, self.options.given, (*self.bound, instance))

    @described
    @brief
    def with_options(self, **changes: Unpack[Parameters]) -> RemoteCallable[P, R]:
        """Return a copy of it with changed parameters. None removes one of kinetic.run: configure's counts then.

        Raises:
            TypeError, ValueError: as kinetic.run.
        """
        return type(self)(self.__wrapped__, merged(self.options.given, changes), self.bound)

    def __repr__(self) -> str:
        return f"<kinetic.run of {self.__qualname__}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return self.by_reference() if self.is_global() else self.by_value()

    def __copy__(self) -> RemoteCallable[P, R]:
        return self if self.is_global() else self.with_options()

    def __deepcopy__(self, memo: dict[int, Any]) -> RemoteCallable[P, R]:
        if self.is_global():
            return self
        import copy  # which most programs do not need

        return type(self)(self.__wrapped__, self.options.given, copy.deepcopy(self.bound, memo))

    def by_reference(self) -> tuple[Any, ...]:
        """Return how to pickle it as what its module has under its name."""
        return find, (self.__module__, self.__qualname__)

    def by_value(self) -> tuple[Any, ...]:
        """Return how to pickle it without reference to its module. What configure has set goes along, but not what may be secret."""
        options = {name: value for name, value in self.options.all().items() if name not in PRIVATE}
        return type(self), (self.__wrapped__, options, self.bound)

    def is_global(self) -> bool:
        """Report whether its module has it under its own name."""
        return self.original() is self

    def original(self) -> Optional[RemoteCallable[..., R]]:
        """Return what its module has under its name: itself, or what it is a bound method or a copy of. None if that is another function."""
        found = lookup(sys.modules.get(self.__module__), self.__qualname__)
        same = isinstance(found, RemoteCallable) and found.__wrapped__ is self.__wrapped__ and not found.bound
        return found if same else None


class OfClass(RemoteCallable[P, R]):
    """What kinetic.run makes of a class method. Its job gets the class."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return super().__get__(type(instance) if owner is None else owner)


def lookup(module: object, qualname: str) -> Any:
    """Return what a module has under a qualified name, or None. Of a class method, that is what was decorated: it has no class yet."""
    found: Any = module
    for name in qualname.split("."):
        found = inspect.getattr_static(found, name, None)
        if isinstance(found, (classmethod, staticmethod)):
            found = found.__func__
    return found


def find(module: str, qualname: str) -> Any:
    """Return the decorated function with a qualified name. Pickles of decorated functions call this.

    Raises:
        ImportError: there is no such module.
        AttributeError: it has no such function.
    """
    found = lookup(importlib.import_module(module), qualname)
    if found is None:
        raise AttributeError(f"module {module!r} has no attribute {qualname!r}")
    return found


def submission() -> Any:
    """Return the module that submits jobs."""
    from . import _module

    return _module("client.submission")


def mapping() -> Any:
    """Return the module that submits maps."""
    from . import _module

    return _module("client.mapping")


def is_imported_by_job() -> bool:
    """Report whether this process is a job that imports the program, to call a function of it next."""
    return os.getpid() in getattr(sys.modules.get("kinetic_runner.child.function"), "importing", ())


@functools.lru_cache(maxsize=None)
def note_early_call(name: str) -> None:
    """Print once that a function was called while the job loads the program."""
    advice = 'a call at the top level belongs under `if __name__ == "__main__":`'
    sys.stderr.write(f"kinetic: the job calls {name}() while it loads the program, before its own call: {advice}\n")


def refuse_while_importing() -> None:
    """Refuse to submit a job while another one imports the program: it would import the program, too, and submit another one."""
    if is_imported_by_job():
        raise UsageError(
            "a job imports this program, which submits another job at its top level: "
            'put what submits jobs under `if __name__ == "__main__":`, so that jobs do not start each other without end'
        )


def innermost(function: Any) -> Any:
    """Return the function in functools.partial objects."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


if TYPE_CHECKING:

    class Decorator(Protocol):
        """What kinetic.run(...) returns. The value of an async function is what it returns when it is awaited."""

        @overload
        def __call__(self, function: Callable[P, Coroutine[Any, Any, R]], /) -> RemoteCallable[P, R]: ...

        @overload
        def __call__(self, function: Callable[P, R], /) -> RemoteCallable[P, R]: ...


@overload
def run(function: Callable[P, Coroutine[Any, Any, R]], /) -> RemoteCallable[P, R]: ...


@overload
def run(function: Callable[P, R], /) -> RemoteCallable[P, R]: ...


@overload
def run(accelerator_: str = ..., /, **parameters: Unpack[Parameters]) -> Decorator: ...


@described
@brief
def run(function: Any = None, /, **parameters: Any) -> Any:
    """Make the calls of a function run as jobs.

    With parameters, or with none: @kinetic.run() and @kinetic.run are the same. kinetic.configure sets parameters for all
    functions of a program.

    Args:
        function: the function; a text is the accelerator, as in @kinetic.run("tpu-v6e-8").
        PARAMETERS

    Raises:
        TypeError: a parameter has the wrong type or there is no such parameter, or this can't be decorated.
        ValueError: a parameter's value is wrong.
    """
    if isinstance(function, str):
        if parameters.get("accelerator") is not None:
            raise on_purpose(TypeError(f"kinetic.run({function!r:.60}, accelerator={parameters['accelerator']!r:.60}): give one accelerator"))
        function, parameters["accelerator"] = None, function
    options = Options(parameters)
    if options.given.get("debug") and not in_job() and is_spot(options.given):
        warnings.warn("debug=True with spot capacity: a preemption ends the debugging session", UserWarning, stacklevel=3)

    def decorate(function: Any) -> Any:
        kind = RemoteCallable
        if isinstance(function, classmethod):
            kind, function = OfClass, function.__func__
        refuse(function)
        return kind(function, options.given)

    return decorate if function is None else decorate(function)


def is_spot(given: Mapping[str, Any]) -> bool:
    """Report whether parameters ask for spot capacity."""
    return bool(given.get("spot")) or given.get("accelerator", "").strip().lower().endswith(":spot")


def refuse(function: Any) -> None:
    """Raise TypeError for what can't be decorated; the message says what to do."""
    if isinstance(function, staticmethod):
        raise on_purpose(TypeError("kinetic.run() can't decorate a staticmethod: write @staticmethod above @kinetic.run()"))
    name = getattr(function, "__qualname__", type(function).__name__)
    if hasattr(function, "cache_clear") and hasattr(function, "cache_info"):
        raise on_purpose(TypeError(f"kinetic.run() can't decorate {name}, which has a cache: write @functools.lru_cache above @kinetic.run()"))
    if isinstance(function, RemoteCallable):
        raise on_purpose(TypeError(f"{name} is already decorated with kinetic.run()"))
    if not callable(function):
        raise on_purpose(TypeError(f"kinetic.run() decorates functions, and {function!r} is not callable"))
    inner = innermost(function)
    if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        raise on_purpose(TypeError(f"{name} is a generator function, whose values can't be brought back one by one: let it return a list"))
