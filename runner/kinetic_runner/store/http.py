# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""HTTP to one server, with connections that are reused."""

import email.utils
import functools
import http.client
import os
import time
import urllib.parse
from collections import namedtuple

from ..errors import RunnerError, Transient, text_of

REFUSAL_LIMIT = 1 << 20  # bytes of an answer that says why something was refused
ANSWER_LIMIT = 64 << 20  # bytes of another answer that is not an object: a page of 1,000 objects with the longest names has some 6 MiB
RETRY_STATUS = frozenset((408, 429, 500, 502, 503, 504))
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")  # variables that Python obeys
REQUEST_SECONDS = 10.0  # without a byte from the server; less than every --grace

# body is None, or a callable that yields the bytes each time it is called.
Request = namedtuple("Request", "method path headers body", defaults=((), None))


class Endpoint:
    """A server. HTTPS_PROXY and similar variables are ignored: they are meant for the call."""

    failures = (OSError, http.client.HTTPException)

    def __init__(self, url, authority=None):
        parts = urllib.parse.urlsplit(url if "://" in url else "http://" + url)
        self.name = parts.netloc
        self._idle = []
        self._connect, self._options = http.client.HTTPConnection, {}
        if parts.scheme == "https":
            self._options = {"context": tls_context(authority)}
            self._connect = http.client.HTTPSConnection

    def send(self, request, timeout, token=None):
        """Send a request and return the answer, with only its headers read. Raise Transient if there is none."""
        try:
            connection = self._idle.pop()
            connection.timeout = timeout
            if connection.sock is not None:
                connection.sock.settimeout(timeout)
        except IndexError:
            connection = self._connect(self.name, timeout=timeout, **self._options)
        try:
            self._transmit(connection, request, token)
            return Answer(self, connection, connection.getresponse())
        except self.failures as exc:
            connection.close()
            raise self.problem(exc) from None
        except BaseException:
            connection.close()
            raise

    @staticmethod
    def _transmit(connection, request, token):
        body = None if request.body is None else request.body()
        headers = dict(request.headers)
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            connection.request(request.method, request.path, body, headers)
        except (BrokenPipeError, ConnectionResetError):
            if body is None or connection.sock is None:
                raise
            # A server may refuse a body before it has read all of it. Its answer says why.

    def problem(self, exc):
        """Return the error for a network exception: Transient, unless retries can't help."""
        if type(exc).__name__ == "SSLCertVerificationError":
            return RunnerError(f"cannot verify the certificate of {self.name}: {exc}: add ca-certificates to the image")
        return Transient(f"{self.name}: {text_of(exc) or type(exc).__name__}")

    def keep(self, connection):
        """Keep a connection for reuse, after its answer was read to the end."""
        self._idle.append(connection)

    def close(self):
        """Close the connections that are kept."""
        while self._idle:
            self._idle.pop().close()


def tls_context(authority=None):
    """Return a context that verifies certificates, with the authority's file or those of the image."""
    return context_for(authority, *(os.environ.get(name) for name in CERTIFICATES))


@functools.lru_cache(maxsize=None)
def context_for(authority, *_):
    """Return the context for an authority, and for these values of CERTIFICATES."""
    try:
        import ssl
    except ImportError:
        raise RunnerError("this python3 has no ssl module, which access to a bucket needs: use another image") from None
    context = ssl.create_default_context(cafile=authority or certificates(ssl))
    if authority:
        context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)  # a cluster's own certificates may not be strictly conformant
    return context


def certificates(ssl):
    """Return the file of the package certifi in an image without certificates, else None."""
    paths = ssl.get_default_verify_paths()
    if paths.cafile or paths.capath and os.path.isdir(paths.capath) and os.listdir(paths.capath):
        return None
    try:
        import certifi
    except ImportError:
        return None
    return certifi.where()


class Answer:
    """The answer to one request. Read it once and close it."""

    def __init__(self, endpoint, connection, response):
        self._endpoint, self._connection, self._response = endpoint, connection, response
        self.status, self.headers = response.status, response.headers

    def read(self, size):
        """Return at most size bytes, none at the end. Raise Transient if the answer is incomplete."""
        try:
            block = self._response.read(size)
        except self._endpoint.failures as exc:
            self.close()
            raise self._endpoint.problem(exc) from None
        if not block and self._response.length:
            self.close()
            raise Transient(f"{self._endpoint.name}: the answer is {self._response.length} bytes short")
        if self._connection is not None and self._response.isclosed():
            self._endpoint.keep(self._connection)
            self._connection = None
        return block

    def content(self):
        """Return the whole answer, or the beginning of a very long one."""
        limit = ANSWER_LIMIT if self.status < 300 else REFUSAL_LIMIT
        data = bytearray()
        while len(data) < limit and (block := self.read(REFUSAL_LIMIT)):
            data += block
        self.close()
        return bytes(data)

    def end(self, size):
        """Return the last bytes of the answer, at most size of them."""
        data = bytearray()
        while block := self.read(REFUSAL_LIMIT):
            data += block
            del data[:-size]
        self.close()
        return bytes(data)

    def close(self):
        """Close the answer, even if it is not read to the end."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def server_time(headers):
    """Return when the server sent this answer, in seconds since 1970, by its own clock if known."""
    date = headers["Date"]
    return email.utils.parsedate_to_datetime(date).timestamp() if date else time.time()
