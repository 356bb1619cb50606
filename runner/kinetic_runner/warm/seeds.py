# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Random numbers of forks. Generators that draw a seed when packages are imported would give all calls the same numbers.

Each fork seeds them anew, unless a package gave them a seed: those have it in a new Python, too. So does each further call of its process.
"""

import gc
import random
import secrets
import sys
import weakref
from contextlib import suppress

# Generators of whole libraries, and how each draws a new seed. PyTorch's generator of the CPU needs no device.
LIBRARIES = {"numpy.random": lambda numpy: numpy.seed(), "torch": lambda torch: torch.default_generator.seed()}


class Seeds:
    """The generators that draw a seed while packages are imported: from when this is made until settle()."""

    def __init__(self):
        self._seed, self._randbits = random.Random.seed, secrets.randbits
        self._drawn, self._numbers, self._of_numpy = {}, set(), []  # instances of random.Random by id; what was drawn; generators of NumPy
        self._noting = True
        random.Random.seed, secrets.randbits = self._noting_seed(), self._noting_randbits()

    def _noting_seed(self):
        original = self._seed

        def seed(self_, a=None, *args, **more):
            original(self_, a, *args, **more)
            if self._noting and a is None:
                self._drawn[id(self_)] = weakref.ref(self_)
            elif self._noting:
                self._drawn.pop(id(self_), None)

        return seed

    def _noting_randbits(self):
        original = self._randbits

        def randbits(k):  # NumPy draws its seeds by this, whose name it has imported
            number = original(k)
            if self._noting:
                self._numbers.add(number)
            return number

        return randbits

    def settle(self):
        """All packages are imported: note what to seed in forks."""
        random.Random.seed, secrets.randbits, self._noting = self._seed, self._randbits, False
        self._drawn = {one: generator for one, generator in self._drawn.items() if generator() is not None}
        kinds = {id(kind) for kind in kinds_of_numpy()}
        for one in gc.get_objects() if kinds else ():
            if id(type(one)) in kinds and entropy_of(one) in self._numbers:
                self._of_numpy.append(one)
        self._numbers = set()

    def renew(self):
        """Seed them anew. What differs from what is known here stays as it is."""
        random.seed()  # in a fork, Python itself has done this
        for name, seed in LIBRARIES.items():
            if name in sys.modules:
                with suppress(Exception):
                    seed(sys.modules[name])
        for generator in self._drawn.values():
            if (one := generator()) is not None:
                self._seed(one)
        for one in self._of_numpy:
            one.__init__()


def kinds_of_numpy():
    """Return the classes of NumPy's sources of random bits, which all its generators have, none if NumPy is not loaded."""
    base = getattr(sys.modules.get("numpy.random"), "BitGenerator", None)
    return [kind for kind in base.__subclasses__() if kind.__module__.startswith("numpy.random.")] if isinstance(base, type) else []


def entropy_of(bits):
    """Return from what NumPy has seeded a source of random bits, None if it was given another kind of seed."""
    sequence = getattr(bits, "seed_seq", None) or getattr(bits, "_seed_seq", None)  # the second before NumPy 1.25
    entropy = getattr(sequence, "entropy", None)
    return entropy if isinstance(entropy, int) else None
