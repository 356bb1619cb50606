# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs one child to its end: its output, its signals and its clocks. It knows nothing of jobs."""

import json
import math
import os
import select
import signal
import time

from .process import LEFT_SECONDS, end_all_others, reap
from .signals import STOP_SIGNALS

PIPE_READ = 64 << 10
# After a read of fewer bytes lines gather for a moment: each read costs more than the call's print.
FEW_BYTES, GATHER_SECONDS = 2 << 10, 0.002
LEFT_POLL_SECONDS = 0.02  # between two looks at what the child has left running: its end is not signalled
GIVE_UP_SECONDS = 5.0  # after SIGKILL
DRAIN_SECONDS = 1.0  # for output that outlives the call
DEADLINE_GRACE = 10.0  # seconds after --max-runtime
END_GRACE = 3.0  # seconds for a call that has failed, or whose result is no longer needed


class Supervisor:
    """Runs a child to its end.

    From SIGTERM on the child has the time of --grace, about four fifths of what
    Kubernetes gives the pod; the rest is for publishing. Nothing here waits for
    the store, for stdout or for a disk, so that signals and clocks always count.

    A link, where there is one, is served meanwhile: its fileno() becomes readable
    when attend() has something to do, next_at is when it has without that, of time.monotonic, and
    stopping says that the call is no longer needed.
    """

    def __init__(self, log, errands, signals, grace, deadline, link=None, on_report=None):
        self._log, self._errands, self._signals, self._link = log, errands, signals, link
        self._on_report = on_report or (lambda report: None)  # is called with each JSON object that the child reports
        self._grace = grace
        self._deadline = deadline  # of time.monotonic, or None
        self._kill_at = math.inf  # of time.monotonic
        self._group = False
        self._give_up_at = math.inf  # of time.monotonic: what SIGKILL did not end by then is not waited for
        self._left_told = False  # what the child has left running was told to end
        self._child = None
        self._report = b""
        self.status = None  # of os.waitpid
        self.terminated = self.timed_out = False
        self.stopped = False  # because the link said so
        self.killed = False  # by the runner
        self.stopped_at = math.inf  # of time.time: when it was first told to end

    def run(self, start, group=False):
        """Has start() start a Child, and returns its wait status when it and its processes have ended.

        With group SIGTERM is for all that the child has started, too.
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
                self._handle((signal.SIGCHLD,))  # it may have ended before anybody looked
                if self._signals.came:  # before the child was there
                    self._handle((signal.SIGTERM,))
                self._watch(wake)
                self._drain()
            finally:
                self._child.signal(signal.SIGKILL, group=True)
                self._child.close()
            end_all_others()
            return self.status
        finally:
            signal.set_wakeup_fd(-1)
            self._errands.wake(None)
            self._errands.finish()
            os.close(wake)
            os.close(wake_write)

    def stop_soon(self):
        """Gives the call little time from now on: it has failed, and what it does at exit may hang."""
        self._kill_at = min(self._kill_at, time.monotonic() + END_GRACE)

    def _watch(self, wake):
        open_fds = {self._child.report, *self._child.output}
        gather = select.poll()
        gather.register(wake, select.POLLIN)
        while not self._over():
            ready = self._wait(wake, open_fds)
            for fd in sorted(ready & open_fds, key=self._child.order):  # of a burst, standard output first
                size = self._read(fd)
                if size == 0:
                    open_fds.discard(fd)  # all that could write to it have closed it
                elif size < FEW_BYTES and len(ready) == 1:
                    gather.poll(GATHER_SECONDS * 1000)
            if self._child.hungry in ready:
                self._child.feed()
            if wake in ready:
                self._handle(os.read(wake, 4096))
            if self._link is not None:
                self._attend()
            self._tick(time.monotonic())

    def _wait(self, wake, fds):
        """The descriptors that have something, or none after a while."""
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        # Who was told to end has no time to wait for the store or for a reader.
        held = self._kill_at == math.inf and (self._errands.behind() or self._log.behind)
        for fd in fds:
            if not held or fd == self._child.report:
                poll.register(fd, select.POLLIN)
        for unsent in (self._log.unsent, self._child.hungry):
            if unsent is not None:
                poll.register(unsent, select.POLLOUT)
        if self._link is not None and self._link.fileno() >= 0:
            poll.register(self._link.fileno(), select.POLLIN)
        moments = [self._deadline or math.inf, self._kill_at, self._give_up_at, self._errands.next_at, self._log.piece_at]
        if self._link is not None:
            moments.append(self._link.next_at)
        left = min(moments) - time.monotonic()
        if self.status is not None:
            left = min(left, LEFT_POLL_SECONDS)
        return {fd for fd, _ in poll.poll(max(0.0, left) * 1000)}

    def _over(self):
        """Reports whether the child has ended, and what it left running was told to end and had time for it."""
        if time.monotonic() >= self._give_up_at:
            if self.status is None:  # it hangs in the kernel, as in a driver
                self.status = signal.SIGKILL
            return True
        if self.status is None:
            return False
        if not self._child.left:
            return True
        if not self._left_told:
            self._left_told = True
            if not (self._group and self.stopped_at < math.inf):  # else it was told before, and has the whole grace
                self._child.signal(signal.SIGTERM, group=True)
                self._kill_at = min(self._kill_at, time.monotonic() + LEFT_SECONDS)
        return time.monotonic() >= self._kill_at

    def _read(self, fd):
        """Takes what there is to read; returns its size, 0 at the end and -1 for nothing yet."""
        try:
            data = os.read(fd, PIPE_READ)
        except BlockingIOError:
            return -1
        if fd == self._child.report:
            *lines, self._report = (self._report + data).split(b"\n")
            for line in lines:
                self._note(line)
        elif data:
            self._log.write(self._child.output[fd], data)
        return len(data)

    def _note(self, line):
        try:
            report = json.loads(line)
        except ValueError:
            return  # the call has written to our descriptor
        try:
            self._on_report(report)
        except (AttributeError, KeyError, TypeError):
            pass  # the same, and it was JSON

    def _handle(self, numbers):
        """Acts on signals."""
        if not self.terminated and any(number in numbers for number in STOP_SIGNALS):
            self.terminated = True
            self._stop(self._grace)
            self._errands.publish_all()
        if signal.SIGCHLD in numbers:
            for pid, status in reap():
                if pid == self._child.pid:
                    self.status = self._child.status = status

    def _attend(self):
        self._link.attend()
        if self._link.stopping and not self.stopped:
            self.stopped = True
            self._stop(min(self._grace, END_GRACE))

    def _tick(self, now):
        if self._deadline is not None and now >= self._deadline:
            self._deadline = None
            if not self.terminated:
                self.timed_out = True
                self._stop(min(self._grace, DEADLINE_GRACE))
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
        self.stopped_at = min(self.stopped_at, time.time())
        if self._kill_at == math.inf:
            self._child.signal(signal.SIGTERM, self._group)
            self._kill_at = time.monotonic() + grace

    def _drain(self):
        """Takes what was printed and reported. What escaped the group may keep the pipes open and is not waited for."""
        until = time.monotonic() + DRAIN_SECONDS
        for fd in [self._child.report, *self._child.output]:
            while time.monotonic() < until and self._read(fd) > 0:
                pass
        self._log.show_unfinished()
