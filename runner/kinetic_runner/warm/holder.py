# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The program of a warm host: it takes one call after the other until it has been idle for long enough."""

import math
import os
import selectors
import signal
import socket
import time

from ..bundle.unpack import empty_directory
from ..environment import WORK
from ..errors import RunnerError
from ..process import reap
from ..text import tell
from . import frames
from .calls import HostedCall, ReadyRunner, check
from .connections import ASKED_SECONDS, CONNECTIONS, Client, Entrance
from .frames import Frames
from .group import Alone
from .keeper import PRELOADED, KeptProcess
from .leftovers import Leftovers, adopt_orphans, end_others
from .ends import record_end

TAIL_SECONDS, FIRST_TAIL_SECONDS = 0.01, 0.002  # between looks for output of a call that somebody follows, and in its first second
RECORD_SECONDS = 10.0  # for the end of the last call to be recorded
VERDICT_SECONDS = 5.0  # from the end of a call on another host
KEPT_CALLS, KEPT_BYTES = 50, 16 << 20  # whose output can be read again, and how much of it, without the last one's
OVER = "its --warm-limit is over"


class Holder:
    """A warm host. It stays for idle seconds without a call, or as long as the last call has said. After limit seconds, none begins any more.

    level is one of keeper.py. flags are for the runner of each call. group is its place among several hosts.
    unended returns the calls of this host without an end, for a pod that replaces another.
    """

    def __init__(self, secret, pod_uid, work, port, idle, limit, level=PRELOADED, flags=(), group=None, unended=lambda: []):
        self._secret, self._work, self._idle, self._limit, self._flags, self._unended = secret, work, idle, limit, list(flags), unended
        self._folder = os.path.join(work, "calls")
        os.makedirs(self._folder, exist_ok=True)
        empty_directory(self._folder)  # this container may have been started again
        self._began = self._free_since = time.monotonic()
        self._selector = selectors.DefaultSelector()
        self._peers, self._waiting = set(), []  # connections; calls that wait for their turn, each with whether a client has given it
        listener = socket.create_server(("127.0.0.1", port), backlog=CONNECTIONS)
        self.listen(listener, lambda connection: Client(self, connection, Frames(secret, pod_uid, True)), CONNECTIONS)
        self.port = listener.getsockname()[1]
        self._leftovers, self._is_alone = Leftovers(), os.getpid() == 1 or work == WORK and adopt_orphans()  # else others use this machine, too
        self._recording = None  # a thread that records the end of a call
        self._is_new = True  # until its first call has ended, which tells whether this pod replaces another
        self._calls, self._current, self._cancelled = {}, None, set()
        self._taken = 0  # calls, also those that are forgotten
        self._keeper = KeptProcess(work, level, not (group and group.several))
        self._ready, self._stopping, self._stop_at = None, False, math.inf
        self.lost = ""  # why a lost host ends this one, if so
        self.terminated = False  # by SIGTERM
        self._replaced = False  # whether other pods replace those of this host, and go on with calls
        self.left_unended = False  # whether a call is left to them
        self._group = group or Alone()
        self._group.open(self)

    def listen(self, listener, made_of, most):
        """Take connections at a port, most at a time. made_of makes a peer of each."""
        self._selector.register(listener, selectors.EVENT_READ, Entrance(self, listener, made_of, most).accept)

    def serve(self):
        """Serve until the host is idle for too long, or must end. Then nothing runs any more."""
        wake, woken = os.pipe()
        for fd in (wake, woken):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)
        self._selector.register(wake, selectors.EVENT_READ)
        self._keeper.renew()
        self._ready = self._runner()
        self._tick()  # the first call has no client
        while not self._over():
            for key, events in self._selector.select(self._pause()):
                if key.fileobj == wake:
                    self._handle(os.read(wake, 4096))
                elif key.data in self._peers:
                    key.data.ready(events)
                elif callable(key.data):
                    key.data()
            self._tick()
        self._stopping = True  # connections that are closed now are no loss
        self._group.close()
        for peer in list(self._peers):
            peer.flush()
            peer.close()
        self._selector.close()
        if self._ready is not None:
            self._ready.dismiss()
        self._keeper.end()
        if self._recording is not None:
            self._recording.join(RECORD_SECONDS)

    def _runner(self):
        return ReadyRunner(self._work, self._keeper.last, self._keeper.socket)

    def _over(self):
        if self._current is not None:
            return False
        return self._stopping or not self._waiting and time.monotonic() >= self._ends_at()

    def _ends_at(self):
        """Return the time.monotonic() at which this host ends if no call comes."""
        if self._group.follows:
            return math.inf
        asked = max((peer.asked_at for peer in self._peers), default=-math.inf)
        return max(min(self._free_since + self._idle, self._began + self._limit), asked + ASKED_SECONDS)

    def _pause(self):
        """Return for how long to wait for events."""
        if any(peer.hungry for peer in self._peers):
            return FIRST_TAIL_SECONDS if self._current is not None and self._current.seconds < 1 else TAIL_SECONDS
        moments = [self._group.next_at, self._stop_at, *(peer.greet_by for peer in self._peers)]
        if self._current is None and not self._waiting:
            moments.append(self._ends_at())
        next_at = min(moments)
        return None if next_at == math.inf else max(0.0, next_at - time.monotonic())

    def _handle(self, numbers):
        if signal.SIGTERM in numbers or signal.SIGINT in numbers:
            self._stopping = self.terminated = True
            self._stop()
            self._group.announce_loss()
            self._answer_who_awaits(lambda _: True, self._why)
        for pid, status in reap():
            if self._current is not None and pid == self._current.pid:
                self._current.code = os.waitstatus_to_exitcode(status)
            elif self._ready is not None and pid == self._ready.pid:
                self._ready.dismiss()
                self._ready = self._runner()
            else:
                self._keeper.note_end(pid, self._current is None)

    def _tick(self):
        self._group.attend()
        now = time.monotonic()
        if now >= self._stop_at:
            self._stop_at = math.inf
            self._stop()
        for peer in list(self._peers):
            if now >= peer.greet_by:
                peer.close()
            else:
                peer.feed()
        if self._current is not None and self._current.code is not None:
            self._finish()
        while self._current is None and self._waiting and not self._stopping and self._group.complete:
            is_given, order = self._waiting[0]
            late = is_given and self._is_late() and not self._group.has(order)
            if not late and not self._group.give(order, self._keeper.has_run):
                break
            self._waiting.pop(0)
            if late:
                self._answer_who_awaits(lambda job, late=order["id"]: job == late, OVER)
            else:
                self._begin(order)

    def _finish(self):
        if self._current.code < 0:  # its runner was killed, and ends nothing
            self._keeper.end(in_order=False)
        if self._is_alone:
            end_others(self._keeper.keeps)  # what the call has left running
            self._leftovers.remove()
        tell(f"kinetic: call {self._current.job} ended with exit code {self._current.code}\n")
        self._settle(self._current)
        if self._group.several and not self._stopping:
            self._keeper.renew()  # the others must know whether it ends
        not_new, self._current, self._stop_at = self._group.over(self._current.end, self._keeper.has_run), None, math.inf
        if not_new:
            self.lose("the hosts were started again")
        for peer in list(self._peers):
            peer.feed()
        self._free_since = time.monotonic()
        self._drop_calls()
        if not self._stopping:
            self._keeper.renew()
            self._ready = self._runner()

    def _drop_calls(self):
        """Drop old calls, and all output but the last call's of which there is too much here. Who follows it reads on in the store."""
        room = KEPT_BYTES
        for age, call in enumerate(reversed(list(self._calls.values()))):
            room -= call.size if age else 0
            if age >= KEPT_CALLS:
                self._calls.pop(call.job).forget()
            elif room < 0 and (call.report.get("recorded") or self._group.follows and call.report):  # else its log may not be in the store
                call.drop_output()
            for peer in [peer for peer in self._peers if call.is_dropped and peer.followed is call]:
                peer.close()

    def _settle(self, call):
        """Make sure that the end of a call is recorded, unless another pod runs the call again."""
        if self._group.repeats and self._is_new and call.report.get("had_ended"):
            return self._replace_another()
        self._is_new = False
        self.left_unended = self.leaves(call)
        if not (self.left_unended or self._group.follows or call.report.get("recorded")):
            self._recording = record_end(call, self.lost)
        else:
            call.drop_given()

    def leaves(self, call):
        """Report whether this host leaves a call whose runner has ended to the pods that replace its own."""
        return (self.terminated or self._replaced) and self._group.repeats and not call.report.get("recorded")

    def _replace_another(self):
        """Go on with the calls that a lost pod of this host has not ended. Without any, end."""
        try:
            orders = self._unended()
        except (OSError, RunnerError, ValueError) as exc:
            orders = tell(f"kinetic: cannot look for calls of a lost pod: {exc}\n")
        for order in orders or ():
            self.take(None, order)
        self._stopping = self._stopping or not orders and not self._waiting
        self._is_new = False
        self._answer_who_awaits(lambda job: not self._is_waiting(job))

    def expect(self, order):
        """Prepare for the first call, before any connection."""
        self._keeper.note_call(order)

    def take(self, client, order):
        """Start a call, or let it wait for its turn. A call that is here already is followed. The first call of a host has no client."""
        job = order["id"]
        check(order)
        if client is not None and not self._admits(client, order):
            return
        if job not in self._calls and not self._is_waiting(job):
            self._waiting.append((client is not None, order))

    def _admits(self, client, order):
        """Report whether a call of a client may wait for its turn; answer the client, or let it await the call."""
        job, busy = order["id"], self._current is not None or bool(self._waiting)
        if job in self._calls:
            client.begin(self._calls[job])
        elif self._stopping or self._group.follows:
            client.say(frames.STATE, {"id": job, "state": "refused", "why": self._why})
        elif busy and not self._is_waiting(job) and not order.get("wait"):
            client.say(frames.BUSY, self._busy())
        elif not self._is_waiting(job) and self._is_late():
            client.say(frames.STATE, {"id": job, "state": "refused", "why": OVER})
        else:
            if busy:
                client.say(frames.STATE, {"id": job, "state": "queued"})
            client.awaited = job, client.begin
            return True
        return False

    def _is_late(self):
        """Report whether it is too late for further calls, also of a client that has asked before: that only delays the end of an idle host."""
        return time.monotonic() >= self._began + self._limit

    def _is_waiting(self, job):
        return any(order["id"] == job for _, order in self._waiting)

    def _busy(self):
        """Return which call runs, or is about to, and for how long."""
        if self._current is None:
            return {"id": self._waiting[0][1]["id"], "seconds": 0.0}
        return {"id": self._current.job, "seconds": round(self._current.seconds, 1)}

    @property
    def _why(self):
        return self.lost or ("host 0 takes the calls" if self._group.follows else "it is ending")

    def _begin(self, order):
        call, self._idle = HostedCall(order["id"], self._folder), order.get("idle", self._idle)
        if order.pop("anew", False):
            self._keeper.end_forks()
        argv = self._flags + order["argv"] + call.keep(order.pop("objects", {})) + (["--retries", "0"] if self._group.repeats else ["--final"])
        if self._is_new or order.get("wait"):
            argv.append("--may-be-gone")
        self._keeper.note_call(order)
        if self._keeper.lasting:
            self._leftovers = Leftovers()  # what was kept has files there
        try:
            call.start(self._ready, argv, order["environ"])
        except BrokenPipeError:  # it has just died
            call.start(self._runner(), argv, order["environ"])
        self._ready, self._current, self._calls[call.job], self._taken = None, call, call, self._taken + 1
        tell(f"kinetic: call {call.job} started\n")
        self._group.began(call.job)
        for peer in list(self._peers):
            peer.note(call)
        if call.job in self._cancelled:
            self._cancelled.discard(call.job)
            call.stop()

    def find(self, job):
        """Return a call that has begun on this host, or None."""
        return self._calls.get(job)

    def may_begin(self, job):
        """Report whether a call that has not begun here may still do so."""
        return (self._group.follows or self._is_new) and not self._stopping or self._is_waiting(job)

    def cancel(self, job):
        """End a call on all hosts; return whether it runs or is about to."""
        waiting = next((order for _, order in self._waiting if order["id"] == job), None)
        if job in self._calls:
            self._calls[job].stop()
        elif waiting is not None and (self._group.follows or self._group.has(waiting)):
            self._cancelled.add(job)  # it is about to begin
        else:
            self._forget(job)
            return False
        self._group.cancel(job)
        return True

    def _forget(self, job):
        """Let a call that waits for its turn never begin."""
        before = len(self._waiting)
        self._waiting = [entry for entry in self._waiting if entry[1]["id"] != job]
        if len(self._waiting) < before:
            self._free_since = time.monotonic()
            self._answer_who_awaits(lambda awaited: awaited == job)

    def _answer_who_awaits(self, chosen, why=""):
        """Tell clients that the calls for which they wait are not known here, or refused, for those jobs that are chosen."""
        for peer in list(self._peers):
            if peer.awaited is not None and chosen(peer.awaited[0]):
                job, peer.awaited = peer.awaited[0], None
                peer.say(frames.STATE, {"id": job, "state": "refused", "why": why} if why else {"id": job, "state": "unknown"})

    def end(self):
        """Begin no call any more, and end when none runs."""
        self._stopping = True

    def end_soon(self, job):
        """End a call that has ended on another host, unless its runner does so."""
        if self._current is not None and self._current.job == job:
            self._stop_at = min(self._stop_at, time.monotonic() + VERDICT_SECONDS)

    def lose(self, why, seconds=0.0, replaced=False):
        """End because a host is lost. The running call is stopped after some seconds: its runner may find the reason first.

        replaced means that other pods go on with calls, if the group has any.
        """
        if not (self.lost or self._stopping):
            tell(f"kinetic: {why}: this host takes no further call\n")
            self._stopping, self.lost, self._replaced = True, why, replaced
            if replaced:
                self._group.announce_loss()
                self.left_unended = self._group.repeats and not all(is_given for is_given, _ in self._waiting)
            for _, order in self._waiting:
                self._group.cancel(order["id"])
            self._answer_who_awaits(lambda _: True, self._why)
        if self.lost:
            self._stop_at = min(self._stop_at, time.monotonic() + seconds)

    def _stop(self):
        """Tell the call that runs to end."""
        if self._current is not None:
            self._current.stop()

    def drop(self, peer):
        """Forget a connection. Its call goes on, also if it waits for its turn: its client may be asleep, and come back."""
        self._peers.discard(peer)

    def adopt(self, peer):
        """Serve a connection."""
        self._peers.add(peer)

    def watch(self, peer, connection, writing):
        """Wait for what a connection can do."""
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if writing else 0)
        try:
            self._selector.modify(connection, events, peer)
        except KeyError:
            self._selector.register(connection, events, peer)

    def unwatch(self, connection):
        """Stop waiting for a connection."""
        self._selector.unregister(connection)

    def state(self):
        """Return what the host does, as an object for JSON. A call that is about to begin counts."""
        now, busy = time.monotonic(), self._current is not None or bool(self._waiting)
        current = self._busy() if busy else {"id": None, "seconds": None}
        return {
            "calls": self._taken, "current": current["id"], "seconds": current["seconds"], "idle": None if busy else round(now - self._free_since, 1),
            "keeps": "" if busy else self._group.offer(self._keeper.offer), "similar": frames.seal(self._secret, self._keeper.similar),
            "ends": None if self._group.follows else round((self._began + self._limit if busy else self._ends_at()) - now, 1),
        }  # fmt: skip
