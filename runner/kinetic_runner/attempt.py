# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""One attempt at a job on one host: the steps common to all kinds of jobs."""

import os
import time

from .bundle.tree import read_index
from .bundle.unpack import empty_directory, fetch_bundle
from .cache import open_cache
from .call import fetch_payload, read_call
from .ending import PUBLISH_GRACE, after_call, try_to
from .errands import Errands
from .errors import Final, RunnerError, Stopped, Unreachable, explain, is_full, text_of
from .judge import Told, judge
from .log import STDERR_MARK, Log, leave_value
from .outcome import (
    DEADLINE_EXCEEDED, DISRUPTED, EXIT_DEADLINE, EXIT_KILLED, EXIT_RUNNER, EXIT_TERMINATED, KILLED, NO_PROGRAM, RUNNER_FAILURE, STOPPED, TERMINATED, Outcome,
)  # fmt: skip
from .outputs.directory import Outputs
from .place import make_place, note_place, start_call
from .publish import end_of_result, read_end
from .records import Records
from .spool import LogParts, Spool
from .store import Outage, open_store
from .store.names import blob_name, payload_name, record_name
from .supervisor import Supervisor
from .text import tell, times, timestamp

CRASH_LEAD = 2.0  # seconds by which a crash may be noticed later than the errors of hosts that lost it as a peer
RAN_SECONDS = 60.0  # between two notes of how long an attempt has run, if that is limited
PIECE_SECONDS, LOCAL_PIECE_SECONDS = 1.0, 0.2  # before an unfinished line is shown as it is


class NoCall(Exception):
    """No call runs here, and nothing is published."""


class JobEnded(NoCall):
    """The job ended before this attempt. end is its end.json."""

    def __init__(self, end):
        super().__init__()
        self.end = end

    @property
    def exit_code(self):
        code = self.end.get("exit_code")
        return code if type(code) is int and 0 <= code <= 255 else 1


