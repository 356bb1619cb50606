import numpy


def train(epochs: int = 3):
    return float(numpy.zeros(epochs).sum())
