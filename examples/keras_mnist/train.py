"""Keras on the eight chips of a TPU v6e.

    python3 examples/keras_mnist/train.py
"""

import argparse

import kinetic


@kinetic.run(accelerator="tpu-v6e-8")
def train(epochs=3):
    """Fit a small network to MNIST; return the accuracy on its test images."""
    import keras
    import numpy as np

    (images, labels), (test_images, test_labels) = keras.datasets.mnist.load_data()
    images = np.expand_dims(images, -1).astype("float32") / 255
    test_images = np.expand_dims(test_images, -1).astype("float32") / 255

    keras.distribution.set_distribution(keras.distribution.DataParallel())
    model = keras.Sequential([
        keras.layers.Conv2D(32, 3, activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(10),
    ])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer="adam", loss=loss, metrics=["accuracy"])
    model.fit(images, labels, batch_size=512, epochs=epochs, verbose=2)
    model.save(f"{kinetic.output_dir()}/model.keras")
    return float(model.evaluate(test_images, test_labels, verbose=0)[1])


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print(f"accuracy: {train():.3f}")
