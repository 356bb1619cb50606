"""A job on Pathways: its one process, on host 0, and what the runner does about the parts that run elsewhere.

Stand-ins take the places of jax, pathwaysutils and the pods. They raise, and look like, what the real ones do.
"""

import json
import os
import signal
import textwrap
import unittest
from urllib.parse import parse_qs, urlsplit

from fixture import JOB, command, function, pickled, script, sha256
from group import GroupCase, Patch
from payloads import payload

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
        import os, sys
        def initialize():
            main = sys.modules["__main__"]
            print("initialized for", os.environ["JAX_PLATFORMS"], os.environ["KINETIC_TPU_HOSTS"], flush=True)
    """,
}
RAISE = "import jax\nprint('ready', flush=True)\nraise jax.errors.JaxRuntimeError({!r})"
DATA_LOSS = "DATA_LOSS: A buffer was lost\nwith its worker"
E0101 = "E0101 12:00:00.000000    7 worker.cc:41] lost the chips"


def container(name, restarts=0, ended=None):
    """The status of a container, which may have ended with a code and been started again."""
    last = {"terminated": {"exitCode": ended, "reason": "OOMKilled" if ended == 137 else "Error"}} if ended is not None else {}
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
    return {"metadata": {"name": NAME, "uid": "uid"}, "status": {"phase": "Running", "initContainerStatuses": sidecars, "containerStatuses": own}}


class Pods(Patch):
    """The API server, with pods and their logs. It answers 403 to all that a job's Role does not grant."""

    def do_GET(self):
        parts = urlsplit(self.path)
        self.server.gets.append(self.path)
        before, _, rest = parts.path.partition("/api/v1/namespaces/ml/pods/")
        name, _, sub = rest.partition("/")
        if self.server.refuses or before or sub not in ("", "log") or self.headers["Authorization"] != "Bearer secret":
            return self.answer(403, b'{"message": "pods is forbidden"}')
        pod = self.server.pods.get(name)
        if pod is None:
            return self.answer(404, b"{}")
        if not sub:
            return self.answer(200, json.dumps(pod).encode())
        query = parse_qs(parts.query)
        data = self.server.logs.get((name, query["container"][0], query["previous"][0]))
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
        self.api.RequestHandlerClass, self.api.refuses, self.api.gets = Pods, False, []
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

    def after(self, change, call=None):
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
        self.assertEqual(self.finish(process).code, 143)
        return self.document("attempts/1.json")["message"]


