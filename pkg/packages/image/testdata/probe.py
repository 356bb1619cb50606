"""Print what a job sees of its environment: the paths, the versions, what importing everything gives, the commands and the files."""

import hashlib
import importlib
import importlib.metadata
import json
import os
import subprocess
import sys

env = sys.argv[1]


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read().replace(env.encode(), b"ENV")).hexdigest()[:12]


def imported(name):
    try:
        module = importlib.import_module(name)
    except BaseException as exc:
        return f"{type(exc).__name__}: {exc}"
    return [getattr(module, "VALUE", None), getattr(module, "__file__", None), list(getattr(module, "__path__", ()))]


def ran(path):
    done = subprocess.run([path, "x"], capture_output=True, text=True, cwd="/")
    return [done.returncode, done.stdout, done.stderr.splitlines()[-1:]]


distributions = list(importlib.metadata.distributions())
commands, files = {}, {}
for folder, _, names in os.walk(env):
    for name in names:
        path = os.path.join(folder, name)
        if os.path.islink(path):
            files[path] = os.path.realpath(path)
        elif not name.endswith(".pyc") and name not in ("RECORD", "pyvenv.cfg"):
            files[path] = [os.stat(path).st_mode & 0o777, digest(path)]
            if folder == os.path.join(env, "bin"):
                commands[name] = ran(path)
names = set()
for file in (f for d in distributions for f in d.files or () if f.suffix in (".py", ".so", ".pyc") and not {"..", "__pycache__"} & {*f.parts}):
    names.add(".".join((*file.parts[:-1], file.name.partition(".")[0])).removesuffix(".__init__"))
for folder in filter(os.path.isdir, sys.path[1:]):
    if "-packages" in folder or not folder.startswith(sys.base_prefix):
        names.update(name[:-3] for name in os.listdir(folder) if name.endswith(".py"))
seen = {
    "prefix": [sys.prefix, sys.base_prefix, os.path.realpath(sys.executable), os.environ["VIRTUAL_ENV"], os.environ["PATH"]],
    "path": sys.path,
    "versions": sorted([d.metadata["Name"], d.version, importlib.metadata.version(d.metadata["Name"])] for d in distributions),
    "listed": sorted([d.metadata["Name"], sorted(str(f) for f in d.files or () if f.suffix != ".pyc")] for d in distributions),
    "entry points": sorted(str(e) for e in importlib.metadata.entry_points()),
    "imports": {name: imported(name) for name in sorted(names)},
    "commands": commands,
    "files": files,
}
print(json.dumps(seen).replace(env, "ENV"))
