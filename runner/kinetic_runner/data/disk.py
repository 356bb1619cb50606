# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Room on the disk for the inputs."""

import os

from ..errors import BadData
from ..text import readable

# The kubelet evicts pods when less than a tenth of the disk is free, and the job would start again and again.
KEPT_SHARE = 0.1
SMALL_BYTES = 1 << 30  # that make no difference to that


def room_for(folder, need, in_pod=True):
    """Return how many bytes of the disk can be used, if that many are needed. A job on this machine may fill it to the last byte."""
    disk = os.statvfs(folder)
    free = disk.f_bavail * disk.f_frsize
    if in_pod and need > SMALL_BYTES:
        free -= int(disk.f_blocks * disk.f_frsize * KEPT_SHARE) + SMALL_BYTES
    return max(0, free)


def check_room(folder, need, options):
    """Raise BadData if the files would fill the disk."""
    room = room_for(folder, need, options.warm or not options.log_file)
    if need > room:
        raise BadData(
            f"the data takes {readable(need)}, and {readable(room)} of the disk can be used: "
            "submit the job with a larger --disk, or mount a bucket with --data NAME=gs://BUCKET/FOLDER,fuse"
        )
