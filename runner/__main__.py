# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where Python begins when it runs this folder, or the zip that is made of it."""

import sys

from kinetic_runner import remote_runner

sys.exit(remote_runner.main(sys.argv[1:]))
