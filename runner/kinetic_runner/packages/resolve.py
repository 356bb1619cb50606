# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Resolve requirements with pip, and keep the wheels that result for other pods, retries and later jobs."""

import errno
import functools
import hashlib
import importlib.util
import netrc
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import urllib.parse

from ..documents import VERSION, field, strings
from ..errors import AlreadyExists, BadEnvironment, RunnerError
from ..outcome import signal_name
from ..process import PYTHON
from ..records import create_or_read
from ..store import in_parallel
from ..store.names import blob_name, environment_name
from ..text import file_blocks
from .venv import PYTHON_VERSION

TAIL_LINES, TAIL_BYTES = 20, 8 << 10  # of pip's output, in the log
ERROR_LIMIT = 600  # characters of pip's errors, in the message


def resolve(attempt, wish, where, folder):
    """Return the list of wheels that requirements result in: this pod's, or that of a pod that was faster.

    The wheels are left in the folder, by their hashes.
    """
    requirements, constraints, options = (strings(wish, key, where) for key in ("requirements", "constraints", "options"))
    complete = field(wish, "complete", bool, where, False)
    attempt.say("resolving the requirements with pip")
    work = os.path.join(attempt.scratch, "pip")
    try:
        paths = run_pip(attempt, work, options + requirements, constraints, complete) if requirements else []
        wheels = [measured(path) for path in paths]
        for wheel, path in zip(wheels, paths):
            os.rename(path, os.path.join(folder, wheel["sha256"]))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    in_parallel(lambda wheel: keep(attempt.store, wheel["sha256"], folder), wheels, attempt.store.parallel)
    wheels.sort(key=lambda wheel: (-wheel["size"], project(wheel["file"])))  # as in images: of two with one file, the later one's counts
    document = {"version": VERSION, "python": PYTHON_VERSION, "wheels": wheels}
    found = create_or_read(attempt.store, environment_name(attempt.options.job), document)
    if found is not document:
        ours = {wheel["sha256"] for wheel in wheels}
        theirs = {wheel.get("sha256") for wheel in found.get("wheels", ()) if isinstance(wheel, dict)}
        for sha256 in ours - theirs:
            os.unlink(os.path.join(folder, sha256))
    return found


def is_fixed(wish):
    """Report whether requirements name projects alone, no files or addresses, whose content may change."""
    lines = [line for key in ("requirements", "constraints") for line in wish.get(key, ())]
    return not any("/" in line or line.startswith((".", "-")) for line in lines)


def run_pip(attempt, work, requirements, constraints, complete):
    """Return the paths of the wheels that pip has made or fetched. If complete, the requirements are all packages."""
    if importlib.util.find_spec("pip") is None:
        raise BadEnvironment(f"the image has no pip, which installs the packages of the job: {PYTHON} -m pip does not work: use an image with pip")
    wheels, temporary, output = (os.path.join(work, name) for name in ("wheels", "tmp", "output"))
    for folder in (wheels, temporary):
        os.makedirs(folder, mode=0o700)
    environ = dict(os.environ, TMPDIR=temporary)
    if attempt.options.netrc:
        environ["NETRC"] = os.path.join(work, "netrc")
        write_private(environ["NETRC"], attempt.options.netrc)
        environ.update(git_credentials(environ["NETRC"], os.path.join(work, "git")))
    # The workspace is where their relative paths start, but no module of it is pip's: -I.
    argv = [PYTHON, "-I", "-m", "pip", "wheel", "--no-input", "--disable-pip-version-check", "--no-cache-dir", "--progress-bar", "off", "-w", wheels]
    if complete:
        argv.append("--no-deps")
    files = []
    try:
        for flag, lines in (("-r", requirements), ("-c", constraints)):
            fd, path = tempfile.mkstemp(".txt", ".kinetic-", attempt.workspace)
            files.append(path)
            write_file(fd, "".join(line + "\n" for line in lines))
            argv += [flag, path]
        with open(output, "wb") as file:
            code = run(argv, file, environ, attempt.workspace)
    finally:
        for path in files:
            os.unlink(path)
    if code:
        raise failure(code, output)
    return sorted(os.path.join(wheels, name) for name in os.listdir(wheels) if name.endswith(".whl"))


def git_credentials(path, to):
    """Write what a netrc file has for Git, which reads no NETRC. Return the variables that name it."""
    quoted = functools.partial(urllib.parse.quote, safe="")
    try:
        logins = netrc.netrc(path).hosts
    except netrc.NetrcParseError:
        return {}  # pip ignores such a file, too
    # Python 3.10 and older keep the quotes of an empty password.
    hosts = {host: (quoted(login or ""), quoted((password or "").strip('"'))) for host, (login, _, password) in logins.items()}
    write_private(to, "".join(f"https://{login}:{password}@{host}\n" for host, (login, password) in hosts.items()))
    return {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "credential.helper", "GIT_CONFIG_VALUE_0": f"store --file={shlex.quote(to)}", "GIT_TERMINAL_PROMPT": "0"}


def write_private(path, text):
    """Write a new file that nobody else may read."""
    write_file(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), text)


def write_file(fd, text):
    with open(fd, "w", encoding="utf-8") as file:
        file.write(text)


def run(argv, output, environ, cwd):
    """Run a program; return its exit code. If this is interrupted, end it and what it has started."""
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environ, cwd=cwd, start_new_session=True)
    try:
        return process.wait()
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def failure(code, output):
    """Return the error for a pip that has failed."""
    with open(output, "rb") as file:
        file.seek(max(0, os.path.getsize(output) - TAIL_BYTES))
        text = file.read().decode("utf-8", "replace")
    if code < 0:
        return RunnerError(f"cannot resolve the requirements: pip was killed by {signal_name(-code)}")
    if os.strerror(errno.ENOSPC) in text:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.path.dirname(output))
    lines = text.splitlines()[-TAIL_LINES:]
    errors = [line for line in lines if line.startswith("ERROR: ")] or lines[-1:]
    return BadEnvironment(f"pip cannot install the job's requirements: {' '.join(errors)[:ERROR_LIMIT]}: change them, then submit again", "\n".join(lines))


def measured(path):
    """Return the entry of a wheel in a list."""
    digest = hashlib.sha256()
    for block in file_blocks(path):
        digest.update(block)
    return {"file": os.path.basename(path), "sha256": digest.hexdigest(), "size": os.path.getsize(path)}


def project(file):
    """Return the normalized name of a wheel's project."""
    return re.sub(r"[-_.]+", "-", file.partition("-")[0]).lower()


def keep(store, sha256, folder):
    """Store a wheel, unless it is there."""
    name = blob_name(sha256)
    if store.exists(name):
        return store.renew(name)
    try:
        store.create(name, lambda: file_blocks(os.path.join(folder, sha256)))
    except AlreadyExists:
        pass  # another pod was faster
