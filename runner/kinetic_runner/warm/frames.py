# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The frames between a client and a holder, each signed with a key of its connection.

A frame is length u32 | type u8 | counter u64 | payload | HMAC-SHA256 of all before, big-endian. Length is that of the payload.
Each side begins with MAGIC and 32 random bytes; the keys come from both, the host's secret and the pod's UID.
So no frame can be changed, sent again, or used elsewhere.
"""

import hashlib
import hmac
import json
import os
import struct

MAGIC = b"KWH1"
NONCE, MAC = 32, 32  # bytes
HEAD = struct.Struct("!IBQ")
PAYLOAD_LIMIT = 1 << 20  # bytes
LABEL, SEAL_LABEL = b"kinetic warm 1\0", b"kinetic warm words 1\0"

CALL, ATTACH, STAT, CANCEL = 1, 2, 4, 5  # from clients
JOIN = 3  # from other hosts
BUSY, STATE, OUT, VALUE, END = 7, 8, 9, 10, 12  # from the holder


def encode(message):
    """Return the payload for an object. It is no longer than the one of a client that sends the same."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")


def seal(secret, words):
    """Return a hash of words, which tells them to nobody without the secret."""
    return hmac.new(secret, SEAL_LABEL + "\0".join(words).encode(errors="replace"), hashlib.sha256).hexdigest()


class BadFrame(Exception):
    """The other side does not know the key, or is broken."""


class Frames:
    """The frames of one connection, without its socket.

    greeting is what this side sends first. receive() takes the bytes that arrive, send() makes the bytes of a frame.
    """

    def __init__(self, secret, pod_uid, is_holder):
        self._secret, self._uid, self._is_holder = secret, pod_uid, is_holder
        self._nonce = os.urandom(NONCE)
        self.greeting = MAGIC + self._nonce
        self._keys = None  # of what is received and of what is sent, after the other side's greeting
        self._received = self._sent = 0  # frames
        self._rest = bytearray()

    @property
    def greeted(self):
        """Whether the other side's greeting has arrived, so that frames can be sent."""
        return self._keys is not None

    def receive(self, data):
        """Return the whole frames that have arrived, pairs of type and payload. Raise BadFrame at the first that is wrong."""
        self._rest += data
        if self._keys is None and not self._greet():
            return []
        return list(iter(self._next, None))

    def send(self, kind, payload=b""):
        """Return the bytes of a frame."""
        if len(payload) > PAYLOAD_LIMIT:
            raise ValueError(f"a frame of {len(payload)} bytes")
        signed = HEAD.pack(len(payload), kind, self._sent) + payload
        self._sent += 1
        return signed + hmac.digest(self._keys[1], signed, "sha256")

    def _greet(self):
        greeting = bytes(self._rest[: len(MAGIC) + NONCE])
        if not MAGIC.startswith(greeting[: len(MAGIC)]):
            raise BadFrame("it does not begin as a client does")
        if len(greeting) < len(MAGIC) + NONCE:
            return False
        del self._rest[: len(greeting)]
        theirs = greeting[len(MAGIC) :]
        nonces = (self._nonce + theirs) if self._is_holder else (theirs + self._nonce)  # the holder's first
        root = hmac.new(self._secret, LABEL + self._uid.encode() + nonces, hashlib.sha256).digest()
        client, holder = (hmac.digest(root, side, "sha256") for side in (b"client", b"holder"))
        self._keys = (client, holder) if self._is_holder else (holder, client)
        return True

    def _next(self):
        """Return the next frame, or None if it has not arrived yet."""
        if len(self._rest) < HEAD.size:
            return None
        length, kind, counter = HEAD.unpack_from(self._rest)
        if length > PAYLOAD_LIMIT:
            raise BadFrame("a frame is too long")
        end = HEAD.size + length
        if len(self._rest) < end + MAC:
            return None
        signed, mac = bytes(self._rest[:end]), bytes(self._rest[end : end + MAC])
        if not hmac.compare_digest(hmac.digest(self._keys[0], signed, "sha256"), mac):
            raise BadFrame("a frame has a wrong signature")
        if counter != self._received:
            raise BadFrame("a frame was sent twice, or is missing")
        self._received += 1
        del self._rest[: end + MAC]
        return kind, signed[HEAD.size :]