class Call(PathwaysCase):
    def test_a_function_runs_once_on_all_tpu_hosts(self):
        source = """
            import os
            print("imported")
            def f():
                return [os.environ[name] for name in ("KINETIC_HOST", "KINETIC_HOSTS", "KINETIC_TPU_HOSTS", "KINETIC_ATTEMPT")] + \\
                    sorted(name for name in os.environ if name.startswith(("JAX_", "MASTER_", "OMPI_", "RANK", "WORLD")))
        """
        ran = self.ended(function(), source)
        self.assertEqual((ran.end["state"], ran.result["value"]), ("SUCCEEDED", ["0", "1", "4", "1", "JAX_PLATFORMS"]), ran.out)
        self.assertEqual(ran.stdout, "initialized for proxy,cpu 4\nimported\n")

    def test_a_pickled_call(self):
        source = "import os\ndef f(): return os.environ['KINETIC_TPU_HOSTS']"
        data = payload(source)
        self.put(f"{JOB}/payload.pkl", data)
        ran = self.ended(pickled(), source, "--payload", sha256(data))
        self.assertEqual((ran.result["value"], ran.stdout), ("4", "initialized for proxy,cpu 4\n"), ran.out)

    def test_a_file_is_what_python_makes_of_it(self):
        source = """
            import json, os, sys
            from queue import queue_is_ours
            print(json.dumps([__name__, os.path.relpath(__file__, os.getcwd()), sys.argv[1:], os.path.relpath(sys.path[0], os.getcwd())]))
            print(sys.modules["__main__"].sys is sys, queue_is_ours(), sys.argv[0] == __file__)
        """
        ran = self.ended(script("sub/train.py", "-x", "a b"), {"sub/train.py": source, "sub/queue.py": "def queue_is_ours(): return True"})
        self.assertEqual(ran.stdout, 'initialized for proxy,cpu 4\n["__main__", "sub/train.py", ["-x", "a b"], "sub"]\nTrue True True\n', ran.out)
        self.assertEqual(ran.end["state"], "SUCCEEDED")

    def test_a_module(self):
        call = {"version": 1, "kind": "module", "module": "pkg", "args": ["-x"], "cwd": "", "sys_path": []}
        files = {"pkg/__init__.py": "", "pkg/__main__.py": "import sys; print(__name__, __package__, sys.argv[1:])"}
        ran = self.ended(call, files)
        self.assertEqual((ran.end["state"], ran.stdout), ("SUCCEEDED", "initialized for proxy,cpu 4\n__main__ pkg ['-x']\n"), ran.out)

    def test_a_command_is_told_to_do_it_itself(self):
        ran = self.ended(command("echo", "ran"), {"x": ""})
        self.assertEqual((ran.end["state"], ran.stdout), ("SUCCEEDED", "ran\n"))
        self.assertIn("kinetic: a --command must itself call pathwaysutils.initialize() before it uses JAX\n", ran.stderr)

    def test_with_a_debugger(self):
        debugpy = """
            listen = print
            is_client_connected = lambda: True
            breakpoint = lambda: print("stops")
            class wait_for_client:
                def cancel(): pass
                def __new__(cls): print("waits")
        """
        self.provide({"debugpy/__init__.py": debugpy})
        for call in (function(), script()):
            with self.subTest(call["kind"]):
                ran = self.ended(call, "print('runs')\ndef f(): pass", env={"KINETIC_DEBUG": "1", "KINETIC_POD_UID": call["kind"]})
                self.assertEqual([line for line in ran.stdout.split() if line in ("initialized", "waits", "runs")], ["initialized", "waits", "runs"], ran.out)
                self.assertIn("stops", ran.stdout)
                self.setUp()
                self.provide({"debugpy/__init__.py": debugpy})

    def test_an_exception_of_a_file_is_shown_without_our_frames(self):
        ran = self.ended(script(), "def f():\n  raise ValueError('boom')\nf()")
        self.assertEqual((ran.end["reason"], ran.end["exit_code"]), ("ExitCode", 1))
        shown = ran.stderr[ran.stderr.index("Traceback") :].splitlines()
        self.assertRegex(shown[1], r'File ".*/workspace/train\.py", line 3, in <module>')

    def test_the_exit_code_of_a_file_is_its_own(self):
        ran = self.ended(script(), "import sys; sys.exit(7)")
        self.assertEqual((ran.end["exit_code"], ran.end["message"]), (7, "train.py ended with exit code 7"))


class Lacking(PathwaysCase):
    def lacking(self, call, **kwargs):
        ran = self.ended(call, "print('ran')\ndef f(): pass", **kwargs)
        self.assertEqual((ran.end["state"], ran.end["reason"], ran.end["exit_code"]), ("FAILED", "BadEnvironment", 1))
        self.assertNotIn("ran\n", ran.stdout)
        self.assertIn(f"kinetic: {ran.end['message']}\n", ran.stderr)
        return ran.end["message"]

    def test_no_pathwaysutils(self):
        os.rename(os.path.join(self.library, "pathwaysutils"), os.path.join(self.library, "gone"))
        want = "--backend pathways needs the packages jax and pathwaysutils: add pathwaysutils to the project's requirements, or to the image"
        self.assertEqual(self.lacking(script()), want)

    def test_old_jax(self):
        self.provide({"jax-0.9.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: jax\nVersion: 0.8.2\n"})
        want = "--backend pathways needs jax 0.8.3 or later, and this is 0.8.2: change the project's requirements, or the image"
        self.assertEqual(self.lacking(function()), want)

    def test_old_python(self):
        self.provide({"sitecustomize.py": "import sys; sys.version_info = (3, 10, 1)"})
        self.assertEqual(self.lacking(function()), "--backend pathways needs Python 3.11 or later, and this is 3.10: use another image")

    def test_modules_of_the_project_are_not_taken_for_those_of_python(self):
        ran = self.ended(function(), {"train.py": "def f(): return 1", "re.py": "1/0", "importlib/__init__.py": "1/0"})
        self.assertEqual(ran.end["state"], "SUCCEEDED", ran.out)


