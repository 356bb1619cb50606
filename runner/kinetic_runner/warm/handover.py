# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the process that waits for a call and the one that is kept tell each other over a socket in the host's directory.

The first sends an order with its open files. The second answers with one line of JSON for each event: {"pid": N} when the call
has begun, and {"status": N}, as os.waitpid has it, when it has ended.
"""

import array
import io
import json
import marshal
import os
import socket
import struct
import sys
import time

from ..process import close_all, move_up, reap

KEPT = "KINETIC_KEPT"  # the path of the socket, for the process that waits
LISTENER = 3  # the descriptor of the socket, for the process that is kept
SIZE = struct.Struct("!I")
FILES = 4  # standard input, output and error, and the reports
PIECE = 1 << 16
STREAMS = [(stream, stream.fileno(), stream.name, stream.encoding, stream.errors) for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__) if stream]
ENVIRON = os.environ


def socket_file(work):
    """Return the path of the socket."""
    return os.path.join(work, "kept")


def send_order(connection, order, files=range(FILES)):
    """Send an order, a dictionary, with open files: those with the first numbers of this process, unless others are given."""
    data = marshal.dumps(order)
    connection.sendmsg([SIZE.pack(len(data))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))])
    connection.sendall(data)


def receive_order(connection):
    """Return an order and its open files. Raise EOFError if there is none."""
    files = array.array("i")
    head, ancillary, _, _ = connection.recvmsg(SIZE.size, socket.CMSG_SPACE(FILES * files.itemsize))
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            files.frombytes(data[: len(data) - len(data) % files.itemsize])
    try:
        if len(files) < FILES:
            raise EOFError("an order has no files")
        size = SIZE.unpack(exactly(connection, SIZE.size, head))[0]
        return marshal.loads(exactly(connection, size)), list(files)
    except (EOFError, OSError):
        close_all(*files)
        raise


def next_order(control):
    """Wait for an order, do what it says of this process, and return it. Return None if there is none any more."""
    try:
        order, files = receive_order(control)
    except (EOFError, OSError):
        return None  # the host has ended, or needs this process no longer
    for _ in reap():
        pass  # what the last call had left running was killed
    adopt(order, files)
    return order


def adopt(order, files):
    """Give this process the open files, the variables and the process group of who waits for the call."""
    try:
        os.setpgid(0, order["pid"])
    except OSError:
        os._exit(1)  # it was killed
    moved = [move_up(fd) for fd in files]
    for number, fd in enumerate(moved):
        os.dup2(fd, number)
    close_all(*moved, *(fd for fd in files if fd >= len(files)))
    renew_streams()
    os.environ = ENVIRON  # a call may have put another object there
    os.environ.clear()
    os.environ.update(order["environ"])
    time.tzset()


def renew_streams():
    """Make the standard streams as they are in a new Python: a stream remembers whether its file had positions, and a call may have closed it."""
    for stream, number, name, encoding, errors in STREAMS:
        raw = io.FileIO(number, "w" if number else "r", closefd=False)
        raw.name = name
        stream.__init__(raw if number else io.BufferedReader(raw), encoding, errors, newline="\n", write_through=True)


def has_left(connection):
    """Report whether the other side of a connection has closed it. Afterwards, the connection does not block."""
    connection.setblocking(False)
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def exactly(connection, size, data=b""):
    """Return so many bytes."""
    while len(data) < size:
        piece = connection.recv(min(size - len(data), PIECE))
        if not piece:
            raise EOFError("an order is cut off")
        data += piece
    return data


def send_event(connection, **event):
    """Send an event. Nobody may be there any more."""
    try:
        connection.sendall(json.dumps(event).encode() + b"\n")
    except OSError:
        pass


def events(connection):
    """Yield the events up to the end of the connection."""
    rest = b""
    while data := connection.recv(PIECE):
        *lines, rest = (rest + data).split(b"\n")
        yield from map(json.loads, lines)
