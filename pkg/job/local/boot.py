# Runs the zip argv[1] as `python3 argv[1] ...` would, but only once the job is
# recorded: a starter that dies before leaves no process behind. If the first byte is "a",
# the starter is attached: the runner ends when the pipe does.
import os, sys

start = os.read(0, 1)
if not start:
    os._exit(1)
if start == b"a":
    import fcntl

    sys.argv += ["--caller", str(fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 10))]  # away from the runner's own
null = os.open(os.devnull, os.O_RDONLY)
os.dup2(null, 0)
os.close(null)
if sys.version_info < (3, 9):
    sys.exit("%s is Python %d.%d, the runner needs 3.9 or newer: activate a virtual environment that has it"
             % ((sys.executable,) + sys.version_info[:2]))
import runpy

del sys.argv[0], sys.path[0]  # run_path puts the zip there
runpy.run_path(sys.argv[0], run_name="__main__")
