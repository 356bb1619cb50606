# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""An index: which files there are, and in which verified blobs. A bundle is one, a data set has many."""

import base64
import binascii
import gzip
import io
import os
import zlib
from collections import namedtuple

from ..contract import DEFAULTS, LIMITS, VERSIONS
from ..documents import SHA256, check_path, check_relative, field, parse_document, strings
from ..errors import RunnerError
from ..store import read_verified
from ..store.names import blob_name
from ..text import readable

INDEX_VERSION = VERSIONS["index"]
INDEX_LIMIT = LIMITS["index"]  # bytes, both compressed and decompressed: about half a million files
DEFAULT_MODE = DEFAULTS["mode"]

Blob = namedtuple("Blob", "name sha256 size gzipped")
# A file with parts has no blob and no offset.
File = namedtuple("File", "path mode size blob offset parts")
Link = namedtuple("Link", "path target")
# new are the files that an earlier index does not have. packed is the index as it is stored, b"" unless read_index() has read it.
Index = namedtuple("Index", "blobs files links dirs new packed", defaults=((), b""))


class Earlier:
    """An index that was read before. A file that the next one has from the same place is not checked again.

    Entries are compared by value, so 1.0 is the same as 1.
    """

    def __init__(self, packed):
        where = "the last package index"
        self._document = parse_document(inflate(packed, where), where, INDEX_VERSION)
        index = parse_tree(self._document, where)
        entries = self._document.get("files") or []
        self._files = {entry["path"]: (entry, file) for entry, file in zip(entries, index.files) if not file.parts}
        self.paths = [file.path for file in index.files]

    def files_of(self, document):
        """Return a function from an entry of another index to its file here, or None if that differs."""
        if document.get("names") != self._document.get("names"):
            return lambda entry: None
        known, blobs = self._files, zip(document.get("blobs") or (), self._document.get("blobs") or ())
        same = {number for number, (blob, before) in enumerate(blobs) if blob == before}

        def file_of(entry):
            before, file = known.get(entry["path"], (None, None))
            return file if before == entry and entry.get("blob", 0) in same else None

        return file_of

    def has_tree(self, document, files):
        """Report whether this index has the paths of another one."""
        same = all(document.get(key) == self._document.get(key) for key in ("links", "dirs", "names"))
        return same and [file.path for file in files] == self.paths


def read_index(store, sha256, earlier=None):
    """Return an index, fully verified. earlier is an Earlier, or None."""
    name = blob_name(sha256)
    where = f"package index {store.url(name)}"
    packed = read_verified(store, name, sha256, INDEX_LIMIT)
    return parse_index(inflate(packed, where), where, earlier)._replace(packed=packed)


