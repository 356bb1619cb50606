# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Run one child to its end: its output, its signals and its time limits. It knows nothing about jobs."""

import json
import math
import os
import select
import signal
import time

from .process import LEFT_SECONDS, end_all_others, reap
from .signals import ABANDONED_GRACE, STOP_SIGNALS

PIPE_READ = 64 << 10
# After a short read, let lines gather for a moment: each read costs more than the call's print.
FEW_BYTES, GATHER_SECONDS = 2 << 10, 0.002
LEFT_POLL_SECONDS = 0.02  # between checks for processes that the child has left running, since no signal reports their end
GIVE_UP_SECONDS = 5.0  # after SIGKILL
DRAIN_SECONDS = 1.0  # for output after the end of the call
DEADLINE_GRACE = 10.0  # seconds after --max-runtime
CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
END_GRACE = 3.0  # seconds for a call that has failed or is no longer needed


class Supervisor:
    """Runs a child to its end.

    After SIGTERM, the child has --grace seconds, about four fifths of the pod's grace
    period; the rest is for publishing. Nothing here waits for the store, stdout or
    a disk, so that signals and time limits always work.

    Meanwhile, it serves the link, if any. The link's fileno() becomes readable when
    attend() has something to do. next_at is the time.monotonic() at which attend()
    is due in any case. stopping means that the call is no longer needed.
    """

    def __init__(self, log, errands, signals, grace, deadline, link=None, on_report=None, on_stop=None, hang=None):
        self._log, self._errands, self._signals, self._link = log, errands, signals, link
        self._on_report = on_report or (lambda report: None)  # called with each JSON object that the child reports
        self._on_stop = on_stop or (lambda: None)  # called before the child is told to end
        self._hang = hang  # notices a call that hangs, or None
        self._grace = grace
        self._deadline = deadline  # called for the time.monotonic(), or None, which may change
        self._kill_at = math.inf  # of time.monotonic()
        self._group = False
        self._give_up_at = math.inf  # of time.monotonic(): stop waiting for what SIGKILL has not ended
        self._left_told = False  # processes that the child left running got SIGTERM
        self._hurried = False  # by SIGTERM
        self._child = None
        self._report = []  # the pieces of a line that has not ended
        self.status = None  # of os.waitpid
        self.ended_at = math.inf  # time.time() when it had ended, whatever it has left running
        self.terminated = self.timed_out = False
        self.stopped = False  # because of the link
        self.hung = False  # told to end, because it hangs
        self.killed = False  # by the runner
        self.stopped_at = math.inf  # time.time() when it was first told to end

    def run(self, start, group=False):
        """Start a Child with start(). Return its wait status when it and its processes have ended.

        With group, SIGTERM also goes to everything that the child has started.
        """
        self._group = group
        wake, wake_write = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(wake_write, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        self._errands.wake(wake_write)
        self._signals.never_raise()
        try:
            self._child = start()
            try:
                self._handle((signal.SIGCHLD,))  # it may already have ended
                if self._signals.came:  # before the child was started
                    self._handle((signal.SIGTERM,))
                self._watch(wake)
                self._drain()
            finally:
                self._read_reports()
                self._child.signal(signal.SIGKILL, group=True)
                self._child.close()
            end_all_others()
            return self.status
        finally:
            signal.set_wakeup_fd(-1)
            self._errands.wake(None)
            self._errands.finish()
            self._say_hang()
            os.close(wake)
            os.close(wake_write)

    @property
    def was_killed(self):
        """Whether something other than the runner killed the call: probably out of memory."""
        return os.WIFSIGNALED(self.status) and os.WTERMSIG(self.status) == signal.SIGKILL and not self.killed

    @property
    def crashed(self):
        """Whether the call was killed, or crashed before it was told to end. Libraries abort when they lose a peer: SIGABRT is no crash."""
        return self.was_killed or self.stopped_at == math.inf and os.WIFSIGNALED(self.status) and os.WTERMSIG(self.status) in CRASHES

    @property
    def abandoned(self):
        """Whether the program that waited for the job has ended."""
        return self._signals.abandoned

    def stop_soon(self):
        """End the call soon: it has failed, and its exit may hang."""
        self._kill_at = min(self._kill_at, time.monotonic() + END_GRACE)

    def _watch(self, wake):
        open_fds = {self._child.report, *self._child.output}
        gather = select.poll()
        gather.register(wake, select.POLLIN)
        while not self._over():
            ready = self._wait(wake, open_fds)
            if self._child.report in ready:
                self._copy(open_fds, open_fds)  # it was printed before
                if self._read(self._child.report) == b"":
                    open_fds.discard(self._child.report)  # all writers have closed it
            if 0 < self._copy(open_fds, ready) < FEW_BYTES and len(ready) == 1:
                gather.poll(GATHER_SECONDS * 1000)
            if self._child.hungry in ready:
                self._child.feed()
            if wake in ready:
                self._handle(os.read(wake, 4096))
            if self._link is not None:
                self._attend()
            self._tick(time.monotonic())

    def _wait(self, wake, fds):
        """Wait for something to do; return the descriptors that are ready."""
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        # A call that was told to end has no time to wait for the store or for a reader.
        behind = self._log.behind
        held = self._kill_at == math.inf and (self._errands.behind() or behind)
        for fd in fds:
            if not held or fd == self._child.report:
                poll.register(fd, select.POLLIN)
        for unsent in (self._log.unsent, self._child.hungry):
            if unsent is not None:
                poll.register(unsent, select.POLLOUT)
        if self._link is not None and self._link.fileno() >= 0:
            poll.register(self._link.fileno(), select.POLLIN)
        moments = [self._deadline() or math.inf, self._kill_at, self._give_up_at, self._errands.next_at, self._log.piece_at]
        if behind:
            moments.append(self._log.stuck_at)
        if self._link is not None:
            moments.append(self._link.next_at)
        left = min(moments) - time.monotonic()
        if self.status is not None:
            left = min(left, LEFT_POLL_SECONDS)
        return {fd for fd, _ in poll.poll(max(0.0, left) * 1000)}

    def _over(self):
        """Return whether the child has ended, and its leftover processes, too, or their time is over."""
        if time.monotonic() >= self._give_up_at:
            if self.status is None:  # it hangs in the kernel, for example in a driver
                self.status = signal.SIGKILL
            return True
        if self.status is None:
            return False
        if not self._child.left:
            return True
        if not self._left_told:
            self._left_told = True
            self._errands.note_left()
            if not (self._group and self.stopped_at < math.inf):  # else they got it before and have the whole grace
                self._child.signal(signal.SIGTERM, group=True)
                self._kill_at = min(self._kill_at, time.monotonic() + LEFT_SECONDS)
        return time.monotonic() >= self._kill_at

    def _copy(self, open_fds, ready):
        """Copy what the call has printed to the log. Return its size."""
        outputs = sorted((fd for fd in self._child.output if fd in open_fds), key=lambda fd: fd not in ready)
        if ready.isdisjoint(outputs):
            return 0
        printed = []
        # Also read the other stream, since it may have been printed to in the meantime.
        for fd in outputs:
            data = self._read(fd)
            if data == b"":
                open_fds.discard(fd)
            elif data:
                printed.append((self._child.output[fd], data))
        if printed:
            self._moved()
        if len(printed) == 2 and self._log.draws(*printed[0]):  # so may the first: the end of its progress bar
            printed[0] = printed[0][0], printed[0][1] + (self._read(outputs[0]) or b"")
        if len(printed) == 2 and ready.issuperset(outputs) and self._log.draws(*printed[1]):
            printed.reverse()  # a burst: standard output first, unless a progress bar moves beside it
        if len(printed) == 2:
            self._log.write_both(*printed)
        else:
            for one in printed:
                self._log.write(*one)
        return sum(len(data) for _, data in printed)

    def _read(self, fd):
        """Read what is available. Return it, b"" at the end, None if there is nothing yet. Note the reports in it."""
        try:
            data = os.read(fd, PIPE_READ)
        except BlockingIOError:
            return None
        if fd == self._child.report:
            *ends, rest = data.split(b"\n")
            if ends:
                self._moved()
            for end in ends:
                self._note(b"".join([*self._report, end]))
                self._report = []
            self._report.append(rest)
        return data

    def _moved(self):
        if self._hang is not None:
            self._hang.moved()

    def _say_hang(self):
        for text in self._hang.texts() if self._hang is not None else ():
            self._log.say(text)

    def _note(self, line):
        try:
            self._on_report(json.loads(line))
        except (AttributeError, KeyError, TypeError, ValueError):
            pass  # the user's code has written to our descriptor

    def _handle(self, numbers):
        """Act on signals."""
        if any(number in numbers for number in STOP_SIGNALS):
            if self._hurried:
                if self.abandoned:  # since the first one
                    self._kill_at = min(self._kill_at, time.monotonic() + ABANDONED_GRACE)
            else:
                self._hurried = True
                self.terminated = self._stop(self._signals.shorten(self._grace))
                self._errands.publish_all()
        self._note_end()

    def _note_end(self):
        """Note whether the call has ended. From then on, no signal and no time limit changes how."""
        for pid, status in reap():
            if pid == self._child.pid:
                self.status = self._child.status = status
                self.ended_at = time.time()

    def _attend(self):
        self._link.attend()
        if self._link.stopping and not self.stopped and not self.terminated:  # after SIGTERM it has its grace
            self.stopped = self._stop(min(self._grace, END_GRACE))

    def _tick(self, now):
        if now >= (self._deadline() or math.inf):
            self._deadline = lambda: None
            if not self.terminated:
                self.timed_out = self._stop(min(self._grace, DEADLINE_GRACE))
        over = self._hang is not None and self._hang.over  # first: then the text is there
        self._say_hang()
        if over and self.stopped_at == math.inf:  # else it ends already, for another reason
            self.hung = self._stop(min(self._grace, END_GRACE))
        if now >= self._kill_at and self.status is None:
            self._kill_at = math.inf
            self.killed = True
            self._give_up_at = now + GIVE_UP_SECONDS
            self._child.signal(signal.SIGKILL, group=True)
        if now >= self._log.piece_at:
            self._log.show_unfinished(now)
        self._log.send()
        self._errands.tick(now)

    def _stop(self, grace):
        """Tell the call to end, unless it has ended. Return whether it was told."""
        self._note_end()
        if self.status is not None:
            return False
        self.stopped_at = min(self.stopped_at, time.time())
        if self._kill_at == math.inf:
            self._on_stop()
            self._child.signal(signal.SIGTERM, self._group)
            self._kill_at = time.monotonic() + grace
        return True

    def _read_reports(self):
        """Read the rest of the reports, whatever has failed."""
        until = time.monotonic() + DRAIN_SECONDS
        while time.monotonic() < until and self._read(self._child.report):
            pass

    def _drain(self):
        """Read the rest of the output. Processes outside the group may keep the pipes open, so do not wait for them."""
        until = time.monotonic() + DRAIN_SECONDS
        open_fds = set(self._child.output)
        while time.monotonic() < until and self._copy(open_fds, set(open_fds)):
            pass
        self._log.show_unfinished()
