# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The attempt of a job on Pathways. Its one process runs on host 0, and the pods of the TPU hosts run only Google's worker."""

import json
import re
import subprocess
import time
from collections import namedtuple

from ..contract import PARTS, PATHWAYS
from ..ending import try_to
from ..errands import Errands
from ..errors import AlreadyExists, BadEnvironment, Transient, explain
from ..outcome import EXCEPTION, EXIT_CODE, EXIT_KILLED, EXIT_TERMINATED, KILLED, TERMINATED, Outcome
from ..records import read_document
from ..store import in_parallel
from ..store.http import Request
from ..store.names import part_log_name
from ..text import shorten
from ..threads import start_threads
from .leader import LeaderAttempt
from .release import APIServer
from .rendezvous import Group

LOOK_SECONDS = 3.0  # between looks at the pods
BLIND_SECONDS = 300.0  # of looks that fail, until the TPU hosts are taken to be there
LOSS_SECONDS = 90.0  # for the cluster to notice that a part is lost: a node that died is not ready after 50 seconds
LOG_SECONDS = 10.0  # to keep the logs of all parts
LOG_BYTES, LOG_PARTS = 1 << 20, 66  # of each part's log, and of how many parts: the first ones
LOG_QUERY = "log?container={}&previous={}&tailLines=20000"  # limitBytes would cut the end
PARALLEL = 16  # requests

# What JAX raises when a part is lost, and what a bug in a program raises, too: the pods tell which.
LOSS = re.compile("(?s)(?:Jax|Xla)RuntimeError: .*?(?:DATA_LOSS|DEADLINE_EXCEEDED|NOT_FOUND|INTERNAL|UNAVAILABLE|IFRT proxy server)")
DISTRIBUTED = re.compile(r'jax/_src/distributed\.py", line \d+, in initialize')
ONE_PROCESS = "with --backend pathways there is one process: remove jax.distributed.initialize()"
ERROR = re.compile(r"(?m)^(?:[EF]\d{4} .*|.*(?i:error|fatal).*)$")

# Prints what the Python of the call lacks. A module of the project must not stand in for one that this needs.
CHECK = """
import re, sys
from importlib import metadata, util
oldest, oldest_jax, newer, newer_jax = sys.argv[1:5]
sys.path += sys.argv[5:]
def numbers(version):
    return [int(number) for number in re.findall("[0-9]+", version)[:3]]
def version():
    try:
        return metadata.version("jax")
    except metadata.PackageNotFoundError:
        return None
if list(sys.version_info[:3]) < numbers(oldest):
    print("Python %s or later, and this is %d.%d: use another image" % ((oldest,) + sys.version_info[:2]))
elif not util.find_spec("jax") or not util.find_spec("pathwaysutils"):
    print("the packages jax and pathwaysutils: add pathwaysutils to the project's requirements, or to the image")
elif version() and numbers(version()) < numbers(oldest_jax):
    print("jax " + oldest_jax + " or later, and this is " + version() + ": change the project's requirements, or the image")
elif version() and numbers(version()) >= numbers(newer_jax) and list(sys.version_info[:3]) < numbers(newer):
    print("Python %s or later with jax %s, and this is %d.%d: use another image" % ((newer, version()) + sys.version_info[:2]))
"""

Part = namedtuple("Part", "name pod container title")
Loss = namedtuple("Loss", "why starved")  # a sentence; whether memory ran out, which happens again with another machine like it


class Parts:
    """The parts of Pathways that run for a job: its resource manager and proxy, and a worker on each TPU host."""

    def __init__(self, workload, hosts):
        namespace, name = workload.split("/")
        self._path = f"/api/v1/namespaces/{namespace}/pods/"
        self.workers = [
            Part(PARTS["worker"] % host, f"{name}-0-{host + 1}", PATHWAYS["worker"], PARTS["worker_title"] % host) for host in range(hosts)
        ]
        sidecars = [Part(PARTS[part], f"{name}-0", PATHWAYS[part], PARTS[f"{part}_title"]) for part in ("manager", "proxy")]
        self.all = sidecars + self.workers
        self.uids = {}  # of the workers' pods that have run, by name
        self._server = None

    def _get(self, path, last=None):
        self._server = self._server or APIServer()
        return self._server.ask(Request("GET", self._path + path), (404, 400), last)  # 400: there is no log yet

    def pod(self, part):
        """Return the pod of a part, {} if there is none."""
        return json.loads(self._get(part.pod) or "{}")

    def look(self):
        """Return how many of the workers have run."""

        def see(part):
            pod = self.pod(part)
            if pod and pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]:
                self.uids[part.name] = pod["metadata"]["uid"]

        in_parallel(see, [part for part in self.workers if part.name not in self.uids], PARALLEL)
        return len(self.uids)

    def lost(self):
        """Return the parts that were lost, each with its Loss. Those that were made again because of a sidecar don't count."""
        found = {}

        def see(part):
            pod = self.pod(part)
            if loss := restarted(part, pod):
                found[part] = loss
            elif part in self.workers and is_lost(pod, self.uids.get(part.name)):
                found[part] = Loss(f"{part.title} was lost (preempted, drained or crashed)", False)

        in_parallel(see, self.all, PARALLEL)
        return self.causes(found)

    def causes(self, found):
        """Return, in order, the parts that were lost first: if a sidecar was restarted, the cluster makes all TPU hosts again."""
        sidecars = [part for part in self.all if part in found and part not in self.workers]
        return {part: found[part] for part in sidecars or self.all if part in found}

    def log(self, part):
        """Return the end of a part's log, as bytes, and its Loss if it was restarted: the log is then that of its run before."""
        loss = restarted(part, self.pod(part))
        query = LOG_QUERY.format(part.container, "true" if loss else "false")
        return self._get(f"{part.pod}/{query}", LOG_BYTES) or b"", loss


