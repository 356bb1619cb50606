# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What calls usually change in modules of Python itself, and in the limits of the process."""

import gc
import os
import resource
import socket
import sys
from contextlib import suppress

LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]


class Libraries:
    """They as they are when this is made. Modules that come later are as in a new Python then."""

    def __init__(self):
        self._gc, self._switch, self._timeout = (gc.isenabled(), gc.get_threshold()), sys.getswitchinterval(), socket.getdefaulttimeout()
        self._limits, self._priority, self._cpus = limits(), priority(), cpus()
        self._policy, self._method = getattr(events(), "_event_loop_policy", None), getattr(context(), "_actual_context", None)
        self._no_bytecode, self._disabled = sys.dont_write_bytecode, disabled()
        self._loggers, self._grown = {name: settings(logger) for name, logger in loggers()}, set()

    def restore(self):
        """Restore them. Return why that can't be done, "" if it can. The modules of the project are forgotten already."""
        (gc.enable if self._gc[0] else gc.disable)()
        gc.set_threshold(*self._gc[1])
        sys.setswitchinterval(self._switch)
        socket.setdefaulttimeout(self._timeout)
        if events() is not None:
            events()._event_loop_policy = self._policy and type(self._policy)()  # which has no closed loop
        if context() is not None:
            context()._actual_context = self._method
            sys.modules["multiprocessing.process"]._children.clear()  # they end with the call
        sys.dont_write_bytecode = self._no_bytecode
        return self._restore_loggers() or self._restore_limits()

    def _restore_loggers(self):
        """Restore the loggers, and forget new ones of the project. Return why that can't be done, "" if it can."""
        why = ""
        if "logging" in sys.modules and disabled() != self._disabled:
            sys.modules["logging"].disable(self._disabled)
        for name, logger in loggers():
            before, is_of_package = self._loggers.get(name), name and name.partition(".")[0] in sys.modules
            if is_of_package and (not before or before[0] != logger.handlers):  # maybe the package has changed them, once
                if name in self._grown:
                    why = f"it has changed the handlers of logging.getLogger({name!r})"
                elif before or logger.handlers:
                    self._grown.add(name)
                self._loggers[name] = settings(logger)
            else:
                restore_logger(logger, *before or ([], [], 0 if name else 30, True, False))
                if name and not before:
                    del sys.modules["logging"].Logger.manager.loggerDict[name]
        return why

    def _restore_limits(self):
        with suppress(OSError, ValueError):
            for limit, value in limits().items():
                if value != self._limits[limit]:
                    resource.setrlimit(limit, self._limits[limit])
            if cpus() != self._cpus:
                os.sched_setaffinity(0, self._cpus)
            if priority() != self._priority:
                os.setpriority(os.PRIO_PROCESS, 0, self._priority)
            return ""
        return "it has changed its limits or its priority"


def restore_logger(logger, handlers, filters, level, propagate, off):
    """Restore a logger. What its handlers have not written yet is written now."""
    for handler in [handler for handler in logger.handlers if handler not in handlers]:
        with suppress(Exception):
            handler.close()
    if settings(logger) != (handlers, filters, level, propagate, off):
        logger.handlers, logger.filters, logger.propagate, logger.disabled = list(handlers), list(filters), propagate, off
        logger.setLevel(level)


def settings(logger):
    """Return what can be set of a logger."""
    return list(logger.handlers), list(logger.filters), logger.level, logger.propagate, logger.disabled


def disabled():
    """Return the level up to which logging is off, 0 if it is not loaded."""
    logging = sys.modules.get("logging")
    return logging.root.manager.disable if logging else 0


def limits():
    """Return the limits of this process."""
    return {limit: resource.getrlimit(limit) for limit in LIMITS}


def priority():
    """Return the priority of this process."""
    return os.getpriority(os.PRIO_PROCESS, 0)


def cpus():
    """Return the CPUs that this thread can use, where the system tells."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None


def events():
    """Return the module of asyncio that has the event loop, None if it is not loaded."""
    return sys.modules.get("asyncio.events")


def context():
    """Return how multiprocessing starts processes, None if it is not loaded."""
    return getattr(sys.modules.get("multiprocessing.context"), "_default_context", None)


def loggers():
    """Return all loggers with their names, "" for the root."""
    logging = sys.modules.get("logging")
    found = logging.Logger.manager.loggerDict.items() if logging else ()
    return [("", logging.root), *((name, logger) for name, logger in list(found) if hasattr(logger, "handlers"))] if logging else []
