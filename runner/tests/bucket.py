"""A small server with the part of the Cloud Storage JSON API that the runner uses, and its faults; a metadata server and a token server too."""

import base64
import contextlib
import hashlib
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from fixture import TIMEOUT, free_port

BUCKET = "bucket"
OBJECT = re.compile(r"/storage/v1/b/([^/]+)/o/([^/]+)")
UPLOAD = re.compile(r"/upload/storage/v1/b/([^/]+)/o")
LIST = re.compile(r"/storage/v1/b/([^/]+)/o")
REWRITE = re.compile(OBJECT.pattern + r"/rewriteTo/b/([^/]+)/o/([^/]+)")


class Stored:
    """One generation of an object."""

    def __init__(self, data, generation, metadata=None, age=0.0):
        self.data, self.generation, self.metadata = data, generation, metadata or {}
        self.created = time.time() - age

    def resource(self, name):
        return {
            "name": name, "generation": str(self.generation), "size": str(len(self.data)), "metadata": self.metadata,
            "md5Hash": base64.b64encode(hashlib.md5(self.data).digest()).decode(),
            "timeCreated": time.strftime("%Y-%m-%dT%H:%M:%S.123Z", time.gmtime(self.created)),
        }


class Fault:
    """What goes wrong with the next requests that match: a status, or a method of Handler."""

    def __init__(self, what, times, pattern):
        self.what, self.times, self.pattern = what, times, re.compile(pattern)


