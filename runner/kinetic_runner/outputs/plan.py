# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Decide what a restore brings. Nothing here touches a file or the store."""

import os
from collections import namedtuple

from ..store.objects import can_be_file
from .index import Entry
from .sender import marked

# An object, or a link, to bring. entry is what an index has of it, or would have.
Item = namedtuple("Item", "path entry metadata")
# incomplete are paths of objects that are not to be used, newer those of objects that
# were replaced after the last index, strange the names that no file can have.
Plan = namedtuple("Plan", "items incomplete newer strange")


def make_plan(objects, indexes):
    """Return what is complete of some objects.

    indexes has, by job, the entries by path of the indexes of its hosts, or None if nobody
    knows any more what is complete: then all objects count. So do those that no runner has
    written, since programs write whole objects. A unit that lacks one comes not at all.
    """
    present = {found.name: found for found in objects if can_be_file(found.name)}
    strange = [found.name for found in objects if found.name not in present and not found.name.endswith("/")]  # else a folder
    broken = {
        (job, entry.unit)
        for job, entries in indexes.items() for entry in (entries or {}).values()
        if entry.link is None and entry.path not in present
    }  # fmt: skip
    items, incomplete, newer = [], [], []
    for path, found in present.items():
        job = marked(found.metadata)[0]
        entries = indexes.get(job) if job else None
        known = entries.get(path) if entries else None
        if entries is None:
            folder = os.path.dirname(path)
            known = Entry(path, found.size, 0o644, found.created * 10**9, found.md5, found.generation, None, folder)
        if known is None or known.link is not None or (job, known.unit) in broken:
            incomplete.append(path)
        else:
            if known.generation != found.generation:
                newer.append(path)
            items.append(Item(path, known._replace(size=found.size, md5=found.md5, generation=found.generation), found.metadata))
    for job, entries in indexes.items():
        for path, entry in (entries or {}).items():
            if entry.link is not None and path not in present and can_be_file(path) and (job, entry.unit) not in broken:
                items.append(Item(path, entry, {}))
    return Plan(items, incomplete, newer, strange)


def choose(items, room):
    """Return the items that fit into so many bytes, by whole units and the newest first, and those that do not."""
    groups = {}
    for item in items:
        groups.setdefault(item.entry.unit, []).append(item)
    chosen, left_out = [], []
    for group in sorted(groups.values(), key=lambda group: -max(item.entry.mtime_ns for item in group)):
        size = sum(item.entry.size for item in group)
        if size <= room:
            room -= size
            chosen += group
        else:
            left_out += group
    return chosen, left_out