class Failures(PathwaysCase):
    def test_jax_distributed_is_told_to_go(self):
        for call in (function(), script()):
            with self.subTest(call["kind"]):
                self.setUp()
                ran = self.ended(call, "import jax\ndef f(): jax.distributed.initialize()\nif __name__ == '__main__': f()")
                said = "with --backend pathways there is one process: remove jax.distributed.initialize()"
                self.assertTrue(ran.end["message"].endswith(f": {said}"), ran.end)
                self.assertIn(f"kinetic: {said}\n", ran.stderr)

    def test_lost_tpu_host(self):
        want = "TPU host 2 was lost (preempted, drained or crashed)"
        for call in (function(), script()):
            with self.subTest(call["kind"]):
                self.setUp()
                self.assertEqual(self.after(lambda: self.api.pods.pop(f"{NAME}-3"), call), want)
                self.assertIn(f"kinetic: {want}\n", self.log(1))
                self.assertEqual((self.exists("end.json"), self.api.patches), (False, []))
                self.assertNotIn("reason", self.document("attempts/1.json"), "a lost host is no crash")

    def test_sidecar_that_was_restarted_before_sigterm(self):
        process = self.begin(script(), "import signal\nprint('ready', flush=True)\nsignal.pause()")
        while process.stdout.readline() != b"ready\n":
            pass
        self.api.pods[NAME] = head(**{"pathways-rm": 137})
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process).code, 143)
        want = "the Pathways resource manager was restarted (exit code 137, OOMKilled)"
        self.assertEqual((self.document("attempts/1.json")["message"], self.exists("end.json")), (want, False))

    def test_what_a_lost_part_looks_like(self):
        lost = "TPU host 1 was lost (preempted, drained or crashed)"
        pods = lambda: self.api.pods  # noqa: E731
        cases = {
            "deleted": (lambda: pods().pop(f"{NAME}-2"), lost),
            "being deleted": (lambda: pods()[f"{NAME}-2"]["metadata"].update(deletionTimestamp="2026-11-20T08:20:19Z"), lost),
            "replaced": (lambda: pods()[f"{NAME}-2"]["metadata"].update(uid="another"), lost),
            "not ready": (lambda: pods().update({f"{NAME}-2": worker(1, ready=False)}), lost),
            "crashed": (lambda: pods().update({f"{NAME}-2": worker(1, ready=False, ended=1)}), lost),
            "failed": (lambda: pods().update({f"{NAME}-2": worker(1, phase="Failed", ready=False)}), lost),
            "restarted": (lambda: pods().update({f"{NAME}-2": worker(1, restarts=1, ended=139)}), "TPU host 1 was restarted (exit code 139, Error)"),
            "two": (lambda: (pods().pop(f"{NAME}-1"), pods().pop(f"{NAME}-2")), lost.replace("1", "0") + ", " + lost),
            "the manager": (lambda: pods().update({NAME: head(**{"pathways-rm": 137})}), "the Pathways resource manager was restarted (exit code 137, OOMKilled)"),
            "the proxy": (lambda: pods().update({NAME: head(**{"pathways-proxy": 1})}), "the Pathways proxy was restarted (exit code 1, Error)"),
        }
        for name, (change, want) in cases.items():
            with self.subTest(name):
                self.setUp()
                self.assertEqual(self.after(change), want)

    def test_a_job_that_loses_too_many_says_what_it_lost(self):
        lost = self.after(lambda: self.api.pods.update({NAME: head(**{"pathways-rm": 137})}))
        ran = self.ended(script(), "print('ran')", "--max-disruptions", "0", pod=1)
        self.assertEqual((ran.end["reason"], ran.stdout), ("Disrupted", ""))
        self.assertTrue(ran.end["message"].endswith(f"--max-disruptions allows 0; the last time: {lost}"), ran.end)

    def test_a_loss_that_the_cluster_notices_late(self):
        self.change += "\npathways.LOSS_SECONDS = 1000"
        process = self.begin(script(), RAISE.format("IFRT proxy server disconnected"))
        self.eventually(lambda: self.api.gets.count(f"/api/v1/namespaces/ml/pods/{NAME}") > 4, process)
        self.api.pods[f"{NAME}-1"]["metadata"]["deletionTimestamp"] = "2026-11-20T08:20:19Z"
        self.assertEqual(self.finish(process).code, 143)
        self.assertIn("TPU host 0 was lost", self.document("attempts/1.json")["message"])

    def test_sigterm_while_it_looks_is_a_lost_host(self):
        self.change += "\npathways.LOSS_SECONDS = 1000"
        process = self.begin(script(), RAISE.format(DATA_LOSS))
        self.eventually(lambda: self.api.gets.count(f"/api/v1/namespaces/ml/pods/{NAME}") > 4, process)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process).code, 143)
        self.assertEqual(self.document("attempts/1.json")["message"], "its hosts were terminated (preempted, drained or deleted)")
        self.assertFalse(self.exists("end.json"))

    def test_exception_without_a_loss_stays_final(self):
        ran = self.ended(function(), "import jax\ndef f(): raise jax.errors.JaxRuntimeError('INTERNAL: Mosaic failed to compile')")
        self.assertEqual((ran.end["reason"], ran.end["exit_code"]), ("Exception", 1))
        self.assertEqual(ran.end["message"], "jax.errors.JaxRuntimeError: INTERNAL: Mosaic failed to compile")

    def test_other_exceptions_stay_final_whatever_was_lost(self):
        self.api.pods[f"{NAME}-3"] = worker(2, restarts=1, ended=1)
        ran = self.ended(function(), "def f(): raise ValueError('DATA_LOSS')")
        self.assertEqual((ran.end["reason"], ran.end["message"]), ("Exception", "ValueError: DATA_LOSS"))

    def test_hosts_that_have_not_come_are_not_lost(self):
        self.api.pods.update({f"{NAME}-2": worker(1, phase="Pending", ready=False)})
        del self.api.pods[f"{NAME}-3"]
        ran = self.ended(script(), RAISE.format("UNAVAILABLE: no slice"))
        self.assertEqual(ran.end["reason"], "ExitCode", ran.out)

    def test_cluster_that_is_not_to_be_asked(self):
        self.api.refuses = True
        ran = self.ended(function(), "import jax\ndef f(): raise jax.errors.JaxRuntimeError('DATA_LOSS: gone')")
        self.assertEqual(ran.end["reason"], "Exception")
        self.assertIn("warning: cannot look for lost TPU hosts: the API server answered 403", ran.stderr)
        self.assertIn("cannot look for lost TPU hosts", ran.result["warnings"][0])


