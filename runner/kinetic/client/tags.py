# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The tags of a map: labels where Kubernetes takes them for labels, and else annotations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import UsageError
from . import checks

LONGEST = 63  # characters of the last part of a key


def tagged(options: Mapping[str, Any], tags: Mapping[str, object]) -> dict[str, dict[str, Any]]:
    """Return the parameters labels and annotations of a map with these tags, beside those that its function has.

    Args:
        options: the function's parameters.
        tags: any text by any name.

    Raises:
        TypeError: a name or a value is not text.
        UsageError: a name has no letters or digits, or what is left of two names is the same.
    """
    checks.a_dict("tags", tags)
    labels, annotations = dict(options.get("labels", {})), dict(options.get("annotations", {}))
    given: dict[str, str] = {}
    for name, value in tags.items():
        checks.scalar("tags", name, value)
        key = key_for(name)
        if given.setdefault(key, name) != name:
            raise UsageError(f"tags: {given[key]!r} and {name!r} are both {key!r} in Kubernetes: rename one")
        (labels if key == name and is_label(name, value) else annotations)[key] = value
    return {name: values for name, values in (("labels", labels), ("annotations", annotations)) if values}


def key_for(name: str) -> str:
    """Return the key of an annotation for the name of a tag, which is the name itself if Kubernetes takes it."""
    try:
        checks.metadata("tags", {name: ""})
    except UsageError:
        key = re.sub("[^A-Za-z0-9._-]+", "-", name)[:LONGEST].strip("-._")
        if not key:
            raise
        return key
    return name


def is_label(name: str, value: object) -> bool:
    """Report whether Kubernetes takes a tag for a label."""
    try:
        checks.labels("tags", {name: value})
    except UsageError:
        return False
    return True
