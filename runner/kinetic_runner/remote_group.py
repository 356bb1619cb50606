# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The runners of a job on several hosts, one on each; that of host 0, the leader, speaks for the job."""

import math
import os
import signal
import time
from collections import namedtuple

from .remote_runner import (
    DISRUPTED, EXIT_RUNNER, EXIT_TERMINATED, Endpoint, FIRST_PAUSE, KILLED, LONGEST_PAUSE, LogParts, Outcome,
    REQUEST_SECONDS, RETRY_STATUS, Request, Runner, RunnerError, STOPPED, Spool, TERMINATED, Transient, Unreachable,
    encode_json, neighbour, shorten, tell, text_of, timestamp, whole_number,
)

peers = neighbour("remote_peers")

TORCH_PORT, JAX_PORT = 29500, 8476  # of the leader's call
POLL_SECONDS = 0.2
CRASH_LEAD = 2.0  # by which others may notice first that a call was killed, for they lost a peer
RESTART_SECONDS = 300.0  # for the cluster to start a broken group again
SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
LEADERWORKERSETS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/{}/leaderworkersets/{}"
OUTCOME_ANNOTATION = "kubectl-kinetic.github.io/outcome"

Group = namedtuple("Group", "host hosts leader slices")


def find_group(options, environ):
    """This host's place among the hosts of its job."""
    names = ("JOB_COMPLETION_INDEX", "KINETIC_HOSTS", "KINETIC_LEADER")
    if options.release:
        names = ("LWS_WORKER_INDEX", "LWS_GROUP_SIZE", "LWS_LEADER_ADDRESS")
    host, hosts, leader = (environ.get(name, "") for name in names)
    try:
        group = Group(whole_number(host), whole_number(hosts), leader, whole_number(environ.get("KINETIC_SLICES", "1")))
        if group.host < group.hosts and leader and group.hosts % group.slices == 0:
            return group
    except (ValueError, ZeroDivisionError):
        pass
    found = ", ".join(f"{name}={environ.get(name, '')!r:.80}" for name in names + ("KINETIC_SLICES",))
    raise RunnerError(f"the environment does not tell this host's place in the job: {found}")


def rendezvous(group, chips):
    """What torch and JAX on all hosts, each with chips like gpu:8, find each other by."""
    kind, _, count = chips.partition(":")
    host, hosts = str(group.host), str(group.hosts)
    found = {"MASTER_ADDR": group.leader, "MASTER_PORT": str(TORCH_PORT), "WORLD_SIZE": hosts, "RANK": host}
    found.update(LOCAL_WORLD_SIZE="1", LOCAL_RANK="0")
    found.update(JAX_COORDINATOR_ADDRESS=f"{group.leader}:{JAX_PORT}", JAX_NUM_PROCESSES=hosts, JAX_PROCESS_ID=host)
    if kind != "tpu":
        # JAX reads the address only. The rest it has from a TPU slice, or else from a
        # launcher that it knows: we look like Open MPI before version 5.
        found.update(OMPI_VERSION="4.1.0", OMPI_MCA_orte_hnp_uri=f"0.0;tcp://{group.leader}:{JAX_PORT}")
        found.update(OMPI_COMM_WORLD_SIZE=hosts, OMPI_COMM_WORLD_RANK=host, OMPI_COMM_WORLD_LOCAL_RANK="0")
    if kind == "gpu":
        # Which has a process for each GPU; here one process has all of them.
        found["JAX_LOCAL_DEVICE_IDS"] = ",".join(map(str, range(int(count))))
    if group.slices > 1:  # or libtpu would wait for others
        slice_id = group.host * group.slices // group.hosts
        found.update(MEGASCALE_COORDINATOR_ADDRESS=group.leader, MEGASCALE_NUM_SLICES=str(group.slices))
        found.update(MEGASCALE_SLICE_ID=str(slice_id))
    return found


class Release:
    """Says on the job's LeaderWorkerSet, which would start its pods for ever, how it ended and scales it to zero."""

    def __init__(self, workload, end):
        url = "https://{KUBERNETES_SERVICE_HOST}:{KUBERNETES_SERVICE_PORT}".format_map(os.environ)
        self._server = Endpoint(url, os.path.join(SERVICE_ACCOUNT, "ca.crt"))
        annotations = {OUTCOME_ANNOTATION: encode_json(end).decode()}
        self._body = encode_json({"metadata": {"annotations": annotations}, "spec": {"replicas": 0}})
        self._path = LEADERWORKERSETS.format(*workload.split("/"))

    def send(self):
        """Does it; Transient if it may succeed later, else RunnerError."""
        with open(os.path.join(SERVICE_ACCOUNT, "token"), encoding="ascii") as file:
            token = file.read().strip()  # it is replaced now and then
        headers = (("Content-Type", "application/merge-patch+json"), ("Content-Length", str(len(self._body))))
        answer = self._server.send(Request("PATCH", self._path, headers, lambda: [self._body]), REQUEST_SECONDS, token)
        data = answer.content()
        if answer.status in (401, 409) or answer.status in RETRY_STATUS:
            raise Transient(f"the API server answered {answer.status}")
        if answer.status not in (200, 404):  # or it is gone, and so are its hosts, soon
            # The answer is a Status of Kubernetes.
            raise RunnerError(f"the API server answered {answer.status}: {shorten(data.decode('utf-8', 'replace'), 300)}")


