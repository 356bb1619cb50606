"""Several hosts of one job as processes of this machine, and the API server that their leader asks."""

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from fixture import TIMEOUT, free_port, program, read_log
from test_pod import PodCase

LEADERWORKERSET = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/ml/leaderworkersets/keras-pathways-x"
KEY = "5ec7e7" * 10  # of the hosts' port
WAIT = "import signal\ndef f():\n  print('ready', flush=True)\n  while True: signal.pause()"


class APIServer(ThreadingHTTPServer):
    """Takes patches, or answers with the statuses that it was given first."""

    daemon_threads = True

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Patch)
        self.patches, self.statuses, self.open_ports = [], [], []
        self.port = 0  # of the leader: tells at each patch whether it is open
        key, crt = os.path.join(folder, "key.pem"), os.path.join(folder, "ca.crt")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=kubernetes",
             "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", crt], check=True, capture_output=True,
        )
        with open(os.path.join(folder, "token"), "w") as file:
            file.write("secret\n")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(crt, key)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        """Says nothing: who goes away is part of the tests."""


class Patch(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_PATCH(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.open_ports.append(is_open(self.server.port))
        self.server.patches.append((self.path, self.headers["Content-Type"], self.headers["Authorization"], body))
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        if status is None:
            return  # breaks the connection
        data = json.dumps({"kind": "Status", "message": f"status {status}"}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def is_open(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class GroupCase(PodCase):
    """A test whose hosts meet on a port of this machine."""

    HOSTS = 4
    one_host = False

    def setUp(self):
        super().setUp()
        account = os.path.join(self.root, "account")
        os.mkdir(account)
        self.api = APIServer(account)
        self.addCleanup(self.api.close)
        self.port = self.api.port = free_port()
        self.change = (
            "from kinetic_runner.hosts import attempt as hosts, leader, member, peers, release\n"
            f"release.SERVICE_ACCOUNT = {account!r}; supervisor.END_GRACE = 0.2"
        )
        host, port = self.api.server_address
        self.environment.update(KUBERNETES_SERVICE_HOST=host, KUBERNETES_SERVICE_PORT=str(port))

    def host(self, number, call, files, *flags, indexed=False, pod=None, env=None, change=""):
        """Starts the runner of a host; pod is another one's number in its place."""
        work = os.path.join(self.root, f"host-{number}-{pod or 0}")
        flags += ("--group-port", str(self.port)) * ("--group-port" not in flags) + ("--work", work, "--termination-log", os.path.join(self.root, f"termination-{number}"))
        names = ("JOB_COMPLETION_INDEX", "KINETIC_HOSTS", "KINETIC_LEADER")
        if not indexed:
            names = ("LWS_WORKER_INDEX", "LWS_GROUP_SIZE", "LWS_LEADER_ADDRESS")
            flags = ("--release", "ml/keras-pathways-x", "--retries", "1") + flags
        place = dict(zip(names, (str(number), str(self.HOSTS), "127.0.0.1")), KINETIC_POD_UID=f"uid-{number}-{pod or 0}", KINETIC_GROUP_KEY=KEY)
        os.makedirs(work, exist_ok=True)
        argv = self.argv(call, files, *flags)
        code = program(f"{self.change}\n{change}")
        return self.start([sys.executable, "-u", "-c", code] + argv[3:], dict(place, **env or {}))

    def hosts(self, call, files, *flags, numbers=None, **kwargs):
        numbers = range(self.HOSTS) if numbers is None else numbers
        return [self.host(number, call, files, *flags, **kwargs) for number in numbers]

    def parked(self, *processes):
        """Waits until the pods are released and continue; then does what the cluster does. What each has left."""
        self.eventually(lambda: self.api.patches, *processes)
        with self.assertRaises(subprocess.TimeoutExpired):
            processes[0].wait(0.3)
        return self.terminate(*processes)

    def terminate(self, *processes):
        for process in processes:
            self.assertIsNone(process.poll(), "a pod that ends is started again")
        return self.terminate_rest(*processes)

    def terminate_rest(self, *processes):
        """Terminates those that have not ended, as a leader does once it knows that another host was restarted."""
        for process in processes:
            process.send_signal(signal.SIGTERM)
        return [self.finish(process) for process in processes]

    def lines(self, host, attempt=1):
        """The log of a host in the store."""
        names = sorted(self.bucket.names(f"cpu-train-20261120-082019-abc1234/logs/{host}/{attempt}-"))
        return [line[28:] for line in read_log(b"".join(map(self.bucket.read, names)), stamped=True)[0].splitlines()]

    def connections(self):
        """How many connections the leader has to other hosts, counting one whose end it has not noticed."""
        with open("/proc/net/tcp") as v4, open("/proc/net/tcp6") as v6:
            rows = [line.split() for line in (*v4, *v6)]
        return sum(row[1].endswith(f":{self.port:04X}") and row[3] in ("01", "08") for row in rows)  # ESTABLISHED or CLOSE_WAIT

    def ready(self, *processes):
        """Waits until the call of each of these hosts runs."""
        for process in processes:
            while (line := process.stdout.readline()).startswith((b"\x1ekinetic: starting attempt ", b"\x1ekinetic: no outputs to restore")):
                pass
            self.assertEqual(line, b"ready\n", process.poll() is not None and process.stderr.read())
