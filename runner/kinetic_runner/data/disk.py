# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Room on the disk for the inputs."""

import os

from ..errors import BadData
from ..text import readable

# The kubelet evicts pods when less than a tenth of the disk is free, and the job would start again and again.
KEPT_SHARE = 0.1
SMALL_BYTES = 1 << 30  # that make no difference to that


def check_room(folder, need, options):
    """Raise BadData if the files would fill the disk. A job on this machine may fill it to the last byte."""
    disk = os.statvfs(folder)
    free = disk.f_bavail * disk.f_frsize
    if not options.log_file and need > SMALL_BYTES:
        free -= int(disk.f_blocks * disk.f_frsize * KEPT_SHARE) + SMALL_BYTES
    if need > free:
        raise BadData(
            f"the data takes {readable(need)}, and {readable(max(0, free))} of the disk can be used: "
            "submit the job with a larger --disk, or mount a bucket with --data NAME=gs://BUCKET/FOLDER,fuse"
        )