class GroupRunner(Runner):
    """One attempt on one of several hosts."""

    def __init__(self, options, group):
        super().__init__(options)
        self._group = group
        self._host, self._hosts = group.host, group.hosts
        self._final = options.final or not options.release
        self._save_by = math.inf  # of time.monotonic, once SIGTERM has come
        os.environ.pop("KINETIC_LEADER", None)  # or a job that the call runs here would be taken for one of its hosts
        self._mark = os.path.join(options.work, "attempt")  # outlives the container, not the pod

    @property
    def _terminated(self):
        return self._save_by < math.inf

    def _open_store(self):
        store = super()._open_store()
        store.insist()  # before the attempt is counted, to give up would end the job for good
        return store

    def _hurry(self, *_):
        super()._hurry()
        self._save_by = min(self._save_by, time.monotonic() + self._options.grace)

    def _wait(self, done, until=math.inf):
        """Attends to the other hosts until done(), but not longer than told, or than SIGTERM allows."""
        while not done() and time.monotonic() < min(until, self._save_by):
            self._link.attend(POLL_SECONDS)

    def _rest(self):
        """Waits for SIGTERM, for a host that leaves is started again; without polling, for accelerators are held until it returns."""
        numbers = (signal.SIGTERM, signal.SIGINT)
        signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
        if not self._terminated:
            signal.sigwait(numbers)

    def _exit_code_without_call(self):
        """In a pod whose container was started again no call runs: all hosts will be started again."""
        if not os.path.exists(self._mark):
            self._leave_mark("")
            return None
        self._only_hurry()
        self._say("this container was restarted, so the cluster will restart all hosts; the call is not run")
        try:
            self._save_crash()
        except (RunnerError, OSError) as exc:
            self._say(f"warning: the crash is not recorded: {text_of(exc)}")
        self._wait(lambda: self._terminated, time.monotonic() + RESTART_SECONDS)
        return EXIT_RUNNER

    def _leave_mark(self, attempt):
        with open(self._mark, "w", encoding="ascii") as file:
            file.write(str(attempt))

    def _save_crash(self):
        """Records that the container and its runner crashed, as happens when memory runs out, and saves what it had printed."""
        with open(self._mark, encoding="ascii") as file:
            attempt = file.read()
        if not attempt:
            return
        message = f"host {self._host}: its runner was killed: it is likely that memory ran out"
        self._amend(self._record_name(attempt), reason=KILLED, message=message, finished=timestamp())
        spool = Spool(os.path.join(self._scratch, "log"), keep=True)
        spool.renew()
        LogParts(self._store, self._options.job, self._host, attempt).publish_all(spool)

    def _variables(self):
        found = rendezvous(self._group, self._options.chips)
        # What the user has set stays.
        return dict({name: found[name] for name in found.keys() - os.environ.keys()}, **super()._variables())

    def _judge(self, call, status, supervisor):
        outcome = super()._judge(call, status, supervisor)
        out_of_memory = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL and not supervisor.killed
        if out_of_memory:
            outcome.at -= CRASH_LEAD
        if not supervisor.ended or outcome.ok or outcome.reason == TERMINATED or supervisor.failed or out_of_memory:
            return outcome
        return Outcome(STOPPED, EXIT_TERMINATED, f"{call.title} was stopped because another host failed")

    def _save_log(self, outcome):
        """Publishes what there is of the log: the job may go on for long."""
        if self._parts is not None and self._log is not None:
            try:
                self._publish_rest_of_log(outcome)
            except Unreachable as exc:
                self._say(f"warning: {exc}")


