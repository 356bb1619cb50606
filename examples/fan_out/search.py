"""Several jobs at the same time, one for each learning rate.

    python3 examples/fan_out/search.py [--local]
"""

import argparse

import kinetic


@kinetic.run()
def train(rate: float) -> float:
    """Return the loss of 50 steps of gradient descent on (w - 3)²."""
    weight = 0.0
    for _ in range(50):
        weight -= rate * 2 * (weight - 3)
    return (weight - 3) ** 2


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--local", action="store_true", help="run on this machine")
    kinetic.configure(local=parser.parse_args().local)
    jobs = {rate: train.run_async(rate) for rate in (0.001, 0.01, 0.1)}
    losses = {rate: job.result() for rate, job in jobs.items()}
    best = min(losses, key=losses.__getitem__)
    print(f"best learning rate: {best}, loss {losses[best]:.2g}")
