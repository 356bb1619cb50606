"""A job on Pathways: the process of its leader, and stand-ins for jax, pathwaysutils and the pods.

They raise, and look like, what the real ones do.
"""

import json
import os
import textwrap
from urllib.parse import parse_qs, urlsplit

from fixture import script
from group import GroupCase, Patch

TPU_HOSTS = 4
NAME = "keras-pathways-x-0"
HEAD = ("pathways-rm", "pathways-proxy")
LIBRARY = {
    "jax/__init__.py": "from jax import distributed, errors",
    "jax/errors.py": "class JaxRuntimeError(RuntimeError): pass\nJaxRuntimeError.__module__ = 'jax.errors'",
    "jax/distributed.py": "from jax._src.distributed import initialize",
    "jax/_src/__init__.py": "",
    "jax/_src/distributed.py": "def initialize():\n  raise ValueError('coordinator_address should be defined.')",
    "jax-0.9.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: jax\nVersion: 0.9.2\n",
    "pathwaysutils/__init__.py": """
        import os
        def initialize():
            print("initialized for", os.environ["JAX_PLATFORMS"], os.environ["KINETIC_TPU_HOSTS"], flush=True)
    """,
}
RAISE = "import jax\nprint('ready', flush=True)\nraise jax.errors.JaxRuntimeError({!r})"
DATA_LOSS = "DATA_LOSS: A buffer was lost\nwith its worker"
E0101 = "E0101 12:00:00.000000    7 worker.cc:41] lost the chips"


def container(name, restarts=0, ended=None):
    """The status of a container, which may have ended with a code and been started again."""
    last = {"terminated": {"exitCode": ended, "reason": {0: "Completed", 137: "OOMKilled"}.get(ended, "Error")}} if ended is not None else {}
    return {"name": name, "restartCount": restarts, "state": {"running": {}}, "lastState": last}


def worker(number, phase="Running", ready=True, **kwargs):
    """The pod of a TPU host."""
    return {
        "metadata": {"name": f"{NAME}-{number + 1}", "uid": f"uid-{number}"},
        "status": {
            "phase": phase,
            "conditions": [{"type": "Ready", "status": str(ready)}],
            "containerStatuses": [container("pathways-worker", **kwargs)] if phase == "Running" else [],
        },
    }


def head(**ended):
    """The pod of host 0, some of whose sidecars may have ended."""
    sidecars = [container(name, restarts=name in ended, ended=ended.get(name)) for name in HEAD]
    own = [container("kinetic-worker")]
    spec = {"initContainers": [{"name": name, "resources": {"limits": {"memory": "32Gi"}}} for name in HEAD]}
    return {"metadata": {"name": NAME, "uid": "uid"}, "spec": spec, "status": {"phase": "Running", "initContainerStatuses": sidecars, "containerStatuses": own}}


class Pods(Patch):
    """The API server, with pods and their logs. It answers 403 to all that a job's Role does not grant."""

    def do_GET(self):
        parts = urlsplit(self.path)
        self.server.gets.append(self.path)
        before, _, rest = parts.path.partition("/api/v1/namespaces/ml/pods/")
        name, _, sub = rest.partition("/")
        if self.server.busy:
            return self.answer(503, b"{}")
        if self.server.refuses or before or sub not in ("", "log") or self.headers["Authorization"] != "Bearer secret":
            return self.answer(403, b'{"message": "pods is forbidden"}')
        pod = self.server.pods.get(name)
        if pod is None:
            return self.answer(404, b"{}")
        if not sub:
            return self.answer(200, json.dumps(pod).encode())
        query = parse_qs(parts.query)
        data = self.server.logs.get((name, query["container"][0], query["previous"][0]))
        if data is not None and "limitBytes" in query:
            data = data[: int(query["limitBytes"][0])]  # of what tailLines chose, the beginning
        return self.answer(*((400, b"waiting to start") if data is None else (200, data)))

    def answer(self, status, data):
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class PathwaysCase(GroupCase):
    """A job on four TPU hosts, of which only the leader's pod is a process here."""

    HOSTS = TPU_HOSTS + 1  # of the set

    def setUp(self):
        super().setUp()
        self.library = os.path.join(self.root, "library")
        self.provide(LIBRARY)
        self.environment.update(PYTHONPATH=self.library, JAX_PLATFORMS="proxy,cpu")
        self.change += "\nfrom kinetic_runner.hosts import pathways\npathways.LOOK_SECONDS = 0.05; pathways.LOSS_SECONDS = 0.3"
        self.api.RequestHandlerClass, self.api.refuses, self.api.busy, self.api.gets = Pods, False, False, []
        self.api.pods = {pod["metadata"]["name"]: pod for pod in [head(), *map(worker, range(TPU_HOSTS))]}
        self.api.logs = {}

    def provide(self, files):
        """Adds files to the packages of the image."""
        for name, text in files.items():
            path = os.path.join(self.library, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(textwrap.dedent(text))

    def begin(self, call, source, *flags, **kwargs):
        """Starts the runner in the leader's pod."""
        files = source if isinstance(source, dict) else {"train.py": source}
        return self.host(0, call, files, "--pathways", str(TPU_HOSTS), *flags, **kwargs)

    def ended(self, call, source, *flags, **kwargs):
        """What a job left that ended."""
        (ran,) = self.parked(self.begin(call, source, *flags, **kwargs))
        return ran

    def after(self, change, call=None, code=143):
        """The message of an attempt whose call fails as JAX does, after that has happened to the pods. The set is to start all of them again."""
        go = os.path.join(self.root, "go")
        source = f"""
            import os, jax
            def f():
                while not os.path.exists({go!r}): os.sched_yield()
                raise jax.errors.JaxRuntimeError({DATA_LOSS!r})
            if __name__ == "__main__": f()
        """
        process = self.begin(call or script(), source)
        while not (line := process.stdout.readline()).endswith(b"all 4 TPU hosts are running\n"):
            self.assertTrue(line)
        change()
        open(go, "w").close()
        self.assertEqual(self.finish(process).code, code)
        return self.document("attempts/1.json")["message"]
