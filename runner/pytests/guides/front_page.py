# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The front page: a call that returns a value."""

import kinetic
from where import ACCELERATOR

x_train, y_train = [1.0, 2.0], [2.0, 2.5]


@kinetic.run(accelerator=ACCELERATOR)
def train_model():
    import keras
    model = keras.Sequential([...])
    model.fit(x_train, y_train)
    return model.history.history["loss"][-1]


final_loss = train_model()  # runs on a TPU v6e-8 slice
print(final_loss)
