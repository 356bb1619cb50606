# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The bundle: the packaged files of a job, from verified blobs into the workspace."""

import gzip
import io
import os
import zlib
from collections import namedtuple

from .documents import SHA256, check_path, field, parse_document, strings
from .errors import RunnerError, naming
from .store import copy_verified, in_parallel, read_verified
from .store.names import blob_name
from .text import BLOCK, write_all

INDEX_LIMIT = 64 << 20  # bytes, both compressed and decompressed: about half a million files

Blob = namedtuple("Blob", "name sha256 size gzipped")
File = namedtuple("File", "path executable size blob offset")
Index = namedtuple("Index", "blobs files dirs")


def read_index(store, sha256):
    """Return the index of the bundle, fully verified."""
    name = blob_name(sha256)
    where = f"package index {store.url(name)}"
    packed = read_verified(store, name, sha256, INDEX_LIMIT)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            data = file.read(INDEX_LIMIT + 1)
    except (OSError, EOFError, zlib.error) as exc:
        raise RunnerError(f"{where} cannot be decompressed: {exc}") from None
    if len(data) > INDEX_LIMIT:
        raise RunnerError(f"{where} decompresses to more than {INDEX_LIMIT} bytes")
    return parse_index(data, where)


def parse_index(data, where):
    """Parse the JSON of an index. No path in the result leads outside its directory."""
    document = parse_document(data, where)
    blobs = [parse_blob(entry, where) for entry in field(document, "blobs", list, where, [])]
    files = [parse_file(entry, blobs, where) for entry in field(document, "files", list, where, [])]
    dirs = [check_path(path, where) for path in strings(document, "dirs", where)]
    check_tree([file.path for file in files], dirs, where)
    return Index(blobs, files, dirs)


def parse_blob(entry, where):
    entry = entry if isinstance(entry, dict) else {}
    sha256 = field(entry, "sha256", str, where)
    encoding = field(entry, "encoding", str, where, "")
    size = field(entry, "size", int, where)
    if not SHA256.fullmatch(sha256) or encoding not in ("", "gzip") or size < 0:
        raise RunnerError(f"{where}: malformed blob {sha256!r:.70}: {size} bytes, encoding {encoding!r:.20}")
    return Blob(blob_name(sha256), sha256, size, encoding == "gzip")


def parse_file(entry, blobs, where):
    """Parse one file of an index and check that it lies in one of the blobs."""
    entry = entry if isinstance(entry, dict) else {}
    path = check_path(field(entry, "path", str, where), where)
    executable = field(entry, "executable", bool, where, False)
    file = File(path, executable, *(field(entry, key, int, where) for key in ("size", "blob", "offset")))
    if min(file.size, file.blob, file.offset) < 0 or file.blob >= len(blobs):
        raise RunnerError(f"{where}: {path} lies outside all blobs")
    blob = blobs[file.blob]
    if not blob.gzipped and file.offset + file.size > blob.size:
        raise RunnerError(f"{where}: {path} lies outside its blob")
    return file


def check_tree(files, dirs, where):
    """Reject duplicate paths, and files that are also directories."""
    seen = set()
    for path in files + dirs:
        if path in seen:
            raise RunnerError(f"{where}: {path} is listed twice")
        seen.add(path)
    names = set(files)
    for path in files + dirs:
        parent = os.path.dirname(path)
        while parent:
            if parent in names:
                raise RunnerError(f"{where}: {parent} is both a file and a directory")
            parent = os.path.dirname(parent)


def fetch_bundle(store, index, scratch, workspace):
    """Verify every blob, then write the files of the index to the new workspace."""
    paths = [os.path.join(scratch, f"blob-{number}") for number in range(len(index.blobs))]
    in_parallel(lambda pair: fetch_blob(store, *pair), list(zip(index.blobs, paths)), store.parallel)
    for directory in index.dirs:
        os.makedirs(os.path.join(workspace, directory), exist_ok=True)
    files = [[] for _ in index.blobs]
    for file in index.files:
        files[file.blob].append(file)
    for blob, path, members in zip(index.blobs, paths, files):
        unpack(path, blob, members, workspace, store.url(blob.name))


def fetch_blob(store, blob, path):
    with naming(path), open(path, "wb") as file:
        size = copy_verified(store, blob.name, blob.sha256, blob.size, file.write)
    if size != blob.size:
        raise RunnerError(f"{store.url(blob.name)} has {size} bytes, but the package index says {blob.size}")


def unpack(path, blob, files, workspace, where):
    """Split a verified blob into its files and remove it."""
    if len(files) == 1 and not blob.gzipped and files[0].size == blob.size:
        target = new_path(workspace, files[0])
        os.rename(path, target)  # both are below --work
        os.chmod(target, 0o755 if files[0].executable else 0o644)
        return
    with gzip.open(path) if blob.gzipped else open(path, "rb") as source:
        for file in sorted(files, key=lambda file: file.offset):
            try:
                source.seek(file.offset)
                cut(source, file, new_path(workspace, file))
            except (EOFError, gzip.BadGzipFile, zlib.error) as exc:
                raise RunnerError(f"{where} does not contain {file.path}: {exc}") from None
    os.unlink(path)


def cut(source, file, target):
    """Copy the next bytes of source to a new file."""
    fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(fd, "wb", buffering=0) as out:
        left = file.size
        while left:
            block = source.read(min(left, BLOCK))
            if not block:
                raise EOFError(f"it ends {left} bytes early")
            with naming(target):
                write_all(fd, block)
            left -= len(block)
        os.fchmod(fd, 0o755 if file.executable else 0o644)


def new_path(workspace, file):
    """Return the path for a file and create its directories. None is a link: only the runner has written here."""
    target = os.path.join(workspace, file.path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.lexists(target):
        raise RunnerError(f"{file.path}: another file in the package has the same name on this file system")
    return target


def empty_directory(path):
    """Make path an empty directory, whatever an earlier attempt left there. Do not follow a link."""
    if os.path.islink(path):
        os.unlink(path)
    os.makedirs(path, exist_ok=True)
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                import shutil  # not needed in a new pod

                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)
