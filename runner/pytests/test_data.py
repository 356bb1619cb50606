# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""kinetic.Data outside of jobs."""

from __future__ import annotations

import collections
import hashlib
import os
import pathlib
from typing import Any

import pytest
from kinetic import Data, UsageError
from kinetic.client import misplaced
from kinetic.client.misplaced import refuse_misplaced
from kinetic.data import path_of

BUCKET = Data("gs://b/x/")


def test_local_path_is_absolute(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("1")
    data = Data(pathlib.Path("x.csv"))
    assert os.fspath(data) == str(data) == str(tmp_path / "x.csv")
    with open(data, encoding="utf-8") as file:
        assert file.read() == "1"


def test_home(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Data("~").path == str(tmp_path)


def test_url_stays_as_typed() -> None:
    assert os.fspath(Data("gs://b/x/", fuse=True)) == "gs://b/x/"
    assert Data("gs://b/x/", fuse=True).source == "gs://b/x/,fuse"
    assert Data("gs://b/x,fuse").source == "gs://b/x\\,fuse"
    assert repr(Data("gs://b/x/", fuse=True)) == "Data('gs://b/x/', fuse=True)"


def test_equal_data_are_one() -> None:
    assert len({Data("gs://b/x/"), Data("gs://b/x/"), Data("gs://b/x/", fuse=True)}) == 2


KINDS: dict[str, tuple[Data, tuple[bool, bool, bool, bool]]] = {  # is_gcs, is_hf, is_dir, is_fuse
    "folder of a bucket": (BUCKET, (True, False, True, False)),
    "object of a bucket": (Data("gs://b/x.csv", True), (True, False, False, True)),
    "data set": (Data("hf://o/n"), (False, True, True, False)),
    "claim": (Data("pvc://c/x"), (False, False, True, False)),
    "directory": (Data(os.path.dirname(__file__)), (False, False, True, False)),
    "file": (Data(__file__), (False, False, False, False)),
}


@pytest.mark.parametrize("data, kind", KINDS.values(), ids=KINDS)
def test_kinds(data: Data, kind: tuple[bool, ...]) -> None:
    assert (data.is_gcs, data.is_hf, data.is_dir, data.is_fuse) == kind


def test_content_hash(tmp_path: pathlib.Path) -> None:
    """The hash is defined by these few lines: others may compare what they keep."""
    for name, text in {"b/2": "two", "b/c/3": "three", "1": "one"}.items():
        file = tmp_path / "x" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "x" / "empty").mkdir()
    each = [hashlib.sha256(text).digest() for text in (b"1\0one", b"b/2\0two", b"b/c/3\0three")]
    assert Data(tmp_path / "x").content_hash() == hashlib.sha256(b"dir:" + b"".join(each)).hexdigest()
    assert Data(tmp_path / "x" / "1").content_hash() == hashlib.sha256(b"file:" + each[0]).hexdigest()
    with pytest.raises(ValueError, match="only files of this machine have one"):
        BUCKET.content_hash()


def test_no_code_of_a_data_set() -> None:
    assert Data("hf://o/n", False, False).is_hf
    assert Data("gs://b/x/", hf_trust_remote_code=True).hf_trust_remote_code and not BUCKET.hf_trust_remote_code  # it has none
    with pytest.raises(UsageError, match=r"datasets.load_dataset\('o/n', trust_remote_code=True\)"):
        Data("hf://o/n", hf_trust_remote_code=True)


REFUSED: list[tuple[Any, bool, type[Exception], str]] = [
    ("", False, ValueError, "the path is empty"),
    (b"x", False, TypeError, "not bytes"),
    ("no/such", False, FileNotFoundError, r"Data\('no/such'\): there is no /.*no/such"),
    ("hf://o/n", True, ValueError, "fuse=True is not supported for Hugging Face datasets"),
]


@pytest.mark.parametrize("path, fuse, error, message", REFUSED)
def test_refused(path: Any, fuse: bool, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Data(path, fuse=fuse)


def test_in_a_job_files_of_the_client_need_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETIC_JOB_ID", "cpu-train")
    assert Data("/no/such").path == "/no/such"


def test_path_of_an_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETIC_DATA_DATA0", "/data/x")
    assert path_of("data0") == "/data/x"
    with pytest.raises(FileNotFoundError, match="its input data1"):
        path_of("data1")


MISPLACED: list[tuple[Any, str]] = [
    ({BUCKET}, "the set argument 'x'"),
    (frozenset([(BUCKET,)]), r"the set argument 'x'\[0\]"),
    ({BUCKET: 1}, "a key of argument 'x'"),
    ({"cfg": [1, {"k": {BUCKET}}]}, r"the set argument 'x'\['cfg'\]\[1\]\['k'\]"),
    ({(1, BUCKET): 2}, r"a key of argument 'x'\[1\]"),
]


@pytest.mark.parametrize("value, place", MISPLACED)
def test_misplaced(value: Any, place: str) -> None:
    with pytest.raises(ValueError, match=f"is in {place}: put it into a list"):
        refuse_misplaced(value, "argument 'x'")


def test_well_placed() -> None:
    cycle: list[Any] = [BUCKET, (BUCKET,), {"k": BUCKET}, collections.OrderedDict(k=[BUCKET]), {1, 2}]
    cycle.append(cycle)
    refuse_misplaced(cycle, "argument 'x'")


def test_what_has_no_data_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[object] = []

    class Searched(type):
        def __instancecheck__(cls, instance: object) -> bool:
            searched.append(type(instance))
            return False

    class Number(int): ...

    monkeypatch.setattr(misplaced, "Data", Searched("Data", (), {}))
    plain = [1, 2.0, 3j, "4", b"5", True, None]
    refuse_misplaced([plain, {"a": 1, "b": tuple(plain)}, set(plain), Number(1)], "argument 'x'")
    assert sorted(each.__name__ for each in searched if isinstance(each, type)) == ["Number", "dict", "list", "list", "set", "tuple"]


def test_only_messages_have_the_text_of_keys() -> None:
    class Key:
        shown = 0

        def __repr__(self) -> str:
            Key.shown += 1
            return "KEY"

    refuse_misplaced({Key(): [BUCKET]}, "argument 'x'")
    assert Key.shown == 0
    with pytest.raises(ValueError, match=r"is in the set argument 'x'\[KEY\]\[0\]: put"):
        refuse_misplaced({Key(): [{BUCKET}]}, "argument 'x'")
