# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks of values that users give. Each raises TypeError or UsageError with the name of the parameter.

What they let pass can still be refused by the binaries, which know more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from typing import Any, Callable, Optional

from ..data import Data
from ..errors import UsageError, on_purpose

Check = Callable[[str, Any], None]

HELP = ("-h", "--help")
NO_FLAGS = {  # of kubectl kinetic run that are not for a call, and why
    "--": "comes before the arguments of a script: a function gets its arguments in the call",
    **dict.fromkeys(HELP, "submits nothing: type kubectl kinetic run --help"),
    **dict.fromkeys(
        ("--explain", "--dry-run", "--prepare", "--write-overlay"),
        "starts no job, which would bring the value: type kubectl kinetic run FILE:FUNCTION with it in a shell",
    ),
    **dict.fromkeys(("-d", "--detach"), "doesn't wait for a value: submit the call with run_async()"),
    **dict.fromkeys(("-o", "--output"), "says how a shell gets an answer: a call returns the value itself"),
    **dict.fromkeys(("--events", "--output-file", "--payload"), "is one that each call has already"),
    "--cleanup": "is what each call does itself: to keep the job, use run_async() and result(cleanup=False)",
    **dict.fromkeys(("-m", "--module", "--command"), "runs something other than the function: use subprocess in the function"),
    "--arg": "is an argument of a function in a file: pass it in the call",
    "--map": "has its inputs in a file: pass them to map() or run_async_map()",
}

