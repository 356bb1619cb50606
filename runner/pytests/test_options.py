# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The parameters of kinetic.run and the flags that they become."""

from __future__ import annotations

import inspect
import typing
from typing import Any

import pytest
from kinetic import Data, UsageError, configure, decorator, options, run
from kinetic.options import Options

FLAGS: list[tuple[dict[str, Any], list[str]]] = [
    ({"accelerator": "tpu-v6e-8"}, ["--accelerator=tpu-v6e-8"]),
    ({"spot": True, "local": False}, ["--spot=true", "--local=false"]),
    ({"container_image": "prebuilt"}, ["--image=prebuilt"]),
    ({"capture_env_vars": ["AWS_*", "HOME"]}, ["--capture-env=AWS_*", "--capture-env=HOME"]),
    ({"secrets": ["HF_TOKEN"]}, ["--secret-env=HF_TOKEN"]),
    ({"env": {"A": "b=c", "COPIED": None}}, ["--env=A=b=c", "--env=COPIED"]),
    ({"labels": {"sweep": 7}}, ["--label=sweep=7"]),
    ({"volumes": {"/mnt/x": Data("gs://b/x/", fuse=True)}}, ["--volume=/mnt/x=gs://b/x/,fuse"]),
    ({"timeout": 90}, ["--timeout=90s"]),
    ({"timeout": 0.5, "max_runtime": "1h30m"}, ["--max-runtime=1h30m", "--timeout=0.5s"]),
    ({"max_runtime": 1_000_000}, ["--max-runtime=1000000s"]),
    ({"flags": ["--restricted", "--slices=2"]}, ["--restricted", "--slices=2"]),
    ({"logs": "none", "queue": None}, []),
]


@pytest.mark.parametrize("given, flags", FLAGS, ids=[" ".join(given) for given, _ in FLAGS])
def test_flags(given: dict[str, Any], flags: list[str]) -> None:
    assert Options(given).flags() == flags


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"acelerator": "l4"}, TypeError, "'acelerator' is not a parameter of kinetic.run: did you mean 'accelerator'?"),
    ({"backend": "gkee"}, UsageError, "backend='gkee': expected one of auto, gke, pathways, local"),
    ({"logs": "file"}, ValueError, "logs='file': expected one of stderr, logging, none"),
    ({"capture_env_vars": "AWS_*"}, UsageError, r"capture_env_vars: 'AWS_\*' is a string"),
    ({"flags": "--restricted"}, UsageError, "flags: '--restricted' is a string"),
    ({"flags": ["--restricted", "--", "x"]}, UsageError, "flags: '--' comes before the arguments of a script: a function gets its arguments in the call"),
    ({"flags": ["--help"]}, UsageError, "flags: '--help' submits nothing: type kubectl kinetic run --help"),
    ({"env": ["A=b"]}, TypeError, r"env=\['A=b'\]: expected a dict"),
    ({"env": {"A=B": "x"}}, UsageError, "env: 'A=B': a name can't have a '='"),
    ({"annotations": {"a=b": "x"}}, UsageError, "annotations: 'a=b': a name can't have a '='"),
    ({"volumes": {"/mnt/x": "gs://b/x/"}}, TypeError, r"volumes\['/mnt/x'\] is of type str: expected kinetic.Data\('gs://b/x/'\)"),
    ({"volumes": {"x": Data("gs://b/x/")}}, ValueError, "expected an absolute path, such as '/mnt/data'"),
    ({"max_runtime": [1]}, TypeError, "max_runtime: "),
]


@pytest.mark.parametrize("given, error, message", REFUSED, ids=[f"{given}" for given, _, _ in REFUSED])
def test_refused_at_decoration(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        run(**given)


@pytest.fixture
def clean() -> typing.Iterator[None]:
    yield
    configure(**{parameter.name: None for parameter in options.PARAMETERS})


@pytest.mark.usefixtures("clean")
def test_configure_sets_what_a_function_does_not() -> None:
    own = Options({"accelerator": "l4"})
    configure(accelerator="cpu", namespace="team")
    assert own.flags() == ["--accelerator=l4", "--namespace=team"]
    configure(namespace=None)
    assert own.flags() == ["--accelerator=l4"]


@pytest.mark.usefixtures("clean")
def test_target_is_what_finds_the_job_again() -> None:
    configure(project="p")
    assert Options({"accelerator": "l4", "cluster": "c", "queue": "q"}).target() == {"project": "p", "cluster": "c"}
    assert Options({"backend": "local"}).target()["local"] is True


def test_signature_has_every_parameter() -> None:
    """The signature that type checkers see is written out: it must have what the table has."""
    source = inspect.getsource(decorator)
    start = source.index("def run(\n    *,\n")
    signature = source[start : source.index(") -> Decorator", start)]
    names = [line.split(":")[0].strip() for line in signature.splitlines()[2:] if ":" in line]
    assert names == [parameter.name for parameter in options.PARAMETERS]


@pytest.mark.parametrize(
    "given",
    [{"local": "no"}, {"spot": 1}, {"accelerator": 8}, {"secrets": {"A": "b"}}, {"capture_env_vars": "A"}, {"flags": "--cpu 1"}],
    ids=lambda given: str(next(iter(given))),
)
def test_values_of_the_wrong_type(given: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError), match="expected"):
        configure(**given)
