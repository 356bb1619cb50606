# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Import the user's function and call it."""

import importlib
import importlib.util
import os
import sys
import types
from importlib.machinery import ModuleSpec, SourceFileLoader

from .wording import type_name


def prepare(call, startup_modules):
    """Make this process look like Python running the user's program. Return the debugger, or None."""
    debugging = import_debug()
    file = path_in(call, call["file"]) if call["file"] else ""
    entries = [path_in(call, path) for path in call["sys_path"]]
    sys.path[:] = entries + [place for place in sys.path[1:] if place not in entries]  # without the runner's own entry
    sys.argv = [file]
    main = types.ModuleType("__main__")
    main.__spec__ = ModuleSpec("__main__", None)  # multiprocessing does not import it again in other processes
    if file:
        main.__file__ = file
    sys.modules["__main__"] = main
    let_shadow(entries, startup_modules)
    return begin(debugging)


def import_debug():
    """Return the module debug if the call is to be debugged, else None. Later, the user's modules may have the names of those it imports."""
    if not os.environ.pop("KINETIC_DEBUG", ""):
        return None
    from . import debug

    return debug


def begin(debugging):
    """Do what comes right before the user's code. Return the debugger, or None."""
    if "KINETIC_TPU_HOSTS" in os.environ:
        importlib.import_module("pathwaysutils").initialize()
    return debugging.wait_for_debugger() if debugging else None


def path_in(call, relative):
    """Return the absolute path of a path relative to the package root."""
    return os.path.join(call["workspace"], relative) if relative else call["workspace"]


def let_shadow(entries, startup_modules):
    """Let a module in the workspace shadow a standard one that only the runner has loaded."""
    loaded = {name.partition(".")[0] for name in sys.modules}
    for name in loaded - startup_modules - set(sys.builtin_module_names) - {"kinetic_runner"}:
        files = (name + ".py", os.path.join(name, "__init__.py"))
        if any(os.path.isfile(os.path.join(entry, file)) for entry in entries for file in files):
            for module in list(sys.modules):
                if module.partition(".")[0] == name:
                    del sys.modules[module]


def find_function(call):
    """Return the function of the call. Raise AttributeError or TypeError if there is none."""
    module, name = load_module(call), call["function"]
    function = getattr(module, name, None)
    where = call["file"] or f"module {call['module']}"
    if function is None:
        raise AttributeError(f"{where} has no function {name!r}{nearest(name, module)}")
    if not callable(function):
        raise TypeError(f"{name!r} in {where} is {with_article(type_name(type(function)))}, not a function")
    return function


def nearest(name, module):
    """Return a "did you mean" hint with the most similar function name, or ""."""
    import difflib

    names = [name for name, value in vars(module).items() if callable(value)]
    near = difflib.get_close_matches(name, names, 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def with_article(name):
    return ("an " if name[:1] in "aeiou" else "a ") + name


def load_module(call):
    """Import the function's module, from the call's file if it has one."""
    name = call["module"]
    if not call["file"]:
        return importlib.import_module(name)
    path = path_in(call, call["file"])
    parent, _, leaf = name.rpartition(".")
    if parent:
        importlib.import_module(parent)
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == path:
        return loaded
    loader = SourceFileLoader(name, path)
    package = [os.path.dirname(path)] if os.path.basename(path) == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(name, path, loader=loader, submodule_search_locations=package)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    if parent:
        setattr(sys.modules[parent], leaf, module)
    return sys.modules.get(name, module)


def value_of(function, args, kwargs, debugger=None):
    """Call the function. If it returns an awaitable, wait for it; the handle of another job is a value like any other."""
    if debugger:
        debugger.breakpoint()
    value = function(*args, **kwargs)  # a debugger stops here: step into it
    kept = isinstance(value, (types.GeneratorType, types.AsyncGeneratorType)) or type(value).__module__.startswith("kinetic.")
    if not kept and hasattr(type(value), "__await__"):
        value = wait_for(value)
    return value


def wait_for(awaitable):
    import asyncio

    async def wait():
        return await awaitable

    return asyncio.run(wait())
