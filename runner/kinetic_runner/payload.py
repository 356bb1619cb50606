# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The payload of a pickled call. Only the process of the call unpickles it."""

import math
import os

from .errors import naming
from .store import copy_verified
from .store.names import payload_name
from .text import write_all


def fetch_payload(store, options):
    """Write the verified payload to the scratch directory. Return its path."""
    path = os.path.join(options.scratch, "payload.pkl")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with naming(path):
            copy_verified(store, payload_name(options.job), options.payload, math.inf, lambda block: write_all(fd, block))
    finally:
        os.close(fd)
    return path
