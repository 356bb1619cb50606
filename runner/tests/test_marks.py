"""The lines of the log: which stream each is from, what is a piece, and what becomes of lines that nobody takes."""

import errno
import math
import os
import random
import time
import unittest
import unittest.mock

from fixture import JOB, read_log
from kinetic_runner import log as logs, spool as spools
from kinetic_runner.log import PIECE_BYTES, STDERR, STDOUT, Log
from test_spool import SpoolCase

MIB = 1 << 20
SHOW, SAY = "show", "say"  # what happens to a log beside what the call prints


class LogCase(SpoolCase):
    def setUp(self):
        super().setUp()
        self.out = os.open(os.path.join(self.root, "out"), os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        self.addCleanup(os.close, self.out)

    def open_log(self):
        os.ftruncate(self.out, 0)
        os.lseek(self.out, 0, os.SEEK_SET)
        return Log(self.spool(), self.out, 1.0)

    def printed(self):
        return os.pread(self.out, 64 * MIB, 0)

    def log_of(self, *events):
        """What a log prints of events: (stream, bytes), SHOW for a second that passes, and SAY."""
        log = self.open_log()
        for event in events:
            if event == SHOW:
                log.show_unfinished()
            elif event == SAY:
                log.say("told")
            else:
                log.write(*event)
        log.show_unfinished()
        return self.printed()


class Marks(LogCase):
    CASES = {
        "a line of stdout is as it is": ([(STDOUT, b"a\n")], b"a\n"),
        "a line of stderr has a mark": ([(STDERR, b"a\n")], b"\x1ea\n"),
        "so has each of several": ([(STDERR, b"a\n\nb\n")], b"\x1ea\n\x1e\n\x1eb\n"),
        "a carriage return ends no line": ([(STDOUT, b"1%\r2%\n")], b"1%\r2%\n"),
        "bytes that are not text": ([(STDOUT, b"\xff\0\n"), (STDERR, b"\xff\0\n")], b"\xff\0\n\x1e\xff\0\n"),
        "a line comes in two": ([(STDOUT, b"a"), (STDOUT, b"b\n")], b"ab\n"),
        "streams do not mix": ([(STDOUT, b"a"), (STDERR, b"b"), (STDOUT, b"c\n"), (STDERR, b"d\n")], b"\x1eb\x1f\nac\n\x1ed\n"),
        "a bar and a line below it": ([(STDERR, b"\r1%"), (STDOUT, b"a\n"), (STDERR, b"\r2%\n")], b"\x1e\r1%\x1f\na\n\x1e\r2%\n"),
        "a line of stderr below what stdout holds": ([(STDOUT, b"1."), (STDERR, b"a\n"), (STDOUT, b"2.\n")], b"1.\x1f\n\x1ea\n2.\n"),
        "unfinished lines of both": ([(STDOUT, b"a"), (STDERR, b"b")], b"a\x1f\n\x1eb\x1f\n"),
        # A text of stdout that begins with a mark gets another one.
        "stdout begins with the mark of stderr": ([(STDOUT, b"\x1ea\n")], b"\x1d\x1ea\n"),
        "stdout begins with the mark of stdout": ([(STDOUT, b"\x1da\n")], b"\x1d\x1da\n"),
        "so does a later line": ([(STDOUT, b"a\n\x1eb\nc\n\x1d\n")], b"a\n\x1d\x1eb\nc\n\x1d\x1d\n"),
        "a mark within a line": ([(STDOUT, b"a\x1eb\x1dc\x1fd\n")], b"a\x1eb\x1dc\x1fd\n"),
        "stderr begins with a mark": ([(STDERR, b"\x1ea\n\x1db\n")], b"\x1e\x1ea\n\x1e\x1db\n"),
        # A text that ends as a piece becomes one.
        "stdout ends as a piece": ([(STDOUT, b"a\x1f\nb\n")], b"a\x1f\x1f\n\nb\n"),
        "stderr ends as a piece": ([(STDERR, b"a\x1f\nb\n")], b"\x1ea\x1f\x1f\n\x1e\n\x1eb\n"),
        "stdout begins and ends so": ([(STDOUT, b"\x1e\x1f\n")], b"\x1d\x1e\x1f\x1f\n\n"),
        "nothing but the end of a piece": ([(STDOUT, b"\x1f\n")], b"\x1f\x1f\n\n"),
        # Unfinished lines are shown as pieces.
        "no line end at the end": ([(STDOUT, b"a\nb")], b"a\nb\x1f\n"),
        "a line in pieces": ([(STDOUT, b"1%"), SHOW, (STDOUT, b"\r2%"), SHOW, (STDOUT, b"\n")], b"1%\x1f\n\r2%\x1f\n\n"),
        "a line of stderr in pieces": ([(STDERR, b"1%"), SHOW, (STDERR, b"\r2%\n")], b"\x1e1%\x1f\n\x1e\r2%\n"),
        "a piece that begins with a mark": ([(STDOUT, b"a"), SHOW, (STDOUT, b"\x1eb\n")], b"a\x1f\n\x1d\x1eb\n"),
        "a piece that ends as one": ([(STDOUT, b"a\x1f"), SHOW, (STDOUT, b"b\n")], b"a\x1f\x1f\nb\n"),
        "nothing new is no piece": ([(STDOUT, b"a"), SHOW, SHOW], b"a\x1f\n"),
        "lines of stderr between the pieces of stdout": (
            [(STDOUT, b"a"), SHOW, (STDERR, b"x\n"), (STDOUT, b"b\n"), (STDERR, b"y\n")], b"a\x1f\n\x1ex\nb\n\x1ey\n",
        ),
        "pieces of both": (
            [(STDOUT, b"a"), (STDERR, b"x"), SHOW, (STDERR, b"y\n"), (STDOUT, b"b\n")], b"a\x1f\n\x1ex\x1f\n\x1ey\nb\n",
        ),
        # What the runner says is on a line of its own.
        "a message": ([SAY], b"\x1ekinetic: told\n"),
        "a message after a piece of stderr": ([(STDERR, b"a"), SHOW, SAY, (STDERR, b"b\n")], b"\x1ea\x1f\n\x1e\n\x1ekinetic: told\n\x1eb\n"),
        "a message after pieces and more": ([(STDERR, b"a"), SHOW, (STDERR, b"b"), SAY], b"\x1ea\x1f\n\x1eb\n\x1ekinetic: told\n"),
        "a message before a line of stderr ends": ([(STDERR, b"a"), SAY, (STDERR, b"b\n")], b"\x1ekinetic: told\n\x1eab\n"),
        "a message between pieces of stdout": ([(STDOUT, b"a"), SHOW, SAY, (STDOUT, b"b\n")], b"a\x1f\n\x1ekinetic: told\nb\n"),
    }  # fmt: skip

    def test_lines(self):
        for name, (events, want) in self.CASES.items():
            with self.subTest(name):
                self.assertEqual(self.log_of(*events), want)
                self.assertEqual(self.recorded(), want)
                if SAY not in events:
                    printed = [b"".join(text for number, text in filter(lambda e: e != SHOW, events) if number == stream) for stream in (STDOUT, STDERR)]
                    _, stdout, stderr = read_log(want)
                    self.assertEqual([stdout, stderr], [text.decode("utf-8", "replace") for text in printed])

    def test_whatever_is_printed_is_read_as_it_was(self):
        chosen = random.Random(10)
        pieces = [b"a", b"", b"\n", b"\n\n", b"\x1d", b"\x1e", b"\x1f", b"\x1f\n", b"\r", b"text\n"]
        for _ in range(400):
            events = [chosen.choice([SHOW, (STDOUT, chosen.choice(pieces)), (STDERR, chosen.choice(pieces))]) for _ in range(chosen.randrange(12))]
            printed = self.log_of(*events)
            want = ["".join(event[1].decode() for event in events if event != SHOW and event[0] == stream) for stream in (STDOUT, STDERR)]
            self.assertEqual(list(read_log(printed)[1:]), want, events)
            self.assertEqual(self.recorded(), printed, events)

    def test_endless_line_is_written_in_pieces(self):
        text = b"x" * (3 * PIECE_BYTES) + b"\x1ey"
        log = self.open_log()
        log.write(STDOUT, text)
        piece = b"x" * PIECE_BYTES + b"\x1f\n"
        self.assertEqual(self.printed(), piece * 3)
        log.write(STDOUT, b"\n")
        self.assertEqual(self.printed(), piece * 3 + b"\x1d\x1ey\n")

    def test_long_line_that_comes_whole_is_one(self):
        self.assertEqual(self.log_of((STDOUT, b"x" * (2 * PIECE_BYTES) + b"\n")), b"x" * (2 * PIECE_BYTES) + b"\n")


class Bursts(LogCase):
    """What a call has printed to both streams since they were read, without a hint in which order."""

    CASES = {
        "lines": ((STDOUT, b"a\n"), (STDERR, b"b\n"), b"a\n\x1eb\n"),
        "a bar ends, and the next one begins below a line": (
            (STDERR, b"\r 90%\r100%\n\r  0%"), (STDOUT, b"loss\n"), b"\x1e\r 90%\r100%\nloss\n\x1e\r  0%\x1f\n",
        ),
        "a bar moves on": ((STDERR, b"\r60%"), (STDOUT, b"loss\n"), b"\x1e\r60%\x1f\nloss\n"),
        "a bar is cleared for a line": (
            (STDERR, b"\r60%\r   \r\r60%"), (STDOUT, b"loss\n"), b"\x1e\r60%\r   \r\x1f\nloss\n\x1e\r60%\x1f\n",
        ),
        "bars below each other": (
            (STDERR, b"\r50%\n\r10%\x1b[A\r51%"), (STDOUT, b"loss\n"), b"\x1e\r50%\n\x1e\r10%\x1b[A\x1f\nloss\n\x1e\r51%\x1f\n",
        ),
        "a bar of stdout": ((STDOUT, b"\r100%\n\r0%"), (STDERR, b"told\n"), b"\r100%\n\x1etold\n\r0%\x1f\n"),
        "an unfinished line is the last": ((STDOUT, b"a\nno end"), (STDERR, b"err\n"), b"a\n\x1eerr\nno end\x1f\n"),
        "a traceback stays whole": ((STDERR, b"Traceback\n  File\n"), (STDOUT, b"a\n"), b"\x1eTraceback\n\x1e  File\na\n"),
    }  # fmt: skip

    def test_bursts(self):
        for name, (first, second, want) in self.CASES.items():
            with self.subTest(name):
                log = self.open_log()
                log.write_both(first, second)
                log.show_unfinished()
                self.assertEqual(self.printed(), want)


class Times(LogCase):
    def test_a_line_has_the_time_before_it_is_printed(self):
        log = self.open_log()
        with unittest.mock.patch.object(logs, "timestamp", lambda: f"after {self.printed()!r}"):
            log.write(STDOUT, b"one\ntwo\n")
            log.write(STDERR, b"three\n")
        self.assertEqual(self.content(), b"after b'' one\nafter b'' two\nafter b'one\\ntwo\\n' \x1ethree\n")

    def test_unfinished_line_is_shown_after_a_second(self):
        log = self.open_log()
        self.assertEqual(log.piece_at, math.inf)
        with unittest.mock.patch.object(logs.time, "monotonic") as now:
            now.return_value = 10.0
            log.write(STDOUT, b"old")
            now.return_value = 10.7
            log.write(STDERR, b"young")
            log.write(STDOUT, b"er")  # does not begin the second again
            self.assertEqual(log.piece_at, 11.0)
            log.show_unfinished(10.9)
            self.assertEqual(self.printed(), b"")
            log.show_unfinished(11.1)
            self.assertEqual((self.printed(), log.piece_at), (b"older\x1f\n", 11.7))
            log.write(STDERR, b"\n")
            self.assertEqual(log.piece_at, math.inf)
            now.return_value = 11.5
            log.write(STDOUT, b"more")
            self.assertEqual(log.piece_at, 12.5)

    def test_the_end_is_on_a_line_of_its_own_and_in_no_part(self):
        for event, want in (((STDOUT, b"a\n"), b"a\n"), ((STDOUT, b"a"), b"a\x1f\n"), ((STDERR, b"a"), b"\x1ea\x1f\n\x1e\n")):
            log = self.open_log()
            log.write(*event)
            log.show_unfinished()
            before = self.content()
            log.say_end(JOB)
            self.assertEqual(self.printed(), want + b"\x1ekinetic: job %s has ended\n" % JOB.encode())
            self.assertEqual(self.content(), before)

    def test_a_report_is_in_no_part_and_nothing_printed_looks_like_it(self):
        report = logs.REPORT_START + b'{"name":"result.pkl"}\n'
        log = self.open_log()
        log.say_end(JOB, {"name": "result.pkl"})
        self.assertEqual(self.printed(), report + b"\x1ekinetic: job %s has ended\n" % JOB.encode())
        self.assertEqual(self.content(), b"")
        for before in (b"", b"a\n"):
            log = self.open_log()
            log.write(STDOUT, before + report)
            log.write(STDERR, before + report)
            for line in self.printed().splitlines():
                self.assertNotEqual(line[:1], logs.REPORT_MARK)

    def test_a_report_is_not_within_a_line_either(self):
        report = logs.REPORT_START + b'{"name":"result.pkl"}'
        for text in (report + report, b"x" + report + b"\x1f", b"x" * (PIECE_BYTES - 9) + report * 3, logs.REPORT_START, b"\x1c" + report):
            for number in (STDOUT, STDERR):
                log = self.open_log()
                log.write(number, b"before\n" + text + b"\nafter\n" + text)
                log.show_unfinished()
                printed = self.printed()
                self.assertNotIn(logs.REPORT_START, printed)
                self.assertEqual(read_log(printed + b"\n")[1 + number].encode(), b"before\n" + text + b"\nafter\n" + text + b"\n" * (number == STDOUT))
                self.assertNotIn(logs.REPORT_START, self.content())


class SlowReader(LogCase):
    """Stdout that takes nothing for a while, or for ever."""

    def open_log(self):
        self.reader, writer = os.pipe()
        self.addCleanup(os.close, writer)
        self.addCleanup(lambda: self.reader is None or os.close(self.reader))
        return Log(self.spool(), writer, 1.0)

    def test_nothing_waits_and_nothing_is_lost_when_it_reads_on(self):
        log, want = self.open_log(), b""
        with unittest.mock.patch.object(time, "monotonic", return_value=time.monotonic()):  # or a busy machine takes the reader for stuck
            while not log.behind:
                line = b"%1000d\n" % len(want)
                want += line
                log.write(STDOUT, line)
        self.assertIsNotNone(log.unsent)
        got = b""
        while len(got) < len(want):
            got += os.read(self.reader, 64 << 10)
            log.send()
        self.assertEqual((got, log.unsent, log.behind), (want, None, False))
        self.assertEqual(self.recorded(), want)

    def test_what_waits_is_bounded(self):
        log = self.open_log()
        for _ in range(100):
            log.write(STDOUT, b"x" * (MIB // 10) + b"\n")
        self.assertLess(log._unsent_bytes, 3 * MIB)
        self.assertGreater(len(self.content()), 9 * MIB, "the store gets all of it")

    def test_the_rest_is_waited_for_only_so_long(self):
        log = self.open_log()
        log.write(STDOUT, b"x" * MIB)
        began = time.monotonic()
        log.drain(began + 0.1)
        self.assertLess(time.monotonic() - began, 5)

    def test_reader_that_has_gone(self):
        log = self.open_log()
        os.close(self.reader)
        self.reader = None
        for _ in range(3):
            log.write(STDOUT, b"x\n")
        self.assertEqual((log.unsent, log.behind, self.recorded()), (None, False, b"x\n" * 3))


class FullDisk(LogCase):
    def full(self, room):
        """From now on the disk has so much room; a write beyond it is done in part, as the operating system does."""

        def write_all(fd, data):
            nonlocal room
            done = os.write(fd, data[: max(0, room)])
            room -= done
            if done < len(data):
                raise OSError(errno.ENOSPC, "No space left on device")

        patch = unittest.mock.patch.object(spools, "write_all", write_all)
        patch.start()
        self.addCleanup(patch.stop)
        return patch

    def test_lines_find_room_whole_or_not_at_all(self):
        log = self.open_log()
        log.write(STDOUT, b"first\n")
        before = self.content()
        patch = self.full(40)
        log.write(STDOUT, b"second\nthird\n")
        log.write(STDERR, b"4\n")
        self.assertEqual((self.content(), log.spool.pending), (before, len(before)))
        told = b"\x1ekinetic: warning: no room for the log in %s: the rest is only in this pod's output; submit the job with a larger --disk\n"
        self.assertEqual(self.printed(), b"first\n" + told % self.path.encode() + b"second\nthird\n\x1e4\n")
        lost = len("second\nthird\n") + 2 * 28 + 28 + 3
        self.assertEqual(log.lost, lost)
        patch.stop()
        log.write(STDOUT, b"fifth\n")
        self.assertEqual(self.recorded(), b"first\n\x1ekinetic: %d bytes of the log are missing here\nfifth\n" % lost)
        self.assertEqual(log.spool.pending, len(self.content()))

    def test_file_that_is_kept(self):
        log = Log(self.spool(keep=True), None, 1.0)
        log.write(STDOUT, b"first\n")
        before = self.content()
        patch = self.full(10)
        log.write(STDOUT, b"second\n")
        patch.stop()
        log.write(STDOUT, b"third\n")
        self.assertEqual(self.content()[: len(before)], before)
        self.assertRegex(self.recorded(), rb"^first\n\x1ekinetic: 35 bytes of the log are missing here\nthird\n$")


if __name__ == "__main__":
    unittest.main()
