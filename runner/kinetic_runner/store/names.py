# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Names of objects, relative to the store's URL. The client's package store has the same table."""


def blob_name(sha256):
    """Return the name of the object with this hash."""
    return f"blobs/sha256/{sha256[:2]}/{sha256}"


def mounted_folder(sha256):
    """Return the prefix of the files of a data set that pods mount."""
    return f"data/{sha256}/"


def mounted_record(sha256):
    """Return the name of the record of these files: a client that finds a young one does not look at them."""
    return f"data/{sha256}.json"


def job_name(job, name):
    """Return the name of an object of the job, such as call.json, result.json or end.json."""
    return f"{job}/{name}"


def environment_name(job):
    """Return the name of the list of wheels that the job's requirements resulted in."""
    return job_name(job, "environment.json")


def payload_name(job):
    """Return the name of the pickle of the job's function and its arguments."""
    return job_name(job, "payload.pkl")


def log_part_name(job, host, attempt, part):
    """Return the name of a part of a host's log. Parts count from 1."""
    return f"{job}/logs/{host}/{attempt}-{part}.log"


SYNC = "sync/"  # the indexes of outputs with their objects, below the home of the outputs


def index_name(number):
    """Return the name, below the home of a job's outputs, of the index of a host, or in a map of an input."""
    return f"{SYNC}{number}.json"


def index_folder(number):
    """Return the prefix of the objects that this index names."""
    return f"{SYNC}{number}/"


def incomplete_folder(number):
    """Return the prefix of the outputs that a host or an input has not finished."""
    return f"incomplete/{number}/"
