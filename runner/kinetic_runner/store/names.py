# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Names of objects, relative to the store's URL."""

from ..contract import OBJECTS


def blob_name(sha256):
    """Return the name of the object with this hash."""
    return OBJECTS["blob"] % (sha256, sha256)


def mounted_folder(sha256):
    """Return the prefix of the files of a data set that pods mount."""
    return OBJECTS["data"] % sha256


def cache_folder(key):
    """Return the prefix of the files of a cache on this machine. Where data sets are, so that the same rules delete what nobody uses."""
    return OBJECTS["data"] % key


def cache_index(key):
    """Return the name of the index of a cache in a bucket."""
    return OBJECTS["data_record"] % key


def mounted_record(sha256):
    """Return the name of the record of these files: a client that finds a young one does not look at them."""
    return OBJECTS["data_record"] % sha256


def job_name(job, name):
    """Return the name of an object of the job, such as result-2.pkl."""
    return f"{job}/{name}"


def record_name(job, kind):
    """Return the name of a record of the job, of which there is one: call, handle, result or end."""
    return OBJECTS[kind] % job


def tail(attempt):
    """Return what the name of an object has of the attempt that writes it: nothing of the first one."""
    return f"-{attempt}" if attempt > 1 else ""


def environment_name(job):
    """Return the name of the list of wheels that the job's requirements resulted in."""
    return record_name(job, "environment")


def payload_name(job):
    """Return the name of the pickle of the job's function and its arguments."""
    return record_name(job, "payload")


def log_part_name(job, host, attempt, part):
    """Return the name of a part of a host's log. Parts count from 1."""
    return OBJECTS["log_part"] % (job, host, attempt, part)


def part_log_name(job, attempt, part):
    """Return the name of the end of the log of a part of Pathways: rm, proxy or worker-N."""
    return OBJECTS["part_log"] % (job, attempt, part)


SYNC = OBJECTS["index"].partition("%")[0]  # the indexes of outputs with their objects, below the home of the outputs


def index_name(number):
    """Return the name, below the home of a job's outputs, of the index of a host, or in a map of an input."""
    return OBJECTS["index"] % number


def index_folder(number):
    """Return the prefix of the objects that this index names."""
    return OBJECTS["index_objects"] % number


def incomplete_folder(number):
    """Return the prefix of the outputs that a host or an input has not finished."""
    return OBJECTS["incomplete"] % number
