# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The entry point when Python runs this folder, or the zip that is made from it."""

import sys

# A SIGTERM that arrives before there is a handler is lost: PID 1 has no default action.
early_signals = []
if sys.argv[1:2] not in (["function"], ["inputs"], ["program"], ["commit"], ["shell"], ["stacks"], ["relay"], ["kept"]):
    import _signal

    for number in (_signal.SIGTERM, _signal.SIGINT):
        _signal.signal(number, lambda number, _: early_signals.append(number))

if sys.version_info < (3, 9):
    sys.exit("kinetic: this is Python %d.%d, but a job needs 3.9 or later: use another image" % sys.version_info[:2])

try:
    if sys.argv[1:2] == ["function"]:
        from kinetic_runner.child.function import main
    elif sys.argv[1:2] == ["inputs"]:
        from kinetic_runner.child.inputs import main
    elif sys.argv[1:2] == ["program"]:
        from kinetic_runner.child.program import main
    elif sys.argv[1:2] == ["commit"]:
        from kinetic_runner.child.commit import main
    elif sys.argv[1:2] == ["ready"]:
        from kinetic_runner.warm.ready import main
    elif sys.argv[1:2] == ["relay"]:
        from kinetic_runner.warm.relay import main
    elif sys.argv[1:2] == ["kept"]:
        from kinetic_runner.warm.kept import main
    elif sys.argv[1:2] == ["ranks"]:
        from kinetic_runner.ranks import main
    elif sys.argv[1:2] == ["shell"]:
        from kinetic_runner.shell import main
    elif sys.argv[1:2] == ["stacks"]:
        from kinetic_runner.stacks import main
    elif "--warm-idle" in sys.argv:
        from kinetic_runner.warm.hold import main
    else:
        from kinetic_runner.ahead import main
except ImportError as problem:  # such as a Python that was built without zlib
    sys.exit("kinetic: this python3 (%s) cannot run jobs: %s: use another image" % (sys.executable, problem))

sys.exit(main(sys.argv, early_signals))
