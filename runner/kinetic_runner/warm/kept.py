# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The process that is kept between calls: it has imported the packages of earlier calls, and forks the process of each call.

It opens no device and has no threads, so a fork is as good as a new Python. Forking takes some milliseconds after large imports, so it
forks when a relay connects, before the call is known. With --lasting, it forks at the first call, and the fork takes further calls.
"""

from ..child import function  # first: what it finds loaded is what Python itself has loaded

import gc
import os
import selectors
import signal
import socket
from contextlib import suppress

from ..process import close_all
from .handover import LISTENER, has_left, next_order, receive_order, send_event, send_order
from .imports import SECONDS, Imports
from .resident import Resident
from .seeds import Seeds
from .variables import Variables

ORDER_SECONDS = 5.0  # for an order to arrive
CODE_BYTES = 16  # for an exit code, as text


def main(argv, _):
    """Serve until standard input ends. In a fork, run a call and return its exit code."""
    noted, *flags = argv[2:]
    packages, seeds, variables = Imports(noted), Seeds(), Variables()
    signal.alarm(SECONDS)  # which ends a package that never returns
    if not packages.load():
        os._exit(1)
    signal.alarm(0)
    seeds.settle()
    variables.settle()
    if hasattr(gc, "freeze"):
        gc.collect()
        gc.freeze()  # else each fork looks through all objects of the packages when it ends, and copies their pages
    lasting = "--lasting" in flags
    control = Kept(lasting).serve()  # from here on, this is a fork
    seeds.renew()
    order = next_order(control)
    if order is None:
        os._exit(0)  # it has run nothing
    if lasting:
        variables.watch()
    else:
        control.close()
    return Resident(function, control if lasting else None, variables, seeds).run(order, packages)


class Fork:
    """A process of a call, which gets its order by the socket control. client is the connection of the relay that waits for the call, or None."""

    def __init__(self, pid, control):
        self.pid, self.control, self.client = pid, control, None
        self.killed = False

    @property
    def idle(self):
        """Whether it waits for an order."""
        return self.client is None and not self.killed


class Kept:
    """Takes orders at a socket, and gives them to forks. lasting: a fork takes further calls."""

    def __init__(self, lasting):
        self._listener = socket.socket(fileno=LISTENER)
        self._lasting = lasting
        self._wake = os.pipe()
        for fd in self._wake:
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(self._wake[1], warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector = selectors.DefaultSelector()
        self._forks = {}  # by pid

    def serve(self):
        """Serve orders. Return only in a fork: the socket for its orders."""
        self._selector.register(0, selectors.EVENT_READ, lambda: os._exit(0))  # the host has ended, or needs this no longer
        self._selector.register(self._wake[0], selectors.EVENT_READ, self._reap)
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        while True:
            control = handle_ready(self._selector)
            if control is not None:
                return control

    def _accept(self):
        client, _ = self._listener.accept()
        client.settimeout(ORDER_SECONDS)
        self._selector.register(client, selectors.EVENT_READ, lambda: self._take(client))
        waits = self._lasting or any(fork.idle for fork in self._forks.values())
        return None if waits else self._fork(client)

    def _take(self, client):
        """Take the order of a client, unless it has left."""
        self._selector.unregister(client)
        try:
            order, files = receive_order(client)
        except (EOFError, OSError):
            client.close()
            return None
        if has_left(client):
            client.close()
            close_all(*files)
            return None
        control = None
        if not self._give(client, order, files):
            control = self._fork(client)
            if control is None and not self._give(client, order, files):
                client.close()  # it runs the call itself
        close_all(*files)
        return control

    def _fork(self, client):
        """Fork. In the fork, return the socket for its orders, else None."""
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            self._forget_all(client, ours)
            return theirs
        theirs.close()
        self._forks[pid] = Fork(pid, ours)
        self._selector.register(ours, selectors.EVENT_READ, lambda: self._done(pid))
        return None

    def _give(self, client, order, files):
        """Give the order of a client to a fork that waits for one. Return whether there is one."""
        for fork in [fork for fork in self._forks.values() if fork.idle]:
            try:
                send_order(fork.control, order, files)
            except OSError:
                fork.killed = True
                continue
            self._begin(fork, client)
            return True
        return False

    def _begin(self, fork, client):
        fork.client = client
        self._selector.register(client, selectors.EVENT_READ, lambda: self._abandon(fork))
        send_event(client, pid=fork.pid, lasting=self._lasting)

    def _abandon(self, fork):
        """Who waits for a call was killed: kill the call."""
        self._end(fork, {})
        fork.killed = True
        with suppress(ProcessLookupError):
            os.kill(fork.pid, signal.SIGKILL)

    def _done(self, pid):
        """A fork has ended its call and waits for the next one."""
        fork = self._forks.get(pid)
        if fork is None:
            return
        status = fork.control.recv(CODE_BYTES)
        if status:
            self._end(fork, {"status": int(status) << 8})
        else:
            self._selector.unregister(fork.control)  # it is ending: see _reap

    def _reap(self):
        with suppress(BlockingIOError):
            os.read(self._wake[0], 4096)
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                fork = self._forks.pop(ended[0], None)
                if fork is not None:
                    self._end(fork, {"status": ended[1]})
                    with suppress(KeyError):
                        self._selector.unregister(fork.control)
                    fork.control.close()

    def _end(self, fork, event):
        """Tell who waits for a call how it ended."""
        if fork.client is not None:
            self._selector.unregister(fork.client)
            send_event(fork.client, **event)
            fork.client.close()
            fork.client = None

    def _forget_all(self, *connections):
        """Close all that a fork has of this process."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        watched = [key.fileobj for key in self._selector.get_map().values()]
        self._selector.close()
        for connection in (*connections, *watched, *(fork.control for fork in self._forks.values())):
            if isinstance(connection, socket.socket):
                connection.close()
        close_all(*self._wake)


def handle_ready(selector):
    """Call what is registered for each file that is ready, unless a call before has closed the file. Return the first result that is not None."""
    for key, _ in selector.select():
        if selector.get_map().get(key.fd) is key:
            result = key.data()
            if result is not None:
                return result
    return None
