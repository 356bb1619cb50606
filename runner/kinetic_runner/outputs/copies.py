# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Copy the outputs of a local job, which are a directory that its program may still write to."""

import os
import shutil

from ..errors import is_full
from ..text import readable
from .restore import named
from .tree import FILE, FOLDER, LOG, is_temporary, read_tree
from .watch import Open


def copy_outputs(source, target, job, say):
    """Copy what the job has finished, as far as that can be seen: not what is open for writing, nor under a temporary name."""
    listing = read_tree(source)
    opened, count, size = Open(source), 0, 0
    for path, node in listing.items():
        is_log = LOG.fullmatch(os.path.basename(path)) or node.inode in opened.appended
        if is_temporary(path):
            listing.left_out[path] = "it has a temporary name"
        elif node.kind == FILE and node.inode in opened and not is_log:
            listing.left_out[path] = "it is open for writing"
    for path, node in sorted(listing.items()):
        place = os.path.join(target, path)
        if path in listing.left_out:
            continue
        if node.kind == FOLDER:
            os.makedirs(place, exist_ok=True)
        elif node.kind == FILE:
            try:
                shutil.copy2(os.path.join(source, path), place)
            except OSError as exc:
                if is_full(exc):
                    raise
                listing.left_out[path] = exc.strerror
                continue
            count, size = count + 1, size + node.size
        else:
            os.symlink(os.path.relpath(os.path.join(source, path, "..", node.target), os.path.join(source, path, "..")), place)
    for path, node in listing.items():
        if node.kind == FOLDER:
            try:
                os.utime(os.path.join(target, path), ns=(node.mtime, node.mtime))
            except OSError:
                pass
    if count or listing.left_out:
        say(f"resuming from job {job}: copied {count} output{'' if count == 1 else 's'} ({readable(size)})")
    else:
        say(f"warning: job {job} has left no outputs: this job begins without any")
    if listing.left_out:
        reasons = sorted(set(listing.left_out.values()))
        say(f"warning: not copied from job {job}: {named(sorted(listing.left_out))}: {'; '.join(reasons)}")
