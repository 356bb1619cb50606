"""Builds stores as the client does and runs the real runner on them."""

import contextlib
import faulthandler
import gzip
import hashlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
RUNNER = os.path.dirname(HERE)  # the folder that the zip is made of, which Python runs in the same way
sys.path.insert(0, RUNNER)
from kinetic_runner import log  # noqa: E402

JOB = "cpu-train-20261120-082019-abc1234"
# peak() returns the most memory that a program has used, in bytes. On Linux, ru_maxrss includes the peak of the process that
# started the program.
PEAK = """
def peak():
    import resource, sys
    if sys.platform == "darwin":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0]) << 10
"""
TIMEOUT = 120  # seconds after which a hanging runner fails its test
HANGING = 600  # seconds after which a test that hangs fails, and says where


def limit_time():
    """From now on, the test has so many seconds; then it fails where it hangs. Where no signal reaches it, the run ends."""
    faulthandler.dump_traceback_later(HANGING + 2 * TIMEOUT, exit=True)
    signal.signal(signal.SIGALRM, fail_hanging)
    signal.setitimer(signal.ITIMER_REAL, HANGING, TIMEOUT)


def fail_hanging(*_):
    raise AssertionError(f"this test has not ended after {HANGING} seconds")


GIVEN = set()  # ports that free_port has returned


def free_port():
    """A port that nobody uses, and that the system gives to no connection until a host listens there. Each call returns another one."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 16  # other processes of the tests have other ports
    while True:
        port = random.SystemRandom().randrange(20000 + worker, 32768, 16)  # below the ephemeral ports of Linux and macOS
        with socket.socket() as free:
            try:
                free.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in GIVEN:
            GIVEN.add(port)
            return port


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def pack(files, executable=(), dirs=()):
    """The index and the blobs of a bundle whose files all lie in one pack."""
    entries, body = [], b""
    for path in sorted(files):
        data = files[path] if isinstance(files[path], bytes) else textwrap.dedent(files[path]).encode()
        entry = {"path": path, "size": len(data), "blob": 0, "offset": len(body)}
        entries.append(dict(entry, mode=0o755) if path in executable else entry)
        body += data
    blob = gzip.compress(body, mtime=0)
    index = {"version": 2, "files": entries, "dirs": list(dirs)}
    index["blobs"] = [{"sha256": sha256(blob), "size": len(blob), "encoding": "gzip"}]
    return index, [blob]


def make_zip(path, *packages):
    """Make the zip that the client makes: of its program and these packages."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        target.write(os.path.join(RUNNER, "__main__.py"), "__main__.py")
        for package in packages:
            for folder, _, names in os.walk(os.path.join(RUNNER, package)):
                for name in filter(lambda name: name.endswith(".py") or name == "contract.json", names):
                    file = os.path.join(folder, name)
                    target.write(file, os.path.relpath(file, RUNNER))


def file_entry(path, **rest):
    """A file of an index, empty and in the first blob unless the rest says otherwise."""
    return dict({"path": path, "size": 0, "blob": 0, "offset": 0}, **rest)


def function(name="f", file="train.py", module="train", **rest):
    """A function call."""
    return dict({"version": 1, "kind": "function", "file": file, "module": module, "function": name, "cwd": "", "sys_path": [""]}, **rest)


def script(file="train.py", *args, **rest):
    """A file call."""
    return dict({"version": 1, "kind": "file", "file": file, "args": list(args), "cwd": "", "sys_path": [""]}, **rest)


def command(*argv, **rest):
    """A command call."""
    return dict({"version": 1, "kind": "command", "args": list(argv), "cwd": ""}, **rest)


def pickled(name="f", **rest):
    """A call of what is in the payload."""
    return dict({"version": 1, "kind": "pickle", "function": name, "file": "", "cwd": "", "sys_path": [""]}, **rest)


def read_log(data, stamped=False):
    """What the call printed, of a log with marks: the text on both streams in order, on stdout, and on stderr.

    In a stamped log each line keeps the time of its first piece.
    """
    texts = {True: bytearray(), False: bytearray()}
    lines, unfinished = [], {}
    for line in data.split(b"\n")[:-1]:
        stamp, line = (line[:28], line[28:]) if stamped else (b"", line)
        is_error = line[:1] == log.STDERR_MARK
        line = line[1:] if line[:1] in (log.STDERR_MARK, log.STDOUT_MARK) else line
        piece = line.endswith(log.PIECE)
        line = line[:-1] if piece else line + b"\n"
        texts[is_error] += line
        if is_error in unfinished:
            lines[unfinished.pop(is_error)] += line
        else:
            lines.append(bytearray(stamp + line))
        if piece:
            unfinished[is_error] = len(lines) - 1
    return b"".join(lines).decode("utf-8", "replace"), texts[False].decode("utf-8", "replace"), texts[True].decode("utf-8", "replace")


def without_end_lines(data):
    """What a runner printed without its lines at the end of a job: whether one says that it has ended, and the pickle in the other."""
    line = log.STDERR_MARK + (log.END_LINE % JOB).encode() + b"\n"
    if not data.endswith(line):
        return data, False, None
    data, _, report = data[: -len(line)].partition(log.REPORT_START)
    return data, True, json.loads(report) if report else None


def program(change):
    """A runner in which something is changed first, such as a constant; every module of the package has its name. It ends as ahead.py does, after what the change has registered."""
    names = "attempt child ending errands log publish process single spool store supervisor"
    imports = f"import kinetic_runner; from kinetic_runner import {', '.join(names.split())}; from kinetic_runner.store import gcs"
    return f"import sys; sys.path.insert(0, {RUNNER!r}); {imports}; from kinetic_runner.main import main\n{change}\nimport atexit, os\ncode = main(sys.argv, [])\natexit._run_exitfuncs()\nsys.stdout.flush()\nos._exit(code)"


