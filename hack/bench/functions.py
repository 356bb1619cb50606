"""What the jobs of the benchmarks call."""

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


def count(lines, seconds):
    """Prints numbers, evenly over some seconds."""
    time.sleep(3)
    start = time.monotonic()
    for number in range(lines):
        print(number)
        if number % 100 == 0:
            time.sleep(max(0, start + seconds * number / lines - time.monotonic()))
