# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tokens for a credentials file, for pods outside GKE, which have no metadata server."""

import base64
import hashlib
import json
import re
import time
import urllib.parse

from ..errors import RunnerError, Transient
from ..text import encode_json, shorten
from .http import RETRY_STATUS, Endpoint, Request, server_time

TOKEN_URI = "https://oauth2.googleapis.com/token"
TOKEN_SCOPE = "https://www.googleapis.com/auth/devstorage.read_write"
TOKEN_SECONDS = 3600  # requested lifetime of a token
CLOCK_SLACK = 60.0  # seconds by which a server's clock may differ from a signed time
RSA_OID = bytes.fromhex("2a864886f70d010101")  # rsaEncryption
SHA256_INFO = bytes.fromhex("3031300d060960864801650304020105000420")  # DigestInfo up to the hash
MIN_RSA_BITS = 1024
KEY_BYTES = 1 << 20  # of a credentials file


class KeyFile:
    """A source of tokens for the account of a credentials file, from the server that the file names."""

    def __init__(self, path):
        self._where = f"the credentials file {path}"
        try:
            with open(path, "rb") as file:
                fields = json.loads(file.read(KEY_BYTES))
        except (OSError, ValueError, RecursionError) as exc:
            raise RunnerError(f"cannot read {self._where}: {exc}: is the Secret of --store-credentials mounted there?") from None
        self._fields = fields if isinstance(fields, dict) else {}
        kinds = {"service_account": self._by_key, "authorized_user": self._by_refresh_token}
        kind = self._fields.get("type")
        if type(kind) is not str or kind not in kinds:
            raise RunnerError(f"{self._where} has the type {kind!r:.60}, expected {' or '.join(kinds)}: put such a key into the Secret")
        self._grant = kinds[kind]
        self._uri = self._text("token_uri") if "token_uri" in self._fields else TOKEN_URI
        self._server = Endpoint(self._uri)
        self._skew = 0.0  # seconds by which the server's clock is ahead of ours
        self._grant()  # reports now what the file lacks
        self.title = self._server.name

    def fetch(self, timeout):
        """Return the JSON with a new token."""
        answer, data = self._ask(timeout)
        skew = server_time(answer.headers) - time.time()
        if answer.status == 400 and abs(skew - self._skew) > CLOCK_SLACK:
            # A signature is valid for an hour, and the pod's clock may be hours off.
            self._skew = skew
            answer, data = self._ask(timeout)
        if answer.status == 200:
            return data
        text = f"{self.title} answered {answer.status}: {shorten(refusal_text(data), 200)}"
        if answer.status in RETRY_STATUS:
            raise Transient(text)
        raise RunnerError(f"cannot get a token for {self.name()} from {self._where}: {text}: put a new key into the Secret")

    def name(self):
        """Return the account in the file."""
        return self._fields.get("client_email") or self._fields.get("account") or f"the user of {self._where}"

    def _ask(self, timeout):
        form = urllib.parse.urlencode(self._grant()).encode()
        headers = (("Content-Type", "application/x-www-form-urlencoded"), ("Content-Length", str(len(form))))
        path = urllib.parse.urlsplit(self._uri).path or "/"
        try:
            answer = self._server.send(Request("POST", path, headers, lambda: [form]), timeout)
            return answer, answer.content()
        except Transient as exc:
            raise Transient(f"cannot get a token from {exc}") from None

    def _by_key(self):
        try:
            key = rsa_key(self._text("private_key"))
        except (ValueError, IndexError):
            raise RunnerError(f"{self._where}: private_key is not an RSA key in PKCS#8 form") from None
        now = int(time.time() + self._skew)
        header = {"alg": "RS256", "typ": "JWT", "kid": self._fields.get("private_key_id")}
        claims = {"iss": self._text("client_email"), "scope": TOKEN_SCOPE, "aud": self._uri, "iat": now, "exp": now + TOKEN_SECONDS}
        return {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": signed(header, claims, key)}

    def _by_refresh_token(self):
        keys = ("client_id", "client_secret", "refresh_token")
        return dict({key: self._text(key) for key in keys}, grant_type="refresh_token")

    def _text(self, key):
        value = self._fields.get(key)
        if type(value) is not str or not value:
            raise RunnerError(f"{key} is missing from {self._where}: put the whole file into the Secret")
        return value


def signed(header, claims, key):
    """Return a JSON web token signed with RS256: PKCS #1 v1.5 over SHA-256."""
    encode = base64.urlsafe_b64encode
    text = b".".join(encode(encode_json(part)).rstrip(b"=") for part in (header, claims))
    return (text + b"." + encode(rsa_sign(text, *key)).rstrip(b"=")).decode()


def rsa_sign(data, modulus, exponent):
    """Return the RSASSA-PKCS1-v1_5 signature over the SHA-256 of data (RFC 8017, 8.2.1)."""
    size = (modulus.bit_length() + 7) // 8
    digest = SHA256_INFO + hashlib.sha256(data).digest()
    padded = b"\0\1" + b"\xff" * (size - len(digest) - 3) + b"\0" + digest
    return pow(int.from_bytes(padded, "big"), exponent, modulus).to_bytes(size, "big")


def rsa_key(pem):
    """Return modulus and private exponent of a PKCS#8 key, or raise ValueError or IndexError."""
    text = re.fullmatch(r"\s*-----BEGIN PRIVATE KEY-----([\sA-Za-z0-9+/=]+)-----END PRIVATE KEY-----\s*", pem)
    if not text:
        raise ValueError("not PEM")
    (document,) = der_values(base64.b64decode(text[1]))
    _, algorithm, packed = der_values(document)[:3]
    (numbers,) = der_values(packed)
    _, modulus, _, exponent = (int.from_bytes(number, "big") for number in der_values(numbers)[:4])
    if der_values(algorithm)[0] != RSA_OID or modulus.bit_length() < MIN_RSA_BITS:
        raise ValueError("another kind of key")
    return modulus, exponent


def der_values(data):
    """Return the contents of the elements in ASN.1 data in DER."""
    values = []
    while data:
        length, begin = data[1], 2
        if length >= 0x80:
            begin += length & 0x7F
            length = int.from_bytes(data[2:begin], "big")
        if begin + length > len(data):
            raise ValueError("truncated")
        values.append(data[begin : begin + length])
        data = data[begin + length :]
    return values


def refusal_text(data):
    """Return the message of a token server's error. The rest of the answer may repeat secrets that were sent."""
    try:
        fields = json.loads(data)
        return ": ".join(str(fields[key]) for key in ("error", "error_description") if key in fields)
    except (ValueError, TypeError):
        return "not JSON"
