"""Train a classifier on Fisher's iris measurements, in plain Python.

    kubectl kinetic run examples/iris/train.py:train --local --arg epochs=300

The data are Fisher's (1936): 150 flowers, four lengths in cm, three species.
"""

import csv
import json
import math
import os
import random
from pathlib import Path

HERE = Path(__file__).parent


def load(path=HERE / "iris.csv"):
    """Return (rows, labels, species): standardised floats, class numbers, names."""
    with open(path, newline="") as f:
        table = list(csv.reader(f))[1:]
    species = sorted({row[-1] for row in table})
    columns = list(zip(*([float(x) for x in row[:-1]] for row in table)))
    scaled = [standardise(column) for column in columns]
    return list(zip(*scaled)), [species.index(row[-1]) for row in table], species


def standardise(column):
    """Return the column with mean 0 and standard deviation 1."""
    mean = sum(column) / len(column)
    deviation = math.sqrt(sum((x - mean) ** 2 for x in column) / len(column))
    return [(x - mean) / deviation for x in column]


def probabilities(weights, row):
    """Return softmax(W·[1, row]), one number for each class."""
    scores = [w[0] + sum(a * b for a, b in zip(w[1:], row)) for w in weights]
    top = max(scores)
    powers = [math.exp(s - top) for s in scores]
    return [p / sum(powers) for p in powers]


def train(epochs=200, learning_rate=0.5, test_share=0.2, seed=0):
    """Fit softmax regression by gradient descent; return what came of it."""
    rows, labels, species = load()
    order = list(range(len(rows)))
    random.Random(seed).shuffle(order)
    cut = int(len(order) * test_share)
    test, training = order[:cut], order[cut:]
    weights = [[0.0] * 5 for _ in species]

    for epoch in range(1, epochs + 1):
        loss = 0.0
        gradient = [[0.0] * 5 for _ in species]
        for i in training:
            p = probabilities(weights, rows[i])
            loss -= math.log(p[labels[i]]) / len(training)
            for k, g in enumerate(gradient):
                error = (p[k] - (k == labels[i])) / len(training)
                g[0] += error
                for j, x in enumerate(rows[i]):
                    g[j + 1] += error * x
        for w, g in zip(weights, gradient):
            for j, d in enumerate(g):
                w[j] -= learning_rate * d
        if epoch % max(1, epochs // 5) == 0:
            print(f"epoch {epoch:4d}  loss {loss:.4f}")

    right = sum(probabilities(weights, rows[i]).index(max(probabilities(weights, rows[i]))) == labels[i] for i in test)
    save({"species": species, "weights": weights})
    return {"loss": round(loss, 4), "accuracy": round(right / len(test), 4), "test_flowers": len(test)}


def save(model):
    """Keep the model where outputs of a job are kept, if this is one."""
    directory = os.environ.get("KINETIC_OUTPUT_DIR")
    if directory and not directory.startswith("gs://"):
        Path(directory, "model.json").write_text(json.dumps(model))


if __name__ == "__main__":
    print(train())
