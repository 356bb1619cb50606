# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The account that makes the requests to the store."""

import _thread
import json
import time

from ..errors import RunnerError, Transient
from ..text import shorten
from .http import REQUEST_SECONDS, Endpoint, Request

METADATA_HOST = "metadata.google.internal"
ACCOUNT_PATH = "/computeMetadata/v1/instance/service-accounts/default/"
TOKEN_MARGIN = 120.0  # seconds before its expiry at which a token is no longer used


class Account:
    """Keeps the access token from a source: MetadataServer or KeyFile."""

    def __init__(self, source):
        self._source = source
        self._changing = _thread.allocate_lock()
        self._token, self._expires = None, 0.0

    def token(self, timeout):
        """Return an access token that is valid for a while."""
        with self._changing:
            if self._token is None or time.monotonic() >= self._expires:
                answer = self._source.fetch(timeout)
                try:
                    fields = json.loads(answer)
                    self._expires = time.monotonic() + fields["expires_in"] - TOKEN_MARGIN
                    self._token = fields["access_token"]
                except (ValueError, KeyError, TypeError):
                    # Do not show the answer: part of it may be a token.
                    raise RunnerError(f"{self._source.title} answered with {len(answer)} bytes that are not a token") from None
            return self._token

    def refused(self, token):
        """Forget a token that the store does not accept."""
        with self._changing:
            if self._token == token:
                self._token = None

    def name(self):
        """Return what Google Cloud calls the account, for messages."""
        return self._source.name()


def open_account(credentials, metadata_host):
    """Return the account of a credentials file, or the pod's own if there is none."""
    if credentials:
        from .keyfile import KeyFile

        return Account(KeyFile(credentials))
    return Account(MetadataServer(metadata_host or METADATA_HOST))


class MetadataServer:
    """A source of tokens for the service account of a pod on GKE."""

    def __init__(self, host):
        self._server = Endpoint(host)
        self.title = f"the metadata server {self._server.name}"

    def fetch(self, timeout):
        """Return the JSON with a new token."""
        return self._get("token", timeout)

    def name(self):
        """Return what Google Cloud calls the pod's account."""
        try:
            email = self._get("email", REQUEST_SECONDS).decode("utf-8", "replace").strip()
        except (RunnerError, Transient):
            return "the pod's service account"
        # Without a Google service account, it is a workload identity pool.
        return f"the pod's Kubernetes service account (in {email})" if email.endswith(".svc.id.goog") else email

    def _get(self, name, timeout):
        try:
            answer = self._server.send(Request("GET", ACCOUNT_PATH + name, (("Metadata-Flavor", "Google"),)), timeout)
            data = answer.content()
        except Transient as exc:
            where = "the metadata server, which only pods on GKE have, and a NetworkPolicy may block (others need --store-credentials)"
            raise Transient(f"cannot get a token from {where}: {exc}") from None
        if answer.status == 200:
            return data
        text = f"{self.title} answered {answer.status}: {shorten(data.decode('utf-8', 'replace'), 200)}"
        # The metadata server of a starting node may give any answer at first.
        raise RunnerError(f"{text}: does the pod have a service account?") if answer.status in (403, 404) else Transient(text)
