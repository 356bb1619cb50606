"""What the jobs of the benchmarks call."""

import os
import time

TEXT = "a line of a hundred characters, more or less, as training loops like to print them: loss 0.1234"


def nothing():
    pass


def sleep(seconds):
    time.sleep(seconds)


def talk(lines):
    """Prints numbered lines of a hundred characters, as fast as it can."""
    time.sleep(3)  # until somebody follows
    for number in range(lines):
        print(number, TEXT)


def print_lines(lines, seconds):
    """Prints numbered lines of a hundred characters, evenly over some seconds, and stays."""
    start = time.monotonic()
    for number in range(lines):
        print(number, TEXT)
        if number % 100 == 0:
            time.sleep(max(0, start + seconds * number / lines - time.monotonic()))
    time.sleep(600)


def leave(seconds):
    """Prints when it returns."""
    time.sleep(seconds)
    print(time.time())


def read(folder):
    """Reads a file, and returns when it did."""
    with open(os.path.join(folder, "a.txt")) as file:
        file.read()
    return time.time()


def fail(seconds):
    """Raises on one host, telling when; the others continue."""
    time.sleep(seconds)
    if os.environ["KINETIC_HOST"] == "1":
        raise RuntimeError(time.time())
    time.sleep(600)
