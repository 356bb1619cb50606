"""Imports of the runner point one way."""

import ast
import os
import unittest

from fixture import RUNNER

PACKAGE = os.path.join(RUNNER, "kinetic_runner")


def rooms():
    """The modules, by room, that each room imports: a module of the package, or one of its folders."""
    found = {}
    for folder, _, names in os.walk(PACKAGE):
        for name in filter(lambda name: name.endswith(".py"), names):
            path = os.path.relpath(os.path.join(folder, name), PACKAGE)[: -len(".py")].split(os.sep)
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                tree = ast.parse(file.read(), feature_version=(3, 9))
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and node.level:
                    base = path[: len(path) - node.level] + (node.module.split(".") if node.module else [])
                    targets = [base] if base else [[alias.name] for alias in node.names]
                    found.setdefault(path[0], set()).update(target[0] for target in targets)
            found.setdefault(path[0], set())
    return {room: imports - {room} for room, imports in found.items()}


class Imports(unittest.TestCase):
    def test_they_point_one_way(self):
        left = rooms()
        while left:
            lowest = [room for room, imports in left.items() if not imports & left.keys()]
            self.assertTrue(lowest, f"these import each other: {left}")
            for room in lowest:
                del left[room]

    def test_the_child_stands_apart(self):
        self.assertLessEqual(rooms()["child"], {"contract", "text"})


if __name__ == "__main__":
    unittest.main()
