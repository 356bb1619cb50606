# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""lightning_logs/version_0: a log that never rests, hyperparameters, and checkpoints, all in one new directory."""

import os

import contents

from .pattern import Pattern

RUN = "lightning_logs/version_0"


class Renamed(Pattern):
    """Checkpoints are renamed into place."""

    every, readers = 0.8, {f"{RUN}/metrics.csv": lambda path: None}

    def begin(self, p):
        """Write the hyperparameters, open the log."""
        os.makedirs(p.at(RUN, "checkpoints"), exist_ok=True)
        if not os.path.exists(p.at(RUN, "hparams.yaml")):
            with p.change(f"{RUN}/hparams.yaml", "0@hparams"):
                self.write(p, f"{RUN}/hparams.yaml", "0@hparams", 6_000)
        self.log = open(p.at(RUN, "metrics.csv"), "a")  # kept open

    def save(self, p, identity):
        """Save the last checkpoint, and every third one for good."""
        for name in ["last"] + [f"epoch={p.step}"] * (p.step % 3 == 0):
            unit = f"{RUN}/checkpoints/{name}.ckpt"
            with p.change(unit, identity):
                self.write(p, unit, identity, 150_000)

    def write(self, p, unit, identity, size):
        """Write a file under a temporary name."""
        p.write(p.at(unit + ".tmp"), contents.blob(identity, unit, size=size), 0.2)
        os.replace(p.at(unit + ".tmp"), p.at(unit))

    def rest(self, p):
        """Write lines."""
        for _ in range(int(self.every / 0.1)):
            self.log.write(f"{p.step},0.5\n")
            self.log.flush()
            p.pause(0.1)


class InPlace(Renamed):
    """Checkpoints are written in place, as when the temporary directory is on another disk."""

    every, atomic = 2.0, False

    def write(self, p, unit, identity, size):
        """Write a file in place and set its time back."""
        p.write(p.at(unit), contents.blob(identity, unit, size=size), 0.3)
        os.utime(p.at(unit), (1_600_000_000, 1_600_000_000))


PATTERNS = {
    "lightning-renamed": Renamed(),
    "lightning-inplace": InPlace(),
}
