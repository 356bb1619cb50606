# Runs the runner argv[1], a folder, as `python3 argv[1] ...` would, but only once the job is
# recorded: a starter that dies before leaves no process behind. If the first byte is "a",
# the starter is attached: the runner ends when the pipe does.
#
# Each --link=PATH=TARGET is a link that goes when the runner does, even if that is killed: a process of its
# own waits for the end of a pipe that the runner alone holds.
import os, sys

links = []
while sys.argv[1].startswith("--link="):
    links.append(sys.argv.pop(1)[7:].split("=", 1))
if links:
    end, held = os.pipe()
    keeper = os.fork()
    if keeper:
        os.close(end)
        os.waitpid(keeper, 0)
    else:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, end)
            os.closerange(end + 1, 256)
            os.read(end, 1)
            for path, target in links:
                try:
                    if os.readlink(path) == target:
                        os.unlink(path)
                except OSError:
                    pass  # it was never made
        os._exit(0)

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

del sys.argv[0], sys.path[0]  # run_path puts the runner there
runpy.run_path(sys.argv[0], run_name="__main__")