def restarted(part, pod):
    """Return the Loss of a part whose container was restarted, None if it was not."""
    status = pod.get("status", {})
    for container in status.get("containerStatuses", []) + status.get("initContainerStatuses", []):
        if container["name"] == part.container and container["restartCount"]:
            ended = container.get("lastState", {}).get("terminated") or {}
            if ended.get("reason") == "OOMKilled":
                return Loss(f"{part.title} is out of memory: {memory(part, pod)}", True)
            return Loss(f"{part.title} was restarted" + (f" (exit code {ended['exitCode']}, {ended.get('reason')})" if ended else ""), False)
    return None


def memory(part, pod):
    """Return what to do about the memory of a part."""
    spec = pod.get("spec", {})
    for container in spec.get("containers", []) + spec.get("initContainers", []):
        limit = container.get("resources", {}).get("limits", {}).get("memory")
        if container["name"] == part.container and limit:
            return f"it used all of its {limit}; raise its limit with --overlay, or run on machines with more memory"
    return "its machine had none left; run on machines with more memory"


def is_lost(pod, uid):
    """Return whether a worker's pod is gone, or about to go. uid is that of the pod that has run, None if none has: it may still come."""
    about = pod.get("metadata", {})
    if uid is None:
        return "deletionTimestamp" in about
    ready = pod and any(condition["type"] == "Ready" and condition["status"] == "True" for condition in pod["status"].get("conditions", ()))
    return not ready or about["uid"] != uid or "deletionTimestamp" in about


class Lookout(Errands):
    """The errands of a call, one of which looks for the TPU hosts until all have come."""

    def __init__(self, attempt, *words):
        super().__init__(*words)
        self._attempt, self._look_at, self._told = attempt, 0.0, []
        self._waiting = False
        self._blind = None  # since when looks have failed

    @property
    def next_at(self):
        return min(super().next_at, self._look_at)

    def tick(self, now):
        """Start the errands that are due, and print what was found."""
        if not self._attempt.complete and self._attempt.hang:
            self._attempt.hang.moved()  # to wait for TPU hosts is not to hang
        super().tick(now)
        while self._told:
            self._attempt.say(self._told.pop())
        if now >= self._look_at:
            self._look_at = now + LOOK_SECONDS
            self._ask(self._look)

    def _look(self, _):
        attempt, hosts = self._attempt, self._attempt.options.pathways
        if attempt.complete:
            return  # an earlier look took longer than the pause between two
        try:
            there = attempt.pathways.look()
        except Exception as exc:
            self._blind = time.monotonic() if self._blind is None else self._blind
            if isinstance(exc, Transient) and time.monotonic() - self._blind < BLIND_SECONDS:
                return
            self._told.append(f"warning: cannot look for the TPU hosts, so --max-runtime counts from now: {explain(exc)}")
        else:
            self._blind = None
            if there < hosts:
                if not self._waiting:
                    self._told.append(f"waiting for {count(hosts)}: {there} {'is' if there == 1 else 'are'} running")
                self._waiting = True
                return
            self._told.append(f"{'all ' if hosts > 1 else ''}{count(hosts)} {'are' if hosts > 1 else 'is'} running")
        self._look_at = float("inf")
        if attempt.hang:
            attempt.hang.moved()
        attempt.complete_at = time.monotonic()


def count(hosts):
    return f"{hosts} TPU host{'s' if hosts > 1 else ''}"


