"""One function for many inputs, as one job with several pods.

    python3 examples/map/primes.py [--local]
"""

import argparse

import kinetic


@kinetic.run(cpu="500m", memory="512Mi")
def primes_below(limit: int) -> int:
    """Return how many primes there are below limit."""
    sieve = bytearray([1]) * max(limit, 2)
    sieve[:2] = b"\0\0"
    for n in range(2, int(limit**0.5) + 1):
        if sieve[n]:
            sieve[n * n :: n] = bytes(len(sieve[n * n :: n]))
    return sum(sieve)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--local", action="store_true", help="run on this machine")
    kinetic.configure(local=parser.parse_args().local)
    limits = [10, 100, 1_000, 10_000, 100_000]
    batch = primes_below.run_async_map(limits, max_concurrent=4)
    for limit, count in zip(limits, batch.results()):
        print(f"{count} primes below {limit}")