class Attempt:
    """One attempt on one host, from the store to the outcome of the call."""

    def __init__(self, options, signals, host=0, hosts=1):
        self.options, self.signals = options, signals
        self.host, self.hosts = host, hosts
        self.final = options.final  # no other attempt follows, however this one ends
        self.store = self.records = self.log = self.parts = None
        self.uid = os.environ.get("KINETIC_POD_UID") or f"{os.uname().nodename}-{os.getpid()}-{time.time_ns()}"
        self.number = 0  # not counted yet
        self.crashes = 0  # of earlier attempts
        self.ran_before = 0.0  # seconds, in all of them
        self.began = time.monotonic()
        self.started = self.job_started = timestamp()
        self.called = None  # when the call began
        self.workspace, self.scratch = options.workspace, options.scratch
        self.recorded = False  # whether end.json is stored
        self.tried_end = None  # end.json that may be stored although the store reported an error
        self.needed, self.provided = [], None  # objects and inputs that must not expire while the call runs
        self.variables = {}  # that the inputs add to the call's environment
        self.outputs = self.cache = None  # once there is a place for the call
        self.outage = Outage(self.say)

    def guarded(self, action):
        """Return the outcome of action, or of its failure. SIGTERM raises nothing afterwards."""
        try:
            try:
                return action()
            finally:
                self.signals.never_raise()
        except Stopped:
            outcome = Outcome(TERMINATED, EXIT_TERMINATED, "the job was terminated before its call started")
            self.say(outcome.message)
            return outcome
        except Unreachable as exc:
            self.store.hurry(time.monotonic() + PUBLISH_GRACE)  # it has had its time
            return self.failure(text_of(exc))
        except Final as exc:
            self.say("\n".join(filter(None, (exc.details, text_of(exc)))))
            return Outcome(exc.reason, 1, text_of(exc))
        except (RunnerError, OSError) as exc:
            return self.failure(self.explain(exc))
        except NoCall:
            raise
        except Exception as exc:
            import traceback

            return self.failure(f"the runner itself failed: {traceback.format_exc()}", text_of(exc))

    def failure(self, text, message=None):
        """Print and return a failure of the runner or the store."""
        self.say(text)
        return Outcome(RUNNER_FAILURE, EXIT_RUNNER, message or text)

    def say(self, text):
        """Print a message from the runner."""
        if self.log is not None:
            self.log.say(text)
        else:
            tell(("" if self.options.log_file else STDERR_MARK.decode()) + f"kinetic: {text}\n")

    @property
    def in_pod(self):
        """Whether this is a pod rather than a local job."""
        return self.options.warm or not self.options.log_file

    def explain(self, exc):
        """Return the message of an error, with advice if the disk of the pod or of the store is full."""
        root = getattr(self.store, "root", None)  # of a store on this machine
        if root and is_full(exc) and str(exc.filename).startswith(root + os.sep):
            return f"no space left for the store {root}: free some, then submit the job again"
        return explain(exc, self.in_pod)

    def why_it_ended(self, outcome):
        """Return the outcome to write to the attempt's record."""
        return outcome

    def publishing_failed(self, exc):
        """Note that the store refused what this attempt wrote."""

    def open_store(self):
        """Open the store. From SIGTERM on, it must hurry."""
        options = self.options
        store = open_store(options.store, options.emulator, options.metadata_host, options.credentials)
        store.outage = self.outage
        self.signals.listen(lambda: store.hurry(self.leave_by))
        self.records = Records(store, options.job)
        if options.given:
            from .store.given import GivenStore

            store = GivenStore(store, options.given, options.job, self.say)
        self.store = store

    @property
    def leave_by(self):
        """The time.monotonic() by which the runner must end after SIGTERM; infinite until SIGTERM.

        The client sets --grace to five sixths of the pod's grace period, or three seconds less.
        """
        grace = self.signals.shorten(self.options.grace)
        return self.signals.came_at + grace + max(PUBLISH_GRACE, grace / 5 - PUBLISH_GRACE)

    def refuse_if_ended(self, find=read_end):
        """Raise JobEnded if the job has already ended."""
        job, options = self.options.job, self.options
        if options.given:
            return
        end = find(self.store, job)
        if end is None and options.may_be_gone and not self.store.exists(record_name(job, "call")):
            self.say(f"job {job} has been removed from the store; nothing to run")
            raise JobEnded({})
        if end:
            self.say(f"job {job} has ended already: {end.get('state')}, {end.get('reason')}; nothing to run")
            raise JobEnded(end)

    def begin(self):
        """Count this attempt and open the log. Return the outcome of a job that must not run again, else None."""
        own = (self.uid, self.host, self.started)
        count = self.store.first(self.records, *own) if self.options.given else self.records.count(*own)
        self.join(count.number)
        self.crashes, self.job_started, self.ran_before = count.crashes, count.job_started, count.ran
        self.open_log()
        if count.number > 1:
            self.refuse_if_ended(end_of_result)
        return self.spent(count)

    def join(self, number):
        """Join the attempt with this number."""
        self.number = number
        self.parts = LogParts(self.store, self.options.job, self.host, number)

    def spent(self, count):
        """Return the outcome of a job that has crashed or lost its pods too often, else None."""
        options = self.options
        if count.disruptions > options.max_disruptions:
            lost = f"the job lost its pod {times(count.disruptions)} (preempted, drained or gone with its node)"
            outcome = Outcome(DISRUPTED, 1, f"{lost}; --max-disruptions allows {options.max_disruptions}")
        elif count.crashes > options.retries:
            outcome = Outcome(KILLED, EXIT_KILLED, f"the job crashed {times(count.crashes)}; --retries allows {options.retries}")
        elif options.budget and count.ran >= options.budget:
            outcome = Outcome(DEADLINE_EXCEEDED, EXIT_DEADLINE, f"the job {self.limit[1]}")
        else:
            return None
        self.say(outcome.message)
        return outcome

    def open_log(self):
        """Open the log: the pod's output, or the file of a local job."""
        empty_directory(self.scratch)
        if self.options.log_file:
            self.log = Log(Spool(self.options.log_file, keep=True), None, LOCAL_PIECE_SECONDS)
        else:
            self.log = Log(Spool(os.path.join(self.scratch, "log"), keep=False), 1, PIECE_SECONDS)

    def fetch(self):
        """Read the call, unpack the package into the workspace and install the environment."""
        options, store = self.options, self.store
        self.cache = open_cache(self)
        if not options.environment:
            self.begin_cache()
        if not options.warm:
            empty_directory(self.workspace)
        call, name = read_call(store, options), record_name(options.job, "call")
        index = read_index(store, options.bundle, options.swept and options.swept.take_earlier())
        more = self.provide(lambda: self.fill_workspace(index))
        if call.file and not os.path.isfile(os.path.join(self.workspace, call.file)):
            raise RunnerError(f"{store.url(name)} runs {call.file}, which is not in the package {options.bundle}")
        os.makedirs(os.path.join(self.workspace, call.cwd), exist_ok=True)
        if call.data or options.warm and os.path.isdir(os.path.join(options.work, "data")):  # of earlier calls
            from .data import provide

            provided = provide(self, call, store.url(name))
            if call.kind == "function":  # a pickled call looks for the variables itself
                call.kwargs.update(provided.arguments)
            self.variables, self.provided = provided.variables, provided
        self.needed = [record_name(options.job, "handle"), name, blob_name(options.bundle)] + [blob.name for blob in index.blobs]
        self.needed += more
        if options.map:
            self.needed.append(blob_name(options.map))  # other pods may need it later
        if call.kind == "pickle":
            call.payload = fetch_payload(store, options)
            self.needed.append(payload_name(options.job))
        # Without the records, the count would start again.
        self.needed += [self.records.name(number + 1) for number in range(self.number)]
        return call

    def begin_cache(self, installed=()):
        """Begin to restore the cache. installed are names of wheels that are yet to be installed."""
        if self.cache:
            self.cache.begin(installed)

    def close_cache(self):
        """Save what the call has left in the cache, now that nothing waits for this runner."""
        if self.cache:
            self.cache.finish()

    def fill_workspace(self, index):
        """Make the workspace hold the package."""
        if not self.options.warm:
            return fetch_bundle(self.store, index, self.workspace)
        from .bundle.update import update_bundle

        update_bundle(self.store, index, self.workspace, self.options.swept)

    def provide(self, fetch_package):
        """Fetch the package and install the environment, if any. Return the objects that the environment needs."""
        if self.options.environment:
            from .packages.install import provide

            return provide(self, fetch_package)
        fetch_package()
        return []

    def place(self, call, variables=()):
        """Return the place where the call runs, with its environment and the outputs of earlier attempts."""
        self.outputs = self.make_outputs()
        self.outputs.prepare(sorted({self.workspace, os.path.join(self.workspace, call.cwd).rstrip("/")}))
        place = make_place(self, dict(os.environ, **dict(variables), **self.variables, **self.outputs.environ))
        note_place(call, place)
        if self.cache:
            self.cache.wait()
        return place

    def make_outputs(self):
        """Return what saves the outputs of this attempt."""
        return Outputs(self)

    def errands(self, kind=Errands):
        """Return the errands to run while the call runs. Their threads leave messages to the outputs."""
        errands = kind(self.log.spool, self.parts, self.renew, self.outputs, self.outage)
        if self.options.budget and self.host == 0:
            errands.every(RAN_SECONDS, self.note_ran)
        return errands

    def attend(self):
        """Serve the other hosts of the job, if there are any."""

    def watch(self, errands):
        """Return what notices that the call hangs, or None without --hang-timeout."""
        options = self.options
        if not options.hang_timeout:
            return None
        from .stacks import Hang

        folders = [self.workspace] if options.output_mount else [self.workspace, self.outputs.path]
        hang = Hang(options.hang_timeout, options.hang_action == "restart", self.scratch, folders)
        errands.every(hang.every, hang.look)
        return hang

    def note_ran(self, _=None):
        """Note for how long this attempt has run, which counts if another one follows."""
        self.records.note_ran(self.number, time.monotonic() - self.began)

    def renew(self, _):
        """Renew what must not expire."""
        for name in self.needed:
            self.store.renew(name)
        if self.provided is not None:
            self.provided.renew(self.store)

    @property
    def runtime_from(self):
        """The time.monotonic() from which --max-runtime counts, or None if it does not count yet."""
        return self.began

    @property
    def limit(self):
        """The time.monotonic() at which this attempt has run long enough, and what the call did if it still runs then; None without a limit."""
        options, limits = self.options, []
        if options.max_runtime and self.runtime_from is not None:
            limits.append((self.runtime_from + options.max_runtime, f"ran longer than the {options.max_runtime:g} seconds of --max-runtime"))
        if options.budget:
            text = f"ran for the {options.budget:g} seconds that its --max-cost pays for, in all attempts together"
            limits.append((self.began + max(options.budget - self.ran_before, 0.0), text))
        return min(limits, default=None)

    @property
    def deadline(self):
        """The time.monotonic() at which --max-runtime or --max-cost is over, or None."""
        limit = self.limit
        return limit[0] if limit else None

    def supervise(self, call, place, link=None, child=None):
        """Run the call; return its outcome and the supervisor.

        child is an interpreter that waits for a function, or None.
        """
        errands, told = self.errands(), Told(self.scratch, self.in_pod)
        hang = self.watch(errands)
        supervisor = Supervisor(self.log, errands, self.signals, self.options.grace, lambda: self.deadline, link, told.note, place.note_stop, hang)

        def failed():
            self.outputs.failed = True
            if link is not None and told.outcome:  # else others of its processes still have their time
                supervisor.stop_soon()
            if not supervisor.stopped:
                self.note_failure()

        told.on_failure = failed
        if self.options.warm and self.hosts == 1:
            told.on_value = lambda value: leave_value(self.log, self.options.log_file, value)

        def start():
            self.called = timestamp()
            started = self.outputs.follow(start_call(call, place, self.options, self.host, child))
            if self.options.given:
                self.store.call_started.set()
            return started

        failure = None
        try:
            supervisor.run(start, group=call.kind == "command")
        except Exception as exc:
            if supervisor.status is None:  # the call itself has not ended
                raise
            failure = exc
        outcome = judge(call.title, call.kind, supervisor, told, self.limit)
        if outcome.reason == KILLED and supervisor.crashed:
            outcome.at -= CRASH_LEAD
        if outcome.failed and not supervisor.stopped:
            self.note_failure()
        if failure is not None:
            self.warn(outcome, f"the runner failed after the call had ended: {self.explain(failure)}")
        after_call(self, outcome, supervisor, place, errands)
        if self.options.budget and self.host == 0 and not outcome.ok:
            try_to(self, outcome, "note how long the attempt ran", self.note_ran)
        return outcome, supervisor

    def note_failure(self):
        """Note that the call has failed by itself. On several hosts, host 0 then waits for its report."""

    def warn(self, outcome, text):
        """Add a warning to an outcome and print it."""
        outcome.warnings.append(text)
        self.say(f"warning: {text}")

    def settle_outputs(self):
        """Tidy up the outputs in the store, now that the job has ended. If that fails, the next client does it."""
        try:
            if self.outputs is not None:
                self.outputs.settle()
        except (RunnerError, OSError):
            pass

    def announce(self, outcome):
        """Print how the call ended, unless the call itself already did."""
        if outcome.reason in (DEADLINE_EXCEEDED, TERMINATED, KILLED, STOPPED, NO_PROGRAM, RUNNER_FAILURE):
            self.say(outcome.message)