class PathwaysAttempt(LeaderAttempt):
    """The attempt on host 0, the only one that runs the call."""

    def __init__(self, options, signals):
        super().__init__(options, signals, Group(0, 1, "", 1, True))
        self.pathways = Parts(options.release, options.pathways)
        self.complete_at = None  # when all TPU hosts had come, by time.monotonic()
        self.hang = None  # notices that the call hangs
        self._loss = None  # the outcome of an attempt that lost one

    @property
    def complete(self):
        """Whether all TPU hosts have come."""
        return self.complete_at is not None

    @property
    def runtime_from(self):
        """The time.monotonic() at which all TPU hosts had come, or None. --max-cost counts before, too: the slice is paid for."""
        return self.complete_at

    def watch(self, errands):
        """Return what notices that the call hangs, or None without --hang-timeout."""
        self.hang = super().watch(errands)
        return self.hang

    def errands(self, kind=Errands):
        """Return the errands to run while the call runs."""
        return super().errands(lambda *words: Lookout(self, *words))

    def spent(self, count):
        """Return the outcome of a job that has crashed or lost parts too often, with what the last attempt said, else None."""
        outcome = super().spent(count)
        if outcome is not None and self.number > 1:
            last = try_to(self, outcome, "read the record of the last attempt", lambda: read_document(self.store, self.records.name(self.number - 1)))
            if last and last.get("message"):
                outcome.message += f"; the last time: {last['message']}"
        return outcome

    def run_call(self, call):
        """Return the outcome of the call."""
        place = self.place(call, {"KINETIC_TPU_HOSTS": str(self.options.pathways)})
        if call.kind == "command":
            self.say("a --command must itself call pathwaysutils.initialize() before it uses JAX")
        else:
            self.check(call, place)
        outcome, _ = self.supervise(call, place, self.link)
        if not outcome.ok:
            outcome = try_to(self, outcome, "find out what has failed", lambda: self.explained(outcome)) or outcome
        self.announce(outcome)
        return outcome

    def check(self, call, place):
        """Raise BadEnvironment if Pathways can't run in the Python of the call."""
        oldest = [PATHWAYS[key] for key in ("python", "jax", "newer_python", "newer_jax")]
        argv = [place.python, "-c", CHECK, *oldest] + [place.path(path) for path in call.sys_path]
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=place.environ, cwd="/")
        if lacking := done.stdout.decode("utf-8", "replace").strip():
            raise BadEnvironment(f"--backend pathways needs {lacking}")

    def broken(self, gone):
        """Return the outcome of an attempt that lost a part of Pathways, or these hosts."""
        return self._loss or super().broken(gone)

    def explained(self, outcome):
        """Return the outcome of a call that failed, with what the parts of Pathways say."""
        ours = outcome.reason in (EXCEPTION, EXIT_CODE)
        text = (outcome.error or {}).get("traceback") or self.log.tail.decode("utf-8", "replace")
        if ours and DISTRIBUTED.search(text):
            self.say(ONE_PROCESS)
            outcome.message = f"{outcome.message}: {ONE_PROCESS}"
        suspect = ours and LOSS.search(text)
        lost = try_to(self, outcome, "look for lost TPU hosts", self.find_lost) if suspect else None
        said, restarts = self.save_logs(outcome)
        if outcome.reason == TERMINATED:
            lost = self.pathways.causes(restarts)  # the others are terminated, too
        elif not suspect:
            return outcome
        quote = next((f"; {part.name}: {said[part]}" for part in [*(lost or ()), *self.pathways.all] if said.get(part)), "")
        if lost:
            message = ", ".join(loss.why for loss in lost.values()) + quote
            if any(loss.starved for loss in lost.values()):
                return Outcome(KILLED, EXIT_KILLED, message, outcome.error)  # a crash, as if the call had used it
            self._loss = Outcome(TERMINATED, EXIT_TERMINATED, message, outcome.error)
        elif suspect and self.signals.came:
            return self.broken(())  # most probably because a TPU host was lost
        elif suspect:
            outcome.message += quote
        return self._loss or outcome

    def find_lost(self):
        """Return the parts that were lost. Wait for the cluster to notice it."""
        until = time.monotonic() + LOSS_SECONDS
        while True:
            try:
                if lost := self.pathways.lost():
                    return lost
            except Transient:
                if time.monotonic() >= until:
                    raise
            if self.signals.came or time.monotonic() >= until:
                return None
            self.wait(lambda: self.signals.came, time.monotonic() + LOOK_SECONDS)

    def save_logs(self, outcome):
        """Store the end of each part's log. Return, by part, the last line that looks like an error, and its Loss if it was restarted."""
        said, restarts, failures = {}, {}, []

        def save(part):
            try:
                text, loss = self.pathways.log(part)
                if loss:
                    restarts[part] = loss
                if text:
                    found = ERROR.findall(text.decode("utf-8", "replace"))
                    said[part] = found and shorten(found[-1].strip(), 200)
                    self.store.create(part_log_name(self.options.job, self.number, part.name), lambda: [text])
            except AlreadyExists:
                pass  # from before the container was restarted
            except Exception as exc:
                failures.append(f"{part.name}: {explain(exc)}")

        threads = start_threads(1, lambda: in_parallel(save, self.pathways.all[:LOG_PARTS], PARALLEL))
        self.wait(lambda: not any(thread.is_alive() for thread in threads), time.monotonic() + LOG_SECONDS)
        if failures:
            self.warn(outcome, f"the logs of Pathways are not complete: {failures[0]}")
        return dict(said), dict(restarts)
