#!/usr/bin/env python3
# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs one call of a Kinetic job: fetch, verify, run, publish.

The standard library only, for Python 3.9 and later, so that it works in any
image with a python3. The manifest names call and bundle by their SHA-256.

The supervisor copies the child's output, passes signals on and watches the
clocks; a thread beside it publishes what is printed meanwhile. The child is a
fork that becomes the user's program, or imports the user's function and calls
it. No thread exists when it is forked.

Exit codes: 0 done, 1-123 the call's own, 124 out of time, 125 the runner or
the store failed, 137 the call was killed, 143 terminated.
"""

import os
import sys

# What a plain `python3` has loaded before the first line of a program. Other
# modules in sys.modules are there on the runner's account: see forget_shadowed.
STARTUP_MODULES = frozenset(sys.modules)

# Everything is imported before a file of the workspace can shadow it.
import _thread
import atexit
import errno
import gzip
import hashlib
import importlib
import importlib.machinery
import importlib.util
import io
import json
import math
import pickle
import re
import select
import signal
import time
import traceback
import types
import zlib
from collections import namedtuple

RUNNER_SYS_PATH = tuple(sys.path)

VERSION = 1  # of every document that is read or written here
KIB, MIB = 1 << 10, 1 << 20
BLOCK = 1 * MIB  # how much of a file is in memory at a time
CALL_LIMIT = 256 * MIB
INDEX_LIMIT = 64 * MIB  # compressed, and again decoded: about half a million files
PIPE_READ = 64 * KIB
# After a read of fewer bytes lines gather for a moment: each read costs more than the call's print.
FEW_BYTES, GATHER_SECONDS = 2 * KIB, 0.002
PART_BYTES = 8 * MIB
PART_SECONDS = 30.0
SPOOL_BYTES = 256 * MIB  # of log that may wait for the store before the call's output has to
THREAD_SECONDS = 10.0  # for threads that the function left to finish their work
DRAIN_SECONDS = 1.0  # for output that outlives the call
DEADLINE_GRACE = 10.0
# Kubernetes kills the runner at least three seconds after the end of --grace.
PUBLISH_GRACE = 2.5
TERMINATION_LIMIT = 4096  # bytes that Kubernetes keeps of a termination message
TERMINATION_VALUE_LIMIT = 3 * KIB
TERMINATION_LOG = "/dev/termination-log"
MESSAGE_LIMIT = 1000  # characters of what a host says of its call in end.json
REPR_LIMIT = 20_000
MAX_DEPTH = 200  # of nesting in a returned value
MAX_WARNINGS = 10
MAX_ARRAY_BYTES = 64 * MIB  # an array beyond this is a file, not a return value

COMPLETED, EXCEPTION, EXIT_CODE, BAD_RESULT = "Completed", "Exception", "ExitCode", "BadResult"
NO_PROGRAM = "NoProgram"
DEADLINE_EXCEEDED, RUNNER_FAILURE = "DeadlineExceeded", "RunnerFailure"
KILLED, TERMINATED, DISRUPTED = "Killed", "Terminated", "Disrupted"
EXIT_DEADLINE, EXIT_RUNNER, EXIT_KILLED, EXIT_TERMINATED = 124, 125, 137, 143
# The cluster may start another attempt after these, so they end nothing.
RETRYABLE = (EXIT_RUNNER, EXIT_KILLED, EXIT_TERMINATED)
CRASHES = (EXIT_RUNNER, EXIT_KILLED)
STOPPED = "Stopped"  # no end of a job: a host's call was ended because another one had failed

JOB_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,48}[a-z0-9]")
RESERVED_IDS = ("blobs", "outputs", "default", "_groups")
SHA256 = re.compile(r"[0-9a-f]{64}")

# The very last line of a pod tells who follows its log that the job has ended. It is in
# no part of the log. Where the call's own last line has no end, that is said behind it.
END_LINE = "kinetic: job {} has ended"
NO_LINE_END = " [no line end]"

# What to do next, said by more than one message.
RESUBMIT = "delete it and submit the job again, which uploads it anew"
INSTEAD = "return numbers, text, lists and dicts, and save other things below KINETIC_OUTPUT_DIR"


class RunnerError(Exception):
    """The runner or the store failed; the message is a sentence for people."""


class NotFound(RunnerError):
    """There is no such object."""


class AlreadyExists(RunnerError):
    """The object is there already and was not touched."""


class Unreachable(RunnerError):
    """The store does not answer, and was asked for as long as there is patience."""


class Stopped(BaseException):
    """SIGTERM or SIGINT arrived before the call began."""


# -------- small things


def timestamp():
    """UTC as RFC 3339 with microseconds, always 27 characters long."""
    whole, fraction = divmod(time.time_ns() // 1000, 1_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + ".%06dZ" % fraction


def encode_text(text):
    """UTF-8 bytes of any str; a lone surrogate becomes its \\u escape, as JSON writes it."""
    return text.encode("utf-8", "backslashreplace")


def encode_json(document):
    """The document as compact JSON in UTF-8."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False)
    return encode_text(text)


def shorten(text, limit):
    """The text, cut to so many characters with a mark."""
    return text if len(text) <= limit else text[: limit - 1] + "\u2026"


def write_all(fd, data):
    """Writes every byte; os.write may stop early."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def file_blocks(path):
    """Yields the bytes of a file, a block at a time."""
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            yield block


def jittered(pause):
    """Up to a half less, so that many pods do not come back at one moment."""
    return pause * (1 - os.urandom(1)[0] / 512)


def times(number):
    """How often, in words."""
    return "once" if number == 1 else f"{number} times"


def type_name(kind):
    """The qualified name of a type as a traceback shows it."""
    module = getattr(kind, "__module__", None)
    name = getattr(kind, "__qualname__", kind.__name__)
    return name if module in (None, "builtins", "__main__") else f"{module}.{name}"


def text_of(exc):
    """str(exc), even where that raises."""
    try:
        return str(exc)
    except Exception:
        return f"<unprintable {type(exc).__name__} object>"


def late_import(name):
    """Imports a standard module that not every call needs, past any file of the workspace."""
    current, sys.path = sys.path, list(RUNNER_SYS_PATH)
    try:
        return importlib.import_module(name)
    finally:
        sys.path = current


def unlimited_integers():
    """Lets integers of any length through JSON; newer Pythons stop at 4300 digits."""
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)


# -------- the store

# Names of objects, relative to the store's URL: the same table as in the
# package store of the client.


def blob_name(sha256):
    """The content-addressed object of a hash."""
    return f"blobs/sha256/{sha256[:2]}/{sha256}"


def job_name(job, name):
    """An object of the job: call.json, result.json, result.pkl or end.json."""
    return f"{job}/{name}"


def attempt_name(job, number):
    """The record of the n-th start, counted from 1."""
    return f"{job}/attempts/{number}.json"


def log_part_name(job, host, attempt, part):
    """One piece of what a host printed, counted from 1."""
    return f"{job}/logs/{host}/{attempt}-{part}.log"


def directory_of(url, what):
    """The path of a file:// URL or of an absolute path."""
    path = url[len("file://") :] if url.startswith("file://") else url
    if not os.path.isabs(path):
        raise RunnerError(f"{what} {url}: want gs://bucket, or file:// and an absolute path")
    return os.path.normpath(path)


def open_store(url):
    """The store of a URL; a pod has no other than buckets."""
    return GCSStore(url) if url.startswith("gs://") else neighbour("remote_local").FileStore(url)


def in_parallel(action, items, count):
    """Calls action with each item, in count threads; raises the first failure when they have ended."""
    waiting, failures = list(reversed(items)), []

    def work():
        while not failures:
            try:
                item = waiting.pop()
            except IndexError:
                return
            try:
                action(item)
            except Exception as exc:
                failures.append(exc)

    others = range(1, min(count, len(items)))
    # They are daemons, so that SIGTERM need not wait for what they are reading.
    threads = [late_import("threading").Thread(target=work, daemon=True) for _ in others]
    try:
        for thread in threads:
            thread.start()
        work()
        for thread in threads:
            thread.join()
    finally:
        waiting.clear()
    if failures:
        raise failures[0]


def copy_verified(store, name, sha256, limit, sink):
    """Copies an object of at most limit bytes to sink, checks its SHA-256 and returns its size.

    sink must forget the bytes if this raises.
    """
    digest, size = hashlib.sha256(), 0
    with store.open(name) as source:
        while block := source.read(BLOCK):
            size += len(block)
            if size > limit:
                raise RunnerError(f"{store.url(name)} is larger than the {limit} bytes it may have: it was changed; {RESUBMIT}")
            digest.update(block)
            sink(block)
    if digest.hexdigest() != sha256:
        raise RunnerError(
            f"{store.url(name)} has SHA-256 {digest.hexdigest()}, want {sha256}: it was changed or cut off; {RESUBMIT}"
        )
    return size


def read_verified(store, name, sha256, limit):
    """The bytes of a small object whose SHA-256 was checked."""
    buffer = io.BytesIO()
    copy_verified(store, name, sha256, limit, buffer.write)
    return buffer.getvalue()


# -------- gs:// stores

GCS_URL = r"gs://(?P<bucket>[a-z0-9][a-z0-9._-]{1,220}[a-z0-9])(?:/(?P<prefix>[^?#]*))?"
GCS_ENDPOINT = "https://storage.googleapis.com"
METADATA_HOST = "metadata.google.internal"
ACCOUNT_PATH = "/computeMetadata/v1/instance/service-accounts/default/"
STORAGE_ROLE = "roles/storage.objectUser"
PARALLEL_READS = 6
REQUEST_SECONDS = 10.0  # without a byte from the server; less than every --grace
RETRY_SECONDS = 60.0  # from the first failure in a row to the last
PUBLISH_SECONDS = 600.0  # the same, when the call has ended, and always on several hosts; SIGTERM cuts it short
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
CONTENT_TYPES = {".json": "application/json", ".log": "text/plain; charset=utf-8"}
RETRY_STATUS = frozenset((408, 429, 500, 502, 503, 504))
TOKEN_MARGIN = 120.0  # seconds before its expiry in which a token is not used any more
ANSWER_LIMIT = 1 * MIB  # of an answer that is not an object
RENEW_SECONDS = 86_400.0
RENEW_AGE = 20 * 86_400  # buckets may have a rule that deletes objects of 30 days


