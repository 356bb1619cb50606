"""Makes wheels, and serves them as a package index does."""

import base64
import hashlib
import io
import json
import os
import subprocess
import sys
import threading
import warnings
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from fixture import script, sha256
from kinetic_runner.packages.venv import PYTHON_VERSION

HAS_PIP = subprocess.run([sys.executable, "-I", "-m", "pip", "--version"], capture_output=True).returncode == 0
SITE = f"lib/python{PYTHON_VERSION}/site-packages"
# Returns what it sees of the package demo and of its own interpreter.
USE = "import demo, sys\ndef f(*_): return [demo.VERSION, sys.prefix]"


def row(name, data):
    """The line of RECORD for a file."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"{name},sha256={digest},{len(data)}\n"


def archive(members):
    """A zip of pairs of a name, or a ZipInfo, and bytes."""
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        warnings.simplefilter("ignore")  # of names that occur twice, as some tests need
        for name, data in members:
            file.writestr(name, data)
    return buffer.getvalue()


class MadeWheel:
    """A wheel: its file name, its bytes and its entry in a list."""

    def __init__(self, name="demo", version="1.0", files=None, tag="py3-none-any", executable=(), info=None, requires=(), more=()):
        stem = f"{name}-{version}"
        self.info = f"{stem}.dist-info"
        self.file = f"{stem}-{tag}.whl"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {line}\n" for line in requires)
        files = dict(files or {f"{name}.py": f"VERSION = {version!r}\n"})
        files.update({f"{self.info}/METADATA": metadata, f"{self.info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n"})
        files.update({f"{self.info}/{base}": text for base, text in (info or {}).items()})
        files = {path: data if isinstance(data, bytes) else data.encode() for path, data in files.items() if data is not None}
        if f"{self.info}/RECORD" not in files:
            files[f"{self.info}/RECORD"] = ("".join(row(*item) for item in files.items()) + f"{self.info}/RECORD,,\n").encode()
        members = []
        for path, data in files.items():
            member = zipfile.ZipInfo(path)
            member.external_attr = (0o100755 if path in executable else 0o100644) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            members.append((member, data))
        self.data = archive(members + list(more))

    @property
    def sha256(self):
        return sha256(self.data)

    def entry(self, **more):
        return dict({"file": self.file, "sha256": self.sha256, "size": len(self.data)}, **more)


class Index(ThreadingHTTPServer):
    """A package index by PEP 503. It may ask for a user and a password."""

    daemon_threads = True

    def __init__(self, *wheels, user=""):
        super().__init__(("127.0.0.1", 0), Handler)
        self.wheels, self.user = {wheel.file: wheel for wheel in wheels}, user
        self.requests = []
        self.before = lambda handler: False  # called with each request; true if it has answered
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.server_address[1]

    def option(self):
        return f"--index-url {self.url}/simple/"

    def close(self):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        """Says nothing: broken connections are what some tests are about."""


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        index = self.server
        index.requests.append(self.path)
        if index.user and self.headers.get("Authorization") != "Basic " + base64.b64encode(index.user.encode()).decode():
            return self.answer(401, b"", ("WWW-Authenticate", 'Basic realm="index"'))
        if index.before(self):
            return None
        folder, _, name = self.path.partition("?")[0].strip("/").partition("/")
        if folder == "files" and name in index.wheels:
            return self.answer(200, index.wheels[name].data)
        links = [file for file in index.wheels if file.split("-")[0] == name]
        if folder == "simple" and links:
            return self.answer(200, self.page(links))
        return self.answer(404, b"")

    @staticmethod
    def page(files):
        return "".join(f'<a href="/files/{file}">{file}</a>\n' for file in files).encode()

    def answer(self, status, data, *headers):
        self.send_response(status)
        for name, value in (("Content-Type", "text/html"), ("Content-Length", str(len(data))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def document(**members):
    """The bytes of an environment."""
    return json.dumps(dict({"version": 1}, **members)).encode()


class Packages:
    """Mixed into cases with a store."""

    def packages(self, *wheels, python=PYTHON_VERSION, stored=True, **more):
        """The flag for a list of wheels, which are stored."""
        for wheel in wheels if stored else ():
            self.put_blob(wheel.data)
        return self.flag(document(python=python, wheels=[wheel.entry(**more) for wheel in wheels]))

    def wish(self, *requirements, options=(), constraints=()):
        """The flag for requirements."""
        return self.flag(document(requirements=list(requirements), options=list(options), constraints=list(constraints)))

    def flag(self, data):
        self.put_blob(data)
        return "--environment", sha256(data)

    def start(self, argv, env=None):
        """As ever, but pip does not read the settings of this machine."""
        return super().start(argv, dict({"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}, **env or {}))

    def final(self, flag, *words, **kwargs):
        """Runs a script whose job these packages end for good; a retry is not tried."""
        ran = self.run_call(script(), {"train.py": "print('it ran')"}, *flag, "--retries", "5", "--retry-on", "error", **kwargs)
        self.assertEqual((ran.code, ran.end["reason"], ran.end["exit_code"], ran.stdout), (1, "BadEnvironment", 1, ""), ran.err + ran.out)
        self.assertEqual(ran.result["error"]["type"], "BadEnvironment")
        for word in words:
            self.assertIn(word, ran.end["message"])
            self.assertIn(word, ran.out)
        return ran

    def index(self, *wheels, **more):
        index = Index(*wheels, **more)
        self.addCleanup(index.close)
        return index

    def blob(self, wheel):
        return f"blobs/sha256/{wheel.sha256[:2]}/{wheel.sha256}"

    @property
    def prefix_of_env(self):
        return os.path.join(self.work, "env")
