# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where the programs of this directory run: on what ACCELERATOR names, or on this machine."""

import os

import kinetic

ACCELERATOR = os.environ.get("ACCELERATOR", "cpu")
IMAGE = os.environ.get("IMAGE", "us-docker.pkg.dev/my-project/kinetic/my-image:v1.0")

if "ACCELERATOR" not in os.environ:
    kinetic.configure(local=True)
