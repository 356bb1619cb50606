# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A process that runs one call after the other: what calls make by kinetic.keep() stays, and devices stay open.

Between two calls it forgets the modules of the project, and what calls usually change in a process.
"""

import faulthandler
import gc
import io
import os
import signal
import sys
import threading
import zipimport
from contextlib import suppress
from contextvars import copy_context
from types import FunctionType, ModuleType

from ..child.answer import ignore_signal
from ..child.outcomes import tell
from ..child.report import Report
from ..process import close_all, reap
from .handover import FILES, next_order
from .imports import absolute, is_below, is_installed
from .libraries import Libraries
from .remains import Remains
from .shadows import Path, Shadows
from .traces import Traces
from .variables import is_import

MOST_SEEN = 10_000
TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
FIXED, FATAL = {signal.SIGKILL, signal.SIGSTOP}, {signal.SIGSEGV, signal.SIGFPE, signal.SIGABRT, signal.SIGBUS, signal.SIGILL}  # faulthandler handles the second ones
# Libraries may have changed these handlers in C, unseen by Python: they are always restored, others only if they have changed.
RESTORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGPIPE, signal.SIGCHLD)


class Resident:
    """Runs calls by the module child.function. control is the socket for further orders, or None for one call only.

    variables are what the packages that are imported already have set in os.environ, seeds their random numbers.
    """

    def __init__(self, function, control, variables, seeds):
        self._function, self._control, self._variables, self._seeds = function, control, variables, seeds
        sys.path = Path(sys.path)
        self._before, self._traces = Before(), Traces(is_import) if control else None

    def run(self, order, packages):
        """Run the call of an order, then further ones. Return the exit code of the last call, after which this process must end."""
        while True:
            call = order["call"]
            self._function.enter(call)
            self._variables.apply()
            report, shadows = Report(call["scratch"]), Shadows(tell)
            code = copy_context().run(self._function.run, call, report)
            if not report.ours:
                return code  # a fork by the user's code
            shadows.settle()
            packages.note(call, self._function.STARTUP_MODULES, shadows.found)
            if self._control is None:
                return code
            if why := unfit(code, call["workspace"], shadows.found, self._traces.lost()) or self._restored(call):
                tell(f"kinetic: the next call runs in a new process: {why}\n")
                return code
            report.close()
            self._leave(code)
            order = next_order(self._control)
            if order is None:
                return code  # as any program does, with its handlers of atexit
            self._seeds.renew()

    def _restored(self, call):
        """Restore what the call has changed. Return why the next one needs a new process, "" if it does not."""
        try:
            return self._before.restore(call)
        except Exception as error:  # of an object of the user's
            return f"what this one left cannot be looked at: {type(error).__name__}"

    def _leave(self, code):
        """Let go of the files of the call, and report that it has ended."""
        flush_c()
        for _ in reap():
            pass
        null = os.open(os.devnull, os.O_RDWR)
        for number in range(FILES):
            os.dup2(null, number, inheritable=number < FILES - 1)
        os.close(null)
        ignore_signal()
        os.setpgid(0, 0)  # the runner kills the group of its child
        self._control.sendall(b"%d" % code)


def unfit(code, workspace, hidden, lost):
    """Return why this process can't run another call, "" if it can.

    hidden are packages in whose place the call may have others. lost is what packages have made that ends with the call.
    """
    if code:
        return "this one has failed or was cancelled"
    if hidden:
        return f"the package {min(hidden)} is hidden by another one"
    if lost:
        return f"a package has made {lost} when it was imported"
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not is_of_package(thread, os.path.realpath(workspace)):
            return f"the thread {thread.name} still runs"
    library = next(libraries_below(os.path.realpath(workspace)), None)  # which stays as it is, even if its file changes
    return f"the library {library} of the project is loaded" if library else ""


def libraries_below(folder):
    """Yield the paths, from a folder on, of the libraries there that this process has loaded: modules in C, and what ctypes loads."""
    with suppress(OSError), open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        for line in file:
            _, mode, _, _, _, *path = line.split(maxsplit=5)
            if "x" in mode and path and path[0].startswith(folder + os.sep):
                yield path[0].strip()[len(folder) + 1 :].replace(" (deleted)", "")


def is_of_package(thread, workspace):
    """Report whether a thread is of an installed package, and has no code of the project: the monitor of a progress bar, for example."""
    return thread.daemon and is_installed(sys.modules.get(type(thread).__module__)) and not leads_to(workspace, thread)


def leads_to(workspace, thing):
    """Report whether a thing leads to a function or an object of the workspace's modules, or to more things than can be looked at."""
    seen, left = {}, [thing]
    while left:
        value = left.pop()
        if id(value) in seen:
            continue
        if len(seen) == MOST_SEEN:
            return True
        seen[id(value)] = value  # so that no other one gets its id
        for owner in (value, type(value)):
            name = getattr(owner, "__module__", None)
            if isinstance(name, str) and is_below(sys.modules.get(name), workspace):
                return True
        if not isinstance(value, (type, FunctionType, ModuleType)):  # which lead to everything
            left += gc.get_referents(value)
    return False