class Transient(Exception):
    """A request failed in a way that may mend itself; the message says how."""


# What is asked. body is None, or a callable that yields the bytes anew.
Request = namedtuple("Request", "method path headers body", defaults=((), None))


class Endpoint:
    """A server that speaks HTTP. Connections are used again. HTTPS_PROXY and its like are meant for the call."""

    def __init__(self, url, authority=None):
        self._client = late_import("http.client")
        self.failures = (OSError, self._client.HTTPException)
        parts = late_import("urllib.parse").urlsplit(url if "://" in url else "http://" + url)
        self.name = parts.netloc
        self._idle = []
        self._connect, self._options = self._client.HTTPConnection, {}
        if parts.scheme == "https":
            self._options = {"context": tls_context(authority)}
            self._connect = self._client.HTTPSConnection

    def send(self, request, timeout, token=None):
        """The answer to a request, of which only the headers are read; Transient if there is none."""
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
            # A server may refuse a body before it has read all of it: the answer says why.

    def problem(self, exc):
        """What an exception of the network means: Transient, unless waiting cannot mend it."""
        if type(exc).__name__ == "SSLCertVerificationError":
            return RunnerError(f"cannot verify that {self.name} is who it says: {exc}: add ca-certificates to the image")
        return Transient(f"{self.name}: {text_of(exc) or type(exc).__name__}")

    def keep(self, connection):
        """Takes back a connection whose answer was read to its end."""
        self._idle.append(connection)

    def disconnect(self):
        while self._idle:
            self._idle.pop().close()


def tls_context(authority=None):
    """TLS that verifies every certificate, by the authority's file or by those of the image."""
    try:
        ssl = late_import("ssl")
    except ImportError:
        raise RunnerError("this python3 has no module ssl, without which no bucket can be reached: use another image") from None
    context = ssl.create_default_context(cafile=authority)
    if authority:
        context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)  # a cluster's own may be made a little freely
    return context


class Answer:
    """The answer to one request, to be read once and closed."""

    def __init__(self, endpoint, connection, response):
        self._endpoint, self._connection, self._response = endpoint, connection, response
        self.status, self.headers = response.status, response.headers

    def read(self, size):
        """At most size bytes, none at the end; Transient if it was cut off."""
        try:
            block = self._response.read(size)
        except self._endpoint.failures as exc:
            self.close()
            raise self._endpoint.problem(exc) from None
        if not block and self._response.length:
            self.close()
            raise Transient(f"{self._endpoint.name}: an answer was cut off, {self._response.length} bytes are missing")
        if self._connection is not None and self._response.isclosed():
            self._endpoint.keep(self._connection)
            self._connection = None
        return block

    def content(self):
        data = b""
        while len(data) < ANSWER_LIMIT and (block := self.read(ANSWER_LIMIT)):
            data += block
        self.close()
        return data

    def close(self):
        """Gives up what is not read."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Account:
    """Whom the store is asked as: keeps the access token of a source."""

    def __init__(self, source):
        self._source = source  # MetadataServer, or KeyFile of remote_credentials.py
        self._changing = _thread.allocate_lock()
        self._token, self._expires = None, 0.0

    def token(self, timeout):
        """An access token that is good for a while."""
        with self._changing:
            if self._token is None or time.monotonic() >= self._expires:
                answer = self._source.fetch(timeout)
                try:
                    fields = json.loads(answer)
                    self._expires = time.monotonic() + fields["expires_in"] - TOKEN_MARGIN
                    self._token = fields["access_token"]
                except (ValueError, KeyError, TypeError):
                    # The answer is not shown: part of it may be a token.
                    raise RunnerError(f"{self._source.title} gave no token, but {len(answer)} bytes of something else") from None
            return self._token

    def refused(self, token):
        """Forgets a token that the store does not accept."""
        with self._changing:
            if self._token == token:
                self._token = None

    def name(self):
        """Who that is for Google Cloud, for messages."""
        return self._source.name()

    def disconnect(self):
        self._source.disconnect()


def open_account():
    """The account of the credentials file that the job names, else the pod's own."""
    path = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS")
    if path:  # else the image names a file, for the call
        return Account(neighbour("remote_credentials").KeyFile(path))
    return Account(MetadataServer())


class MetadataServer:
    """Tokens of the service account of a pod on GKE."""

    def __init__(self):
        self._server = Endpoint(os.environ.get("GCE_METADATA_HOST") or METADATA_HOST)
        self.title = f"the metadata server {self._server.name}"

    def fetch(self, timeout):
        """The JSON with a new token."""
        return self._get("token", timeout)

    def name(self):
        """Who the pod is for Google Cloud."""
        try:
            email = self._get("email", REQUEST_SECONDS).decode("utf-8", "replace").strip()
        except (RunnerError, Transient):
            return "the pod's service account"
        # Without an account of Google's own it is a workload identity pool.
        return f"the pod's Kubernetes service account (in {email})" if email.endswith(".svc.id.goog") else email

    def disconnect(self):
        self._server.disconnect()

    def _get(self, name, timeout):
        try:
            answer = self._server.send(Request("GET", ACCOUNT_PATH + name, (("Metadata-Flavor", "Google"),)), timeout)
            data = answer.content()
        except Transient as exc:
            where = "the metadata server, which only pods on GKE have (others need --store-credentials)"
            raise Transient(f"no token from {where}: {exc}") from None
        if answer.status == 200:
            return data
        text = f"{self.title} answered {answer.status}: {shorten(data.decode('utf-8', 'replace'), 200)}"
        # The server of a node that is starting says all kinds of things at first.
        raise RunnerError(f"{text}: does the pod have a service account?") if answer.status in (403, 404) else Transient(text)


class GCSStore:
    """A store in a bucket, by the JSON API of Google Cloud Storage or of an emulator.

    Every request is repeated while that may help, so sources are callables that
    yield the bytes anew. What is written is checked by its MD5.
    """

    parallel = PARALLEL_READS

    def __init__(self, url):
        match = re.fullmatch(GCS_URL, url.rstrip("/"))
        if not match:
            raise RunnerError(f"store {url}: want gs://bucket or gs://bucket/prefix")
        self._quote = late_import("urllib.parse").quote
        self._bucket, self._prefix = match["bucket"], match["prefix"] + "/" if match["prefix"] else ""
        emulator = os.environ.get("STORAGE_EMULATOR_HOST")
        self._server = Endpoint(emulator or GCS_ENDPOINT)
        self._account = None if emulator else open_account()
        self._patience = RETRY_SECONDS
        self._until = math.inf  # of time.monotonic: nothing is tried after this

    def url(self, name):
        """The full name of an object, for messages."""
        return f"gs://{self._bucket}/{self._prefix}{name}"

    def outputs(self, job):
        """What KINETIC_OUTPUT_DIR is when the user chose none."""
        return self.url(f"{job}/outputs")

    def insist(self):
        """From now on an outage is waited for much longer: the whole call made what is to be written."""
        self._patience = PUBLISH_SECONDS

    def hurry(self, moment):
        """Nothing is waited for after this moment of time.monotonic."""
        self._until = min(self._until, moment)

    def disconnect(self):
        """Closes the connections that are not in use."""
        self._server.disconnect()
        if self._account:
            self._account.disconnect()

    def open(self, name):
        """A binary file of the object's bytes; NotFound if there is none."""
        return GCSReader(self, name)

    def create(self, name, source, metadata=None):
        """Writes an object that must not exist yet; AlreadyExists if it does."""
        self._upload(name, source, {"metadata": metadata} if metadata else {}, 0)

    def write(self, name, source, generation=None):
        """Writes an object, in place of an older one; AlreadyExists if that is not of the given generation."""
        self._upload(name, source, {}, generation)

    def renew(self, name):
        """Makes an object young again, where it is, before a rule of the bucket deletes it."""
        doing, path = f"renew {self.url(name)}", self.path(name)
        status, headers, data = self.ask(doing, Request("GET", path))
        if status == 404:
            return  # this attempt does not need it any more, and another one will say so
        fields = self._expect(status, data, doing, "get")
        if age_of(fields, headers) < RENEW_AGE:
            return
        path += f"/rewriteTo{path[len('/storage/v1') :]}?ifGenerationMatch={fields['generation']}"
        more = ""
        while more is not None:
            status, _, data = self.ask(doing, Request("POST", path + more, (("Content-Length", "0"),)))
            if status in (404, 412):
                return  # somebody else renewed or removed it
            fields = self._expect(status, data, doing, "create")
            more = None if fields.get("done", True) else f"&rewriteToken={self._quote(fields['rewriteToken'], safe='')}"

    def path(self, name):
        """The path of an object in the API."""
        return f"/storage/v1/b/{self._bucket}/o/{self._quote(self._prefix + name, safe='')}"

    def ask(self, doing, request):
        """Status, headers and content of a request's answer."""

        def once():
            answer = self.send(request)
            return answer.status, answer.headers, answer.content()

        return self.retry(doing, once)

    def send(self, request):
        """One request, as the pod's account; the answer may be an error that stays. Else Transient."""
        for last in (False, True):
            timeout = max(0.1, min(REQUEST_SECONDS, self._until - time.monotonic()))
            token = self._account.token(timeout) if self._account else None
            answer = self._server.send(request, timeout, token)
            if answer.status != 401 or not token or last:
                break
            answer.close()
            self._account.refused(token)
        if answer.status in RETRY_STATUS:
            answer.close()
            raise Transient(f"{self._server.name} answered {answer.status}")
        return answer

    def retry(self, doing, action):
        """Repeats action until it ends without Transient; Unreachable if that takes too long."""
        pause, tries, begin = FIRST_PAUSE, 1, None
        while True:
            try:
                return action()
            except Transient as exc:
                now = time.monotonic()
                begin = now if begin is None else begin
                wait = jittered(pause)
                if now + wait >= min(begin + self._patience, self._until):
                    raise Unreachable(
                        f"cannot {doing}: {exc} ({tries} tries in {now - begin:.0f} seconds): "
                        "see whether the pod's node can reach it, then submit again"
                    ) from None
            time.sleep(wait)
            pause, tries = min(2 * pause, LONGEST_PAUSE), tries + 1

    def refusal(self, status, data, doing, permission):
        """The error for an answer that no repetition mends."""
        said = shorten(" ".join(error_text(data).split()), 300)
        account = self._account.name() if self._account else "the emulator's user"
        if status in (401, 403):
            text = f"{account} has no {permission} in bucket {self._bucket} ({status}: {said}): grant it {STORAGE_ROLE} there"
        elif status == 404:
            text = (
                f"{account} sees no bucket {self._bucket} ({status}: {said}): create it with kubectl kinetic up, "
                f"grant {STORAGE_ROLE} on it, or submit with another --store"
            )
        else:
            text = f"{self._server.name} answered {status}: {said}"
        return RunnerError(f"cannot {doing}: {text}")

    def _expect(self, status, data, doing, permission):
        if status != 200:
            raise self.refusal(status, data, doing, f"storage.objects.{permission}")
        try:
            return json.loads(data)
        except ValueError:
            raise RunnerError(f"cannot {doing}: {self._server.name} answered no JSON: {data!r:.200}") from None

    def _upload(self, name, source, fields, generation):
        size, md5 = measure(source)
        kind = CONTENT_TYPES.get(os.path.splitext(name)[1], "application/octet-stream")
        headers, body = multipart(dict(fields, name=self._prefix + name, contentType=kind, md5Hash=md5), source, size)
        condition = "" if generation is None else f"&ifGenerationMatch={generation}"
        path = f"/upload/storage/v1/b/{self._bucket}/o?uploadType=multipart{condition}"
        doing = f"write {self.url(name)}"
        status, _, data = self.ask(doing, Request("POST", path, headers, body))
        if status == 412 and condition:
            # Our own upload may have arrived, now or long ago, although its answer did not.
            if self._md5(name) == md5:
                return
            raise AlreadyExists(f"{self.url(name)} exists already")
        permission = "create" if generation == 0 else "create and storage.objects.delete"
        if self._expect(status, data, doing, permission).get("md5Hash") != md5:
            raise RunnerError(f"cannot {doing}: it was changed on its way, its MD5 is not {md5}: submit the job again")

    def _md5(self, name):
        doing = f"read {self.url(name)}"
        status, _, data = self.ask(doing, Request("GET", self.path(name)))
        return None if status == 404 else self._expect(status, data, doing, "get").get("md5Hash")


