# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Python imports this at the start of every program of a job, which finds it at the end of PYTHONPATH.

It lets `jobs stacks` ask the program where it is, adds the user's projects to sys.path, and imports the sitecustomize that Python would have found without it.
"""

import sys


def begin():
    """Prepare the answer. Whatever fails, the program starts."""
    try:
        from kinetic_runner.child.answer import answer_signal, find_projects

        find_projects()
        answer_signal()
    except Exception:
        pass
    for name in [name for name in sys.modules if name.partition(".")[0] == "kinetic_runner"]:
        del sys.modules[name]  # it is not the program's


def import_next():
    """Import the next sitecustomize in place of this one, if there is one."""
    here, ours = __file__.rpartition("/")[0], sys.modules.pop(__name__)
    place = sys.path.index(here) if here in sys.path else -1
    if place >= 0:
        del sys.path[place]
    try:
        if place >= 0:
            import sitecustomize  # noqa: F401
    except ImportError as exc:
        if exc.name != __name__:
            raise
    finally:
        sys.modules.setdefault(__name__, ours)
        if place >= 0:
            sys.path.insert(place, here)


begin()
import_next()
