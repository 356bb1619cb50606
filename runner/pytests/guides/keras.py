# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Stands in for Keras: a model that learns at once."""


class History:
    def __init__(self):
        self.history = {"loss": []}


class Sequential:
    def __init__(self, layers):
        self.layers = layers
        self.history = History()

    def fit(self, x, y):
        self.history.history["loss"] += [abs(b - a) for a, b in zip(x, y)]