def inflate(packed, where):
    """Return the bytes of a compressed index."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            data = file.read(INDEX_LIMIT + 1)
    except (OSError, EOFError, zlib.error) as exc:
        raise RunnerError(f"{where} cannot be decompressed: {exc}") from None
    if len(data) > INDEX_LIMIT:
        raise RunnerError(f"{where} decompresses to more than {readable(INDEX_LIMIT)}")
    return data


def parse_index(data, where, earlier=None):
    """Parse the JSON of an index. No path in the result leads outside its directory."""
    return parse_tree(parse_document(data, where, INDEX_VERSION), where, earlier)


def parse_tree(document, where, earlier=None):
    """Return the index in a document."""
    path_of = path_reader(field(document, "names", str, where, ""), where)
    blobs = [parse_blob(entry, where) for entry in field(document, "blobs", list, where, [])]
    files, new = parse_files(document, path_of, blobs, where, earlier)
    links = [parse_link(entry, path_of, where) for entry in field(document, "links", list, where, [])]
    dirs = [check_relative(path_of(text), where) for text in strings(document, "dirs", where)]
    if earlier is None or not earlier.has_tree(document, files):
        check_tree([entry.path for entry in files + links], dirs, where)
    return Index(blobs, files, links, dirs, new)


def parse_files(document, path_of, blobs, where, earlier):
    """Return the files of an index, and those of them that an earlier one does not have."""
    entries = field(document, "files", list, where, [])
    if earlier is None:
        files = [parse_file(entry, path_of, blobs, where) for entry in entries]
        return files, files
    known, files, new = earlier.files_of(document), [], []
    for entry in entries:
        file = known(entry) if type(entry) is dict and type(entry.get("path")) is str else None
        if file is None:
            file = parse_file(entry, path_of, blobs, where)
            new.append(file)
        files.append(file)
    return files, new


def path_reader(names, where):
    """Return the function that decodes the paths of an index and checks their characters."""
    if names not in ("", "base64"):
        raise RunnerError(f"{where}: names are {names!r:.20}, expected base64 or nothing")

    def decoded(text):
        try:
            path = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError) as exc:
            raise RunnerError(f"{where}: {text!r:.200} is not base64: {exc}") from None
        if b"\0" in path:
            raise RunnerError(f"{where}: path {path!r:.200} contains NUL")
        return os.fsdecode(path)

    return decoded if names else lambda text: check_path(text, where, relative=False)


def member(entry, where):
    """Return an element of a list of objects; something else has no members."""
    return entry if isinstance(entry, dict) else {}


def parse_blob(entry, where):
    entry = member(entry, where)
    sha256 = field(entry, "sha256", str, where)
    encoding = field(entry, "encoding", str, where, "")
    size = field(entry, "size", int, where)
    if not SHA256.fullmatch(sha256) or encoding not in ("", "gzip") or size < 0:
        raise RunnerError(f"{where}: malformed blob {sha256!r:.70}: {size} bytes, encoding {encoding!r:.20}")
    return Blob(blob_name(sha256), sha256, size, encoding == "gzip")


def parse_file(entry, path_of, blobs, where):
    """Parse one file of an index and check that it lies in its blobs."""
    entry = member(entry, where)
    path = check_relative(path_of(field(entry, "path", str, where)), where)
    mode = field(entry, "mode", int, where, DEFAULT_MODE)
    size, blob, offset = field(entry, "size", int, where), field(entry, "blob", int, where, 0), field(entry, "offset", int, where, 0)
    parts = tuple(field(entry, "parts", list, where, []))
    if not 0 <= mode <= 0o777:
        raise RunnerError(f"{where}: {path} has mode {mode:o}, expected permission bits")
    if parts:
        check_parts(path, size, blob, offset, parts, blobs, where)
        return File(path, mode, size, None, 0, parts)
    if min(size, blob, offset) < 0 or blob >= len(blobs):
        raise RunnerError(f"{where}: {path} lies outside all blobs")
    if not blobs[blob].gzipped and offset + size > blobs[blob].size:
        raise RunnerError(f"{where}: {path} lies outside its blob")
    return File(path, mode, size, blob, offset, parts)


def check_parts(path, size, blob, offset, parts, blobs, where):
    """Reject a file whose parts are not whole blobs that together have its size."""
    if any(type(part) is not int or not 0 <= part < len(blobs) for part in parts):
        raise RunnerError(f"{where}: {path} has a part that is not in the list of blobs")
    if blob or offset or any(blobs[part].gzipped for part in parts):
        raise RunnerError(f"{where}: {path} has parts that are not whole blobs")
    if sum(blobs[part].size for part in parts) != size:
        raise RunnerError(f"{where}: {path} has {size} bytes, but its parts have {sum(blobs[part].size for part in parts)}")


def parse_link(entry, path_of, where):
    """Parse one link and check that it stays in the tree.

    ".." may only be at the beginning of the target, where it leads to real directories: a
    link is never a directory of another path. So no chain of links leaves the tree either.
    """
    entry = member(entry, where)
    path = check_relative(path_of(field(entry, "path", str, where)), where)
    target = path_of(field(entry, "target", str, where))
    rest, depth = target.split("/"), path.count("/")
    while rest and rest[0] == "..":
        rest, depth = rest[1:], depth - 1
    if depth < 0 or any(part in ("", ".", "..") for part in rest) and target != ".":
        raise RunnerError(f"{where}: the link {path} leads to {target!r:.200}, which is not a relative path in the tree")
    return Link(path, target)


def check_tree(leaves, dirs, where):
    """Reject duplicate paths, and files or links that are also directories."""
    names = set(leaves)
    if len(names) < len(leaves) or len(set(dirs)) < len(dirs) or not names.isdisjoint(dirs):
        raise RunnerError(f"{where}: {first_duplicate(leaves + dirs)} is listed twice")
    if both := names & parents_of(leaves + dirs):
        raise RunnerError(f"{where}: {min(both)} is both a file and a directory")


def parents_of(paths):
    """Return the directories above these paths, up to "", the root."""
    found = {""}
    for folder in {path.rpartition("/")[0] for path in paths}:
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def first_duplicate(paths):
    seen = set()
    return next(path for path in paths if path in seen or seen.add(path))