class GCSReader:
    """The bytes of an object as a binary file. A transfer that breaks off goes on where it was."""

    def __init__(self, store, name):
        self._store, self._name = store, name
        self._done, self.generation, self._answer = 0, None, None
        self._retry(self._connect)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._answer is not None:
            self._answer.close()

    def read(self, size):
        """At most size bytes; none at the end."""
        block = self._retry(lambda: self._read(size))
        self._done += len(block)
        return block

    def _retry(self, action):
        return self._store.retry(f"read {self._store.url(self._name)}", action)

    def _read(self, size):
        if self._answer is None:
            self._connect()
        try:
            return self._answer.read(size)
        except Transient:
            self._answer = None
            raise

    def _connect(self):
        # As it is stored, even if that is compressed.
        headers, path = (("Accept-Encoding", "gzip"),), self._store.path(self._name) + "?alt=media"
        if self._done:
            headers += (("Range", f"bytes={self._done}-"),)
            path += f"&generation={self.generation}" if self.generation else ""
        answer = self._store.send(Request("GET", path, headers))
        if answer.status != (206 if self._done else 200):
            self._refuse(answer.status, answer.content())
        self.generation = self.generation or answer.headers["x-goog-generation"]
        self._answer = answer

    def _refuse(self, status, data):
        url = self._store.url(self._name)
        if status == 404 and self._done:
            raise RunnerError(f"{url} was replaced while it was read: {RESUBMIT}")
        if status == 404 and b"bucket does not exist" not in data:
            raise NotFound(f"{url} does not exist")
        raise self._store.refusal(status, data, f"read {url}", "storage.objects.get")


def measure(source):
    """The size of what a source yields, and its MD5 in base64."""
    size, digest = 0, hashlib.md5(usedforsecurity=False)
    for block in source():
        size += len(block)
        digest.update(block)
    return size, late_import("base64").b64encode(digest.digest()).decode()


def multipart(fields, source, size):
    """Headers and body of an upload, which is not held in memory."""
    boundary = os.urandom(16).hex()
    head = (
        f"--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n".encode()
        + encode_json(fields)
        + f"\r\n--{boundary}\r\nContent-Type: {fields['contentType']}\r\n\r\n".encode()
    )
    tail = f"\r\n--{boundary}--\r\n".encode()

    def body():
        yield head
        yield from source()
        yield tail

    length = len(head) + size + len(tail)
    return (("Content-Type", f"multipart/related; boundary={boundary}"), ("Content-Length", str(length))), body


def age_of(fields, headers):
    """The age of an object in seconds. Both times are the server's."""
    created = time.strptime(fields["timeCreated"][:19], "%Y-%m-%dT%H:%M:%S")
    return server_time(headers) - late_import("calendar").timegm(created)


def server_time(headers):
    """When the server sent this answer, in seconds since 1970, by its own clock if it says so."""
    date = headers["Date"]
    return late_import("email.utils").parsedate_to_datetime(date).timestamp() if date else time.time()


def error_text(data):
    try:
        return json.loads(data)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return data.decode("utf-8", "replace")


# -------- documents


def parse_document(data, where):
    """The JSON object in data, of the version that this runner reads."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as exc:
        raise RunnerError(f"{where} is not JSON: {exc}") from None
    if not isinstance(document, dict):
        raise RunnerError(f"{where} is not a JSON object")
    version = document.get("version")
    if version != VERSION:
        raise RunnerError(f"{where} has version {version!r:.20}, this runner reads version {VERSION}: use one client for both")
    return document


def field(document, key, kind, where, default=None):
    """A member that must have exactly the given type; missing or null is the default."""
    value = document.get(key)
    if value is None and default is not None:
        return default
    if type(value) is not kind:
        raise RunnerError(f"{where}: {key} is {value!r:.60}, want {kind.__name__}")
    return value


def strings(document, key, where):
    """A member that is a list of strings, [] when missing."""
    values = field(document, key, list, where, [])
    for value in values:
        if type(value) is not str or "\0" in value:
            raise RunnerError(f"{where}: {key} contains {value!r:.60}, want text without NUL")
    return values


def check_path(path, where):
    """Rejects a path that could leave the workspace or be read in two ways."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise RunnerError(f"{where}: path {path!r:.200} is not relative and plain")
    if any(char == "\\" or char == "\0" or "\ud800" <= char <= "\udfff" for char in path):
        raise RunnerError(f"{where}: path {path!r:.200} contains a character that no path may have")
    return path


def check_directory(path, where):
    """The same for a directory, where "" and "." are the package root."""
    return "" if path in ("", ".") else check_path(path, where)


class Call:
    """What to run: the checked form of call.json. Paths are relative to the package root."""

    def __init__(self, document, where):
        self.kind = field(document, "kind", str, where)
        self.file = field(document, "file", str, where, "")
        self.module = field(document, "module", str, where, "")
        self.function = field(document, "function", str, where, "")
        self.kwargs = field(document, "kwargs", dict, where, {})
        self.args = strings(document, "args", where)
        self.cwd = check_directory(field(document, "cwd", str, where, ""), where)
        self.sys_path = [check_directory(path, where) for path in strings(document, "sys_path", where)]
        if self.file:
            check_path(self.file, where)
        needs = {"file": self.file, "module": self.module, "function": self.module and self.function, "command": self.args}
        if self.kind not in needs:
            raise RunnerError(f"{where}: kind is {self.kind!r:.60}, want one of {', '.join(needs)}")
        if not needs[self.kind]:
            raise RunnerError(f"{where}: a {self.kind} call does not say what to run")
        if self.module and "" in self.module.split("."):
            raise RunnerError(f"{where}: module is {self.module!r:.200}, want a dotted name")

    @property
    def title(self):
        if self.kind == "function":
            return f"{self.file or self.module}:{self.function}"
        return {"file": self.file, "module": f"python -m {self.module}"}.get(self.kind) or self.args[0]


# -------- the bundle

Blob = namedtuple("Blob", "name sha256 size gzipped")
File = namedtuple("File", "path executable size blob offset")
Index = namedtuple("Index", "blobs files dirs")


def read_index(store, sha256):
    """The bundle's index, verified and checked in full."""
    name = blob_name(sha256)
    where = f"bundle index {store.url(name)}"
    packed = read_verified(store, name, sha256, INDEX_LIMIT)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            data = file.read(INDEX_LIMIT + 1)
    except (OSError, EOFError, zlib.error) as exc:
        raise RunnerError(f"{where} cannot be decompressed: {exc}") from None
    if len(data) > INDEX_LIMIT:
        raise RunnerError(f"{where} is larger than {INDEX_LIMIT} bytes when decompressed")
    return parse_index(data, where)


def parse_index(data, where):
    """Index of its JSON text. Nothing in it can write outside of a directory."""
    document = parse_document(data, where)
    blobs = [parse_blob(entry, where) for entry in field(document, "blobs", list, where, [])]
    files = [parse_file(entry, blobs, where) for entry in field(document, "files", list, where, [])]
    dirs = [check_path(path, where) for path in strings(document, "dirs", where)]
    check_tree([file.path for file in files], dirs, where)
    return Index(blobs, files, dirs)


