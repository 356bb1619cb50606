# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Execution modes: the four values of container_image. The arguments name those to run."""

import sys

import kinetic
from where import ACCELERATOR, IMAGE


@kinetic.run(accelerator=ACCELERATOR)                              # bundled (default)
def default():
    import keras
    return keras.Sequential([...]).layers == [...]


@kinetic.run(accelerator=ACCELERATOR, container_image="bundled")   # bundled (explicit)
def bundled():
    ...


@kinetic.run(accelerator=ACCELERATOR, container_image="prebuilt")  # prebuilt
def prebuilt():
    ...


@kinetic.run(
    accelerator=ACCELERATOR,
    container_image=IMAGE,
)
def custom():
    ...


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(name, globals()[name]())
