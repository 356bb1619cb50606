# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The release of a LeaderWorkerSet, which would otherwise restart its pods for ever."""

import os
import time

from ..contract import NAMES
from ..errors import RunnerError, Transient, explain
from ..store.http import REQUEST_SECONDS, RETRY_STATUS, Endpoint, Request
from ..text import encode_json, shorten, tell
from .peers import FIRST_PAUSE, LONGEST_PAUSE

SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
LEADERWORKERSETS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/{}/leaderworkersets/{}"
OUTCOME_ANNOTATION = NAMES["outcome"]


class APIServer:
    """The API server of the cluster, which the pod's service account asks."""

    def __init__(self):
        url = "https://{KUBERNETES_SERVICE_HOST}:{KUBERNETES_SERVICE_PORT}".format_map(os.environ)
        self._server = Endpoint(url, os.path.join(SERVICE_ACCOUNT, "ca.crt"))

    def ask(self, request, none=(404,), last=None):
        """Return what a request is answered, or its last bytes, or None at these statuses. Raise Transient if it may succeed later, else RunnerError."""
        with open(os.path.join(SERVICE_ACCOUNT, "token"), encoding="ascii") as file:
            token = file.read().strip()  # it is rotated
        answer = self._server.send(request, REQUEST_SECONDS, token)
        data = answer.end(last) if last and answer.status == 200 else answer.content()
        if answer.status in (401, 409) or answer.status in RETRY_STATUS:
            raise Transient(f"the API server answered {answer.status}")
        if answer.status in none:
            return None
        if answer.status != 200:
            raise RunnerError(f"the API server answered {answer.status}: {shorten(data.decode('utf-8', 'replace'), 300)}")
        return data


def release(workload, end, came):
    """Record the end of a job on its LeaderWorkerSet and scale it to zero, however long that takes, unless SIGTERM has come."""
    pause = FIRST_PAUSE
    try:
        patch = Release(workload, end)
        while not came():
            try:
                return patch.send()
            except Transient:
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
    except (RunnerError, OSError, KeyError) as exc:
        tell(f"kinetic: cannot release the job's hosts; the next kubectl kinetic jobs command will: {explain(exc)}\n")


class Release:
    """A patch of the job's LeaderWorkerSet that records the outcome and scales it to zero."""

    def __init__(self, workload, end):
        self._server = APIServer()
        annotations = {OUTCOME_ANNOTATION: encode_json(end).decode()}
        self._body = encode_json({"metadata": {"annotations": annotations}, "spec": {"replicas": 0}})
        self._path = LEADERWORKERSETS.format(*workload.split("/"))

    def send(self):
        """Send the patch. Raise Transient if it may succeed later, else RunnerError."""
        headers = (("Content-Type", "application/merge-patch+json"), ("Content-Length", str(len(self._body))))
        self._server.ask(Request("PATCH", self._path, headers, lambda: [self._body]))  # None: it is gone, and its hosts will be soon