def parse_blob(entry, where):
    entry = entry if isinstance(entry, dict) else {}
    sha256 = field(entry, "sha256", str, where)
    encoding = field(entry, "encoding", str, where, "")
    size = field(entry, "size", int, where)
    if not SHA256.fullmatch(sha256) or encoding not in ("", "gzip") or size < 0:
        raise RunnerError(f"{where}: blob {sha256!r:.70} of {size} bytes with encoding {encoding!r:.20} is malformed")
    return Blob(blob_name(sha256), sha256, size, encoding == "gzip")


def parse_file(entry, blobs, where):
    """One file of an index, with a place in one of the blobs."""
    entry = entry if isinstance(entry, dict) else {}
    path = check_path(field(entry, "path", str, where), where)
    executable = field(entry, "executable", bool, where, False)
    file = File(path, executable, *(field(entry, key, int, where) for key in ("size", "blob", "offset")))
    if min(file.size, file.blob, file.offset) < 0 or file.blob >= len(blobs):
        raise RunnerError(f"{where}: {path} lies outside of all blobs")
    blob = blobs[file.blob]
    if not blob.gzipped and file.offset + file.size > blob.size:
        raise RunnerError(f"{where}: {path} lies outside of its blob")
    return file


def check_tree(files, dirs, where):
    """Rejects a path that occurs twice, or a file that is also a directory."""
    seen = set()
    for path in files + dirs:
        if path in seen:
            raise RunnerError(f"{where}: {path} occurs twice")
        seen.add(path)
    names = set(files)
    for path in files + dirs:
        parent = os.path.dirname(path)
        while parent:
            if parent in names:
                raise RunnerError(f"{where}: {parent} is both a file and a directory")
            parent = os.path.dirname(parent)


def fetch_bundle(store, index, scratch, workspace):
    """Writes the files of the index to the workspace, a new directory, once every blob is verified."""
    paths = [os.path.join(scratch, f"blob-{number}") for number in range(len(index.blobs))]
    in_parallel(lambda pair: fetch_blob(store, *pair), list(zip(index.blobs, paths)), store.parallel)
    for directory in index.dirs:
        os.makedirs(os.path.join(workspace, directory), exist_ok=True)
    files = [[] for _ in index.blobs]
    for file in index.files:
        files[file.blob].append(file)
    for blob, path, members in zip(index.blobs, paths, files):
        unpack(path, blob, members, workspace, store.url(blob.name))


def fetch_blob(store, blob, path):
    with open(path, "wb") as file:
        size = copy_verified(store, blob.name, blob.sha256, blob.size, file.write)
    if size != blob.size:
        raise RunnerError(f"{store.url(blob.name)} has {size} bytes, the bundle index says {blob.size}")


def unpack(path, blob, files, workspace, where):
    """Cuts a verified blob into its files, and removes it."""
    if len(files) == 1 and not blob.gzipped and files[0].size == blob.size:
        target = new_path(workspace, files[0])
        os.rename(path, target)  # both are below --work
        os.chmod(target, 0o755 if files[0].executable else 0o644)
        return
    with gzip.open(path) if blob.gzipped else open(path, "rb") as source:
        for file in sorted(files, key=lambda file: file.offset):
            try:
                source.seek(file.offset)
                cut(source, file, new_path(workspace, file))
            except (EOFError, gzip.BadGzipFile, zlib.error) as exc:
                raise RunnerError(f"{where} does not hold {file.path}: {exc}") from None
    os.unlink(path)


def cut(source, file, target):
    """Copies the next bytes of source to a file that does not exist yet."""
    fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(fd, "wb", buffering=0) as out:
        left = file.size
        while left:
            block = source.read(min(left, BLOCK))
            if not block:
                raise EOFError(f"it ends {left} bytes too early")
            write_all(fd, block)
            left -= len(block)
        os.fchmod(fd, 0o755 if file.executable else 0o644)


