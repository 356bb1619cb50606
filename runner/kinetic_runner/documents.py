# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Documents: JSON objects with a version, read strictly."""

import json
import re

from .contract import VERSIONS
from .errors import RunnerError

VERSION = VERSIONS["document"]  # of every document but an index
SHA256 = re.compile(r"[0-9a-f]{64}")
ODD = re.compile("[\\\\\0\ud800-\udfff]")  # characters of paths that are not allowed
DOTS = frozenset(("", ".", ".."))


def parse_document(data, where, expected=VERSION):
    """Return the JSON object in data. Its version must be the one that this runner reads."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as exc:
        raise RunnerError(f"{where} is not JSON: {exc}") from None
    if not isinstance(document, dict):
        raise RunnerError(f"{where} is not a JSON object")
    version = document.get("version")
    if version != expected:
        raise RunnerError(f"{where} has version {version!r:.20}, but this runner reads version {expected}: submit again with a single version of the client")
    return document


def field(document, key, kind, where, default=None):
    """Return a member, which must have exactly the given type. Missing or null means the default."""
    value = document.get(key)
    if value is None and default is not None:
        return default
    if type(value) is not kind:
        raise RunnerError(f"{where}: {key} is {value!r:.60}, expected {kind.__name__}")
    return value


def strings(document, key, where):
    """Return a member that is a list of strings, [] if missing."""
    values = field(document, key, list, where, [])
    for value in values:
        if type(value) is not str or "\0" in value:
            raise RunnerError(f"{where}: {key} contains {value!r:.60}, expected strings without NUL")
    return values


def check_path(path, where, relative=True):
    """Reject a path that has odd characters, that could leave the workspace or is ambiguous."""
    if ODD.search(path):
        raise RunnerError(f"{where}: path {path!r:.200} contains a character that is not allowed")
    return check_relative(path, where) if relative else path


def check_relative(path, where):
    """Reject a path that could leave the workspace or is ambiguous."""
    if not DOTS.isdisjoint(path.split("/")):
        raise RunnerError(f"{where}: path {path!r:.200} must be relative, without empty parts, . or ..")
    return path


def check_directory(path, where):
    """Check the path of a directory, where "" and "." are the package root."""
    return "" if path in ("", ".") else check_path(path, where)
