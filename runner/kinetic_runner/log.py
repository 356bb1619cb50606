# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The log: the call's output on two streams and the runner's messages, as lines in one order.

Each line is [MARK] TEXT [PIECE] and a line end. STDERR_MARK starts a line of
stderr. STDOUT_MARK starts a line of stdout whose own text starts with a mark. REPORT_MARK
starts a line for the client, which nothing that the call prints can look like. PIECE
means that the text has no line end here: the next line of the same stream
continues it. So an unfinished line, such as a progress bar, is shown as it is,
and a reader that joins the pieces gets the bytes as they were printed.
"""

import math
import os
import re
import select
import time
from collections import deque
from contextlib import suppress

from .contract import LINES, MARKS
from .process import STDERR, STDOUT
from .text import encode_json, encode_text, timestamp

STDERR_MARK, STDOUT_MARK, PIECE, REPORT_MARK = (MARKS[name] for name in ("stderr", "stdout", "piece", "report"))
MARK_BYTES = STDERR_MARK + STDOUT_MARK + REPORT_MARK
PIECE_BYTES = 64 << 10  # of an unfinished line that are held back
UNSENT_BYTES = 1 << 20  # waiting for stdout before the call's output has to wait
TAIL_BYTES = 32 << 10  # of stderr that are kept to find out why a program failed
# Errors of a file system that is a program, see mounts.
FILE_ERRORS = (b"Transport endpoint is not connected", b"Software caused connection abort", b"Input/output error")
STUCK_SECONDS = 5.0  # without progress on stdout before the call no longer waits for it

# Up to here, what a progress bar prints belongs before a line that is printed beside it: the
# end of its line, or where it has overwritten itself with blanks.
BAR_ENDS = re.compile(rb"\n|\r +\r")
CURSOR_UP = b"\x1b[A"  # after which one of several bars is drawn

SHOWN_VALUE = 64 << 10  # characters of JSON
VALUE_FILE = ".value"  # after the path of a log: the value of a call on a warm host, whose process is ending
FULL = "the rest is only in this pod's output; submit the job with a larger --disk"
END_LINE = LINES["end"]  # the last line of a pod's output, for readers; it is not part of the stored log
REPORT_START = REPORT_MARK + LINES["report"].encode()  # of the line before it, if there is a pickle: a cluster shows a log before a termination message


class Stream:
    """The unfinished line of one stream."""

    def __init__(self, mark):
        self.mark = mark
        self.text = b""  # not written yet
        self.since = math.inf  # time.monotonic() of its first byte
        self.open = False  # pieces of the line have been written

    def draws(self, data):
        """Return whether data continues an unfinished line or begins to draw one."""
        return bool(self.text) or self.open or data.startswith(b"\r")


class Log:
    """Writes lines to a spool with timestamps, and to stdout without."""

    def __init__(self, spool, out, piece_seconds):
        self.spool = spool
        self._out = out  # a descriptor, or None
        self._unsent, self._unsent_bytes = deque(), 0
        self._taken_at = 0.0  # time.monotonic() when stdout last accepted something
        self._skipped = 0  # bytes omitted from stdout because it was not read
        self._piece_seconds = piece_seconds
        self._gap = 0  # bytes lost since the last line that was stored
        self.lost = 0  # bytes lost in all
        self.tail = b""  # what the call last printed to stderr
        self.file_error = b""  # what the call last printed with one of FILE_ERRORS
        self._streams = (Stream(b""), Stream(STDERR_MARK))
        if out is not None:
            os.set_blocking(out, False)

    def write(self, number, data):
        """Add bytes that the call printed to STDOUT or STDERR."""
        stream = self._streams[number]
        text = stream.text + data
        end = text.rfind(b"\n") + 1
        if end or len(text) > PIECE_BYTES:
            self._show(self._streams[1 - number])  # it was printed before
        if end:
            self._put(stream.mark, text[:end])
            if number == STDERR:
                self.tail = (self.tail + text[:end])[-TAIL_BYTES:]
                if any(error in text for error in FILE_ERRORS):
                    self.file_error = text[:end]
            text, stream.since, stream.open = text[end:], math.inf, False
        while len(text) > PIECE_BYTES:
            self._put_piece(stream.mark, text[:PIECE_BYTES])
            text, stream.open = text[PIECE_BYTES:], True
        stream.text = text
        if not text:
            stream.since = math.inf
        elif stream.since == math.inf:
            stream.since = time.monotonic()

    def write_both(self, first, second):
        """Add bytes that the call printed to both streams, each as a number and bytes, the first ones probably earlier.

        Two pipes do not tell their order. An unfinished line is probably the last that was
        printed. A progress bar ends its line before the program prints another one, and
        begins a new one afterwards.
        """
        number, data = first
        end = bar_end(data) if self._streams[number].draws(data) else data.rfind(b"\n") + 1
        self.write(number, data[:end])
        self.write(*second)
        self.write(number, data[end:])

    def draws(self, number, data):
        """Return whether the next bytes of a stream belong to a line that is drawn more than once, or in pieces."""
        return self._streams[number].draws(data)

    @property
    def is_in_line(self):
        """Whether a line is unfinished."""
        return any(stream.text or stream.open for stream in self._streams)

    def say(self, text):
        """Print a message from the runner on its own line."""
        stream = self._streams[STDERR]
        if stream.open:
            self.write(STDERR, b"\n")
        self._put(STDERR_MARK, encode_text(f"kinetic: {text}\n"))

    @property
    def piece_at(self):
        """The time.monotonic() at which to show an unfinished line as it is."""
        return min(stream.since for stream in self._streams) + self._piece_seconds

    def show_unfinished(self, now=math.inf):
        """Write unfinished lines that are old enough as pieces; by default all of them."""
        for stream in self._streams:
            if now >= stream.since + self._piece_seconds:
                self._show(stream)

    def say_end(self, job, pickle=None):
        """Print the lines that say that the job has ended, and with what pickle, on stdout only."""
        if self._streams[STDERR].open:
            self._print(STDERR_MARK + b"\n")
        if pickle:
            self._print(REPORT_START + encode_json(pickle) + b"\n")
        self._print(STDERR_MARK + encode_text(END_LINE % job + "\n"))

    @property
    def unsent(self):
        """The descriptor that output is waiting for, or None."""
        return self._out if self._unsent else None

    @property
    def behind(self):
        """Whether the call's output must wait for stdout, which is slow but not stuck."""
        return self._unsent_bytes >= UNSENT_BYTES and not self._stuck

    @property
    def stuck_at(self):
        """The time.monotonic() at which stdout is stuck, unless it accepts something before."""
        return self._taken_at + STUCK_SECONDS

    @property
    def _stuck(self):
        return time.monotonic() >= self.stuck_at

    def send(self):
        """Write to stdout what it accepts without waiting."""
        while self._unsent:
            data = self._unsent[0]
            try:
                sent = os.write(self._out, data)
            except BlockingIOError:
                return
            except OSError:  # the reader is gone; the spool continues
                self._out = None
                self._unsent, self._unsent_bytes = deque(), 0
                return
            self._taken_at = time.monotonic()
            self._unsent_bytes -= sent
            if sent < len(data):
                self._unsent[0] = data[sent:]
            else:
                self._unsent.popleft()
        if self._skipped:
            note, self._skipped = f"kinetic: {self._skipped} bytes are missing here because the output was not read in time; the store has them\n", 0
            self._print(STDERR_MARK + encode_text(note))

    def drain(self, until):
        """Write the rest to stdout, waiting for it until that time.monotonic()."""
        poll = select.poll()
        while self._unsent and (left := until - time.monotonic()) > 0:
            poll.register(self._out, select.POLLOUT)
            poll.poll(left * 1000)
            self.send()

    def _show(self, stream):
        """Write an unfinished line as it is."""
        if stream.text:
            self._put_piece(stream.mark, stream.text)
            stream.text, stream.since, stream.open = b"", math.inf, True

    def _put(self, mark, lines):
        """Write whole lines of one stream."""
        if not needs_care(mark, lines):
            self._write(mark, lines[:-1])
            return
        for line in lines[:-1].split(b"\n"):
            *before, line = without_reports(line)
            for part in before:
                self._put_piece(mark, part)
            if line.endswith(PIECE):  # a reader would take it for a piece, so make it one, with an empty rest
                self._put_piece(mark, line)
                line = b""
            self._write(mark_of(mark, line), line)

    def _put_piece(self, mark, text):
        for part in without_reports(text):
            self._write(mark_of(mark, part), part + PIECE)

    def _write(self, mark, body):
        """Write lines that lack only their marks and the last line end."""
        stamp = timestamp().encode() + b" " + mark
        self._record(stamp + body.replace(b"\n", b"\n" + stamp) + b"\n")
        self._print((mark + body.replace(b"\n", b"\n" + mark) if mark else body) + b"\n")

    def _record(self, lines):
        note = encode_text(f"kinetic: {self._gap} bytes of the log are missing here\n")
        if self._gap and self.spool.append(timestamp().encode() + b" " + STDERR_MARK + note):
            self._gap = 0
        if not self._gap and self.spool.append(lines):
            return
        if not self.lost:
            self._print(STDERR_MARK + encode_text(f"kinetic: warning: no room for the log in {self.spool.path}: {FULL}\n"))
        self._gap += len(lines)
        self.lost += len(lines)

    def _print(self, data):
        if self._out is None:
            return
        if not self._unsent:
            self._taken_at = time.monotonic()
        elif self._unsent_bytes >= (UNSENT_BYTES if self._stuck else 2 * UNSENT_BYTES):
            self._skipped += len(data)
            return
        self._unsent.append(data)
        self._unsent_bytes += len(data)
        self.send()


