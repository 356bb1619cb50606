# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The parameters of kinetic.run and the flags that they become."""

from __future__ import annotations

import pathlib
import typing
from typing import Any

import pytest
from kinetic import Data, UsageError, configure, run
from kinetic.client import binaries, parameters, signature
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
    ({"hang_timeout": "10m"}, ["--hang-timeout=10m"]),
    ({"processes_per_host": 8}, ["--processes-per-host=8"]),
    ({"processes_per_host": "auto"}, ["--processes-per-host=auto"]),
    ({"keep_warm": 600}, ["--keep-warm=600s"]),
    ({"keep_warm": "10m,clean"}, ["--keep-warm=10m,clean"]),
    ({"keep_warm": 0}, ["--keep-warm=0s"]),
    ({"keep_warm": "0"}, ["--keep-warm=0"]),
    ({"keep_warm": "0m"}, ["--keep-warm=0m"]),
    ({"cache": False, "cache_size": "500Mi"}, ["--no-cache=true", "--cache-size=500Mi"]),
    ({"max_cost": 2.5}, ["--max-cost=2.5"]),
    ({"max_cost": "$5"}, ["--max-cost=$5"]),
    ({"max_runtime": 1_000_000}, ["--max-runtime=1000000s"]),
    ({"flags": ["--restricted", "--slices=2"]}, ["--restricted", "--slices=2"]),
    ({"logs": "none", "queue": None}, []),
]


