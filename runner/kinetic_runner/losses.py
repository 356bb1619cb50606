# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Output and files of a call that are lost, reported before the pod goes."""

import os

from . import spool

MIB = 1 << 20


def found(place, call, log, errands):
    """Return sentences about what is lost."""
    sentences = []
    if errands.waited:
        sentences.append(f"the call was slowed down: {spool.SPOOL_BYTES // MIB} MiB of its log were waiting to be uploaded")
    if log.lost:
        sentences.append(f"{log.lost} bytes of the log are not in the store: no room in {log.spool.path}")
    for folder in sorted({place.workspace, place.path(call.cwd)}):
        sentences += written_below_gs(os.path.join(folder, "gs:"))
    return sentences


def written_below_gs(folder):
    """Return a sentence about files of programs that treat the URL in KINETIC_OUTPUT_DIR as a path."""
    files = size = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            files += 1
            size += os.lstat(os.path.join(parent, name)).st_size
    if not files:
        return []
    return [
        f"{files} file{'s' if files > 1 else ''} ({readable(size)}) below {folder} will be lost: KINETIC_OUTPUT_DIR is a gs:// URL, "
        "which open() and os.makedirs() treat as a local path: write with a library that supports gs://"
    ]
