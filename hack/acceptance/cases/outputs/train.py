import os

WEIGHTS = os.path.join(os.environ.get("KINETIC_OUTPUT_PATH", "."), "weights")


def write():
    with open(WEIGHTS, "w") as file:
        file.write("0.125")


def read():
    with open(WEIGHTS) as file:
        return file.read()
