# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where Python begins when it runs this folder, or the zip that is made of it."""

import sys

if sys.argv[1:2] == ["function"]:
    from kinetic_runner.child.function import main
elif sys.argv[1:2] == ["inputs"]:
    from kinetic_runner.child.inputs import main
elif sys.argv[1:2] == ["debugged"]:
    from kinetic_runner.child.debug import main
else:
    # A SIGTERM that comes before there is a handler is lost: PID 1 has no default action.
    import _signal

    early = []
    for number in (_signal.SIGTERM, _signal.SIGINT):
        _signal.signal(number, lambda number, _: early.append(number))

    from kinetic_runner.main import main as supervise

    def main():
        return supervise(sys.argv[1:], early)


sys.exit(main())
