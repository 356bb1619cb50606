# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The bundle: the packaged files of a job, from verified blobs into the workspace."""

from .unpack import Tree, empty_directory


def fetch_bundle(store, index, workspace):
    """Write the files of the index to the new workspace: all, or none."""
    tree = Tree(store, workspace)
    try:
        tree.write_files(index, store.parallel)
        tree.write_links(index)
    except Exception:
        empty_directory(workspace)
        raise
