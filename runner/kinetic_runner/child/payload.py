# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The payload of a call: a function and its arguments, pickled, behind a header that says what unpickling needs."""

import binascii
import importlib.machinery
import io
import json
import linecache
import os
import pickle
import sys

from ..contract import LIMITS
from .wording import INTERRUPTIONS, message_of

HEADER_LIMIT = LIMITS["payload_header"]  # bytes


class Unpickler(pickle.Unpickler):
    """Unpickles a call, and lets pickle find by name what comes with it of the client's script, as in the script itself."""

    def __init__(self, file):
        super().__init__(file)
        self.names = {}

    def load(self):
        """Return the call. What came with an earlier one keeps its name."""
        loaded = super().load()
        of_main = vars(sys.modules["__main__"]).setdefault("__getattr__", Names())
        of_main.known = {**self.names, **of_main.known}
        return loaded

    def find_class(self, module, name):
        """Return what the pickle refers to. What cloudpickle completes a function or a class with names it in __main__, too."""
        found = super().find_class(module, name)
        if name not in ("_function_setstate", "_class_setstate"):
            return found

        def complete(made, state):
            found(made, state)
            if made.__module__ == "__main__" and made.__qualname__.isidentifier():  # at the top level
                self.names[made.__qualname__] = made

        return complete


class Names:
    """What getattr finds in __main__. Processes that are not forked lack it, and a Pool waits for ever for them: it is hidden from what they are sent."""

    def __init__(self):
        self.known = {}

    def __call__(self, name):
        if name not in self.known or is_sent(sys._getframe(1)):
            raise AttributeError(f"module '__main__' has no attribute {name!r}")
        return self.known[name]


def is_sent(frame):
    """Return whether a frame pickles for other processes, while there are some that are not forked."""
    if frame.f_code.co_name not in ("dump", "dumps", "send") or "multiprocessing" not in frame.f_globals.get("__name__", ""):
        return False
    from multiprocessing import context, process

    return bool(context.get_spawning_popen()) or any(getattr(one._popen, "method", "fork") != "fork" for one in process._children)


class BadPayload(Exception):
    """The payload cannot be unpickled. No retry would change that. The cause, if any, is that of the user's code."""


def load(call):
    """Return the function, the arguments and the keyword arguments of the payload."""
    with open(call["payload"], "rb") as file:
        header = read_header(file)
        check_python(header.get("python") or "", call["title"])
        show_lines(header.get("main"), call)
        loaded = unpickle(lambda: (import_modules(header.get("modules") or {}, call["scratch"]), Unpickler(file).load())[1], 3, call["title"])
        name_file(loaded[0], call)
        return loaded


def load_input(line, title):
    """Return the arguments and the keyword arguments of a line of a map's inputs."""
    return unpickle(lambda: Unpickler(io.BytesIO(binascii.a2b_base64(json.loads(line)))).load(), 2, f"an input of {title}")


def unpickle(action, count, what):
    """Return the tuple that action unpickles."""
    try:
        loaded = action()
        if type(loaded) is not tuple or len(loaded) != count or not isinstance(loaded[-1], dict):
            raise TypeError(f"it is {message_of_type(loaded)}, not a tuple of {count}")
        return loaded
    except (*INTERRUPTIONS, BadPayload):
        raise
    except BaseException as exc:
        raise BadPayload(f"cannot unpickle {what}: {message_of(exc)}{advice(exc)}") from exc


def message_of_type(value):
    return f"a {type(value).__name__}" + (f" of {len(value)}" if isinstance(value, tuple) else "")


def advice(exc):
    """Return what to do about a payload that can't be unpickled."""
    if isinstance(exc, ModuleNotFoundError):
        return (
            f": the job has no module {exc.name}: a module of your own must be in the packaged directory, "
            "and a package in its requirements or in the image"
        )
    if isinstance(exc, AttributeError) and "'__main__'" in str(exc):
        return ": put it into a module of your own"
    if isinstance(exc, AttributeError):
        return ": the packaged code is not what was pickled: submit again"
    return ""


def read_header(file):
    """Return the header, {} for a payload that is only a pickle, and leave the file at the pickle."""
    if file.peek(1)[:1] == b"\x80":
        return {}
    line = file.readline(HEADER_LIMIT + 1)
    try:
        header = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("kinetic_payload") != 1:
        raise BadPayload("the payload begins neither with a pickle nor with a header of version 1: submit again with a single version of the client")
    return header


def check_python(version, title):
    """Refuse a payload of another minor version of Python, whose code this one cannot read."""
    theirs, ours = ".".join(version.split(".")[:2]), "%d.%d" % sys.version_info[:2]
    if theirs and theirs != ours:
        raise BadPayload(
            f"{title} was pickled with Python {theirs}, and the job has Python {ours}: submit it from Python {ours}, "
            f"or use --python {theirs}, an --image with Python {theirs}, or with --local a python3 of that version"
        )


def show_lines(main, call):
    """Let tracebacks of the script's functions, which name the client's file, show the lines of the packaged one."""
    if isinstance(main, str) and call["file"]:
        lines = linecache.getlines(os.path.join(call["workspace"], call["file"]))
        linecache.cache[main] = (sum(map(len, lines)), None, lines, main)  # without a time, so that it stays
        call["main"] = main


def name_file(function, call):
    """Let __file__ name the packaged file in a function of the client's script, which has travelled with its globals."""
    its = getattr(function, "__globals__", {})
    if call["file"] and its.get("__name__") == "__main__" and "__file__" in its:
        its["__file__"] = os.path.join(call["workspace"], call["file"])


def import_modules(sources, scratch):
    """Import the modules that the payload brings, rather than those of the image."""
    for path in sources:
        if any(part in ("", ".", "..") for part in path.split("/")) or "\0" in path:
            raise BadPayload(f"the payload has a module with the path {path!r:.200}, which is not allowed")
    if all(is_installed(path, source) for path, source in sources.items()):
        folders = []  # they are compiled
    else:
        folders = [write_modules(sources, os.path.join(scratch, "modules"))]
    sys.path[:0] = folders
    try:
        for name in sorted(map(module_of, sources)):
            importlib.import_module(name)
    finally:
        sys.path[:] = [place for place in sys.path if place not in folders]


def module_of(path):
    """Return the name of the module or package that has a source file."""
    name = path.partition("/")[0]
    return name[:-3] if name.endswith(".py") else name


def is_installed(path, source):
    """Return whether this Python would import the very same file."""
    spec = importlib.machinery.PathFinder.find_spec(module_of(path))
    if spec is None or not spec.origin:
        return False
    place = os.path.dirname(spec.origin)
    try:
        with open(os.path.join(os.path.dirname(place) if "/" in path else place, path), encoding="utf-8") as file:
            return file.read() == source
    except (OSError, ValueError):
        return False


def write_modules(sources, folder):
    """Write source files into a new folder, and return it."""
    for path, source in sources.items():
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(source)
    return folder
