# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The outcome of a call, as the child reports it: the fields of the runner's Outcome."""

import os
import sys
import time
import traceback
import types

from ..text import shorten, text_of
from . import values
from .pickles import Sink, create_private, remove, save
from .wording import type_name

INLINE_BYTES = 1 << 20  # values up to this size are in the report itself, safe from a full disk
MESSAGE_LIMIT = 1000  # characters of the message in end.json
ERROR_LIMIT = 1 << 20  # characters of an exception's message, and of its traceback, in the report
CUT = "\u2026 the rest is in the log\n"
OURS = ("kinetic.cell", "kinetic.decorator")  # wherever the package is installed
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIRST_SECONDS, NEXT_SECONDS = 10, 60  # before the log names the threads that the process waits for


def of_value(value, call):
    """Return the outcome of a call that returned."""
    if isinstance(value, (types.GeneratorType, types.AsyncGeneratorType)):
        return of_generator(value, call)
    converted = values.convert(value)
    outcome = outcome_of("Completed", 0)
    outcome.update(returned=True, warnings=list(converted.warnings), differs=bool(converted.warnings))
    if converted.lossy:
        path = os.path.join(call["scratch"], "result.pkl")
        try:
            if save(value, lambda: Sink(path), protocol=4):
                outcome["pickle_path"] = path
            elif converted.warnings:
                outcome["warnings"].append("the exact value is lost: it cannot be pickled")
        except OSError as exc:
            outcome["warnings"].append(f"the exact value is lost: cannot write {path}: {reason_of(exc)}")
    return keep_json(outcome, converted.data, call)


def keep_json(outcome, data, call):
    """Return an outcome with the JSON of its value, in the report or in a file."""
    if len(data) <= call.get("inline_bytes", INLINE_BYTES):
        outcome["value"] = data.decode()
        return outcome
    path = os.path.join(call["scratch"], "value.json")
    try:
        write_private(path, data)
    except OSError as exc:
        from ..text import readable

        return of_lost_value(exc, path, f"the value ({readable(len(data))} of JSON)")
    outcome["value_path"] = path
    return outcome


def of_generator(value, call):
    """Return the outcome of a generator function. It has not succeeded, since none of its code has run."""
    kind = "a generator" if isinstance(value, types.GeneratorType) else "an async generator"
    message = f"{call['title']} returned {kind}, which runs only when it is iterated: return a list instead"
    tell(f"kinetic: {message}\n")
    return outcome_of("BadResult", 1, message, {"type": "TypeError", "message": message, "traceback": ""})


def of_lost_value(exc, path, what):
    """Return the outcome of a call whose value cannot be stored. It is final: a retry would fail the same way."""
    message = f"cannot write {what} to {path}: {reason_of(exc)}"
    tell(f"kinetic: {message}\n")
    return outcome_of("BadResult", 1, message, {"type": "OSError", "message": message, "traceback": ""})


def reason_of(exc):
    """Return why a file could not be written, with advice if the disk is full."""
    return exc.strerror + (": submit the job with a larger --disk" if exc.errno in values.NO_ROOM else "")


def write_private(path, data):
    remove(path)
    with create_private(path) as file:
        file.write(data)


def of_exception(exc, call):
    """Return the outcome of a call that raised."""
    return of_exit(exc, call) if isinstance(exc, SystemExit) else of_error(exc, call)


def of_exit(exc, call):
    """Return the outcome of sys.exit in a function, by Python's own rules for the exit code."""
    code, title = exc.code, call["title"]
    if code is None or isinstance(code, int) and int(code) == 0:
        return outcome_of("Completed", 0)
    if isinstance(code, int):
        kept = int(code) if 0 < code < 124 else 1
        message = f"{title} ended with exit code {int(code)}" + ("" if kept == code else f", reported as {kept}")
    else:
        text = text_of(code)
        kept, ours = 1, text.startswith("kinetic: ")
        message = text[len("kinetic: ") :] if ours else f"{title} ended with sys.exit: {text}"
        tell(text + "\n")
    return outcome_of("ExitCode", kept, message, {"type": "SystemExit", "message": message[:MESSAGE_LIMIT], "traceback": ""})


