# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files that describe themselves, so that what was restored can be judged by its bytes alone.

A unit is a file or a directory that a program saves as a whole. Each of its files begins with a
head: the unit, the state (an ID such as 17@2: step 17, written by attempt 2), the file's path
within the unit, how many files the unit has, and the size and hash of what follows. So a file
that is cut off, has bytes of two states or the name of another one shows, and so does a
directory that lacks a file or mixes two states.
"""

import collections
import hashlib
import json
import os
import random
import re
import stat

HEAD_BYTES = 512
ANY = "*"  # as a unit or state: shared by all, as a file that is linked into each checkpoint
EMPTY = "an empty directory"
# The names of unfinished files and directories that the patterns use.
TEMPORARY = re.compile(r"\.tmp$|\.orbax-checkpoint-tmp|^tmp-")


class Broken(Exception):
    """What is there is no state that a program has finished."""


def blob(identity, unit, file="", of=1, size=200_000):
    """Return the bytes of a file: of the unit itself, or of one of its files. A .json file is one JSON value."""
    is_json = (file or unit).endswith(".json")
    body = b"" if is_json else _body(f"{identity}/{unit}/{file}", size)
    head = {"id": identity, "unit": unit, "file": file, "of": of, "size": len(body), "sha": hashlib.sha256(body).hexdigest()}
    if is_json:
        head["history"] = "x" * min(size, 3000)
    line = json.dumps(head).encode()
    return line + b" " * ((-1 - len(line)) % HEAD_BYTES) + b"\n" + body


def _body(seed, size):
    """Return reproducible bytes."""
    piece = random.Random(os.fsencode(seed)).randbytes(min(size, 65536))
    return (piece * (size // max(1, len(piece)) + 1))[:size]


def load(path):
    """Return the head of a file. Raise Broken if the file is not whole."""
    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        head = load_head(file.readline(1 << 16))
        while piece := file.read(1 << 20):
            digest.update(piece)
            size += len(piece)
    if size != head["size"]:
        raise Broken(f"{size} of {head['size']} bytes of {head['unit']} {head['id']}")
    if digest.hexdigest() != head["sha"]:
        raise Broken(f"not the bytes of {head['unit']} {head['id']}")
    return head


def load_head(line):
    """Return the head that a file begins with."""
    try:
        head = json.loads(line)
        return {**head, "unit": head["unit"], "size": int(head["size"])}
    except (ValueError, TypeError, KeyError):
        raise Broken(f"it begins with {line[:20]!r}") from None


def state_of(read, path):
    """Return the state that read finds at a path, or a text that says in which way it is broken."""
    try:
        return read(path)
    except (Broken, OSError) as problem:
        return f"BROKEN {problem}"


def is_broken(state):
    """Return whether a state says that something is broken."""
    return bool(state) and state.startswith("BROKEN")


def step_of(state):
    """Return the step of a state, 0 for what has none."""
    return int(re.split("[.@]", state)[0]) if state and state[0].isdigit() else 0


def survey(out, readers, copies):
    """Return {unit: state} of a directory. What has a temporary name, and what is no file, is left out.

    readers: {path: function} for what doesn't describe itself; copies: {path: the unit of which it is a copy}.
    """
    states, units = {}, collections.defaultdict(list)
    for at, folders, files in os.walk(out):
        here = os.path.relpath(at, out)
        place = "" if here == "." else here + "/"
        if place and not folders and not files:
            states[here] = EMPTY
        for name in folders + files:
            path, full = place + name, os.path.join(at, name)
            if path in readers:
                states[path] = state_of(readers[path], full)
            elif name in files and not TEMPORARY.search(name) and stat.S_ISREG(os.lstat(full).st_mode):
                _sort_in(path, full, units, states)
        folders[:] = [name for name in folders if place + name not in readers and not TEMPORARY.search(name)]
    for unit, heads in units.items():
        states[unit] = state_of(lambda unit: _agreed(unit, heads, copies), unit)  # called at once
    return states


def _sort_in(path, full, units, states):
    """Add a file's head to its unit, or a broken file to the states."""
    head = state_of(load, full)
    if isinstance(head, str):
        states[path] = head
        return
    inner = "/" + head["file"] if head["file"] else ""
    if not ("/" + path).endswith(inner):
        states[path] = f"BROKEN it is {head['file']} of {head['unit']}"
        return
    units[path[: len(path) - len(inner)] if inner else path].append(head)


def _agreed(unit, heads, copies):
    """Return the state that all files of a unit have."""
    for head in heads:
        if head["unit"] not in (unit, copies.get(unit), ANY):
            raise Broken(f"it is {head['unit']} {head['id']}")
    if len(heads) != heads[0]["of"]:
        raise Broken(f"{len(heads)} of {heads[0]['of']} files: {sorted(head['file'] for head in heads)[:5]}")
    found = {head["id"] for head in heads} - {ANY}
    if len(found) != 1:
        raise Broken(f"mixed: {sorted(found)[:3]}")
    return found.pop()
