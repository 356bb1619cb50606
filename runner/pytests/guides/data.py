# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""FAQ: data are paths wherever they come from, and what is below KINETIC_OUTPUT_DIR stays."""

import os

import kinetic
from where import ACCELERATOR


@kinetic.run(accelerator=ACCELERATOR)
def copy(files):
    with open(os.path.join(files, "keras.py")) as source, open(os.path.join(os.environ["KINETIC_OUTPUT_DIR"], "copy.py"), "w") as target:
        target.write(source.read())
    return type(files).__name__


job = copy.run_async(kinetic.Data("."))
print(job.result(cleanup=False))
job.cleanup(gcs=True)
print(job.outputs())
