# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the client and the runner both know: names of objects, versions, limits, marks, exit codes and more. Both read contract.json."""

import json
import os


def read():
    """Return contract.json, in the zip too."""
    return json.loads(__spec__.loader.get_data(os.path.join(os.path.dirname(__file__), "contract.json")))


_FACTS = read()
OBJECTS = _FACTS["objects"]  # names, as templates of %
METADATA = _FACTS["metadata"]  # keys of outputs under their plain names
IDS = _FACTS["ids"]
VERSIONS = _FACTS["versions"]
PORTS = _FACTS["ports"]
NAMES = _FACTS["names"]  # of variables and annotations
PATHWAYS = _FACTS["pathways"]  # the oldest versions, and names of containers
PARTS = _FACTS["parts"]  # what users and sentences call these containers; of a TPU host as templates of %
DEFAULTS = _FACTS["defaults"]
AGES = _FACTS["ages"]  # seconds from which an object is renewed
LIMITS = _FACTS["limits"]  # bytes
MARKS = {name: mark.encode() for name, mark in _FACTS["marks"].items()}
LINES = _FACTS["lines"]
EXITS = _FACTS["exits"]
REASONS = _FACTS["reasons"]  # exit codes by the reason why a job ended; the client alone has Cancelled
