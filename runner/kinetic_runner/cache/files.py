# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The files in the directory of a cache."""

import os
import stat

from ..documents import check_path
from ..errors import RunnerError
from ..outputs.tree import is_temporary

HALF_SECONDS = 2.0  # before the end of a call that was cut off, within which a file may not have been finished


def files_in(top):
    """Return the files that can be kept, by path, each with its os.stat_result."""
    found = {}
    for folder, _, names in os.walk(top):
        for name in names:
            full = os.path.join(folder, name)
            path = full[len(top) + 1 :]
            try:
                status = os.lstat(full)
                if stat.S_ISREG(status.st_mode) and not name.endswith(".lock") and not is_temporary(path):
                    found[check_path(path, full)] = status
            except (OSError, RunnerError):
                pass  # it is gone, or an index can't have its name
    return found


def drop_unfinished(top, end):
    """Remove the files that were written right before a call was cut off, at this time.time()."""
    for path, status in files_in(top).items():
        if status.st_mtime > end - HALF_SECONDS:
            remove(os.path.join(top, path))


def remove(path):
    """Remove a file, if it is still there."""
    try:
        os.unlink(path)
    except OSError:
        pass