def kill_session(leader):
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        with contextlib.suppress(ValueError, OSError):
            if os.getsid(int(name)) == leader:
                os.kill(int(name), signal.SIGKILL)


class Ran:
    """What a finished runner left."""

    def __init__(self, case, process, stdout, stderr):
        self.code, self.err = process.returncode, stderr.replace("\x1e", "")
        self.raw, self.said_end, self.reported = without_end_lines(stdout)
        self.out, self.stdout, self.stderr = read_log(self.raw)  # in order, and by stream
        self._case = case

    def document(self, name):
        return self._case.document(name)

    @property
    def result(self):
        return self.document("result.json")

    @property
    def end(self):
        return self.document("end.json")

    @property
    def log(self):
        """All log parts of attempt 1, joined."""
        return self._case.log(1)


class RunnerCase(unittest.TestCase):
    """A test with a store, a work directory and the means to run the runner there."""

    one_host = True

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="kinetic-runner-")
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.store = os.path.join(self.root, "store")
        self.work = os.path.join(self.root, "work")
        os.mkdir(self.store)

    def eventually(self, condition, *alive):
        """Waits until something is so; meanwhile these processes may not end."""
        until = time.monotonic() + TIMEOUT
        while not condition():
            for process in alive:
                self.assertIsNone(process.poll(), process.poll() is not None and process.communicate())
            self.assertLess(time.monotonic(), until, "it never happened")
            time.sleep(0.005)

    @property
    def store_url(self):
        return f"file://{self.store}"

    def put(self, name, data):
        path = os.path.join(self.store, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "wb") as file:
            file.write(data)
        os.replace(path + ".new", path)  # a runner may wait for it
        return path

    def put_blob(self, data, name=None):
        name = name or sha256(data)
        return self.put(f"blobs/sha256/{name[:2]}/{name}", data)

    def put_index(self, index, blobs=()):
        """Stores a bundle; returns the hash that names its index."""
        for blob in blobs:
            self.put_blob(blob)
        data = gzip.compress(json.dumps(index).encode(), mtime=0)
        self.put_blob(data)
        return sha256(data)

    def put_call(self, call):
        data = json.dumps(call).encode()
        self.put(f"{JOB}/call.json", data)
        return sha256(data)

    def argv(self, call, files, *flags, python=sys.executable, **kwargs):
        """The runner's command line, for a call stored now; files is a dict, or the hash of a stored index."""
        bundle = files if isinstance(files, str) else self.put_index(*pack(files, **kwargs))
        flags = list(flags)
        if call.get("kind") in ("function", "pickle") and self.one_host and "--map" not in flags:
            flags.append("--function")
        for name, value in (("--work", self.work), ("--termination-log", os.path.join(self.root, "termination"))):
            if name not in flags:
                flags += [name, value]
        return [python, "-u", RUNNER, "--job", JOB, "--store", self.store_url, "--call", self.put_call(call), "--bundle", bundle] + flags

    def start(self, argv, env=None, pass_fds=()):
        """Starts the runner, in a process group of its own as a local job."""
        environ = {name: value for name, value in os.environ.items() if not name.startswith("KINETIC_")}
        environ.update(env or {})
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environ, cwd=self.root, start_new_session=True, pass_fds=pass_fds,
        )
        self.addCleanup(self._kill, process)
        return process

    @staticmethod
    def _kill(process):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        kill_session(process.pid)  # a runner that was killed leaves its call behind, in a group of its own
        process.wait()
        for stream in filter(None, (process.stdout, process.stderr)):
            stream.close()

    def finish(self, process):
        stdout, stderr = process.communicate(timeout=TIMEOUT)
        return Ran(self, process, stdout, stderr.decode("utf-8", "replace"))

    def run_call(self, call, files, *flags, env=None, **kwargs):
        return self.finish(self.start(self.argv(call, files, *flags, **kwargs), env))

    def call(self, source, *flags, **kwargs):
        """Runs train.py:f of the given source."""
        return self.run_call(function(**kwargs), {"train.py": source}, *flags)

    def out_of_time(self, run, line):
        """Runs something whose time ends when it has printed this line, and its limit; a busy machine needs longer to get that far."""
        for limit in ("1", "8", "60"):
            self.setUp()
            ran = run("--max-runtime", limit)
            if line in ran.stdout.splitlines():
                break
        return ran, limit

    def exists(self, name):
        return os.path.exists(os.path.join(self.store, JOB, name))

    def read(self, name):
        with open(os.path.join(self.store, JOB, name), "rb") as file:
            return file.read()

    def document(self, name):
        return json.loads(self.read(name))

    def part_names(self):
        folder = os.path.join(self.store, JOB, "logs", "0")
        return os.listdir(folder) if os.path.isdir(folder) else []

    def parts(self, attempt):
        """The bytes of each log part of an attempt, in order."""
        names = self.part_names()
        numbers = sorted(int(name[:-4].split("-")[1]) for name in names if name.split("-")[0] == str(attempt))
        return [self.read(f"logs/0/{attempt}-{number}.log") for number in numbers]

    def log(self, attempt):
        """The log of an attempt with times and without marks."""
        return read_log(b"".join(self.parts(attempt)), stamped=True)[0]

    def workspace(self):
        """All paths in the workspace but the link to the outputs."""
        top = os.path.join(self.work, "workspace")
        found = []
        for folder, dirs, files in os.walk(top):
            dirs[:] = [name for name in dirs if name != "gs:"]
            found += [os.path.relpath(os.path.join(folder, name), top) for name in dirs + files]
        return sorted(found)

    def termination(self):
        with open(os.path.join(self.root, "termination"), "rb") as file:
            return file.read()