@pytest.mark.parametrize("given, flags", FLAGS, ids=[" ".join(given) for given, _ in FLAGS])
def test_flags(given: dict[str, Any], flags: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COPIED", "HF_TOKEN"):
        monkeypatch.setenv(name, "x")
    assert Options(given).flags() == flags


NAMES = "expected up to 63 letters, digits, '-', '_' and '.', the first and the last a letter or digit"
KEYS = NAMES.replace("expected", "expected a key of") + ", such as 'team' or 'example.com/team'"
REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"acelerator": "l4"}, TypeError, "'acelerator' is not a parameter of kinetic.run: did you mean 'accelerator'?"),
    ({"tags": {"a": "b"}}, TypeError, "'tags' is not a parameter of kinetic.run: did you mean 'labels'?"),
    ({"num_hosts": 2}, TypeError, "'num_hosts' is not a parameter of kinetic.run: did you mean 'hosts'?"),
    ({"accelerator": 8}, TypeError, "accelerator=8: expected a string, not an int"),
    ({"spot": "yes"}, TypeError, "spot='yes': expected True or False, not a str"),
    ({"local": 1}, TypeError, "local=1: expected True or False, not an int"),
    ({"hosts": "x"}, TypeError, "hosts='x': expected a whole number, not a str"),
    ({"hosts": 1.5}, TypeError, "hosts=1.5: expected a whole number, not a float"),
    ({"hosts": True}, TypeError, "hosts=True: expected a whole number, not a bool"),
    ({"hosts": 0}, UsageError, "hosts=0: expected at least 1"),
    ({"retries": -1}, UsageError, "retries=-1: expected at least 0"),
    ({"backend": "gkee"}, UsageError, "backend='gkee': expected one of auto, gke, lws, pathways, local"),
    ({"backend": []}, TypeError, "backend=[]: expected a string, not a list"),
    ({"logs": "file"}, UsageError, "logs='file': expected one of stderr, logging, none"),
    ({"base_image_repo": 5}, TypeError, "base_image_repo=5: expected a string, not an int"),
    ({"python": 3.11}, TypeError, "python=3.11: expected a string, not a float"),
    ({"requirements": 5}, TypeError, "requirements=5: expected a path, not an int"),
    ({"overlay": b"x"}, TypeError, "overlay=b'x': expected a path, not a bytes"),
    ({"cpu": "zz"}, UsageError, "cpu='zz': expected a positive amount, such as '500m', '4' or '16Gi'"),
    ({"cpu": 0}, UsageError, "cpu=0: expected a positive amount, such as '500m', '4' or '16Gi'"),
    ({"memory": 16}, TypeError, "memory=16: expected a string, not an int"),
    ({"disk": 50}, TypeError, "disk=50: expected a string, not an int"),
    ({"disk": "150Gi,"}, UsageError, "disk='150Gi,': expected a size, such as '50Gi', or a size and a StorageClass, such as '150Gi,standard'"),
    ({"disk": "much,fast"}, UsageError, "disk='much,fast': expected a positive amount, such as '500m', '4' or '16Gi'"),
    ({"capture_env_vars": "AWS_*"}, TypeError, "capture_env_vars='AWS_*': expected a list of strings, such as ['AWS_*'], not a str"),
    ({"capture_env_vars": [5]}, TypeError, "capture_env_vars[0]=5: expected a string, not an int"),
    ({"secrets": {"A": "b"}}, TypeError, "secrets={'A': 'b'}: expected a list of strings, not a dict"),
    ({"flags": "--restricted"}, TypeError, "flags='--restricted': expected a list of words, such as ['--restricted'], not a str"),
    ({"flags": ["-x", "--", "x"]}, UsageError, "flags: '--' comes before the arguments of a script: a function gets its arguments in the call"),
    ({"flags": ["--spot", "--explain"]}, UsageError, "flags: '--explain' starts no job, which would bring the value: type kubectl kinetic run FILE:FUNCTION with it in a shell"),
    ({"flags": ["--dry-run=server"]}, UsageError, "flags: '--dry-run' starts no job, which would bring the value: type kubectl kinetic run FILE:FUNCTION with it in a shell"),
    ({"flags": ["--detach"]}, UsageError, "flags: '--detach' doesn't wait for a value: submit the call with run_async()"),
    ({"flags": ["--cleanup=false"]}, UsageError, "flags: '--cleanup' is what each call does itself: to keep the job, use run_async() and result(cleanup=False)"),
    ({"flags": ["--output-file=x"]}, UsageError, "flags: '--output-file' is one that each call has already"),
    ({"flags": ["--help"]}, UsageError, "flags: '--help' submits nothing: type kubectl kinetic run --help"),
    ({"env": ["A=b"]}, TypeError, "env: expected a dict, not a list"),
    ({"env": {5: "b"}}, TypeError, "env: the key 5 is an int: expected a string"),
    ({"env": {"A": b"secret"}}, TypeError, "env['A']: expected a string, not a bytes"),
    ({"env": {"A=B": "x"}}, UsageError, "env['A=B']: expected the name of a variable: letters, digits and '_', the first not a digit"),
    ({"env": {"": "x"}}, UsageError, "env['']: expected the name of a variable: letters, digits and '_', the first not a digit"),
    ({"labels": {"a b": "c"}}, UsageError, f"labels['a b']: {KEYS}"),
    ({"labels": {"a": "b c"}}, UsageError, f"labels['a']='b c': {NAMES}"),
    ({"labels": {"a": None}}, TypeError, "labels['a']: expected a string, not None"),
    ({"annotations": {"a=b": "x"}}, UsageError, f"annotations['a=b']: {KEYS}"),
    ({"annotations": {"A_B/c": "x"}}, UsageError, f"annotations['A_B/c']: {KEYS}"),
    ({"volumes": {"/mnt/x": "gs://b/x/"}}, TypeError, "volumes['/mnt/x'] is a str: expected kinetic.Data('gs://b/x/')"),
    ({"volumes": {"x": Data("gs://b/x/")}}, UsageError, "volumes['x']: the key is where the files will be: expected an absolute path, such as '/mnt/data'"),
    ({"keep_warm": False}, TypeError, "keep_warm=False: expected seconds, or text such as '1h30m', not a bool"),
    ({"keep_warm": "10m,bogus"}, UsageError, "keep_warm='10m,bogus': expected a level after the comma: clean, preloaded, process"),
    ({"keep_warm": "10m,"}, UsageError, "keep_warm='10m,': expected a level after the comma: clean, preloaded, process"),
    ({"keep_warm": "soon"}, UsageError, "keep_warm='soon': expected a positive duration, such as '90s', '15m', '1h30m' or '30d'"),
    ({"processes_per_host": 0}, UsageError, "processes_per_host=0: expected at least 1, or 'auto'"),
    ({"processes_per_host": "all"}, TypeError, "processes_per_host='all': expected a whole number, or 'auto', not a str"),
    ({"max_cost": 0}, UsageError, "max_cost=0: expected a positive amount of US dollars, such as 5 or 2.50"),
    ({"max_cost": True}, TypeError, "max_cost=True: expected an amount of US dollars, such as 5 or 2.50, not a bool"),
    ({"max_runtime": [1]}, TypeError, "max_runtime=[1]: expected seconds, or text such as '1h30m', not a list"),
    ({"timeout": 0}, UsageError, "timeout=0: expected more than 0 seconds, or None"),
    ({"timeout": float("nan")}, UsageError, "timeout=nan: expected more than 0 seconds, or None"),
    ({"timeout": "x"}, UsageError, "timeout='x': expected a positive duration, such as '90s', '15m', '1h30m' or '30d'"),
    ({"timeout": "0s"}, UsageError, "timeout='0s': expected a positive duration, such as '90s', '15m', '1h30m' or '30d'"),
]


@pytest.mark.parametrize("given, error, message", REFUSED, ids=[f"{given}" for given, _, _ in REFUSED])
def test_refused_at_decoration(given: dict[str, Any], error: type[Exception], message: str) -> None:
    call: Any
    for call in (run, configure):
        with pytest.raises(error) as caught:
            call(**given)
        assert (type(caught.value), str(caught.value)) == (error, message.replace("kinetic.run", f"kinetic.{call.__name__}"))


