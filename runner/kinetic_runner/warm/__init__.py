# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A warm host: a pod that takes one call after the other.

    holder    takes calls from its port, starts a runner for each, and ends the host
    calls     one call, its log and how it ended
    frames    what client and holder tell each other over a connection

Each call is run by the ordinary runner, which the holder starts as on any machine.
"""