class Exit(PathwaysCase):
    CRASH = "import atexit, os, signal\natexit.register(lambda: os.kill(os.getpid(), signal.SIGSEGV))\n"

    def crash_at_exit(self):
        """JAX's own exit handler crashes."""
        self.provide({"pathwaysutils/__init__.py": self.CRASH + "def initialize(): pass"})

    def test_crash_at_the_exit_of_a_function(self):
        ran = self.ended(function(), self.CRASH + "def f(): return 7")
        self.assertEqual((ran.end["state"], ran.result["value"]), ("SUCCEEDED", 7), ran.out)
        self.assertEqual(ran.result["warnings"], ["train.py:f returned, but its process was killed by SIGSEGV while exiting"])

    def test_crash_at_the_exit_of_a_program(self):
        for source in ("print('ran')", "import sys; print('ran'); sys.exit()"):
            with self.subTest(source):
                self.setUp()
                self.crash_at_exit()
                ran = self.ended(script(), source)
                self.assertEqual((ran.end["state"], ran.stdout), ("SUCCEEDED", "ran\n"), ran.out)
                self.assertEqual(ran.result["warnings"], ["train.py returned, but its process was killed by SIGSEGV while exiting"])

    def test_crash_at_the_exit_of_a_program_that_failed(self):
        self.crash_at_exit()
        for source in ("raise ValueError('boom')", "import os; os.fork() or exit(0); os.wait(); raise ValueError('boom')"):
            with self.subTest(source):
                process = self.begin(script(), source)
                self.assertEqual(self.finish(process).code, 137)
                self.setUp()
                self.crash_at_exit()


