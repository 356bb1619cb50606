# Runs the zip argv[1] as `python3 argv[1] ...` would, but only once the job is
# recorded: a starter that dies before leaves no process behind.
import os, sys

if not os.read(0, 1):
    os._exit(1)
null = os.open(os.devnull, os.O_RDONLY)
os.dup2(null, 0)
os.close(null)
if sys.version_info < (3, 9):
    sys.exit("%s is Python %d.%d, the runner needs 3.9 or newer: activate a virtual environment that has it"
             % ((sys.executable,) + sys.version_info[:2]))
import runpy

del sys.argv[0], sys.path[0]  # run_path puts the zip there
runpy.run_path(sys.argv[0], run_name="__main__")