def leave_value(log, path, value):
    """Leave a small value beside the log at a path, for the client of a warm host to show it below the log. The process that has returned it may take long to end."""
    if len(value) > SHOWN_VALUE or log.is_in_line:
        return
    path += VALUE_FILE
    with suppress(OSError):  # the store gets it anyway
        with open(os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(value)
        os.rename(path + ".new", path)


def bar_end(data):
    """Return how many of the bytes of a progress bar come before what the other stream prints meanwhile."""
    up = data.rfind(CURSOR_UP)
    if up >= 0:
        return up + len(CURSOR_UP)
    found = BAR_ENDS.search(data)
    return found.end() if found else len(data)


def needs_care(mark, lines):
    """Return whether a line ends like a piece or starts with the mark of another stream."""
    if PIECE + b"\n" in lines or REPORT_START in lines:
        return True
    return not mark and (lines[0] in MARK_BYTES or any(b"\n" + start in lines for start in (STDERR_MARK, STDOUT_MARK, REPORT_MARK)))


def without_reports(text):
    """Return the parts of a text between its reports: REPORT_START is in none.

    A node stores a long line in several records, and may have dropped the first
    ones: what was within a line can be at the beginning of what it sends.
    """
    parts = text.split(REPORT_START)
    rest = REPORT_START[len(REPORT_MARK) :]
    parts[1:] = [rest + part for part in parts[1:]]
    parts[:-1] = [part + REPORT_MARK for part in parts[:-1]]
    return parts


def mark_of(mark, text):
    """Return the mark of a line. A line of stdout needs one only if its text starts with a mark."""
    return STDOUT_MARK if not mark and text and text[0] in MARK_BYTES else mark