def of_missing(call):
    """Return the outcome of a function whose module ended with sys.exit(0)."""
    message = f"cannot call {call['title']}: its module ended with sys.exit(0)"
    return outcome_of("ExitCode", 1, message, {"type": "SystemExit", "message": message, "traceback": ""})


def of_error(exc, call):
    """Return the outcome of an exception, with the traceback that plain Python would print."""
    name, message, text = type_name(type(exc)), text_of(exc), traceback_of(exc, call)
    tell(text)
    return outcome_of("Exception", 1, f"{name}: {message}", {"type": name, "message": cut(message), "traceback": cut(text)})


def cut(text):
    """Return the beginning of a long text that the log has whole."""
    return text if len(text) <= ERROR_LIMIT else text[: ERROR_LIMIT - len(CUT)] + CUT


def traceback_of(exc, call):
    """Return the traceback of an exception, with paths relative to the package root."""
    try:
        hide_runner(exc)
        text = "".join(traceback.format_exception(type(exc), exc, exc.__traceback__))
    except Exception:
        text = f"{type_name(type(exc))}: {text_of(exc)}\n"
    if "main" in call:
        text = text.replace(f'File "{call["main"]}"', f'File "{call["file"]}"')
    return text.replace(f'File "{call["workspace"]}/', 'File "')


def outcome_of(reason, exit_code, message="", error=None):
    """Return all fields that the runner reads."""
    return {
        "reason": reason, "exit_code": exit_code, "message": shorten(message, MESSAGE_LIMIT), "error": error,
        "warnings": [], "differs": False, "returned": False, "value": None, "value_path": None,
        "pickle_path": None, "pickled": None, "pickle_sha256": None, "pickle_size": None,
        "at": time.time(), "started": None, "finished": None,
    }  # fmt: skip


def hide_runner(exc):
    """Remove the frames of the runner, of the decorator, of what runs a notebook's cell, and of import machinery from a traceback."""
    library = os.path.dirname(os.__file__)
    ours = (PACKAGE + os.sep, os.path.join(os.path.dirname(PACKAGE), "__main__.py"))
    machinery = (*ours, "<frozen importlib", "<frozen runpy", os.path.join(library, "importlib"), os.path.join(library, "asyncio"))
    tb = exc.__traceback__
    while tb is not None and (tb.tb_frame.f_code.co_filename.startswith(machinery) or tb.tb_frame.f_globals.get("__name__") in OURS):
        tb = tb.tb_next
    exc.__traceback__ = tb


def watch_threads(title):
    """Print at intervals which threads Python is waiting for before it exits."""
    threading = sys.modules.get("threading")
    if threading is None or not hasattr(threading, "enumerate") or not others(threading):
        return

    def watch():
        seconds, waited = FIRST_SECONDS, 0
        while True:
            time.sleep(seconds)
            waited, seconds = waited + seconds, NEXT_SECONDS
            names = ", ".join(thread.name for thread in others(threading))
            if names:
                tell(f"kinetic: {title} ended {waited} seconds ago; waiting for its threads: {names}\n")

    try:
        threading.Thread(target=watch, name="kinetic-watch", daemon=True).start()
    except RuntimeError:
        pass  # the call uses all the threads that the limits allow


def others(threading):
    return [thread for thread in threading.enumerate() if thread is not threading.main_thread() and not thread.daemon]


def tell(text):
    """Print to stderr, after everything that the user's code has printed."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass  # closed, or not a file
    try:
        view = memoryview(text.encode("utf-8", "backslashreplace"))
        while view:
            view = view[os.write(2, view) :]
    except OSError:
        pass  # the user's code has closed it
