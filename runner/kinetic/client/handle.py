# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Handles of jobs, by which they are found again from anywhere."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar, Union, overload

from ..errors import JobNotFound, JobTimeout, KineticError, UsageError, brief
from ..job_status import JobStatus
from . import advice, binaries, checks, inside, process, result, scratch
from .facts import Facts, ending, known
from .flags import timeout_flag
from .interrupts import Stop
from .joblog import LogLines, printed
from .parameters import PLACES, Duration, one, switch
from .report import Reporter, guarded, origin
from .rerun import Repeatable

if TYPE_CHECKING:
    from typing import Literal

R = TypeVar("R")

VERSION = 1  # of to_json
JOB_ID = re.compile("[a-z0-9][a-z0-9-]{0,48}[a-z0-9]")


@dataclasses.dataclass(frozen=True, repr=False)
class JobHandle(Repeatable, Generic[R]):
    """A submitted job. Two handles of the same job_id are equal.

    It is a frozen dataclass: dataclasses.asdict returns what to_json writes. Other values are properties, which are empty where
    they are not known: backend, project, zone, cluster_name, namespace, bucket_name, k8s_name, image_uri, display_name, debug,
    group_id, group_kind, args.

    Attributes:
        job_id: its id.
        func_name: the name of its function.
        accelerator: what it runs on, as it was asked for.
        created_at: when it was submitted, RFC 3339 in UTC, or "".
        hosts: how many hosts it has.
        is_map: whether it is the job of a map, whose values kinetic.attach_batch returns.
        target: the parameters of kinetic.run that say where it is, such as cluster, namespace and store.
        about: what the properties are read from.
        end: how it ended, such as "ended SUCCEEDED, its value was collected"; None while it runs, or if that is not known.
        ended: the same in one word: JobStatus.SUCCEEDED, JobStatus.FAILED or "CANCELLED": `if job.ended == "SUCCEEDED"`.
    """

    job_id: str
    func_name: str = dataclasses.field(default="", compare=False)
    accelerator: str = dataclasses.field(default="", compare=False)
    created_at: str = dataclasses.field(default="", compare=False)
    hosts: int = dataclasses.field(default=1, compare=False)
    is_map: bool = dataclasses.field(default=False, compare=False)
    target: Mapping[str, Any] = dataclasses.field(default_factory=dict, compare=False)
    about: Mapping[str, Any] = dataclasses.field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        target = {name: os.fspath(value) if isinstance(value, os.PathLike) else value for name, value in self.target.items() if value}
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "_value", [])

    @property
    def _kept(self) -> list[R]:
        """The value, once it is here: the store may no longer have it."""
        kept: list[R] = self.__dict__["_value"]
        return kept

    @classmethod
    def of(cls, job: Mapping[str, Any], target: Mapping[str, Any]) -> JobHandle[R]:
        """Return the handle for what the binaries print about a job.

        Args:
            job: the handle as run prints it, or an item of a list of jobs.
            target: the parameters of kinetic.run that say where it is.
        """
        target = dict(target)
        if job.get("backend") == "local":
            target["local"] = True
        if job.get("namespace"):
            target.setdefault("namespace", job["namespace"])
        if job.get("cluster_name"):
            target = {"project": job.get("project"), "zone": job.get("zone"), "cluster": job["cluster_name"], **target}
        return cls(
            job.get("job_id") or job["id"],
            func_name=job.get("func_name") or job.get("function") or "",
            accelerator=job.get("accelerator") or "",
            created_at=job.get("created_at") or job.get("created") or "",
            is_map=bool(job.get("map")),
            hosts=job.get("hostCount") or (job["hosts"] if isinstance(job.get("hosts"), int) else 1),
            target=target,
            about=known(job),
        )

    @brief
    def status(self) -> JobStatus:
        """Return the job's state now; NOT_FOUND also if nothing is left of it."""
        try:
            return JobStatus(self._describe_status()["state"])
        except JobNotFound:
            return JobStatus.NOT_FOUND

    @property
    def end(self) -> Optional[str]:
        """How the job ended, also if its workload is gone: "ended SUCCEEDED, its value was collected". None if it runs, or if that is not known."""
        try:
            return self._describe_status().get("end")
        except JobNotFound:
            return None

    @property
    def ended(self) -> Optional[str]:
        """How the job ended, also if its workload is gone: a JobStatus, which is text, or "CANCELLED". None as end."""
        try:
            return ending(self._describe_status())
        except JobNotFound:
            return None

    def _describe_status(self) -> dict[str, Any]:
        """Return all that is known about the job's state, as `jobs status ID -o json` prints it."""
        status: dict[str, Any] = process.ask(binaries.JOBS, self._words("status", "--output=json"), self.named())
        return status

    @brief
    def result(
        self,
        timeout: Optional[Duration] = None,
        cleanup: bool = True,
        *,
        trust_store: bool = False,
        on_status_change: Optional[Callable[[JobStatus], None]] = None,
        stream_logs: bool = False,
        cleanup_timeout: Optional[float] = None,
        cleanup_poll_interval: Optional[float] = None,
    ) -> R:
        """Wait until the job has ended, and return the function's value. With cleanup, the handle keeps it.

        Args:
            timeout: how long to wait: seconds, or text such as "1h30m"; 0 raises at once unless the job has ended; None waits as
                long as it takes.
            cleanup: delete the workload, and of what is stored the call and the value, once the value is here. The rest stays until
                cleanup(): the handle, the log, how the job ended. Failed jobs stay as they are, and outputs in any case.
            trust_store: load a result even if only a store that isn't this target's says which bytes it should have.
            on_status_change: is called with each new state, the last one included. What it raises is logged, and the waiting goes on.
            stream_logs: print the job's log to standard error meanwhile.
            cleanup_timeout: has no effect, as in the next: nothing waits for the deletion. keras-kinetic has both.
            cleanup_poll_interval: see cleanup_timeout.

        Raises:
            Exception: what the function raised, with the traceback in the job as its cause.
            RemoteError: the job failed otherwise.
            JobTimeout: timeout has expired; the job keeps running.
            JobNotFound: there is no such job, and no result of it.
            UntrustedResult: see trust_store.
        """
        checks.switch("stream_logs", stream_logs)
        report = Reporter(self.logs_to(), on_status=None if on_status_change is None else guarded(on_status_change))
        if stream_logs and not self._kept and not self.is_map:
            self._print_log(timeout, report)
            timeout = None
        return self._result(timeout, cleanup, trust_store, report)

    def _print_log(self, timeout: Optional[Duration], report: Reporter) -> None:
        """Print the log until the job has ended. Warnings are left to who asks for the result: by then the log has shown most."""
        with printed(self._words("logs", "--follow"), self.hosts, self.named(), report.warned) as finish:
            with contextlib.suppress(JobNotFound):  # its result may still be there
                self._wait(timeout, lambda event: report({**event, "warnings": ()}))
                finish()

    def _result(
        self, timeout: Optional[Duration], cleanup: bool, trust_store: bool, report: Reporter, stop: Optional[Stop] = None
    ) -> R:
        if self.is_map:
            raise UsageError(f"{self.job_id} is a map, which has a value for each input: kinetic.attach_batch({self.job_id!r}).results()")
        for value in self._kept:
            return value
        waiting = self._timeout(timeout)
        checks.switch("cleanup", cleanup)
        with scratch.directory() as directory:
            file = os.path.join(directory, "result.pkl")
            words = [f"--output-file={file}", f"--cleanup={'delete' if cleanup else 'false'}"]
            words += waiting
            words += ["--trust-store"] if trust_store else []
            kept = self._kept if cleanup else None
            try:
                return result.fetch(binaries.JOBS, self._words("result", *words), file, report, stop, self.named(), kept)  # type: ignore[no-any-return]
            except KineticError:
                for value in self._kept:  # another thread has got it meanwhile, and so deleted it
                    return value
                raise

    @brief
    def wait(self, timeout: Optional[Duration] = None) -> JobStatus:
        """Wait until the job has ended, and return its state.

        Args:
            timeout: as for result.

        Raises:
            JobTimeout: timeout has expired; the job keeps running.
            JobNotFound: there is no such job, or it was cleaned up.
        """
        self._wait(timeout, process.ignore)
        return self.status()

    def _wait(self, timeout: Optional[Duration], on_event: Callable[[process.Event], None]) -> None:
        answer = process.run(binaries.JOBS, self._words("wait", *self._timeout(timeout)), on_event, job=self.named())
        if answer.code and (answer.error or {}).get("kind") != "job_failed":
            raise process.failure(binaries.JOBS, answer)

    def _timeout(self, timeout: Optional[Duration]) -> list[str]:
        """Return the words of a command line for how long to wait; none for 0 if the job has ended.

        Raises:
            JobTimeout: timeout is 0, and the job has not ended.
        """
        if timeout != 0 or isinstance(timeout, bool):
            return timeout_flag(timeout)
        state = self.status()
        if not state.ended:
            raise JobTimeout(f"{self.job_id} is {state.value}: it has not ended yet")
        return []

    @overload
    def logs(self, follow: Literal[False] = False) -> str: ...

    @overload
    def logs(self, follow: Literal[True]) -> LogLines: ...

    @brief
    def logs(self, follow: bool = False) -> Union[str, LogLines]:
        """Return the whole log so far; with follow, an iterator of its lines that ends when the job does.

        It prints nothing, so that a program can do with the lines what it wants: `for line in job.logs(follow=True): print(line)`.
        keras-kinetic printed them. An iterator that is dropped unread therefore warns. result(stream_logs=True) prints the log.
        """
        if not follow:
            return self._lines("logs")
        return LogLines(self._words("logs", "--follow"), self.hosts, self.named())

    @brief
    def tail(self, n: int = 100) -> str:
        """Return the last n lines of the log; of each host, if there are several."""
        checks.whole(-1)("n", n)
        return self._lines("tail", f"--tail={n}")

    @brief
    def cancel(self, *, cleanup_timeout: Optional[float] = None, cleanup_poll_interval: Optional[float] = None) -> None:
        """End the job. Its log and its outputs stay. The parameters have no effect, as those of result."""
        self._require("cancel")

    @brief
    def cleanup(
        self, k8s: bool = True, gcs: bool = True, *, cleanup_timeout: Optional[float] = None, cleanup_poll_interval: Optional[float] = None
    ) -> None:
        """Delete the job, if anything of it is left. What it wrote to KINETIC_OUTPUT_DIR stays.

        Args:
            k8s: delete the workload. A running job is cancelled.
            gcs: delete the job's records in the store: its handle, its call, its log, how it ended, its value. Code and data that jobs share
                stay until `kubectl kinetic jobs prune`.
            cleanup_timeout: has no effect, as in result.
            cleanup_poll_interval: has no effect, as in result.
        """
        checks.switch("k8s", k8s)
        checks.switch("gcs", gcs)
        with contextlib.suppress(JobNotFound):
            self._require("cleanup", *switch("--k8s", k8s), *switch("--gcs", gcs), "--yes")

    @brief
    def outputs(self, to: Optional[str] = None) -> list[str]:
        """Return the names of the files that the job wrote to KINETIC_OUTPUT_DIR. A warning names the unfinished ones.

        Args:
            to: a directory to copy them to; files that are not finished get .incomplete at the end of their names.
        """
        if to is not None:
            checks.path("to", to)
            if not os.fspath(to):
                raise checks.wrong("to", to, "a directory, such as '.'")
            self._require("outputs", "cp", to)
        listed = process.ask(binaries.JOBS, self._words("outputs", "ls", "--output=json"), self.named())
        advice.incomplete(listed["items"], copied=to is not None, where=self.logs_to())
        return [item["name"] for item in listed["items"]]

    def debug_attach(self, local_port: int = 5678) -> None:
        """Let a debugger on this machine reach a job with debug=True. Return when the job ends or at Ctrl-C.

        Args:
            local_port: where the debugger connects to; 0 for any free port, which is printed.

        Raises:
            UsageError: the job was not submitted with debug=True, or the port is in use.
            KineticError: the job has ended, or can't be reached.
        """
        checks.whole(0)("local_port", local_port)
        with contextlib.suppress(KeyboardInterrupt):
            inside.debug(self._words("debug", *one("--port", local_port)), self.named(), self.logs_to())

    @brief
    def forward(self, port: int, local_port: Optional[int] = None, *, host: int = 0) -> inside.Forwarded:
        """Forward a port of this machine to one of the job, once it runs: `with job.forward(6006) as at: print(at.url)`.

        What is returned has port, url and close(). It forwards until it is closed, the job or the program ends.

        Args:
            port: the port in the job, where something may listen on 127.0.0.1 alone.
            local_port: that of this machine, the same by default; 0 for any free one. host is the number of the host.

        Raises:
            KineticError: the port is in use, there is no such host, or the job has ended or can't be reached.
        """
        return inside.Forwarded(self._words("forward", *inside.forwarding(port, local_port, host)), self.named(), self.logs_to())

    @brief
    def stacks(self, host: Optional[int] = None) -> str:
        """Return where the threads of the running call are, on all hosts or on one; equal stacks are there once."""
        return inside.stacks(self._words("stacks", *inside.of_host(host)), self.named(), self.logs_to())

    def to_json(self) -> str:
        """Return the handle as text. It has no credentials."""
        return json.dumps({"version": VERSION, **dataclasses.asdict(self)})

    @classmethod
    def from_json(cls, text: str) -> JobHandle[Any]:
        """Return the handle that to_json made.

        The text says which cluster and store to ask: take it only from where you would take configuration from.

        Raises:
            ValueError: the text is not a handle, or is the handle of a newer version.
        """
        checks.text("text", text)
        try:
            about = json.loads(text)
            version, job_id, target = int(about["version"]), str(about["job_id"]), dict(about.get("target") or {})
            facts = known(about.get("about") or {})
        except (ValueError, TypeError, KeyError, AttributeError) as exc:
            raise UsageError(f"this is not a handle that to_json made: {text[:60]!r}") from exc
        if version > VERSION:
            raise UsageError(f"the handle of {job_id} has version {version}, and this package reads up to {VERSION}: {binaries.UPGRADE}")
        if not JOB_ID.fullmatch(job_id) or not PLACES.issuperset(target):
            raise UsageError(f"this is not a handle that to_json made: {text[:60]!r}")
        given = {name: about[name] for name in ("func_name", "accelerator", "created_at", "hosts") if name in about}
        return JobHandle[Any](job_id, is_map="map" in about or bool(about.get("is_map")), target=target, about=facts, **given)

    def to_dict(self) -> dict[str, Any]:
        """Return the handle as what JSON can hold: that of to_json, with the properties."""
        properties = {name: getattr(self, name) for name, value in vars(Facts).items() if isinstance(value, property)}
        return {**json.loads(self.to_json()), **properties}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> JobHandle[Any]:
        """Return the handle that to_dict made; or one of keras-kinetic, whose jobs this package finds, too.

        Raises:
            ValueError: the fields are not a handle, or are the handle of a newer version.
        """
        if not isinstance(fields, Mapping):
            raise checks.wrong_type("fields", fields, "a dict")
        if "version" in fields or not fields.get("job_id"):
            return cls.from_json(json.dumps(dict(fields)))
        return cls.from_json(JobHandle[Any].of(fields, {}).to_json())

    def __await__(self) -> Generator[Any, None, R]:
        from . import awaiting  # asyncio takes a while to import

        stop = Stop()  # ends the waiting; a value that arrives all the same is kept for the next result()
        return awaiting.outcome(lambda: self._result(None, True, False, Reporter(self.logs_to()), stop), stop).__await__()

    def _require(self, command: str, *words: str, on_event: Callable[[process.Event], None] = process.ignore, **output: bool) -> None:
        """Run a command of jobs for this job; output says what is on its standard output, as for process.run."""
        process.require(binaries.JOBS, self._words(command, *words), on_event, job=self.named(), **output)

    def _lines(self, command: str, *words: str) -> str:
        lines: list[str] = []

        def collect(event: process.Event) -> None:
            if event["event"] == "log":
                lines.append(origin(event, self.hosts) + event["line"] + "\n")

        self._require(command, *words, on_event=collect, events_on_output=True)
        return "".join(lines)
