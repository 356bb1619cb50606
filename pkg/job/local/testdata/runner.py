# A stand-in for the runner: it takes the same flags and leaves the same traces.
# What the "job" does stands in FAKE, one word after the other:
#   line:TEXT    prints a line          lines:N    prints numbered lines
#   own:TEXT     prints a line of the runner's own and ends without a record; _ is a space
#   env:NAME     prints a variable      argv       prints the command line
#   wait:FIFO    waits for a writer     pause      waits for a signal
#   child:FIFO   leaves a child behind, in a process group of its own, that ignores
#                SIGTERM and keeps FIFO open
#   stubborn     ignores SIGTERM        kill       dies by SIGKILL
#   young        has no handler for SIGTERM
#   crash:TEXT   prints to stderr and ends without a record
#   exit:N       ends with this exit code
import argparse, datetime, json, os, signal, sys

parser = argparse.ArgumentParser(allow_abbrev=False)
for flag in "job", "store", "call", "bundle", "grace", "work", "log-file", "termination-log":
    parser.add_argument("--" + flag, required=True)
for flag in "output-dir", "max-runtime", "retry-on", "retries", "map", "chunk", "inputs":
    parser.add_argument("--" + flag)
parser.add_argument("--final", action="store_true", required=True)
parser.add_argument("--function", action="store_true")
args = parser.parse_args()
log = open(args.log_file, "ab", buffering=0)


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def say(*lines):
    log.write("".join("%s %s\n" % (now(), line) for line in lines).encode())


def end(reason, code):
    directory = os.path.join(args.store[len("file://"):], args.job)
    os.makedirs(directory, exist_ok=True)
    document = {"version": 1, "state": "SUCCEEDED" if code == 0 else "FAILED", "reason": reason, "exit_code": code,
                "host": 0, "attempt": 1, "by": "runner"}
    temp = os.path.join(directory, "end.json.%d" % os.getpid())
    with open(temp, "x") as f:
        json.dump(document, f)
    try:
        os.link(temp, os.path.join(directory, "end.json"))
    except FileExistsError:
        pass
    os.unlink(temp)
    os._exit(code)


def leave_child(fifo):
    ready, told = os.pipe()
    if os.fork() == 0:
        os.setpgid(0, 0)  # as the runner's call does
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.open(fifo, os.O_WRONLY)
        os.write(told, b"x")
        while True:
            signal.pause()
    os.read(ready, 1)


assert os.path.isdir(args.work) and sys.stdin.read() == ""
signalled, wakeup = os.pipe()
os.set_blocking(wakeup, False)
signal.set_wakeup_fd(wakeup)  # unlike signal.pause, a read cannot miss one
signal.signal(signal.SIGTERM, lambda *_: end("Terminated", 143))
for word in os.environ.get("FAKE", "").split():
    what, _, value = word.partition(":")
    if what == "line":
        say(value)
    elif what == "lines":
        say(*("line %d" % n for n in range(1, int(value) + 1)))
    elif what == "own":
        say("\x1ekinetic: " + value.replace("_", " "))
        os._exit(1)
    elif what == "env":
        say(os.environ.get(value, "(unset)"))
    elif what == "argv":
        say(json.dumps(sys.argv[1:]))
    elif what == "wait":
        open(value).close()
    elif what == "pause":
        os.read(signalled, 1)
    elif what == "child":
        leave_child(value)
    elif what == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif what == "young":
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    elif what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "crash":
        sys.stderr.write("Traceback (most recent call last):\n" + value + "\n")
        sys.exit(3)
    elif what == "exit":
        end("ExitCode", int(value))
    else:
        raise SystemExit("what is " + word)
end("Completed", 0)
