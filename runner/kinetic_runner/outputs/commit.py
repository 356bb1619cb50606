# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Take the wishes of programs to save their outputs now: kinetic.commit(), and the runner's command commit."""

import json
import os
import socket

from ..threads import start_threads

WORD = b"commit"
LINE_BYTES = 64


class Server:
    """Listens at a Unix socket. Each connection that says "commit", in a map with the number of the input, is answered with a line of JSON when that is done."""

    def __init__(self, path, commit):
        self._commit = commit
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if os.path.lexists(path):
            os.unlink(path)
        self._socket.bind(path)
        os.chmod(path, 0o666)  # for a program that has changed its user
        self._socket.listen(16)

    def start(self):
        """Answer, in a thread."""
        if not start_threads(1, self._accept):
            self._socket.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # it was closed
            if not start_threads(1, lambda peer=connection: self._serve(peer)):
                connection.close()

    def _serve(self, connection):
        from .worker import Commit  # not needed by a job that never asks

        with connection:
            try:
                word, _, number = connection.recv(LINE_BYTES).strip().partition(b" ")
                if word != WORD:
                    return
                commit = Commit()
                self._commit(commit, number.decode())
                commit.done.wait()
                connection.sendall(json.dumps({"error": commit.failure, "left_out": commit.left_out}).encode() + b"\n")
            except OSError:
                pass  # the program did not wait
