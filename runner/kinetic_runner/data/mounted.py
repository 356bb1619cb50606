# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Data sets whose files lie in the store under their own names, since pods mount them."""

import itertools
import time

from ..contract import AGES
from ..store import in_parallel
from ..store.gcs import RENEW_AGE
from ..store.names import mounted_folder, mounted_record
from ..store.objects import list_objects

# A renewed file is another one to pods that have it open, so it is renewed late. A young record
# makes clients trust all files, so at that moment none may be older than a client would leave it.
TRUSTED_AGE = AGES["mounted"]
PAGE = 1000  # files that are renewed at a time
THREADS = 8


def renew_mounted(store, sha256):
    """Renew the files that are old, and then the record if it is old."""
    renew_files(store, sha256, RENEW_AGE)
    store.renew(mounted_record(sha256), first=lambda: renew_files(store, sha256, TRUSTED_AGE))


def renew_files(store, sha256, age):
    """Renew the files of this age. One request lists many, so only those cost more."""
    due = (item.name for item in list_objects(store, mounted_folder(sha256)) if time.time() - item.created >= age)
    while page := list(itertools.islice(due, PAGE)):
        in_parallel(lambda name: store.renew(name, age), page, THREADS)