def flush_c():
    """Write what C libraries have printed, which would appear in the next call."""
    import ctypes

    ctypes.CDLL(None).fflush(None)


def forget_helpers():
    """Forget the processes that multiprocessing has started for a call, and its directory of temporary files: they end with the call."""
    for module, name, pipe in (("forkserver", "_forkserver", "_forkserver_alive_fd"), ("resource_tracker", "_resource_tracker", "_fd")):
        helper = getattr(sys.modules.get("multiprocessing." + module), name, None)
        if helper is not None:
            fd = getattr(helper, pipe, None)
            close_all(*() if fd is None else (fd,))
            helper.__init__()
    if "multiprocessing.process" in sys.modules:
        sys.modules["multiprocessing.process"].current_process()._config.pop("tempdir", None)


def forget_stop():
    """Forget that the call was told to stop, and that kinetic.is_preempted() handles SIGTERM: the handler is gone."""
    stop = getattr(sys.modules.get("kinetic.pod"), "_stop", None)  # a package of another version may have none
    if stop is not None:
        stop.__init__()


def forget_files():
    """Forget what files have said that may have changed."""
    sys.path_importer_cache.clear()
    getattr(zipimport, "_zip_directory_cache", {}).clear()  # zipimporter.invalidate_caches() has come with Python 3.10
    if "linecache" in sys.modules:
        sys.modules["linecache"].clearcache()


class Before:
    """What calls may change in this process, as it was before them."""

    def __init__(self):
        self._lists = {name: (getattr(sys, name), list(getattr(sys, name))) for name in ("path", "meta_path", "path_hooks")}
        self._main, self._argv, self._umask = sys.modules["__main__"], sys.argv, os.umask(0o22)
        os.umask(self._umask)
        self._streams = {name: getattr(sys, name) for name in ("stdin", "stdout", "stderr", "excepthook", "displayhook", "unraisablehook", "breakpointhook")}
        self._attributes = [(stream, dict(vars(stream))) for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__) if stream]
        self._handlers = {number: signal.getsignal(number) for number in signal.valid_signals() - FIXED}
        self._blocked, self._depth = signal.pthread_sigmask(signal.SIG_BLOCK, ()), sys.getrecursionlimit()
        self._directory, self._excepthook, self._libraries = os.getcwd(), threading.excepthook, Libraries()

    def restore(self, call):
        """Restore it, and forget the modules of the project. What they have not written yet is written now. Return why the next call needs a new process, or ""."""
        tell("")
        for name, (names, before) in self._lists.items():
            names[:] = before
            setattr(sys, name, names)
        with suppress(OSError):
            os.chdir(call["cwd"])  # from which paths of modules may begin
        remains = Remains()
        for name in [name for name, module in sys.modules.items() if is_of_project(module, call["workspace"])]:
            for value in remains.forget(name).values():
                if isinstance(value, io.IOBase):  # what it holds would be lost if it is part of a circle
                    with suppress(Exception):
                        value.flush()
        sys.modules["__main__"], sys.argv = self._main, self._argv
        os.umask(self._umask)
        os.chdir(self._directory)
        for name, value in self._streams.items():
            setattr(sys, name, value)
        for stream, attributes in self._attributes:
            vars(stream).clear()  # the call may have put functions of its own there, such as write
            vars(stream).update(attributes)
        self._restore_signals()
        forget_stop()
        self._restore_hooks()
        sys.setrecursionlimit(self._depth)
        forget_files()
        forget_helpers()
        value = None  # else it would be there still
        why = self._libraries.restore()
        gc.collect()  # what the call held on a device
        return why or remains.found()

    def _restore_signals(self):
        for timer in TIMERS:
            signal.setitimer(timer, 0)
        faulthandler.cancel_dump_traceback_later()
        pending = signal.sigpending()
        numbers = [number for number, handler in self._handlers.items() if number in RESTORED or number in pending or signal.getsignal(number) != handler]
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)  # this drops one that is blocked
        signal.pthread_sigmask(signal.SIG_SETMASK, self._blocked)
        for number in numbers:
            handler = self._handlers[number]
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if faulthandler.is_enabled() and any(number in FATAL for number in numbers):
            faulthandler.disable()
            faulthandler.enable(2)  # which does nothing if it is enabled

    def _restore_hooks(self):
        threading.excepthook = self._excepthook
        for module in (threading, sys):
            module.settrace(None)
            module.setprofile(None)


def is_of_project(module, workspace):
    """Report whether a module, or an object in place of one, is of the project: its class, or code of that, then is."""
    kind = type(module)
    if kind is ModuleType or is_below(module, workspace):
        return is_below(module, workspace)
    place = sys.modules.get(vars(kind).get("__module__"))
    if place is not module:
        return is_below(place, workspace)
    files = [value.__code__.co_filename for value in vars(kind).values() if isinstance(value, FunctionType)]  # the object is in place of the class's module
    return not files or any(absolute(file).startswith(workspace + os.sep) for file in files)
