"""Payloads as a client makes them, of functions that only the job has."""

import contextlib
import json
import pickle
import sys
import textwrap
import types

from fixture import pickled, sha256

PYTHON = "%d.%d.%d" % sys.version_info[:3]


@contextlib.contextmanager
def module(name, source):
    """A module of this source, while something is pickled that refers to it."""
    made = types.ModuleType(name)
    sys.modules[name] = made
    exec(textwrap.dedent(source), made.__dict__)
    try:
        yield made
    finally:
        del sys.modules[name]


def header(**members):
    """The first line of a payload."""
    return json.dumps(dict({"kinetic_payload": 1, "python": PYTHON, "cloudpickle": "3.1.0", "function": "f", "modules": {}}, **members)).encode() + b"\n"


def payload(source, *args, function="f", before=None, **kwargs):
    """The payload that calls this function of train.py."""
    with module("train", source) as train:
        return (header() if before is None else before) + pickle.dumps((getattr(train, function), args, kwargs), protocol=5)


class Payloads:
    """For tests that run payloads."""

    def start_payload(self, data, files, *flags, call=None, env=None):
        self.put("cpu-train-20261120-082019-abc1234/payload.pkl", data)
        return self.start(self.argv(call or pickled(), files, "--payload", sha256(data), *flags), env)

    def run_payload(self, data, files, *flags, **kwargs):
        return self.finish(self.start_payload(data, files, *flags, **kwargs))

    def pickle_of(self, source, *args, **kwargs):
        """Runs the function f of train.py; what it leaves, and its pickle."""
        ran = self.run_payload(payload(source, *args, **kwargs), {"train.py": source})
        return ran, self.read("result.pkl") if self.exists("result.pkl") else None

    def assertVouched(self, ran, data, name="result.pkl"):
        """The hash of the pickle is wherever the end of the job is told."""
        told = {"name": name, "sha256": sha256(data), "size": len(data)}
        self.assertEqual((ran.end["pickle"], json.loads(self.termination())["pickle"], ran.reported), (told, told, told))
        self.assertEqual([ran.result[key] for key in ("pickle", "pickle_sha256", "pickle_size")], [name, sha256(data), len(data)])
