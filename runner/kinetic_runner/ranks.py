# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Start a call several times on this host, as torchrun does: one process for each GPU, say.

The processes are called ranks. Each line that they print begins with the number of the rank. If one fails, all end, and that
failure is the outcome. Else it is the outcome of the first one.
"""

import json
import marshal
import os
import re
import select
import signal
import socket
import time

from .judge import ended_early
from .outcome import Outcome
from .process import DOCUMENT_FD, PROGRAM, PYTHON, REPORT_FD, Child, Command
from .text import write_all

END_GRACE = 3.0  # seconds for the others after one has failed
AGAIN = 1.0  # seconds between two SIGKILLs, which a process that waits in the kernel may ignore
DRAIN_SECONDS = 1.0  # for the output of a process that has ended
PIPE_READ = 64 << 10
ENDS = re.compile(rb"(?<=[\r\n])(?=.)", re.DOTALL)  # between lines; a progress bar ends with a carriage return
TORCH_PORT = 29500


def main(argv, early_signals):
    """Run the plan, JSON, to its end; return the exit code.

    It has "count", a number or "auto", "chips", such as gpu:8 or "", "group", whether a SIGTERM reaches the processes anyway, and
    "argv", what to run: [] for a function, whose document comes from the runner.
    """
    plan = json.loads(argv[2])
    with open(DOCUMENT_FD, "rb", buffering=0) as pipe:
        document = pipe.readall()
    if not document and not plan["argv"]:
        return 0  # the runner ended without sending a call
    ranks = Ranks(plan, document)
    if early_signals:
        ranks.pass_on()
    return ranks.run()


def count_of(count, chips):
    """Return how many processes to start. "auto" is one for each GPU for PyTorch, and one for JAX, which uses all of them."""
    if count != "auto":
        return int(count)
    from importlib.util import find_spec

    kind, _, number = chips.partition(":")
    return int(number) if kind == "gpu" and find_spec("torch") and not find_spec("jax") else 1


def variables(environ, count, chips):
    """Return the variables of each process on this host: those of torchrun, and JAX's for a process with one device."""
    host, hosts = int(environ.get("RANK", "0")), int(environ.get("WORLD_SIZE", "1"))
    leader, port = environ.get("MASTER_ADDR"), environ.get("MASTER_PORT")
    if not leader:
        leader = "127.0.0.1"
    if not port:
        port = str(TORCH_PORT if hosts > 1 else free_port())
    shared = {
        "MASTER_ADDR": leader,
        "MASTER_PORT": port,
        "WORLD_SIZE": str(hosts * count),
        "LOCAL_WORLD_SIZE": str(count),
        "GROUP_RANK": str(host),
        "GROUP_WORLD_SIZE": str(hosts),
        "JAX_COORDINATOR_ADDRESS": environ.get("JAX_COORDINATOR_ADDRESS", f"{leader}:{free_port()}"),
        "JAX_NUM_PROCESSES": str(hosts * count),
    }
    if count > 1:
        shared["OMP_NUM_THREADS"] = environ.get("OMP_NUM_THREADS", "1")
    found = []
    for local in range(count):
        rank = str(host * count + local)
        own = {"RANK": rank, "LOCAL_RANK": str(local), "JAX_PROCESS_ID": rank}
        if "OMPI_COMM_WORLD_SIZE" in environ:  # with which JAX finds the others
            own.update(OMPI_COMM_WORLD_SIZE=str(hosts * count), OMPI_COMM_WORLD_RANK=rank, OMPI_COMM_WORLD_LOCAL_RANK=str(local))
        if chips.startswith("gpu:"):
            own["JAX_LOCAL_DEVICE_IDS"] = str(local)
        found.append({**shared, **own})
    return found


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Rank:
    """A process of the call, with what is still to be read from it. parts are the beginnings of lines, by their pipes.

    call is its document, or {} if it is not a function. outcome is what it has reported.
    """

    def __init__(self, number, child, call):
        self.number, self.child, self.call, self.outcome = number, child, call, None
        self.parts = {fd: b"" for fd in (*child.output, child.report)}

    def read(self, fd):
        """Return the lines that are complete, each with its end; None if there is nothing to read."""
        try:
            data = os.read(fd, PIPE_READ)
        except BlockingIOError:
            return None
        if not data:
            last = self.parts.pop(fd, b"")
            return [last + b"\n"] if last else None
        lines = ENDS.split(self.parts[fd] + data)
        self.parts[fd] = b"" if lines[-1].endswith((b"\r", b"\n")) else lines.pop()
        return lines


