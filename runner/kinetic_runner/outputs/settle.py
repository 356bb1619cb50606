# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tidy up the outputs of a job that has ended for good. The client does the same if the runner could not: pkg/job/outputs."""

from ..store import in_parallel
from ..store.names import index_folder
from ..store.objects import list_objects

PARALLEL = 4


def settle(home, names, index, number):
    """Let an index name the plain objects, mark it as done, and delete the objects that it no longer names."""
    document = index.document
    names.bring(document)
    index.write(entries=names.with_plain_names(document.entries), pending=(), done=True)
    folder, named = index_folder(number), index.document.objects()
    gone = [found.name for found in list_objects(home, folder) if found.name not in named]
    in_parallel(home.delete, gone, PARALLEL)