class LeaderRunner(GroupRunner):
    """The attempt on host 0, which counts, publishes and releases for all."""

    def __init__(self, options, group):
        super().__init__(options, group)
        self._link = peers.Leader(group.hosts, peers.greeting(options, 0), self._say)
        self._lost = set()  # the hosts that were gone before this one was told to end

    def _hurry(self, *_):
        if not self._terminated:
            self._lost = self._link.gone
        super()._hurry()

    def _exit_code_without_call(self):
        # A job that has ended is only to be released, whatever happened to the pod.
        code = Runner._exit_code_without_call(self)
        return super()._exit_code_without_call() if code is None else code

    def _begin(self):
        self._link.listen()
        disruptions = super()._begin()
        self._link.attempt = self._attempt
        self._leave_mark(self._attempt)
        return disruptions

    def _spent(self, disruptions):
        spent = super()._spent(disruptions)
        if spent is None and self._crashes:
            self._say(f"attempt {self._attempt} begins ({self._crashes} of {self._options.retries} retries used)")
        return spent

    def _publish(self, outcome):
        if not self._attempt and outcome.reason == TERMINATED and self._options.release:
            return EXIT_TERMINATED  # publish nothing: the job may have ended already
        self._final = self._final or not self._attempt  # nothing bounds the attempts that are not counted
        if self._attempt and outcome.reason != TERMINATED:
            self._save_log(outcome)
            outcome = self._agree(outcome)
        elif self._attempt and not self._options.release:
            outcome = self._broken(self._lost)  # if any, they are why the Job has this host end
        code = super()._publish(outcome)
        self._leave_mark("")  # if it crashed, that is recorded
        return code

    def _record_end(self, outcome, finished):
        told = self._terminated and outcome.reason == TERMINATED
        super()._record_end(self._broken(self._lost) if told else outcome, finished)

    def _publish_to_store(self, outcome, finished):
        try:
            return super()._publish_to_store(outcome, finished)
        except Unreachable:
            raise
        except RunnerError:
            self._final = True  # a store that refuses this attempt would refuse the next ones too
            raise

    def _agree(self, outcome):
        """The outcome of the attempt, of which this host's is a part."""
        link = self._link
        link.report(outcome)
        until = time.monotonic() + RESTART_SECONDS
        self._wait(lambda: link.settled(self._terminated) or link.gone and time.monotonic() >= until)
        agreed = peers.verdict(link.outcomes, link.gone, self._hosts)
        if agreed is outcome:
            return outcome
        if agreed is None:
            agreed = self._broken(link.gone)
        else:
            agreed.message = f"host {agreed.host}: {agreed.message}"
        self._say(agreed.message)
        return agreed

    def _broken(self, gone):
        if gone:
            lost = gone.difference(self._link.outcomes) or gone  # the others are told to end after it
            names, were = ", ".join(f"host {host}" for host in sorted(lost)), "was" if len(lost) == 1 else "were"
            told = not lost.isdisjoint(self._link.outcomes)  # to end, as when the job is cancelled
            message = f"{names} {were} lost ({'cancelled, ' if told else ''}preempted, drained or crashed)"
        else:
            who = "its hosts were" if self._options.release else "host 0 was"
            message = f"{who} told to end, by a preemption, a drain or a deletion"
        if self._options.release:
            return Outcome(TERMINATED, EXIT_TERMINATED, message)
        message += "; an Indexed Job does not restart: use --backend pathways"
        if self._terminated and not self._lost:
            return Outcome(TERMINATED, EXIT_TERMINATED, message)
        return Outcome(DISRUPTED, 1, message)

    def _conclude(self, end, outcome=None):
        if end is None and self._final:
            end = self._tried_end or self._end(outcome, timestamp())  # told only in the set's annotation
        if end is not None and self._options.release:
            self._only_hurry()
            self._link.close()
            self._release(end)
            self._rest()

    def _release(self, end):
        pause = FIRST_PAUSE
        try:
            release = Release(self._options.release, end)
            while not self._terminated:
                try:
                    return release.send()
                except Transient:
                    time.sleep(pause)
                    pause = min(2 * pause, LONGEST_PAUSE)
        except (RunnerError, OSError, KeyError) as exc:
            tell(f"kinetic: cannot release the hosts of the job; the next kubectl kinetic jobs command will: {text_of(exc)}\n")


class MemberRunner(GroupRunner):
    """The attempt on another host, which keeps a log of its own and tells the leader how its call ended."""

    def __init__(self, options, group):
        super().__init__(options, group)
        self._link = peers.Member(group.leader, peers.greeting(options, group.host))

    def _begin(self):
        return 0  # disruptions: the leader counts them

    def _meet(self):
        link = self._link
        self._wait(lambda: self._terminated or link.attempt or link.ending)
        if link.ending or not link.attempt:
            return Outcome(STOPPED, EXIT_TERMINATED, "the job has ended or failed before the call began on this host")
        self._attempt = link.attempt
        self._parts = LogParts(self._store, self._options.job, self._host, self._attempt)
        self._leave_mark(self._attempt)
        self._began = time.monotonic()  # the leader may have been late
        return None

    def _publish(self, outcome):
        if not self._attempt and outcome.reason not in (STOPPED, TERMINATED):
            self._meet()  # or nobody would know what failed
        self._save_log(outcome)
        self._write_termination_message(outcome, timestamp())
        self._link.report(outcome)
        # To leave would have all hosts started again, or fail the job before the leader has published why.
        if self._options.release or not self._attempt:
            self._rest()
        else:
            self._wait(lambda: self._terminated or self._link.lost)
        return outcome.exit_code


class StrayRunner(LeaderRunner):
    """The attempt on a host that is not told its place: it ends the job, or it would be started again for ever."""

    def __init__(self, options, problem):
        super().__init__(options, Group(0, 1, "", 1))
        self._problem = problem

    def _begin(self):
        raise self._problem


def runner(options, environ):
    """The runner of this host."""
    try:
        group = find_group(options, environ)
    except RunnerError as exc:
        if not options.release:
            raise
        return StrayRunner(options, exc)
    return (MemberRunner if group.host else LeaderRunner)(options, group)