class Logs(PathwaysCase):
    def part(self, name):
        return self.bucket.read(f"{JOB}/parts/1/{name}.log")

    def parts(self):
        prefix = f"{JOB}/parts/"
        return sorted(name[len(prefix) :] for name in self.bucket.names(prefix))

    def test_the_logs_of_all_parts_are_kept_when_a_call_fails(self):
        self.api.logs = {(f"{NAME}-{number + 1}", "pathways-worker", "false"): b"worker %d\n" % number for number in range(TPU_HOSTS)}
        self.api.logs.update({(NAME, name, "false"): name.encode() + b"\n" for name in HEAD})
        ran = self.ended(function(), "def f(): raise ValueError('boom')")
        self.assertEqual(ran.end["message"], "ValueError: boom")
        self.assertEqual(self.parts(), ["1/proxy.log", "1/rm.log"] + [f"1/worker-{number}.log" for number in range(TPU_HOSTS)])
        self.assertEqual((self.part("rm"), self.part("worker-3")), (b"pathways-rm\n", b"worker 3\n"))
        self.assertEqual(ran.result["warnings"], [])

    def test_only_the_end_of_a_log_is_kept(self):
        self.api.logs[NAME, "pathways-rm", "false"] = b"first\n" + b"x" * (1 << 20) + b"last\n"
        self.ended(function(), "def f(): raise ValueError('boom')")
        self.assertEqual((len(self.part("rm")), self.part("rm")[-6:], self.part("rm")[:1]), (1 << 20, b"xlast\n", b"x"))

    def test_nothing_is_kept_of_a_call_that_succeeds(self):
        self.api.logs[NAME, "pathways-rm", "false"] = b"text\n"
        self.ended(function(), "def f(): pass")
        self.assertEqual(self.parts(), [])

    def test_the_lost_part_is_quoted_from_before_its_restart(self):
        self.api.logs[f"{NAME}-2", "pathways-worker", "true"] = f"I0101 ok\n{E0101}\nI0101 bye\n".encode()
        self.api.logs[NAME, "pathways-rm", "false"] = b"F0101 another\n"
        message = self.after(lambda: self.api.pods.update({f"{NAME}-2": worker(1, restarts=1, ended=139)}))
        self.assertEqual(message, f"TPU host 1 was restarted (exit code 139, Error); worker-1: {E0101}")

    def test_another_part_is_quoted_if_the_log_of_the_lost_one_is_gone(self):
        self.api.logs[NAME, "pathways-rm", "false"] = ("Fatal: " + "x" * 300 + "\n").encode()
        message = self.after(lambda: self.api.pods.pop(f"{NAME}-2"))
        self.assertEqual(message, "TPU host 1 was lost (preempted, drained or crashed); rm: Fatal: " + "x" * 192 + "…")

    def test_an_exception_that_stays_final_quotes_a_part(self):
        self.api.logs[NAME, "pathways-proxy", "false"] = b"I0101 x\nsome ERROR: no room\n"
        ran = self.ended(function(), "import jax\ndef f(): raise jax.errors.JaxRuntimeError('INTERNAL: x')")
        self.assertEqual(ran.end["message"], "jax.errors.JaxRuntimeError: INTERNAL: x; proxy: some ERROR: no room")

    def test_logs_that_do_not_come_are_not_waited_for(self):
        self.change += "\npathways.LOG_SECONDS = 0.1\npathways.Parts.log = lambda *_: __import__('time').sleep(1000)"
        self.assertEqual(self.ended(function(), "def f(): raise ValueError('boom')").end["message"], "ValueError: boom")

    def test_logs_that_are_refused_are_a_warning(self):
        self.api.refuses = True
        ran = self.ended(function(), "def f(): raise ValueError('boom')")
        self.assertRegex(ran.result["warnings"][0], "^the logs of Pathways are not complete: [a-z0-9-]+: the API server answered 403")


class Waiting(PathwaysCase):
    SOURCE = "import os, time\nprint('ready', flush=True)\nwhile not os.path.exists({!r}): time.sleep(0.01)"

    def pending(self, *flags):
        self.go = os.path.join(self.root, "go")
        self.api.pods.update({f"{NAME}-{number + 1}": worker(number, phase="Pending", ready=False) for number in (1, 2, 3)})
        process = self.begin(script(), self.SOURCE.format(self.go), *flags)
        while not (line := process.stdout.readline()).startswith(b"\x1ekinetic: waiting for"):
            self.assertTrue(line)
        self.assertEqual(line, b"\x1ekinetic: waiting for 4 TPU hosts: 1 is running\n")
        return process

    def come(self):
        self.api.pods.update({f"{NAME}-{number + 1}": worker(number) for number in range(TPU_HOSTS)})

    def test_the_hosts_are_told_once(self):
        process = self.pending()
        count = len(self.api.gets)
        self.eventually(lambda: len(self.api.gets) > count + 10, process)
        self.come()
        while not (line := process.stdout.readline()).startswith(b"\x1ekinetic: all"):
            self.assertNotIn(b"waiting", line)
        self.assertEqual(line, b"\x1ekinetic: all 4 TPU hosts are running\n")
        open(self.go, "w").close()
        (ran,) = self.parked(process)
        self.assertEqual(ran.end["state"], "SUCCEEDED")

    def test_max_runtime_counts_from_when_all_are_there(self):
        process = self.pending("--max-runtime", "0.3", "--grace", "1")
        count = len(self.api.gets)
        self.eventually(lambda: len(self.api.gets) > count + 30, process)  # far longer than the limit
        self.assertFalse(self.exists("end.json"))
        self.come()
        (ran,) = self.parked(process)
        self.assertEqual((ran.end["reason"], ran.end["message"]), ("DeadlineExceeded", "train.py ran longer than the 0.3 seconds of --max-runtime"))

    def test_pods_that_cannot_be_seen_do_not_hold_the_clock(self):
        self.api.refuses = True
        ran = self.ended(script(), self.SOURCE.format(os.path.join(self.root, "never")), "--max-runtime", "0.3", "--grace", "1")
        self.assertEqual(ran.end["reason"], "DeadlineExceeded")
        self.assertIn("kinetic: warning: cannot look for the TPU hosts, so --max-runtime counts from now: the API server answered 403", ran.stderr)


if __name__ == "__main__":
    unittest.main()