class Ranks:
    """All processes of a call on this host."""

    def __init__(self, plan, document):
        count = count_of(plan["count"], plan["chips"])
        environs = variables(os.environ, count, plan["chips"])
        self.group, self.ranks = plan["group"], []
        self.status = 0  # of the first process that has failed without an outcome
        self.kill_at = None  # when the others are killed, once one has failed
        self.terminated = False  # all were told to end, and have the time that the runner gives them
        self.wake, wake_write = os.pipe()
        for fd in (self.wake, wake_write):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self.pass_on)
        call = marshal.loads(document) if document else {}
        for local, environ in enumerate(environs):
            child = Child(Command(plan["argv"] or [PYTHON, "-u", PROGRAM, "function"], os.getcwd(), dict(os.environ, **environ), True, apart=False))
            own = call and call_of(call, local, environ)
            self.ranks.append(Rank(int(environ["RANK"]), child, own))
            child.send(marshal.dumps(own) if own else b"")

    def run(self):
        """Return the exit code once all have ended. A signal that has ended the first failed one ends this process, too."""
        while any(rank.child.status is None for rank in self.ranks):
            self._serve()
            self._reap()
            if self.kill_at is not None and time.monotonic() >= self.kill_at:
                self._signal(signal.SIGKILL)
                self.kill_at = time.monotonic() + AGAIN
        until = time.monotonic() + DRAIN_SECONDS
        while time.monotonic() < until and self._serve(0):
            pass
        for rank in self.ranks:
            for fd, part in rank.parts.items():  # something that the rank has started keeps the pipe open
                self._pass(rank, fd, part and [part + b"\n"])
        outcome = self._outcome()
        if outcome:
            write_all(REPORT_FD, json.dumps({"outcome": outcome.to_json()}).encode() + b"\n")
        status = self.status or max(rank.child.status for rank in self.ranks)
        if not os.WIFSIGNALED(status):
            return os.WEXITSTATUS(status)
        if not outcome or outcome.ok:  # the runner then warns that it crashed while exiting
            end_with(os.WTERMSIG(status))
        return 1

    def _outcome(self):
        """Return the first failure, else the outcome of the first rank, with the time when the last one ended. It counts as returned only if all have."""
        outcomes = [rank.outcome for rank in self.ranks if rank.outcome]
        failures = [outcome for outcome in outcomes if not outcome.ok]
        if failures:
            return min(failures, key=lambda outcome: outcome.at)
        if self.status or not outcomes:
            return None
        early = [outcome for outcome in outcomes if not outcome.returned]
        outcomes[0].at, outcomes[0].returned = max(outcome.at for outcome in early or outcomes), not early
        return outcomes[0]

    def pass_on(self, *_):
        """Pass a SIGTERM on to the processes, unless it has reached them. Then one that ends first, without work to save, ends no others."""
        self.terminated = True
        if not self.group:
            self._signal(signal.SIGTERM)

    def _serve(self, timeout=None):
        """Pass on what the processes print and report. Return whether there was something."""
        poll, owners = select.poll(), {}
        poll.register(self.wake, select.POLLIN)
        for rank in self.ranks:
            for fd in rank.parts:
                owners[fd] = rank
                poll.register(fd, select.POLLIN)
            if rank.child.hungry is not None:
                owners[rank.child.hungry] = rank
                poll.register(rank.child.hungry, select.POLLOUT)
        if timeout is None and self.kill_at is not None:
            timeout = max(0.0, self.kill_at - time.monotonic())
        served = False
        for fd, _ in poll.poll(None if timeout is None else timeout * 1000):
            if fd == self.wake:
                os.read(fd, PIPE_READ)
            elif fd == owners[fd].child.hungry:
                owners[fd].child.feed()
            else:
                served = True
                self._pass(owners[fd], fd, owners[fd].read(fd))
        return served

    def _pass(self, rank, fd, lines):
        if not lines:
            return
        if fd == rank.child.report:
            for line in lines:
                self._note(rank, line)
        else:
            mark = b"[rank %d] " % rank.number
            write_all(1 + rank.child.output[fd], b"".join(mark + line for line in lines))

    def _note(self, rank, line):
        """Keep an outcome until all have ended, and pass on other reports."""
        try:
            report = json.loads(line)
            outcome = "outcome" in report and Outcome.from_json(report["outcome"])
        except (KeyError, TypeError, ValueError):
            return  # the user's code has written to our descriptor
        if not outcome:
            write_all(REPORT_FD, line)
            return
        rank.outcome = outcome
        if not outcome.ok:
            outcome.message = f"rank {rank.number}: {outcome.message}"
            self._end()

    def _reap(self):
        for rank in self.ranks:
            if rank.child.status is None:
                pid, status = os.waitpid(rank.child.pid, os.WNOHANG)
                if pid:
                    rank.child.status = status
                    self._ended(rank, status)

    def _ended(self, rank, status):
        """Note how a rank has ended. As for a single process, what it has reported counts more than its status."""
        fd = rank.child.report
        while (lines := rank.read(fd)) is not None:
            self._pass(rank, fd, lines)
        try:
            with open(os.path.join(rank.call["scratch"], "report.jsonl"), "rb") as spare:
                for line in spare:
                    self._note(rank, line)
        except (KeyError, OSError):
            pass  # there is none
        if rank.outcome:
            return
        if status:
            self.status = self.status or status
            self._end()
        elif rank.call and self.kill_at is None:  # else it ends because another has failed
            self._note(rank, json.dumps({"outcome": ended_early(rank.call["title"]).to_json()}))

    def _end(self):
        """Tell all to end, once, because one has failed."""
        if self.kill_at is None and not self.terminated:
            self.kill_at = time.monotonic() + END_GRACE
            self._signal(signal.SIGTERM)
            write_all(REPORT_FD, b'{"failed": 1}\n')  # the outcome comes when all have ended

    def _signal(self, number):
        for rank in self.ranks:
            rank.child.signal(number, group=False)


def end_with(number):
    """End this process with a signal."""
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def call_of(call, local, environ):
    """Return the document of one process: the runner's, with its variables, and places of its own for what it writes."""
    scratch = os.path.join(call["scratch"], f"rank-{local}")
    os.makedirs(scratch, exist_ok=True)
    own = dict(call, environ={**call["environ"], **environ}, scratch=scratch)
    if local:
        if call["payload"]:  # which each process removes
            own["payload"] = os.path.join(scratch, "payload")
            os.link(call["payload"], own["payload"])
        own["keep_value"] = False
    return own