def new_path(workspace, file):
    """Where the file goes. Its directories are made, and never links: only the runner has written here."""
    target = os.path.join(workspace, file.path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.lexists(target):
        raise RunnerError(f"{file.path}: another file of the bundle has the same name on this file system")
    return target


def empty_directory(path):
    """Makes path an empty directory, whatever an earlier attempt left there. A link is not followed."""
    if os.path.islink(path):
        os.unlink(path)
    os.makedirs(path, exist_ok=True)
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                late_import("shutil").rmtree(entry.path)
            else:
                os.unlink(entry.path)


# -------- the log


class Spool:
    """The log on disk, every line with its time, and which of it is still to be published.

    A file that is kept is the whole log; another holds little more than what is
    pending. One thread appends while another publishes.
    """

    def __init__(self, path, keep):
        self._keep = keep
        flags = os.O_RDWR | os.O_CREAT | (os.O_APPEND if keep else os.O_TRUNC)
        self.fd = os.open(path, flags, 0o600)
        self._start = os.fstat(self.fd).st_size
        self._changing = _thread.allocate_lock()
        self.pending = 0  # bytes
        self.line_open = False  # the last line has no end yet

    def renew(self):
        """Takes all of the file for pending: who wrote it has crashed."""
        self._start, self.pending = 0, os.fstat(self.fd).st_size

    def append(self, data, stamp=None):
        """Adds what was printed; lines that begin in it begin with a time, by default that of now."""
        if not data:
            return
        stamp = ((stamp or timestamp()) + " ").encode()
        stamped = data[:-1].replace(b"\n", b"\n" + stamp) + data[-1:]
        if not self.line_open:
            stamped = stamp + stamped
        with self._changing:
            write_all(self.fd, stamped)
            self.pending += len(stamped)
        self.line_open = data[-1:] != b"\n"

    def whole_lines(self, limit):
        """How many of the first pending bytes, at most limit, are whole lines."""
        end = min(limit, self.pending)
        while end > 0:
            begin = max(0, end - BLOCK)
            found = os.pread(self.fd, end - begin, self._start + begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            end = begin
        return 0

    def blocks(self, length):
        """Yields the first pending bytes."""
        done = 0
        while done < length:
            block = os.pread(self.fd, min(BLOCK, length - done), self._start + done)
            if not block:
                raise RunnerError("the log file was cut while the job ran")
            yield block
            done += len(block)

    def release(self, length):
        """Forgets the first pending bytes, which are published."""
        with self._changing:
            self._start += length
            self.pending -= length
            # Moving what is pending must not cost more than it frees.
            if not self._keep and self.pending <= max(self._start, PART_BYTES):
                self._move_to_front()

    def _move_to_front(self):
        end = 0
        for block in self.blocks(self.pending):
            end += os.pwrite(self.fd, block, end)
        os.ftruncate(self.fd, end)
        os.lseek(self.fd, end, os.SEEK_SET)
        self._start = 0


class Log:
    """Where the call's output and the runner's own few lines go, in one order."""

    def __init__(self, spool, out):
        self.spool = spool
        self._out = out  # a descriptor that gets the bytes as they are, or None

    def write(self, data):
        """Takes bytes that the call printed."""
        # The node's time of a line is later: who goes on after that has not read it twice.
        stamp = timestamp()
        if self._out is not None:
            try:
                write_all(self._out, data)
            except OSError:
                self._out = None  # nobody reads any more; the spool goes on
        self.spool.append(data, stamp)

    def say(self, text):
        """Prints a message of the runner, on a line of its own."""
        line = encode_text(f"kinetic: {text}\n")
        self.write(b"\n" + line if self.spool.line_open else line)

    def say_end(self, job):
        """Prints the line that says that the job has ended, beside the log."""
        if self._out is None:
            return
        before = NO_LINE_END + "\n" if self.spool.line_open else ""
        try:
            write_all(self._out, encode_text(before + END_LINE.format(job) + "\n"))
        except OSError:
            self._out = None


class LogParts:
    """Publishes the spool in parts, logs/{host}/{attempt}-{part}.log."""

    def __init__(self, store, job, host, attempt):
        self._store = store
        self._name = lambda part: log_part_name(job, host, attempt, part)
        self._next = 1
        self._tried = 0  # bytes of the part that is perhaps in the store: its upload failed

    def publish_full(self, spool):
        """Publishes parts of full size; a line that is longer is cut."""
        # As it was, or what has arrived all the same would be there twice.
        self._publish(spool, self._tried)
        while spool.pending >= PART_BYTES:
            self._publish(spool, spool.whole_lines(PART_BYTES) or PART_BYTES)

    def publish_lines(self, spool):
        """Publishes all that is pending, except a line without an end."""
        self.publish_full(spool)
        self._publish(spool, spool.whole_lines(spool.pending))

    def publish_all(self, spool):
        """Publishes all that is pending."""
        self.publish_full(spool)
        self._publish(spool, spool.pending)

    def _publish(self, spool, length):
        self._tried = length
        while self._tried:
            try:
                self._store.create(self._name(self._next), lambda: spool.blocks(length))
                spool.release(length)
                self._tried = 0
            except AlreadyExists:
                pass  # the container of the same pod was restarted: its parts stay
            self._next += 1


# -------- values


class ValueProblem(Exception):
    """A returned value has no JSON form; kind is the name of the Python error that fits."""

    def __init__(self, message, kind="TypeError"):
        super().__init__(message)
        self.kind = kind


class Values:
    """Turns a returned value into plain JSON data, and notes what that loses."""

    def __init__(self):
        self.lossy = False
        self._notes = []
        self._unsaid = 0
        self._open = set()  # ids of the containers around the current place

    @property
    def warnings(self):
        """One sentence for each loss, the first few of them."""
        more = [f"and {self._unsaid} more values like these"] if self._unsaid else []
        return self._notes + more

    def plain(self, value, path=()):
        """The value as dicts, lists, strings, numbers, booleans and None."""
        if value is None or isinstance(value, (str, int)):
            return value
        if isinstance(value, float):
            return self._float(value, path)
        if len(self._open) >= MAX_DEPTH:
            raise ValueProblem(f"{show_path(path)} is nested more than {MAX_DEPTH} levels deep", "ValueError")
        if id(value) in self._open:
            raise ValueProblem(f"{show_path(path)} contains itself", "ValueError")
        self._open.add(id(value))
        try:
            if isinstance(value, dict):
                return self._dict(value, path)
            if isinstance(value, (list, tuple)):
                return [self.plain(item, path + (number,)) for number, item in enumerate(value)]
            return self.plain(convert(value, path), path)
        finally:
            self._open.discard(id(value))

    def _float(self, value, path):
        if math.isfinite(value):
            return value
        self._note(f"{show_path(path)} is {float.__repr__(value)}, which JSON does not have: it is null here")
        return None

    def _dict(self, value, path):
        result = {}
        for key, item in value.items():
            name = self._key(key, path)
            if name in result:
                raise ValueProblem(f"{show_path(path)} has two keys that are both {name!r:.60} in JSON", "ValueError")
            result[name] = self.plain(item, path + (name,))
        return result

    def _key(self, key, path):
        if isinstance(key, str):
            return str.__str__(key)
        if key is not None and not isinstance(key, (int, float)):
            raise ValueProblem(f"{show_path(path)} has a key of type {type_name(type(key))}; keys in JSON are text")
        name = json.dumps(key)  # as that module does with such a key: 1, true, null
        self._note(f"{show_path(path)} has the key {key!r:.60}, which is the text {name!r:.60} here")
        return name

    def _note(self, text):
        self.lossy = True
        if len(self._notes) < MAX_WARNINGS:
            self._notes.append(text)
        else:
            self._unsaid += 1


def convert(value, path):
    """What an array or an array's scalar says it is in plain Python."""
    name = type_name(type(value))
    size = getattr(value, "nbytes", 0)
    if type(size) is int and size > MAX_ARRAY_BYTES:
        raise ValueProblem(f"{show_path(path)} is of type {name} and has {size // MIB} MiB, too large to return; {INSTEAD}")
    for method in ("tolist", "item"):
        if not isinstance(value, type) and callable(getattr(value, method, None)):
            return getattr(value, method)()
    raise ValueProblem(f"{show_path(path)} is of type {name}, which has no JSON form; {INSTEAD}")


def show_path(path):
    """value.loss[3]: how messages name a place in a value."""
    text = "value" if path else "the value"
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if step.isidentifier() else f"[{json.dumps(step)}]"
    return shorten(text, 200)


def write_pickle(value, path):
    """Whether the value could be pickled to a file, if need be by the cloudpickle of the image."""
    for name in ("pickle", "cloudpickle"):
        try:
            dump = pickle.dump if name == "pickle" else importlib.import_module(name).dump
            with open(path, "wb") as file:
                dump(value, file, protocol=4)
            return True
        except Exception:
            continue  # objects raise what they like
    return False


# -------- outcomes


class Outcome:
    """How a call ended, as it is published."""

    def __init__(self, reason, exit_code, message="", error=None):
        self.reason, self.exit_code, self.message = reason, exit_code, shorten(message, MESSAGE_LIMIT)
        self.error = error
        if error is None and reason != COMPLETED:
            self.error = {"type": reason, "message": self.message, "traceback": ""}
        self.warnings = []
        self.pickled = False  # result.pkl is in the scratch directory
        self.returned = False  # the function came to its end, rather than left by sys.exit
        self.host, self.at = 0, time.time()  # whose call it was, and when it ended

    @property
    def ok(self):
        return self.reason == COMPLETED

    @property
    def failed(self):
        return self.reason not in (COMPLETED, STOPPED, TERMINATED)

    def save(self, scratch):
        """Leaves the outcome for the supervisor, whole or not at all."""
        path = os.path.join(scratch, "outcome.json")
        with open(path + ".tmp", "wb") as file:
            file.write(encode_json(self.__dict__))
        os.replace(path + ".tmp", path)

    @classmethod
    def load(cls, scratch):
        """What the child left, or None."""
        try:
            with open(os.path.join(scratch, "outcome.json"), "rb") as file:
                fields = json.load(file)
        except FileNotFoundError:
            return None
        outcome = cls(fields["reason"], fields["exit_code"])
        outcome.__dict__.update(fields)
        return outcome


def exited(title, code):
    if code == 0:
        return Outcome(COMPLETED, 0)
    kept = code if 0 < code < EXIT_DEADLINE else 1
    note = "" if kept == code else f", reported as {kept}"
    return Outcome(EXIT_CODE, kept, f"{title} ended with exit code {code}{note}")


def killed(title, number):
    """The outcome of a program that a signal ended which the runner did not send."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    hint = ": it is likely that memory ran out" if number == signal.SIGKILL else ""
    return Outcome(KILLED, EXIT_KILLED, f"{title} was killed by {name}{hint}")


# -------- the child

DEBUGGED = "--debugged"  # as the runner's first word: what follows is a program for remote_debug.py


class Place:
    """Where a call runs, what is added to its environment, and who is told at once that it failed."""

    def __init__(self, workspace, scratch, variables, watcher=None):
        self.workspace, self.scratch, self.variables = workspace, scratch, variables
        self.watcher = watcher  # a process, or None

    def path(self, relative):
        """The absolute path of a path relative to the package root."""
        return os.path.join(self.workspace, relative) if relative else self.workspace


def run_child(call, place, run, store):
    """Becomes the call, by run. Does not return."""
    code = EXIT_RUNNER
    try:
        store.disconnect()  # these are the supervisor's
        os.environ.update(place.variables)
        os.chdir(place.path(call.cwd))
        code = run(call, place)
    except BaseException:
        tell(traceback.format_exc())
    finally:
        os._exit(code)


def run_program(call, place):
    """Replaces this process by the program; returns an exit code if that fails."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if hasattr(signal, "SIGXFSZ"):
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    paths = [place.path(path) for path in call.sys_path] + [os.environ.get("PYTHONPATH", "")]
    if any(paths):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    argv = program(call, place)
    try:
        os.execvp(argv[0], argv)
    except OSError as exc:
        reason = {
            errno.ENOENT: "there is no such program, or its #! line names one that is missing",
            errno.ENOEXEC: "it is no program of this machine, and a script needs a #! line",
        }.get(exc.errno, exc.strerror)
        outcome = Outcome(NO_PROGRAM, 1, f"cannot run {argv[0]}: {reason}")
        tell(f"kinetic: {outcome.message}\n")
        outcome.save(place.scratch)
        return outcome.exit_code


def program(call, place):
    if call.kind == "command":
        return call.args
    what = [place.path(call.file)] if call.kind == "file" else ["-m", call.module]
    if os.environ.pop("KINETIC_DEBUG", ""):
        what[:0] = [os.path.dirname(os.path.dirname(__file__)), DEBUGGED]
    return [sys.executable, "-u"] + what + call.args


def run_function(call, place):
    """Calls the function, leaves the outcome in the scratch directory and returns its exit code."""
    outcome = outcome_of(lambda: call_function(call, place), call, place)
    outcome.save(place.scratch)
    if place.watcher and not outcome.ok:
        # What the user's code does at exit may wait for hosts that wait for this one.
        os.kill(place.watcher, signal.SIGUSR1)
    wind_up()
    return outcome.exit_code


def outcome_of(action, call, place):
    """How the call ends, or a part of it."""
    try:
        return returned(action(), call, place.scratch)
    except SystemExit as stop:
        return left(stop.code, call.title)
    except BaseException as exc:
        outcome = raised(exc, place.workspace)
        tell(outcome.error["traceback"])
        return outcome


def call_function(call, place):
    """The value of the call, None where another host's is the result. Everything from here on is the user's code."""
    function, debugger = load_function(call, place)
    value = value_of(function, (), call.kwargs, debugger)
    return value if place.variables["KINETIC_HOST"] == "0" else None


def load_function(call, place):
    """The function of the call, and the debugger that waits for it or None."""
    # Before anything of the workspace can be imported in the place of what it imports.
    debugging = neighbour("remote_debug") if os.environ.pop("KINETIC_DEBUG", "") else None
    entries = [place.path(path) for path in call.sys_path]
    sys.path[:0] = entries
    sys.argv = [place.path(call.file) if call.file else ""]
    sys.modules["__main__"] = types.ModuleType("__main__")
    forget_shadowed(entries)
    debugger = debugging.wait_for_debugger() if debugging else None
    return find_function(load_module(call, place), call), debugger


def value_of(function, args, kwargs, debugger=None):
    if debugger:
        debugger.breakpoint()
    value = function(*args, **kwargs)  # a debugger stops here: step into it
    if isinstance(value, (types.GeneratorType, types.AsyncGeneratorType)):
        return value  # refused by name in returned()
    if hasattr(type(value), "__await__"):
        value = wait_for(value)
    return value


def wait_for(awaitable):

    async def wait():
        return await awaitable

    return late_import("asyncio").run(wait())


def forget_shadowed(entries):
    """Lets a module of the workspace win over a standard one that only the runner has loaded."""
    loaded = {name.partition(".")[0] for name in sys.modules}
    for name in loaded - STARTUP_MODULES - set(sys.builtin_module_names):
        files = (name + ".py", os.path.join(name, "__init__.py"))
        if any(os.path.isfile(os.path.join(entry, file)) for entry in entries for file in files):
            for module in list(sys.modules):
                if module.partition(".")[0] == name:
                    del sys.modules[module]


def load_module(call, place):
    """Imports the function's module, from the call's file where it has one."""
    if not call.file:
        return importlib.import_module(call.module)
    path = place.path(call.file)
    parent, _, leaf = call.module.rpartition(".")
    if parent:
        importlib.import_module(parent)
    loaded = sys.modules.get(call.module)
    if loaded is not None and getattr(loaded, "__file__", None) == path:
        return loaded
    loader = importlib.machinery.SourceFileLoader(call.module, path)
    package = [os.path.dirname(path)] if os.path.basename(path) == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(call.module, path, loader=loader, submodule_search_locations=package)
    module = sys.modules[call.module] = importlib.util.module_from_spec(spec)
    try:
        loader.exec_module(module)
    except BaseException:
        sys.modules.pop(call.module, None)
        raise
    if parent:
        setattr(sys.modules[parent], leaf, module)
    return sys.modules.get(call.module, module)


def find_function(module, call):
    function = getattr(module, call.function, None)
    where = call.file or f"module {call.module}"
    if function is None:
        names = [name for name, value in vars(module).items() if callable(value)]
        near = late_import("difflib").get_close_matches(call.function, names, 1)
        raise AttributeError(f"{where} has no function {call.function!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    if not callable(function):
        raise TypeError(f"{call.function!r} in {where} is a {type_name(type(function))}, not a function")
    return function


def returned(value, call, scratch):
    """The outcome of a call that returned: value.json, and result.pkl where JSON does not suffice."""
    unlimited_integers()
    values = Values()
    try:
        data = encode_json(convert_all(values, value, call))
    except ValueProblem as problem:
        return bad_result(value, problem, scratch)
    outcome = Outcome(COMPLETED, 0)
    outcome.returned = True
    outcome.warnings = values.warnings
    if values.lossy:
        outcome.pickled = write_pickle(value, os.path.join(scratch, "result.pkl"))
        exact = "result.pkl has the exact value" if outcome.pickled else "the exact value cannot be pickled and is lost"
        outcome.warnings.append(exact)
    for warning in outcome.warnings:
        tell(f"kinetic: warning: the result: {warning}\n")
    with open(os.path.join(scratch, "value.json"), "wb") as file:
        file.write(data)
    return outcome


def convert_all(values, value, call):
    """values.plain(value), with everything that can go wrong as a ValueProblem."""
    kinds = {types.GeneratorType: "a generator", types.AsyncGeneratorType: "an async generator"}
    if type(value) in kinds:
        raise ValueProblem(f"{call.title} returned {kinds[type(value)]}, which has no value of its own; return a list instead")
    try:
        return values.plain(value)
    except ValueProblem:
        raise
    except RecursionError:
        raise ValueProblem("the value is nested too deeply", "ValueError") from None
    except Exception as exc:
        raise ValueProblem(f"converting the value to JSON raised {type_name(type(exc))}: {text_of(exc)}") from exc


def bad_result(value, problem, scratch):
    """The outcome of a call whose value has no JSON form, and is kept if that is possible."""
    try:
        text = repr(value)
    except Exception as exc:
        text = f"<repr raised {type_name(type(exc))}>"
    message = f"the result: {problem}"
    error = {"type": problem.kind, "message": message, "traceback": "", "repr": text[:REPR_LIMIT]}
    outcome = Outcome(BAD_RESULT, 1, message, error)
    outcome.pickled = write_pickle(value, os.path.join(scratch, "result.pkl"))
    kept = "; the value is kept in result.pkl" if outcome.pickled else ""
    tell(f"kinetic: {message}{kept}\n")
    return outcome


def left(code, title):
    """The outcome of sys.exit(code) in a function, with Python's own rules."""
    if code is None or isinstance(code, int):
        outcome = exited(title, int(code or 0))
    else:
        tell(text_of(code) + "\n")
        outcome = Outcome(EXIT_CODE, 1, f"{title} ended with sys.exit: {text_of(code)}")
    if outcome.error:
        outcome.error["type"] = "SystemExit"
    return outcome


def raised(exc, workspace):
    """The outcome of a call that raised, with the traceback that it has at home."""
    name, message = type_name(type(exc)), text_of(exc)
    try:
        hide_runner(exc)
        text = "".join(traceback.format_exception(type(exc), exc, exc.__traceback__))
    except Exception:
        text = f"{name}: {message}\n"
    text = text.replace(f'File "{workspace}/', 'File "')
    return Outcome(EXCEPTION, 1, f"{name}: {message}", {"type": name, "message": message, "traceback": text})


def hide_runner(exc):
    """Takes the frames that led into the user's code off an exception."""
    ours = hide_runner.__code__.co_filename[: -len("runner.py")]  # and its neighbours
    library = os.path.dirname(os.__file__)
    machinery = (ours, "<frozen importlib", os.path.join(library, "importlib"), os.path.join(library, "asyncio"))
    tb = exc.__traceback__
    while tb is not None:
        if not tb.tb_frame.f_code.co_filename.startswith(machinery):
            break
        tb = tb.tb_next
    exc.__traceback__ = tb


def tell(text):
    """Prints to stderr, after what the user's code has printed."""
    flush()
    try:
        write_all(2, encode_text(text))
    except OSError:
        pass  # the user's code has closed it


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass  # closed, or something else than a file


def wind_up():
    """Ends the interpreter as Python does, but does not wait for ever for threads."""
    threading = sys.modules.get("threading")
    if threading is not None and hasattr(threading, "enumerate"):
        others = [t for t in threading.enumerate() if t is not threading.main_thread() and not t.daemon]
        last = time.monotonic() + THREAD_SECONDS
        for thread in others:
            thread.join(max(0.0, last - time.monotonic()))
        names = [t.name for t in others if t.is_alive()]
        if names:
            tell(f"kinetic: warning: the function left threads running, which end now: {', '.join(names)}\n")
    try:
        atexit._run_exitfuncs()
    except BaseException:
        pass  # the handler's traceback is printed by atexit
    flush()


# -------- beside the call


class Errands:
    """What is sent to the store while the call runs: full parts of the log, and what must not expire.

    A thread does it, because the supervisor must not wait; it exists only while there is something to send.
    """

    def __init__(self, spool, parts, renew):
        self._spool, self._parts, self._renew = spool, parts, renew
        self._changing = _thread.allocate_lock()
        self._asked, self._busy, self._thread = [], False, None
        now = time.monotonic()
        self._part_at, self._renew_at = now + PART_SECONDS, now + RENEW_SECONDS
        self._full_at = now  # no full part before this
        self.waited = False  # the call had to
        self.done = lambda: None  # called by the thread after each of them

    @property
    def next_at(self):
        """When the clock has the next errand."""
        return min(self._part_at, self._renew_at)

    def tick(self, now):
        if now >= self._part_at:
            self._part_at = now + PART_SECONDS
            self._ask(self._parts.publish_lines)
        elif self._spool.pending >= PART_BYTES and now >= self._full_at:
            self._ask(self._parts.publish_full)
        if now >= self._renew_at:
            self._renew_at = now + RENEW_SECONDS
            self._ask(self._renew)

    def behind(self):
        """So much of the log waits for the store that the call's output has to wait too."""
        behind = self._spool.pending >= SPOOL_BYTES
        self.waited = self.waited or behind
        return behind

    def publish_all(self):
        """Publishes what is there, for time is short."""
        self._ask(self._parts.publish_all)

    def finish(self):
        if self._thread is not None:
            self._thread.join()

    def _ask(self, action):
        with self._changing:
            if action not in self._asked:
                self._asked.append(action)
            if self._busy:
                return
            self._busy = True
        try:
            self._thread = late_import("threading").Thread(target=self._work, daemon=True)
            self._thread.start()
        except RuntimeError:
            # The call has taken all the threads that there may be.
            self._thread, self._busy = None, False
            self._full_at = time.monotonic() + PART_SECONDS

    def _work(self):
        while action := self._next():
            try:
                action(self._spool)
            except Exception:
                # What could not be stored stays pending for another try; the last one tells.
                self._full_at = time.monotonic() + PART_SECONDS
            self.done()

    def _next(self):
        with self._changing:
            self._busy = bool(self._asked)
            return self._asked.pop(0) if self._asked else None


# -------- the supervisor

END_GRACE = 3.0  # for a call that has failed, or is of no use any more
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)


class Supervisor:
    """Runs a child to its end.

    From SIGTERM on the child has the time of --grace, about four fifths of what
    Kubernetes gives the pod; the rest is for publishing.

    On several hosts the link says when the others need no more of this call.
    """

    def __init__(self, log, errands, grace, deadline, link=None):
        self._log, self._errands, self._link = log, errands, link
        self._grace = grace
        self._deadline = deadline  # of time.monotonic, or None
        self._kill_at = None
        self._child = 0  # until it is reaped
        self._output = self._wake = -1
        self.terminated = self.timed_out = False
        self.ended = False  # because another host's call had failed
        self.killed = False  # by us
        self.failed = False  # as the call has said itself

    def run(self, become, terminated):
        """Forks, calls become() in the child, and returns the child's wait status.

        terminated handles SIGTERM and SIGINT from here on; the loop does what they mean for the child.
        """
        self._wake, wake_write = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, terminated)
        private = (self._wake, wake_write, self._log.spool.fd)
        if self._link is not None:
            signal.signal(signal.SIGUSR1, lambda *_: None)
            private += self._link.descriptors()
        self._start(become, private)
        self._errands.done = lambda: os.write(wake_write, b"\0")
        try:
            status = self._watch()
            self._drain()
            return status
        except BaseException:
            if self._child:
                os.kill(self._child, signal.SIGKILL)
            raise
        finally:
            self._errands.finish()
            signal.set_wakeup_fd(-1)
            for fd in (self._wake, wake_write, self._output):
                os.close(fd)

    def _start(self, become, private):
        self._output, write_end = os.pipe()
        # A signal between fork and the child's own handlers must wait.
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        self._child = os.fork()
        if self._child == 0:
            try:
                be_child(write_end, private + (self._output,))
                become()
            finally:
                os._exit(EXIT_RUNNER)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        os.close(write_end)

    def _watch(self):
        sources = [self._wake, self._output]
        while True:
            # Who was told to end has no time to wait for the store.
            held = self._kill_at is None and self._errands.behind()
            wait_for = sources[:1] if held else sources
            if self._link is not None:
                wait_for = wait_for + self._link.sources()
            ready, _, _ = select.select(wait_for, [], [], self._patience())
            if self._output in ready:
                size = self._copy()
                if size == 0:
                    sources.remove(self._output)  # the child has closed its output and goes on
                elif size < FEW_BYTES:
                    select.select([self._wake], [], [], GATHER_SECONDS)
            if self._wake in ready:
                status = self._handle(os.read(self._wake, 4096))
                if status is not None:
                    return status
            if self._link is not None:
                self._consult()
            self._tick(time.monotonic())

    def _patience(self):
        moments = [moment for moment in (self._deadline, self._kill_at, self._errands.next_at) if moment is not None]
        return max(0.0, min(moments) - time.monotonic())

    def _consult(self):
        self._link.attend()
        if self._link.ending and not self.ended:
            self.ended = True
            self._stop(min(self._grace, END_GRACE))

    def _copy(self):
        data = os.read(self._output, PIPE_READ)
        self._log.write(data)
        return len(data)

    def _handle(self, numbers):
        """Acts on signals; returns the child's wait status if it has ended."""
        if not self.terminated and (signal.SIGTERM in numbers or signal.SIGINT in numbers):
            self.terminated = True
            self._stop(self._grace)
            self._errands.publish_all()
        if signal.SIGUSR1 in numbers:
            self.failed = not self.ended
            self._kill_at = min(self._kill_at or math.inf, time.monotonic() + END_GRACE)
        status = None
        while signal.SIGCHLD in numbers:
            try:
                pid, ended = os.waitpid(-1, os.WNOHANG)  # as PID 1 also for orphans
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid == self._child:
                status, self._child = ended, 0
        return status

    def _tick(self, now):
        if self._deadline is not None and now >= self._deadline:
            self._deadline = None
            if not self.terminated:
                self.timed_out = True
                self._stop(min(self._grace, DEADLINE_GRACE))
        if self._kill_at is not None and now >= self._kill_at:
            self._kill_at = None
            self.killed = True
            os.kill(self._child, signal.SIGKILL)
        self._errands.tick(now)

    def _stop(self, grace):
        if self._kill_at is None:
            os.kill(self._child, signal.SIGTERM)
            self._kill_at = time.monotonic() + grace

    def _drain(self):
        """Takes what the child had printed. What it started may keep the pipe open and is not waited for."""
        os.set_blocking(self._output, False)
        until = time.monotonic() + DRAIN_SECONDS
        try:
            while time.monotonic() < until and self._copy():
                pass
        except BlockingIOError:
            pass


def be_child(output, private):
    """Gives a forked child the descriptors and signals of a fresh process."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in enumerate((nothing, output, output)):
        os.dup2(source, target)
    for fd in (nothing, output) + private:
        if fd > 2:
            os.close(fd)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


# -------- the runner


class Runner:
    """One attempt at a job, from the store to the store."""

    def __init__(self, options):
        self._options = options
        self._final = options.final
        self._store = self._log = self._parts = None
        self._uid = os.environ.get("KINETIC_POD_UID") or f"{os.uname().nodename}-{os.getpid()}-{time.time_ns()}"
        self._attempt = 0  # none that is counted yet
        self._crashes = 0  # of the attempts before
        self._tried_end = None  # which may be stored, though the store said otherwise
        self._host, self._hosts = 0, 1
        self._link = None  # to the other hosts
        self._began = time.monotonic()
        self._started = self._job_started = timestamp()
        self._workspace = os.path.join(options.work, "workspace")
        self._scratch = os.path.join(options.work, "scratch")

    def run(self):
        """Runs and publishes; returns the exit code."""
        try:
            self._store = self._open_store()
            code = self._exit_code_without_call()
            if code is not None:
                return code
            outcome = self._attempt_call()
        except Stopped:
            self._hurry()
            outcome = Outcome(TERMINATED, EXIT_TERMINATED, "the job was terminated before its call began")
            self._say(outcome.message)
        except Unreachable as exc:
            self._store.hurry(time.monotonic() + PUBLISH_GRACE)  # it was waited for already
            outcome = self._failure(text_of(exc))
        except (RunnerError, OSError) as exc:
            outcome = self._failure(text_of(exc))
        except Exception as exc:
            outcome = self._failure(f"the runner itself failed: {traceback.format_exc()}", text_of(exc))
        finally:
            self._only_hurry()
        return self._publish(outcome)

    def _only_hurry(self):
        """From now on SIGTERM interrupts nothing."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._hurry)

    def _hurry(self, *_):
        """Signal handler while publishing, which must end before Kubernetes' patience does."""
        if self._store is not None:
            self._store.hurry(time.monotonic() + self._options.grace + PUBLISH_GRACE)

    def _exit_code_without_call(self):
        """The exit code of a job that has ended before, or None."""
        try:
            end = self._read(job_name(self._options.job, "end.json"))
        except NotFound:
            return None
        self._say(f"the job {self._options.job} has ended already: {end.get('state')}, {end.get('reason')}; nothing is run")
        self._conclude(end)
        code = end.get("exit_code")
        return code if type(code) is int and 0 <= code <= 255 else 1

    def _attempt_call(self):
        options, store = self._options, self._store
        disruptions = self._begin()
        empty_directory(self._scratch)
        self._log = self._open_log()
        spent = self._spent(disruptions)
        if spent is not None:
            return spent
        empty_directory(self._workspace)
        name = job_name(options.job, "call.json")
        unlimited_integers()
        call = Call(parse_document(read_verified(store, name, options.call, CALL_LIMIT), store.url(name)), store.url(name))
        index = read_index(store, options.bundle)
        fetch_bundle(store, index, self._scratch, self._workspace)
        refused = self._meet()
        if refused is not None:
            self._say(refused.message)
            return refused
        place = Place(self._workspace, self._scratch, self._variables(), self._link and os.getpid())
        if call.file and not os.path.isfile(place.path(call.file)):
            raise RunnerError(f"{call.file}, which {store.url(name)} runs, is not in the bundle {options.bundle}")
        os.makedirs(place.path(call.cwd), exist_ok=True)
        deadline = self._began + options.max_runtime if options.max_runtime else None
        needed = [job_name(options.job, "handle.json"), name, blob_name(options.bundle)] + [blob.name for blob in index.blobs]
        needed += [self._record_name(number + 1) for number in range(self._attempt)]  # or counting would begin anew
        errands = Errands(self._log.spool, self._parts, lambda _: [store.renew(name) for name in needed])
        outcome = self._run_call(call, place, errands, deadline)
        if errands.waited:
            late = f"{SPOOL_BYTES // MIB} MiB of its log were not in the store yet"
            self._say(f"warning: the call had to wait when it printed, for {late}")
        if outcome.reason in (DEADLINE_EXCEEDED, TERMINATED, KILLED, STOPPED):
            self._say(outcome.message)
        return outcome

    def _run_call(self, call, place, errands, deadline):
        run = run_function if call.kind == "function" else run_program
        supervisor = Supervisor(self._log, errands, self._options.grace, deadline, self._link)
        return self._judge(call, supervisor.run(lambda: run_child(call, place, run, self._store), self._hurry), supervisor)

    def _begin(self):
        """Counts this attempt; returns how many before it were disrupted."""
        disruptions = self._count_attempt()
        self._parts = LogParts(self._store, self._options.job, self._host, self._attempt)
        return disruptions

    def _meet(self):
        """On several hosts: learns of the others; an outcome if they need no call here."""

    def _conclude(self, end, outcome=None):
        """What is left to do when everything is published; end is None if the job goes on, or nobody could be told."""

    def _count_attempt(self):
        """Records this attempt, once for each pod, and counts those before it; returns how many were disrupted.

        An attempt that crashed has left a reason, see _amend. A record without one
        is a disruption: the pod was preempted, drained or lost with its node, and was
        told to end or had no time for a word; so had a crash that took the runner
        with it.
        """
        number, disruptions = 1, 0
        while True:
            record = {"version": VERSION, "attempt": number, "host": self._host, "uid": self._uid, "started": self._started}
            found = self._create_or_read(self._record_name(number), record)
            if number == 1:
                self._job_started = found.get("started", self._started)
            if found.get("uid") == self._uid:
                self._attempt = number
                return disruptions
            if "reason" in found:
                self._crashes += 1
            else:
                disruptions += 1
            number += 1

    def _record_name(self, number):
        return attempt_name(self._options.job, number)

    def _create_or_read(self, name, document, metadata=None):
        """The document that the object has: this one, or an older one."""
        data = encode_json(document)
        try:
            self._store.create(name, lambda: [data], metadata)
            return document
        except AlreadyExists:
            return self._read(name)

    def _read(self, name):
        with self._store.open(name) as file:
            return parse_document(file.read(BLOCK), self._store.url(name))

    def _record_end(self, outcome, finished):
        if self._attempt:
            crash = {} if outcome.exit_code == EXIT_TERMINATED else {"reason": outcome.reason}
            self._amend(self._record_name(self._attempt), message=outcome.message, finished=finished, **crash)

    def _amend(self, name, **ending):
        """Adds to the record of an attempt how it ended. One with a reason counts as a crash, and stays so."""
        while True:
            with self._store.open(name) as file:
                record = parse_document(file.read(BLOCK), self._store.url(name))
            if "reason" in record:
                return
            data = encode_json(dict(record, **ending))
            try:
                return self._store.write(name, lambda: [data], getattr(file, "generation", None))
            except AlreadyExists:
                pass  # another host has written

    def _spent(self, disruptions):
        """The outcome of a job that has crashed or lost its pods too often before; else None."""
        options, crashes = self._options, self._crashes
        if disruptions > options.max_disruptions:
            lost = f"has lost its pod {times(disruptions)} to preemption, a drain or a lost node"
            outcome = Outcome(DISRUPTED, 1, f"the job {lost}; --max-disruptions allows {options.max_disruptions}")
        elif crashes > options.retries:
            outcome = Outcome(KILLED, EXIT_KILLED, f"the job has crashed {times(crashes)}; --retries allows {options.retries}")
        else:
            return None
        self._say(outcome.message)
        return outcome

    def _open_store(self):
        return open_store(self._options.store)

    def _open_log(self):
        return Log(Spool(os.path.join(self._scratch, "log"), keep=False), 1)

    def _variables(self):
        options = self._options
        output = options.output_dir or self._store.outputs(options.job)
        if not output.startswith("gs://"):
            output = directory_of(output, "--output-dir")
            os.makedirs(output, exist_ok=True)
        return {
            "KINETIC_JOB_ID": options.job,
            "KINETIC_OUTPUT_DIR": output,
            "KINETIC_HOST": str(self._host),
            "KINETIC_HOSTS": str(self._hosts),
            "KINETIC_ATTEMPT": str(self._attempt),
        }

    def _judge(self, call, status, supervisor):
        told = Outcome.load(self._scratch)
        outcome = told or self._judge_status(call, status)
        if supervisor.timed_out:
            message = f"{call.title} ran longer than the {self._options.max_runtime:g} seconds of --max-runtime"
            outcome = Outcome(DEADLINE_EXCEEDED, EXIT_DEADLINE, message)
        elif supervisor.terminated and not outcome.returned:
            # Who saves and leaves with code 0 has not finished: it would start again elsewhere.
            outcome = Outcome(TERMINATED, EXIT_TERMINATED, f"{call.title} was terminated", told and told.error)
        return outcome

    @staticmethod
    def _judge_status(call, status):
        if os.WIFSIGNALED(status):
            return killed(call.title, os.WTERMSIG(status))
        code = os.WEXITSTATUS(status)
        if call.kind == "function" and code == 0:
            return Outcome(EXIT_CODE, 1, f"{call.title} ended its process before it returned")
        return exited(call.title, code)

    def _failure(self, text, message=None):
        self._only_hurry()
        self._say(text)
        return Outcome(RUNNER_FAILURE, EXIT_RUNNER, message or text)

    def _say(self, text):
        if self._log is not None:
            try:
                self._log.say(text)
                return
            except OSError:
                pass  # no room for the spool; stderr still works
        tell(f"kinetic: {text}\n")

    # Publishing: log, result, end, termination message, in this order. When time is
    # short, the log tells how far the call came, so it goes first, ahead of a possibly
    # large value. Whoever sees an end may rely on the log and the result.

    def _publish(self, outcome):
        finished = timestamp()
        end = None
        try:
            if self._store is not None:
                end = self._publish_to_store(outcome, finished)
        except (RunnerError, OSError) as exc:
            text = f"cannot publish how the job ended: {text_of(exc)}"
            outcome = self._failure(text, f"{outcome.message}; {text}" if outcome.message else text)
        self._write_termination_message(outcome, finished)
        if end is not None and self._log is not None:
            self._log.say_end(self._options.job)  # the very last: its readers leave
        self._conclude(end, outcome)
        return outcome.exit_code

    def _publish_to_store(self, outcome, finished):
        """Publishes log, result and end; returns how the job has ended, or None if it has not."""
        store, job = self._store, self._options.job
        store.insist()
        self._publish_rest_of_log(outcome)
        if outcome.pickled:
            pickled = os.path.join(self._scratch, "result.pkl")
            store.write(job_name(job, "result.pkl"), lambda: file_blocks(pickled))
        store.write(job_name(job, "result.json"), lambda: self._result(outcome, finished))
        if not self._ends_job(outcome):
            self._record_end(outcome, finished)
            return None
        end = self._tried_end = self._end(outcome, finished)
        metadata = {key: end[key] for key in ("state", "reason", "started", "finished")}
        # Or what a cancel, or a client that saw the workload go, has said before.
        return self._create_or_read(job_name(job, "end.json"), end, metadata)

    def _ends_job(self, outcome):
        """No other attempt follows this one."""
        spent = outcome.exit_code in CRASHES and self._crashes >= self._options.retries
        return self._final or spent or outcome.exit_code not in RETRYABLE

    def _publish_rest_of_log(self, outcome):
        if self._log is None:
            return
        try:
            self._parts.publish_all(self._log.spool)
        except Unreachable:
            raise  # the result would wait as long, for nothing
        except (RunnerError, OSError) as exc:
            # If the store is gone, the result fails too. Else a lost log must not lose the result.
            outcome.warnings.append(f"the end of the log is not in the store: {text_of(exc)}")
            self._say(f"warning: {outcome.warnings[-1]}")

    def _value_path(self, outcome):
        path = os.path.join(self._scratch, "value.json")
        return path if outcome.ok and os.path.exists(path) else None

    def _result(self, outcome, finished):
        """Yields result.json; the value is not read into memory."""
        fields = {
            "version": VERSION,
            "ok": outcome.ok,
            "pickle": "result.pkl" if outcome.pickled else None,
            "error": outcome.error,
            "warnings": outcome.warnings,
            "host": outcome.host,
            "attempt": self._attempt,
            "started": self._started,
            "finished": finished,
        }
        yield encode_json(fields)[:-1] + b',"value":'
        path = self._value_path(outcome)
        yield from file_blocks(path) if path else (b"null",)
        yield b"}\n"

    def _end(self, outcome, finished):
        return {
            "version": VERSION,
            "state": "SUCCEEDED" if outcome.ok else "FAILED",
            "reason": outcome.reason,
            "message": outcome.message,
            "exit_code": outcome.exit_code,
            "host": outcome.host,
            "attempt": self._attempt,
            "started": self._job_started,
            "finished": finished,
            "by": "runner",
        }

    def _write_termination_message(self, outcome, finished):
        path = self._options.termination_log
        if not path or path == TERMINATION_LOG and not os.path.exists(path):
            return  # no container
        fields = self._end(outcome, finished)
        del fields["host"], fields["by"]
        try:
            with open(path, "wb") as file:
                file.write(termination_message(fields, outcome.error, self._value_path(outcome)))
        except OSError as exc:
            self._say(f"warning: cannot write the termination message: {exc}")


def termination_message(fields, error, value_path):
    """The summary for the container's status: JSON of less than 4096 bytes."""
    data = encode_json(fields)
    if error is None and value_path and os.path.getsize(value_path) < TERMINATION_VALUE_LIMIT:
        with open(value_path, "rb") as file:
            data = data[:-1] + b',"value":' + file.read() + b"}"
    limit = MESSAGE_LIMIT
    while error is not None and limit:
        fields["message"] = shorten(fields["message"], limit)
        fields["error"] = {"type": shorten(error["type"], 200), "message": shorten(error["message"], limit)}
        data = encode_json(fields)
        if len(data) < TERMINATION_LIMIT:
            break
        limit //= 2
    return data


# -------- the command line


def job_id(text):
    """A job id, checked before it touches a path."""
    if not JOB_ID.fullmatch(text) or text in RESERVED_IDS:
        raise ValueError("is no job id: want 2 to 50 lower-case letters, digits and '-'")
    return text


def sha256_hex(text):
    if not SHA256.fullmatch(text):
        raise ValueError("is no SHA-256: want 64 lower-case hex digits")
    return text


def whole_number(text):
    """A whole number, 0 or more."""
    if not re.fullmatch("[0-9]{1,9}", text):
        raise ValueError("is no whole number")
    return int(text)


def seconds(text):
    """A number of seconds, 0 or more."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < math.inf:
        raise ValueError("is no number of seconds")
    return value


REQUIRED = object()
FLAGS = {  # what makes the value, and its default; HELP of remote_local.py says what they mean
    "--job": (job_id, REQUIRED),
    "--store": (str, REQUIRED),
    "--call": (sha256_hex, REQUIRED),
    "--bundle": (sha256_hex, REQUIRED),
    "--output-dir": (str, ""),
    "--max-runtime": (seconds, 0.0),
    "--max-disruptions": (whole_number, 100),
    "--retries": (whole_number, math.inf),
    "--map": (sha256_hex, ""),
    "--chunk": (whole_number, 1),
    "--inputs": (whole_number, 0),
    "--only": (str, ""),
    "--release": (str, ""),
    "--chips": (str, ""),
    "--grace": (seconds, 25.0),
    "--work": (os.path.abspath, "/kinetic"),
    "--log-file": (str, ""),
    "--termination-log": (str, TERMINATION_LOG),
    "--final": (None, False),
}


def parse_options(argv):
    """The command line as options. The library's parser takes a tenth of a call's time to start."""
    values = {name: default for name, (_, default) in FLAGS.items()}
    words = iter(argv)
    for word in words:
        name, equals, text = word.partition("=")
        kind = FLAGS[name][0] if name in FLAGS else None
        if name not in FLAGS or equals and not kind:
            raise RunnerError(f"{word!r:.80} is no flag")
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
    return types.SimpleNamespace(**{name[2:].replace("-", "_"): value for name, value in values.items()})


def choose_runner(options, environ):
    if options.release or "KINETIC_LEADER" in environ:
        return neighbour("remote_group").runner(options, environ)
    if options.map:
        return neighbour("remote_map").MapRunner(options, environ)
    if options.log_file:
        return neighbour("remote_local").LocalRunner(options)
    return Runner(options)


def neighbour_path(name):
    """Where a module lies that only the jobs that need it have."""
    return os.path.join(os.path.dirname(__file__), name + ".py")


def neighbour(name):
    """The module in a file beside this one."""
    return importlib.import_module("kinetic_runner." + name)


def stop(*_):
    """Signal handler for the time before the call."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)  # another one must not interrupt what this one begins
    raise Stopped


def main(argv):
    """Runs one attempt; returns the exit code."""
    if argv[:1] == [DEBUGGED]:
        return neighbour("remote_debug").run_debugged(argv[1:])
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    if "--help" in argv:
        print(neighbour("remote_local").usage())
        return 0
    try:
        runner = choose_runner(parse_options(argv), os.environ)
    except (RunnerError, OSError) as exc:
        tell(f"kinetic: {exc}\n")
        return EXIT_RUNNER
    return runner.run()

