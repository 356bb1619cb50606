"""Run a command and write what it cost to file descriptor 3, as JSON.

Linux counts the memory of a process's parent at its start into its maximum. This
program is small, so what it waits for is the command's own. SIGTERM ends the
command, and is no reason to leave the cost out.
"""

import json
import os
import signal
import subprocess
import sys
import time

start = time.monotonic()
command = subprocess.Popen(sys.argv[1:])  # which closes descriptor 3 in the command
signal.signal(signal.SIGTERM, lambda *_: command.kill())
signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command hears of Ctrl-C, too
_, status, usage = os.wait4(command.pid, 0)
cost = {
    "wall": time.monotonic() - start,
    "cpu": usage.ru_utime + usage.ru_stime,
    "rss": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
}
os.write(3, json.dumps(cost).encode())
code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
os._exit(code)