class Bucket(ThreadingHTTPServer):
    """The server, started; its objects and what was asked of it can be looked at."""

    daemon_threads = True
    list_page = 3  # names

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.RLock()
        self.objects, self.requests, self.faults = {}, [], []
        self.sessions = []  # of resumable uploads: their query, fields and bytes
        self.connections = self.generation = 0
        self.tokens = None  # the valid ones; None: nobody is asked for one
        self.issued = self.refused = 0
        self.grants = []  # forms that the token server was sent
        self.token_seconds = 3600
        self.skew = 0.0  # of this server's clock, in seconds before the real one
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def host(self):
        return "127.0.0.1:%d" % self.server_address[1]

    def close(self):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        """Says nothing: clients that go away are what the tests are about."""

    def get_request(self):
        self.connections += 1
        return super().get_request()

    def put(self, name, data, metadata=None, age=0.0):
        with self.lock:
            self.generation += 1
            self.objects[name] = Stored(data, self.generation, metadata, age - self.skew)

    def remove(self, name):
        self.objects.pop(name, None)

    def read(self, name):
        return self.objects[name].data

    def names(self, prefix):
        return [name for name in list(self.objects) if name.startswith(prefix)]

    def metadata(self, name):
        return self.objects[name].metadata

    def fail(self, what, times=1, pattern=""):
        """The next so many requests whose "METHOD path" matches the pattern go wrong."""
        self.faults.append(Fault(what, times, pattern))

    def asked(self, pattern):
        return [line for line in list(self.requests) if re.search(pattern, line)]

    def next_fault(self, line):
        with self.lock:
            self.requests.append(line)
            for fault in self.faults:
                if fault.times and fault.pattern.search(line):
                    fault.times -= 1
                    return fault.what
        return None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        """The header Date."""
        return super().date_time_string((timestamp or time.time()) + self.server.skew)

    def handle_request(self):
        parts = urllib.parse.urlsplit(self.path)
        self.query = dict(urllib.parse.parse_qsl(parts.query))
        self.plain = parts.path
        what = self.server.next_fault(f"{self.command} {urllib.parse.unquote(self.path)}")
        if isinstance(what, int):
            self.body()
            return self.error(what, "fault")
        if what is not None:
            return what(self)
        return self.serve()

    do_GET = do_POST = do_PUT = do_DELETE = handle_request

    def serve(self):
        if self.plain.startswith("/computeMetadata/"):
            return self.account()
        data = self.body()
        if self.plain == "/token":
            return self.grant(dict(urllib.parse.parse_qsl(data.decode())))
        if self.server.tokens is not None and self.headers.get("Authorization", "")[len("Bearer ") :] not in self.server.tokens:
            self.server.refused += 1
            return self.error(401, "Invalid Credentials")
        if match := REWRITE.fullmatch(self.plain):
            return self.rewrite(urllib.parse.unquote(match[2]), urllib.parse.unquote(match[4]), json.loads(data or b"{}"))
        if match := UPLOAD.fullmatch(self.plain):
            upload = {"POST": self.open_session, "PUT": self.continue_session}[self.command] if self.query["uploadType"] == "resumable" else self.upload
            return upload(match[1], data)
        if (match := OBJECT.fullmatch(self.plain)) and self.command == "DELETE":
            return self.delete(urllib.parse.unquote(match[2]))
        if match := OBJECT.fullmatch(self.plain):
            return self.download(match[1], urllib.parse.unquote(match[2]))
        if match := LIST.fullmatch(self.plain):
            return self.list() if match[1] == BUCKET else self.error(404, "The specified bucket does not exist.")
        return self.error(400, f"no such method: {self.path}")

    # Faults that are more than a status.

    def reset(self):
        """Breaks the connection without an answer, before anything is done."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def lose_answer(self):
        """Does what was asked and says nothing."""
        self.mute = True
        self.serve()
        self.reset()

    def cut(self):
        """Breaks off in the middle of the body."""
        self.truncated = True
        self.serve()

    mute = truncated = False

    # The API.

    def body(self):
        length = int(self.headers.get("Content-Length") or 0)
        return self.rfile.read(length)

    def answer(self, status, data, kind="application/json", headers=()):
        if self.mute:
            return
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.truncated:
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
            return
        self.wfile.write(data)

    def error(self, status, message):
        self.answer(status, json.dumps({"error": {"code": status, "message": message}}).encode())

    def list(self):
        """A page of names. Pages are much smaller than asked for, as they may be."""
        prefix, end = self.query["prefix"], self.query.get("delimiter")
        names = sorted(name for name in self.server.names(prefix) if not end or end not in name[len(prefix) :])
        begin, size = int(self.query.get("pageToken") or 0), self.server.list_page
        page = {"items": [self.server.objects[name].resource(name) for name in names[begin : begin + size]]}
        if begin + size < len(names):
            page["nextPageToken"] = str(begin + size)
        self.answer(200, json.dumps(page).encode())

    def account(self):
        if self.headers.get("Metadata-Flavor") != "Google":
            return self.error(403, "no Metadata-Flavor")
        if self.plain.endswith("/email"):
            return self.answer(200, b"trainer@project.iam.gserviceaccount.com", "application/text")
        self.issue()

    def grant(self, form):
        self.server.grants.append(form)
        if "assertion" in form:
            claims = json.loads(base64.urlsafe_b64decode(form["assertion"].split(".")[1] + "=="))
            if abs(claims["iat"] - time.time() - self.server.skew) > 600:
                return self.answer(400, b'{"error":"invalid_grant","error_description":"Invalid JWT: no reasonable timeframe"}')
        self.issue()

    def issue(self):
        self.server.issued += 1
        token = f"token-{self.server.issued}"
        self.answer(200, json.dumps({"access_token": token, "expires_in": self.server.token_seconds, "token_type": "Bearer"}).encode())

    def upload(self, bucket, data):
        if bucket != BUCKET:
            return self.error(404, "The specified bucket does not exist.")
        boundary = b"--" + self.headers["Content-Type"].partition("boundary=")[2].encode()
        _, described, content, end = data.split(boundary)
        assert end == b"--\r\n", end
        fields = json.loads(described.partition(b"\r\n\r\n")[2])
        content = content.partition(b"\r\n\r\n")[2][:-2]
        if fields["md5Hash"] != Stored(content, 0).resource("")["md5Hash"]:
            return self.error(400, "Provided MD5 hash doesn't match calculated MD5 hash")
        self.store(fields, content)

    def store(self, fields, content):
        with self.server.lock:
            old = self.server.objects.get(fields["name"])
            refused = self.query.get("ifGenerationMatch", "") not in ("", str(old.generation if old else 0))
            if not refused:
                self.server.put(fields["name"], content, fields.get("metadata"))
        if refused:
            return self.error(412, "At least one of the pre-conditions you specified did not hold.")
        self.answer(200, json.dumps(self.server.objects[fields["name"]].resource(fields["name"])).encode())

    def download(self, bucket, name):
        if bucket != BUCKET:
            return self.error(404, "The specified bucket does not exist.")
        stored = self.server.objects.get(name)
        if stored is None or self.query.get("generation", str(stored.generation)) != str(stored.generation):
            return self.error(404, f"No such object: {bucket}/{name}")
        if self.query.get("alt") != "media":
            return self.answer(200, json.dumps(stored.resource(name)).encode())
        data, status = stored.data, 200
        if wanted := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")):
            data, status = data[int(wanted[1]) : int(wanted[2] or len(data)) + 1], 206
        self.answer(status, data, "application/octet-stream", [("x-goog-generation", str(stored.generation))])

    def delete(self, name):
        stored = self.server.objects.get(name)
        if stored is None:
            return self.error(404, f"No such object: {name}")
        if self.query.get("ifGenerationMatch", str(stored.generation)) != str(stored.generation):
            return self.error(412, "conditionNotMet")
        self.server.remove(name)
        self.answer(204, b"")

    def open_session(self, _, data):
        self.server.sessions.append((self.query, json.loads(data), bytearray()))
        place = f"http://{self.server.host}{self.plain}?uploadType=resumable&upload_id={len(self.server.sessions) - 1}"
        self.answer(200, b"", headers=[("Location", place)])

    def continue_session(self, _, data):
        """Takes the next bytes, or says how many there are."""
        self.query, fields, content = self.server.sessions[int(self.query["upload_id"])]
        first, total = re.fullmatch(r"bytes (?:\*|(\d+)-\d+)/(\d+)", self.headers["Content-Range"]).groups()
        if first is not None:
            content[int(first) :] = data
        if first is None and len(content) == int(total) and fields["name"] in self.server.objects:
            return self.answer(200, json.dumps(self.server.objects[fields["name"]].resource(fields["name"])).encode())
        if len(content) == int(total):
            return self.store(fields, bytes(content))
        self.answer(308, b"", headers=[("Range", f"bytes=0-{len(content) - 1}")] if content else [])

    def keep_half(self):
        """Takes the first half of the bytes, and breaks the connection."""
        body = self.body
        self.body = lambda: body()[: int(self.headers["Content-Length"]) // 2]
        self.lose_answer()

    def rewrite(self, name, target, fields):
        stored, old = self.server.objects.get(name), self.server.objects.get(target)
        if stored is None or self.query.get("sourceGeneration", str(stored.generation)) != str(stored.generation):
            return self.error(404, "No such object")
        if self.query["ifGenerationMatch"] != str(old.generation if old else 0):
            return self.error(412, "conditionNotMet")
        if "rewriteToken" not in self.query:
            return self.answer(200, json.dumps({"done": False, "rewriteToken": "more/of it"}).encode())
        self.server.put(target, stored.data, fields.get("metadata") if fields else stored.metadata)
        self.answer(200, json.dumps({"done": True, "resource": self.server.objects[target].resource(target)}).encode())


class RealBucket:
    """The same as Bucket for tests without faults, by a fake-gcs-server. With a folder for its objects, it can be killed and started again."""

    def __init__(self, program, folder=None):
        self.host, self._folder = "127.0.0.1:%d" % free_port(), folder
        backend = ["-backend", "filesystem", "-filesystem-root", folder] if folder else ["-backend", "memory"]
        self._argv = [program, "-scheme", "http", "-host", "127.0.0.1", "-port", self.host.split(":")[1], *backend]
        self._argv += ["-external-url", f"http://{self.host}", "-public-host", self.host]
        self.start()
        self._ask("/storage/v1/b?project=p", json.dumps({"name": BUCKET}).encode())

    def start(self):
        """Starts it, and returns when it serves."""
        self._remove_unfinished()
        self._process = subprocess.Popen(self._argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while b"server started" not in (line := self._process.stderr.readline()):
            if not line:
                raise RuntimeError(f"{self._argv[0]} ended before it served")
        threading.Thread(target=self._process.stderr.read, daemon=True).start()

    def _remove_unfinished(self):
        """Removes what it was writing when it was killed, which has no description yet: it would list no object any more.

        So the object that it was about to replace is lost, as in no real bucket.
        """
        for folder, _, names in os.walk(os.path.join(self._folder, BUCKET)) if self._folder else ():
            for path in (os.path.join(folder, name) for name in names):
                if not (path.endswith(".metadata") or os.path.exists(path + ".metadata") or "user.metadata" in os.listxattr(path)):
                    os.unlink(path)

    def signal(self, number):
        self._process.send_signal(number)

    def close(self):
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError, ValueError):
            self._process.stderr.close()

    def _ask(self, path, data=None):
        request = urllib.request.Request(f"http://{self.host}{path}", data, {"Content-Type": "application/json"} if data else {})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=TIMEOUT) as answer:
            return answer.read()

    def put(self, name, data):
        self._ask(f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={urllib.parse.quote(name, safe='')}", data)

    def _object(self, name, query=""):
        return self._ask(f"/storage/v1/b/{BUCKET}/o/{urllib.parse.quote(name, safe='')}{query}")

    def read(self, name):
        try:
            return self._object(name, "?alt=media")
        except urllib.error.HTTPError as exc:
            raise KeyError(name) from exc

    def metadata(self, name):
        return json.loads(self._object(name)).get("metadata", {})

    def names(self, prefix):
        until = time.monotonic() + TIMEOUT
        while True:
            try:
                listed = json.loads(self._ask(f"/storage/v1/b/{BUCKET}/o?prefix={urllib.parse.quote(prefix, safe='')}"))
                return [item["name"] for item in listed.get("items", [])]
            except urllib.error.HTTPError as exc:
                if exc.code != 404 or time.monotonic() > until:
                    raise  # 404: with a folder, an object was replaced or removed while it listed it
                time.sleep(0.01)


def real_program(environ):
    """Where a fake-gcs-server is, or None."""
    return environ.get("FAKE_GCS_SERVER") or shutil.which("fake-gcs-server")
