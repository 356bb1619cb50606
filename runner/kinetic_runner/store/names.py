# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Names of objects, relative to the store's URL: the same table as in the client's package store."""


def blob_name(sha256):
    """The content-addressed object of a hash."""
    return f"blobs/sha256/{sha256[:2]}/{sha256}"


def job_name(job, name):
    """An object of the job: call.json, result.json, result.pkl or end.json."""
    return f"{job}/{name}"


def log_part_name(job, host, attempt, part):
    """One piece of what a host printed, counted from 1."""
    return f"{job}/logs/{host}/{attempt}-{part}.log"
