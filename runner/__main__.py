# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The entry point when Python runs this folder, or the zip that is made from it."""

import sys

COMMANDS = {  # the first word, and the module that it means
    "function": "child.function",
    "inputs": "child.inputs",
    "program": "child.program",
    "commit": "child.commit",
    "relay": "warm.relay",
    "kept": "warm.kept",
    "shell": "shell",
    "stacks": "stacks",
    "ranks": "ranks",
    "ready": "warm.ready",
}
command = sys.argv[1] if sys.argv[1:] else ""

# A SIGTERM that arrives before there is a handler is lost: PID 1 has no default action.
early_signals = []
if command in ("ranks", "ready") or command not in COMMANDS:
    import _signal

    for number in (_signal.SIGTERM, _signal.SIGINT):
        _signal.signal(number, lambda number, _: early_signals.append(number))

if sys.version_info < (3, 9):
    sys.exit("kinetic: this is Python %d.%d, but a job needs 3.9 or later: use another image" % sys.version_info[:2])

module = COMMANDS.get(command) or ("warm.hold" if "--warm-idle" in sys.argv else "ahead")
try:
    main = __import__("kinetic_runner." + module, fromlist=["main"]).main
except ImportError as problem:  # such as a Python that was built without zlib
    sys.exit("kinetic: this python3 (%s) cannot run jobs: %s: use another image" % (sys.executable, problem))

sys.exit(main(sys.argv, early_signals))