MOST_SECONDS = 1e9
NUMBER = r"(?:\d+\.?\d*|\.\d+)"
DURATION = re.compile(rf"(?:\d+d)?(?:{NUMBER}(?:ns|us|µs|μs|ms|s|m|h))*")  # Go's, with days in front
QUANTITY = re.compile(rf"{NUMBER}(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?")  # Kubernetes's
VARIABLE = re.compile("[A-Za-z_][A-Za-z0-9_]*")
LABEL = re.compile("[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
DOMAIN = re.compile("[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?")
WARM_LEVELS = ("clean", "preloaded", "process")
LETTERS = "up to 63 letters, digits, '-', '_' and '.', the first and the last a letter or digit"


def wrong(name: str, value: object, expected: str) -> UsageError:
    """Return the error for a value that is not what is expected."""
    return UsageError(f"{name}={value!r:.60}: expected {expected}")


def wrong_type(name: str, value: object, expected: str) -> TypeError:
    """Return the error for a value of another type."""
    hint = ": pass its job_id" if name in ("job_id", "group_id", "resume_from") and hasattr(value, "job_id") else ""
    return on_purpose(TypeError(f"{name}={value!r:.60}: expected {expected}, not {a(value)}{hint}"))


def a(value: object) -> str:
    """Return what a value is, such as "a dict"."""
    kind = type(value).__name__
    return "None" if value is None else f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"


def text(name: str, value: object) -> None:
    """A string."""
    if not isinstance(value, str):
        raise wrong_type(name, value, "a string")


def path(name: str, value: object) -> None:
    """A string, or a path-like object of one."""
    if isinstance(value, bytes) or not isinstance(value, (str, os.PathLike)) or not isinstance(os.fspath(value), str):
        raise wrong_type(name, value, "a path")


def switch(name: str, value: object) -> None:
    """True or False."""
    if not isinstance(value, bool):
        raise wrong_type(name, value, "True or False")


def whole(least: int, otherwise: str = "") -> Check:
    """Return a check for a whole number of at least this; otherwise is what else may be given."""

    def check(name: str, value: Any) -> None:
        if isinstance(value, bool) or not hasattr(type(value), "__index__"):
            raise wrong_type(name, value, "a whole number" + otherwise)
        if value < least:
            raise wrong(name, value, f"at least {least}" + otherwise)

    return check


def one_of(*choices: str) -> Check:
    """Return a check for one of some strings."""

    def check(name: str, value: object) -> None:
        text(name, value)
        if value not in choices:
            raise wrong(name, value, f"one of {', '.join(choices)}")

    return check


def duration(name: str, value: Any) -> None:
    """A positive number of seconds, or text such as "1h30m"."""
    if isinstance(value, str):
        if not (is_number(value) or DURATION.fullmatch(value) and re.search("[1-9]", value)):
            raise wrong(name, value, "a positive duration, such as '90s', '15m', '1h30m' or '30d'")
        return
    if isinstance(value, bool) or not hasattr(type(value), "__float__"):
        raise wrong_type(name, value, "seconds, or text such as '1h30m'")
    if not is_number(value):
        raise wrong(name, value, "more than 0 seconds, or None")


def keep_warm(name: str, value: Any) -> None:
    """A duration, and maybe a comma and the level of a warm host; or 0, which overrides a default."""
    if value == 0 and not isinstance(value, bool) or isinstance(value, str) and re.fullmatch("0[smhd]?", value):
        return
    span, comma, level = value.partition(",") if isinstance(value, str) else (value, "", "")
    duration(name, span)
    if comma and level not in WARM_LEVELS:
        raise wrong(name, value, f"a level after the comma: {', '.join(WARM_LEVELS)}")


def processes(name: str, value: Any) -> None:
    """A whole number from 1 on, or "auto"."""
    if value != "auto":
        whole(1, ", or 'auto'")(name, value)


def dollars(name: str, value: Any) -> None:
    """A positive amount of US dollars, a number or text such as "2.50"."""
    if isinstance(value, bool) or not isinstance(value, str) and not hasattr(type(value), "__float__"):
        raise wrong_type(name, value, "an amount of US dollars, such as 5 or 2.50")
    if not is_number(value[1:] if isinstance(value, str) and value.startswith("$") else value):
        raise wrong(name, value, "a positive amount of US dollars, such as 5 or 2.50")


def is_number(value: Any) -> bool:
    """Report whether a value is a positive number, or the text of one."""
    try:
        return 0 < float(value) < MOST_SECONDS
    except (ValueError, OverflowError):
        return False


def quantity(name: str, value: object) -> None:
    """An amount as Kubernetes writes it, such as "16Gi"."""
    text(name, value)
    amount(name, value)


def disk(name: str, value: Any) -> None:
    """Such an amount, with a StorageClass behind a comma or without."""
    text(name, value)
    size, comma, storage_class = value.partition(",")
    if not size or comma and not storage_class:
        raise wrong(name, value, "a size, such as '50Gi', or a size and a StorageClass, such as '150Gi,standard'")
    amount(name, value, size)


def cpu(name: str, value: object) -> None:
    """A number of CPUs, or such an amount."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise wrong_type(name, value, "a number of CPUs, such as 4 or '500m'")
    amount(name, value)


def amount(name: str, value: object, written: Optional[str] = None) -> None:
    """An amount; written is the part of the value that is one, which is all of it by default."""
    written = str(value) if written is None else written
    if written and not (QUANTITY.fullmatch(written) and re.search("[1-9]", written)):
        raise wrong(name, value, "a positive amount, such as '500m', '4' or '16Gi'")


def names(name: str, values: object) -> None:
    """A list of strings."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Collection):
        example = f", such as [{values!r}]" if isinstance(values, str) else ""
        raise wrong_type(name, values, f"a list of strings{example}")
    for index, each in enumerate(values):
        text(f"{name}[{index}]", each)


def words(name: str, values: Any) -> None:
    """Flags of kubectl kinetic run that are good for a call."""
    if isinstance(values, str):
        raise wrong_type(name, values, f"a list of words, such as {values.split()!r}")
    names(name, values)
    for word in values:
        flag = word.partition("=")[0]
        if flag in NO_FLAGS:
            raise UsageError(f"{name}: {flag!r} {NO_FLAGS[flag]}")


def a_dict(name: str, values: object) -> None:
    """A dict with strings as keys. Errors don't show the values: they may be secret."""
    if not isinstance(values, Mapping):
        raise on_purpose(TypeError(f"{name}: expected a dict, not {a(values)}"))
    for key in values:
        if not isinstance(key, str):
            raise on_purpose(TypeError(f"{name}: the key {key!r:.60} is {a(key)}: expected a string"))


def scalar(name: str, key: str, value: object) -> None:
    """What has one obvious way to be written as text."""
    if value is None or isinstance(value, (bytes, bytearray, Mapping, list, tuple, set, frozenset)):
        raise on_purpose(TypeError(f"{name}[{key!r}]: expected a string, not {a(value)}"))


def variables(name: str, values: Any) -> None:
    """A dict of variables of the environment."""
    a_dict(name, values)
    for key, value in values.items():
        if not VARIABLE.fullmatch(key):
            raise UsageError(f"{name}[{key!r}]: expected the name of a variable: letters, digits and '_', the first not a digit")
        if value is not None:
            scalar(name, key, value)


def metadata(name: str, values: Any) -> None:
    """A dict whose keys Kubernetes takes for labels and annotations."""
    a_dict(name, values)
    for key, value in values.items():
        domain, slash, last = key.rpartition("/")
        if not LABEL.fullmatch(last) or slash and not DOMAIN.fullmatch(domain):
            raise UsageError(f"{name}[{key!r}]: expected a key of {LETTERS}, such as 'team' or 'example.com/team'")
        scalar(name, key, value)


def labels(name: str, values: Any) -> None:
    """A dict whose keys and values Kubernetes takes for labels."""
    metadata(name, values)
    for key, value in values.items():
        if str(value) and not LABEL.fullmatch(str(value)):
            raise UsageError(f"{name}[{key!r}]={str(value)!r:.60}: expected {LETTERS}")


def volumes(name: str, values: Any) -> None:
    """A dict of Data, by absolute paths in the job."""
    a_dict(name, values)
    for mount, data in values.items():
        if not isinstance(data, Data):
            raise on_purpose(TypeError(f"{name}[{mount!r}] is {a(data)}: expected kinetic.Data({data!r:.60})"))
        if not mount.startswith("/"):
            raise UsageError(f"{name}[{mount!r}]: the key is where the files will be: expected an absolute path, such as '/mnt/data'")