@pytest.mark.parametrize("given, error, message", REFUSED[:5])
def test_jobs_refuse_when_they_submit(given: dict[str, Any], error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where their own call was submitted, the parameters may have been right: another version knows others, and variables differ."""
    monkeypatch.setenv("KINETIC_JOB_ID", "cpu-train")
    function: Any = run(**given)(len)
    assert function([1]) == 1
    with pytest.raises(error) as caught:
        function.run_async([1])
    assert str(caught.value) == message


def test_jobs_refuse_what_a_map_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETIC_JOB_ID", "cpu-train")
    function: Any = run()(len)
    with pytest.raises(TypeError, match="retries"):
        function.run_async_map([[1]], retries="three")


@pytest.mark.parametrize(
    "given, message",
    [
        ({"env": {"NOPE": None}}, "env['NOPE']=None copies the variable of this process, which has none: give a value, or set os.environ['NOPE']"),
        ({"secrets": ["NOPE"]}, "secrets: this process has no variable NOPE: set os.environ['NOPE'] before the call"),
    ],
)
def test_variables_that_are_missing_when_a_job_is_submitted(given: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Options(given)
    with pytest.raises(UsageError) as caught:
        own.flags()
    assert str(caught.value) == message
    monkeypatch.setenv("NOPE", "x")
    assert len(own.flags()) == 1


TAKEN: list[dict[str, Any]] = [
    {"cpu": 0.5, "memory": "1.5e9", "disk": "100Gi"},
    {"disk": "150Gi,hyperdisk-balanced"},
    {"max_runtime": "1d12h", "timeout": "90"},
    {"max_runtime": "1h0.5m10ms", "timeout": 1},
    {"labels": {"example.com/team_1": "a.b", "empty": "", "n": 7}, "annotations": {"note": "any text"}},
    {"env": {"_A1": "", "N": 3, "DIR": pathlib.Path("x")}, "secrets": ("A", "B")},
    {"kubeconfig": pathlib.Path("k"), "output_dir": "gs://b/x", "namespace": ""},
]


@pytest.mark.parametrize("given", TAKEN)
def test_taken(given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("A", "B"):
        monkeypatch.setenv(name, "x")
    assert len(Options(given).flags()) >= len(given)


@pytest.fixture
def clean() -> typing.Iterator[None]:
    yield
    configure(**{parameter.name: None for parameter in parameters.PARAMETERS})


@pytest.mark.usefixtures("clean")
def test_configure_sets_what_a_function_does_not() -> None:
    own = Options({"accelerator": "l4"})
    configure(accelerator="cpu", namespace="team")
    assert own.flags() == ["--accelerator=l4", "--namespace=team"]
    configure(namespace=None)
    assert own.flags() == ["--accelerator=l4"]


PLACES: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({"cluster": "main", "namespace": "team"}, {"profile": "prod"}, {"profile": "prod"}),
    ({"project": "p", "zone": "z", "kubeconfig": "k"}, {"context": "kind"}, {"kubeconfig": "k", "context": "kind"}),
    ({"profile": "prod"}, {"context": "kind"}, {"context": "kind"}),
    ({"context": "kind"}, {"profile": "prod"}, {"profile": "prod"}),
    ({"profile": "prod"}, {"namespace": "team"}, {"profile": "prod", "namespace": "team"}),
    ({"cluster": "main"}, {"profile": "prod", "namespace": "team"}, {"profile": "prod", "namespace": "team"}),
    ({"cluster": "main"}, {"profile": None}, {"cluster": "main"}),
]


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("general, own, expected", PLACES)
def test_a_profile_or_context_of_a_function_replaces_the_places_of_configure(general: dict[str, Any], own: dict[str, Any], expected: dict[str, Any]) -> None:
    configure(**general)
    assert Options(own).target() == expected
    assert run(**general)(len).with_options(**own).options.target() == expected


@pytest.mark.usefixtures("clean")
def test_target_is_what_finds_the_job_again() -> None:
    configure(project="p")
    assert Options({"accelerator": "l4", "cluster": "c", "queue": "q"}).target() == {"project": "p", "cluster": "c"}
    assert Options({"backend": "local"}).target()["local"] is True


def test_every_parameter_has_its_type() -> None:
    """Editors and type checkers see the types, which are written out: they must be those of the table, in its order."""
    assert list(signature.Parameters.__annotations__) == [parameter.name for parameter in parameters.PARAMETERS]


def test_jobs_that_can_not_have_it_ignore_keep_warm_of_configure() -> None:
    configure(keep_warm=600)
    assert Options({"local": True}).flags() == ["--local=true"]
    assert binaries.environment()["KINETIC_KEEP_WARM"] == "600s"
    assert Options({"keep_warm": "5m"}).flags() == ["--keep-warm=5m"]
    configure(keep_warm=None)
    assert "KINETIC_KEEP_WARM" not in binaries.environment()
