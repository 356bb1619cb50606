# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Save a directory as KINETIC_CACHE_DIR, or restore it, without a job: cache.py save|restore DIR gs://BUCKET EMULATOR."""

import math
import os
import sys
import types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "runner"))
from kinetic_runner.cache.bucket import Cache  # noqa: E402
from kinetic_runner.store import open_store  # noqa: E402

what, folder, url, emulator = sys.argv[1:]
options = types.SimpleNamespace(work=folder + ".work", cache="bench", cache_size=4 << 30, map="", warm=False)
attempt = types.SimpleNamespace(
    options=options, store=open_store(url, emulator), host=0, in_pod=False, leave_by=math.inf, say=print,
    signals=types.SimpleNamespace(listen=lambda action: None),
)  # fmt: skip
cache = Cache(attempt)
cache.path = folder
if what == "save":
    from kinetic_runner.cache import index_of

    cache._name = index_of(options.cache, ())
    cache._save(0.0)
else:
    cache.begin(())
    while cache._index is None or cache._missing:
        cache._done.wait(0.005)
