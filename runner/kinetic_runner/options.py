# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The command line of the runner."""

import math
import os
import re
import types

from .contract import DEFAULTS, IDS, PORTS
from .documents import SHA256
from .environment import WORK
from .errors import RunnerError

JOB_ID = re.compile(IDS["pattern"])
RESERVED_IDS = IDS["reserved"]
TERMINATION_LOG = "/dev/termination-log"


def job_id(text):
    """Return a job ID, checked before it is used in a path."""
    if not JOB_ID.fullmatch(text) or text in RESERVED_IDS:
        raise ValueError("is not a job ID: expected 2 to 50 lower-case letters, digits and '-'")
    return text


def sha256_hex(text):
    if not SHA256.fullmatch(text):
        raise ValueError("is not a SHA-256: expected 64 lower-case hex digits")
    return text


def whole_number(text):
    """Return a whole number, 0 or more."""
    if not re.fullmatch("[0-9]{1,9}", text):
        raise ValueError("is not a whole number")
    return int(text)


def seconds(text):
    """Return a number of seconds, 0 or more."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < math.inf:
        raise ValueError("is not a number of seconds")
    return value


def hang_action(text):
    if text not in ("stacks", "restart"):
        raise ValueError("is neither stacks nor restart")
    return text


def retry_on(text):
    if text not in ("crash", "error"):
        raise ValueError("is neither crash nor error")
    return text


def processes(text):
    return text if text == "auto" else whole_number(text)


REQUIRED = object()
FLAGS = {  # the parser of the value, and the default
    "--job": (job_id, REQUIRED),  # ID: ID of the job
    "--store": (str, REQUIRED),  # URL: store of the job: gs://BUCKET[/PREFIX] or file:///DIR
    "--call": (sha256_hex, REQUIRED),  # SHA256: hash of the job's call.json
    "--payload": (sha256_hex, ""),  # SHA256: hash of payload.pkl, what a pickled call consists of
    "--bundle": (sha256_hex, REQUIRED),  # SHA256: hash of the package index
    "--environment": (sha256_hex, ""),  # SHA256: hash of the list of wheels, or of the requirements, to install; default: none
    "--function": (None, False),  # start the interpreter of a function call while the rest is fetched
    "--output-dir": (str, ""),  # DIR: directory or gs:// URL for KINETIC_OUTPUT_DIR; default: the job's outputs in the store
    "--output-sync": (seconds, 30.0),  # SECONDS: interval at which finished outputs are saved, 0 for only at the end
    "--output-mount": (str, ""),  # DIR: directory where the outputs' place in the bucket is mounted; default: they are saved from a directory below --work
    "--resume-from": (job_id, ""),  # ID: job whose outputs this one begins with
    "--cache": (str, ""),  # SCOPE: jobs with the same text share KINETIC_CACHE_DIR; default: there is none
    "--cache-size": (int, DEFAULTS["cache_size"]),  # BYTES: most that the store keeps of it
    "--emulator": (str, ""),  # URL: Cloud Storage emulator to use, without credentials
    "--metadata-host": (str, ""),  # HOST: metadata server to get access tokens from; default: GKE's
    "--credentials": (str, ""),  # PATH: credentials file to use instead of the metadata server
    "--max-runtime": (seconds, 0.0),  # SECONDS: time limit for the call in this attempt; default 0, no limit
    "--hang-timeout": (seconds, 0.0),  # SECONDS: time without a line, a file or a report, after which the log gets the call's stacks; default 0, never
    "--hang-action": (hang_action, "stacks"),  # ACTION: what --hang-timeout does: stacks, or restart to end the attempt as well
    "--budget": (seconds, 0.0),  # SECONDS: time for the call in all attempts together, which --max-cost pays for; default 0, no limit
    "--max-disruptions": (whole_number, DEFAULTS["max_disruptions"]),  # N: fail the job after losing its pod more often than this
    "--retries": (whole_number, math.inf),  # N: fail the job after more crashes than this; default: Kubernetes decides
    "--retry-on": (retry_on, "crash"),  # KIND: what --retries covers: crash, or error to include calls that fail
    "--map": (sha256_hex, ""),  # SHA256: hash of a map's inputs, lines of JSON
    "--chunk": (whole_number, 1),  # N: inputs per pod
    "--inputs": (whole_number, 0),  # N: total number of inputs
    "--only": (str, ""),  # 0-0,5-9: inputs to divide into chunks; default: all
    "--release": (str, ""),  # NAMESPACE/NAME: LeaderWorkerSet that host 0 scales to zero when the job ends
    "--pathways": (whole_number, 0),  # N: TPU hosts of a job on Pathways, which calls once and on host 0; default 0, no such job
    "--chips": (str, ""),  # KIND:N: chips of each host, such as gpu:8 or tpu:4, if processes are to find each other; default: none
    "--processes": (processes, 0),  # N: start the call N times on each host, or auto: once for each GPU for PyTorch; default 0, one process that is not numbered
    "--caller": (whole_number, 0),  # FD: pipe whose end, without a byte, ends the job; default: none
    "--grace": (seconds, 25.0),  # SECONDS: time from SIGTERM to SIGKILL
    "--work": (os.path.abspath, WORK),  # DIR: parent directory of workspace/, scratch/ and env/
    "--warm": (None, False),  # the pod takes further calls: change the workspace of the last one in place, and leave the other hosts alone
    "--may-be-gone": (None, False),  # the call has waited at a warm host, or an earlier pod may have run it, and its user may have removed it: without a call.json it has ended
    "--given": (os.path.abspath, ""),  # DIR: directory with objects of a new call that the client is storing
    "--group-port": (whole_number, PORTS["group"]),  # PORT: port of host 0 to which the runners of the other hosts connect
    "--log-file": (str, ""),  # PATH: file to write the log to instead of printing it
    "--termination-log": (str, TERMINATION_LOG),  # PATH: file for the termination message, "" for none
    "--final": (None, False),  # treat this attempt as the last one, however it ends
}


def usage():
    """Return the text of --help, which nobody reads in a pod: the comments above say what the flags mean."""
    return "usage: remote_runner.py FLAGS\nRun one call of a Kinetic job.\n  " + "\n  ".join(FLAGS)


def parse_options(argv):
    """Parse the command line. argparse would take a tenth of a job's start-up time."""
    values = {name: default for name, (_, default) in FLAGS.items()}
    words = iter(argv)
    for word in words:
        name, equals, text = word.partition("=")
        kind = FLAGS[name][0] if name in FLAGS else None
        if name not in FLAGS or equals and not kind:
            raise RunnerError(f"unknown flag {word!r:.80}")
        text = text if equals or not kind else next(words, None)
        if text is None:
            raise RunnerError(f"{name} needs a value")
        try:
            values[name] = kind(text) if kind else True
        except ValueError as exc:
            raise RunnerError(f"{name}: {text!r:.80} {exc}") from None
    missing = [name for name, value in values.items() if value is REQUIRED]
    if missing:
        raise RunnerError(f"missing flags: {', '.join(missing)}")
    options = types.SimpleNamespace(**{name[2:].replace("-", "_"): value for name, value in values.items()})
    options.workspace, options.scratch, options.venv = (os.path.join(options.work, name) for name in ("workspace", "scratch", "env"))
    return options
