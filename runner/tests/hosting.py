"""A warm host, and a client of it."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys

from fixture import RUNNER, TIMEOUT, RunnerCase, function, pack
from kinetic_runner.log import PIECE
from kinetic_runner.warm import frames
from kinetic_runner.warm.frames import Frames
from kinetic_runner.warm.connections import OFFSET

SECRET, UID = b"secret", "uid-1"
UNFINISHED = PIECE.decode() + "\n"  # after what was printed of a line whose rest came later
PROGRAM = """
import sys; sys.path.insert(0, %r)
from kinetic_runner.warm.holder import Holder
holder = Holder(%r, %r, %r, 0, %r, %r, %r)
print(holder.port, flush=True)
holder.serve()
"""
# As the first process of a container, a host ends all that calls leave running, and removes what they leave in these places.
ALONE = """
mount -t tmpfs none /mnt && mkdir /mnt/0 /mnt/1 && mount --bind "$0" /mnt/0 && mount --bind "$1" /mnt/1 || exit
for place in /tmp /var/tmp /dev/shm; do mount -t tmpfs none $place || exit; done
mkdir -p "$0" "$1" && mount --bind /mnt/0 "$0" && mount --bind /mnt/1 "$1" && shift && exec "$@"
"""
CONTAINER = (shutil.which("unshare") or "false", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", ALONE, RUNNER)


class Ring:
    """A client of a host."""

    def __init__(self, case, port, secret=SECRET, uid=UID):
        self._connection = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
        case.addCleanup(self._connection.close)
        self._frames, self._got = Frames(secret, uid, False), []
        self._connection.sendall(self._frames.greeting)
        while not self._frames.greeted:
            data = self._connection.recv(4096)
            assert data, "the host closed the connection"
            self._got += self._frames.receive(data)

    def send(self, kind, message):
        self._connection.sendall(self._frames.send(kind, json.dumps(message).encode()))

    def receive(self):
        """The next frame, None at the end of the connection."""
        while not self._got:
            data = self._connection.recv(1 << 16)
            if not data:
                return None
            self._got += self._frames.receive(data)
        kind, payload = self._got.pop(0)
        return kind, (payload if kind == frames.OUT else json.loads(payload))

    def await_output(self):
        """Reads until the call has printed something."""
        seen = []
        while not seen or seen[-1][0] != frames.OUT:
            try:
                seen.append(self.receive())
            except OSError:  # it timed out, or was closed
                seen.append(None)
            assert seen[-1] is not None and seen[-1][0] != frames.END, f"no output, but {seen}"

    def follow(self):
        """The output of the call, and its exit code."""
        output = b""
        while True:
            kind, message = self.receive()
            if kind == frames.OUT:
                assert OFFSET.unpack_from(message)[0] == len(output)
                output += message[OFFSET.size :]
            elif kind == frames.END:
                text = re.sub(r"(?m)^\S+Z ", "", output.decode())
                return text.replace(UNFINISHED, ""), message["code"]

    def close(self):
        self._connection.close()


class Hosting(RunnerCase):
    PREFIX = ()  # of the command line of a host
    STDERR = subprocess.PIPE  # which a test must read before it is full
    calls = 0

    def host(self, idle=1000.0, limit=1000.0, level="preloaded", change="", **more):
        """A host, its program changed first."""
        code = PROGRAM.replace("\nholder = ", f"\n{change}\nholder = ") % (RUNNER, SECRET, UID, self.work, idle, limit, level)
        environ = {name: value for name, value in os.environ.items() if not name.startswith("KINETIC_") and name != "PYTHONDONTWRITEBYTECODE"}
        process = subprocess.Popen([*self.PREFIX, sys.executable, "-c", code], env=dict(environ, **more), stdout=subprocess.PIPE, stderr=self.STDERR, start_new_session=True)
        self.addCleanup(self._kill, process)
        return process, int(process.stdout.readline())

    def order(self, job, call, files, **more):
        """A call in the store, and what is said of it to the host."""
        bundle, data = self.put_index(*pack(files)), json.dumps(call).encode()
        self.put(f"{job}/call.json", data)
        argv = self.argv(call, bundle)
        argv = ["--store", self.store_url, "--call", argv[argv.index("--call") + 1], "--bundle", bundle, "--work", self.work, *more.pop("flags", ())]
        return dict(id=job, argv=argv + ["--function"] * (call["kind"] == "function"), environ=more.pop("environ", {}), **more)

    def run_there(self, port, *args, **more):
        ring = Ring(self, port)
        ring.send(frames.CALL, self.order(*args, **more))
        kind, state = ring.receive()
        self.assertEqual((kind, state["state"]), (frames.STATE, "started"), state)
        got = ring.follow()
        ring.close()
        return got

    def state(self, port):
        """What a host does."""
        ring = Ring(self, port)
        ring.send(frames.STAT, {})
        state = ring.receive()[1]
        ring.close()
        return state

    def result(self, job):
        with open(os.path.join(self.store, job, "result.json")) as file:
            return json.load(file)

    def values(self, port, *sources, environ=None, files=None):
        """The values of calls of f in these files, one after the other, None for one that failed, and what they printed."""
        values, printed = [], []
        for source in sources:
            job, self.calls = f"call-{self.calls}", self.calls + 1
            output, code = self.run_there(port, job, function(), dict(files or {}, **{"train.py": source}), environ=environ or {})
            printed.append(output)
            values.append(None if code else self.result(job)["value"])
        return values, printed

    def site(self, files):
        """A directory of installed packages."""
        site = os.path.join(self.root, "site-packages")
        for name, text in files.items():
            path = os.path.join(site, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        return site

    def warm(self, level, **more):
        """A host whose next call runs in, or is a fork of, the process that it keeps."""
        self.calls, site = 0, os.path.join(self.root, "site-packages")
        os.mkdir(site)
        with open(os.path.join(site, "heavy.py"), "w") as file:
            file.write("import os\nLOADED_BY = os.getpid()\n")
        process, port = self.host(level=level, PYTHONPATH=site, **more)
        values, printed = self.values(port, "import heavy\ndef f(): return 1")
        self.assertEqual(values, [1], printed)
        return process, port

    def begun(self, port, source, *flags):
        """A call that has printed something, and its connection."""
        job, self.calls = f"call-{self.calls}", self.calls + 1
        ring = Ring(self, port)
        ring.send(frames.CALL, self.order(job, function(), {"train.py": source}, flags=flags))
        ring.await_output()
        return job, ring

    def end(self, ring):
        while (frame := ring.receive())[0] != frames.END:
            pass
        ring.close()
        return frame[1]["code"]
