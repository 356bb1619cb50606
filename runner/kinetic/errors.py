# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the package raises."""

from __future__ import annotations

import functools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Optional, TypeVar

    from .client.inputs import Outcome

    F = TypeVar("F", bound=Callable[..., Any])
    E = TypeVar("E", bound=Exception)


class KineticError(RuntimeError):
    """Something did not work. The message says what, why, and what to do next.

    Attributes:
        kind: one word for programs, such as "forbidden"; docs/automation.md lists them.
        code: the exit code that the command line has for it.
    """

    kind = "failed"
    code = 1

    def __init__(self, message: str, *, kind: Optional[str] = None, code: Optional[int] = None) -> None:
        super().__init__(message)
        if kind is not None:
            self.kind = kind
        if code is not None:
            self.code = code


class UsageError(KineticError, ValueError):
    """A parameter is wrong. Nothing was contacted or changed."""

    kind = "usage"
    code = 2


class JobNotFound(KineticError, LookupError):
    """There is no job with this id where it was looked for."""

    kind = "job_not_found"


class JobTimeout(KineticError, TimeoutError):
    """The timeout has expired. The job keeps running, and its handle stays valid."""

    kind = "timeout"
    code = 124


class UntrustedResult(KineticError):
    """A result is in the store, but nothing that is trusted says which bytes it should have.

    To load it means to run whatever is in it: result(trust_store=True) does so.
    """

    kind = "untrusted"


class NotInstalled(KineticError):
    """The binaries are missing; in a job, the package itself may be."""

    kind = "not_installed"


class VersionMismatch(KineticError):
    """The binaries don't fit this package, or this machine."""

    kind = "version"


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended the waiting. The message says what becomes of the job, and how to attach to it.

    Attributes:
        job_id: the job's id, or None if it was not submitted yet.
    """

    def __init__(self, message: str, job_id: Optional[str] = None) -> None:
        super().__init__(message)
        self.job_id = job_id


class RemoteTraceback(Exception):
    """The traceback of an exception in a job, as Python printed it there. It is the exception's cause."""

    def __init__(self, text: str, host: int = 0, attempt: int = 1) -> None:
        super().__init__(text, host, attempt)
        self.text = text
        self.host = host
        self.attempt = attempt

    def __str__(self) -> str:
        return f'\n"""\n(host {self.host}, attempt {self.attempt})\n{self.text.rstrip()}\n"""'


class RemoteError(KineticError):
    """A job failed, and there is no exception of its own type to raise.

    The job was killed, or its exception can't be loaded here, or is one like KeyboardInterrupt, which would end this program.

    Attributes:
        job_id: the job's id.
        reason: why it failed, in one word, such as "OOMKilled".
        type: the name of the exception's type in the job, or None if there was none.
        traceback: the traceback in the job, or "".
        repr: what the function returned, if the job failed because that can't be pickled.
    """

    kind = "job_failed"

    def __init__(
        self, message: str, *, job_id: str = "", reason: str = "", type: Optional[str] = None, traceback: str = "", repr: Optional[str] = None
    ) -> None:
        super().__init__(message)
        self.job_id = job_id
        self.reason = reason
        self.type = type
        self.traceback = traceback
        self.repr = repr


class BatchError(KineticError):
    """Inputs of a map failed.

    Attributes:
        group_id: the id of the map's job.
        failures: the inputs that failed, in their order: each has index, exception and tail().
        partial_results: a value for each input, in their order; None for one that failed.
        submission_failures: empty: a map is one job. keras-kinetic has it.
    """

    kind = "job_failed"

    def __init__(self, group_id: str, failures: Sequence[Outcome], partial_results: Sequence[Any]) -> None:
        first = min(failures, key=lambda each: (isinstance(each.exception, RemoteError), each.index))  # its own exception says most
        what = f"{type(first.exception).__name__}: {first.exception}"
        super().__init__(f"{len(failures)} of {len(partial_results)} inputs of {group_id} failed; the first is input {first.index}: {what}")
        self.group_id = group_id
        self.failures = failures
        self.partial_results = partial_results
        self.submission_failures: dict[int, Exception] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return BatchError, (self.group_id, self.failures, self.partial_results)


_KINDS: tuple[type[KineticError], ...] = (UsageError, JobNotFound, JobTimeout, UntrustedResult, NotInstalled, VersionMismatch, RemoteError)
_BY_KIND = {error.kind: error for error in _KINDS}


def says_all(exc: BaseException) -> bool:
    """Report whether an exception says what went wrong without this package's part of the stack: the job raised it, or the package on purpose."""
    ours = isinstance(exc, (KineticError, Interrupted)) or getattr(exc, _ON_PURPOSE, False)
    return ours or isinstance(exc.__cause__, RemoteTraceback)


_ON_PURPOSE = "_kinetic_on_purpose"


def on_purpose(exc: E) -> E:
    """Mark an exception of Python's own, such as a TypeError, whose message needs no traceback. Return it."""
    setattr(exc, _ON_PURPOSE, True)
    return exc


def brief(function: F) -> F:
    """Make a public function raise marked exceptions without the frames below it."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True  # in pytest; IPython shows the last frame in any case
        try:
            return function(*args, **kwargs)
        except BaseException as exc:
            if says_all(exc):
                raise exc.with_traceback(None)
            raise

    return called  # type: ignore[return-value]


def text(message: str, next_step: Optional[str]) -> str:
    """Return a message with what to do next, unless it says so itself."""
    return f"{message}\n  next: {next_step}" if next_step and next_step not in message else message


def of_kind(kind: str, code: int, message: str, next_step: Optional[str] = None) -> KineticError:
    """Return the exception for an error of a binary.

    Args:
        kind: the error's kind. One that this version does not know gives a KineticError.
        code: the binary's exit code.
        message: what went wrong, in one sentence.
        next_step: a command or a sentence, or None.
    """
    error = _BY_KIND.get(kind, KineticError)(text(message, next_step))
    error.kind, error.code = kind, code
    return error


class Absent(type):
    """A class that can't be used, and says why."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotInstalled(cls.__doc__ or "")

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotInstalled(cls.__doc__ or "")

    def __getitem__(cls, item: object) -> Absent:
        return cls


def stand_in(name: str, error: NotInstalled) -> Absent:
    """Return what stands for a name: calling it, or using an attribute of it, raises an error like this one."""
    return Absent(name, (), {"__doc__": str(error), "__module__": "kinetic"})
