"""Connections to a warm host through the store."""

import socket
import threading
import time
import unittest
from contextlib import suppress

from fixture import TIMEOUT
from kinetic_runner.warm import inbox
from kinetic_runner.warm.inbox import Inbox
from test_gcs import StoreCase

FOLDER, NAME = "warm/host.0.inbox/", "0123456789abcdef" * 2


class Echo:
    """A host that repeats what it hears, after a greeting, and ends after b"end"."""

    def __init__(self, case):
        self.listener = socket.create_server(("127.0.0.1", 0))
        case.addCleanup(self.listener.close)
        self.port, self.came = self.listener.getsockname()[1], 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection = self.listener.accept()[0]
            except OSError:
                return
            self.came += 1
            threading.Thread(target=self.repeat, args=(connection,), daemon=True).start()

    def repeat(self, connection):
        with connection, suppress(OSError):
            connection.sendall(b"hello")
            while (data := connection.recv(1 << 16)) and data != b"end":
                connection.sendall(data)


class Inboxes(StoreCase):
    def setUp(self):
        super().setUp()
        self.change(inbox, "LOOK_SECONDS", 0.01)
        self.change(inbox, "BUSY_SECONDS", 0.01)
        self.host = Echo(self)

    def open_inbox(self):
        opened = Inbox(self.store, FOLDER, self.host.port)
        self.addCleanup(opened.close)
        return opened

    def put(self, *ends, data=b"", name=NAME):
        for end in ends:
            self.bucket.put(f"{FOLDER}{name}.{end}", data)

    def ends(self, name=NAME):
        prefix = f"{FOLDER}{name}."
        return sorted(object[len(prefix) :] for object in self.bucket.names(prefix))

    def wait(self, holds):
        until = time.monotonic() + TIMEOUT
        while not holds():
            self.assertLess(time.monotonic(), until, self.bucket.names(""))
            time.sleep(0.005)

    def said(self, number):
        """What the host has said, as a client reads it."""
        self.wait(lambda: f"{number}.out" in self.ends())
        data = self.bucket.read(f"{FOLDER}{NAME}.{number}.out")
        self.bucket.remove(f"{FOLDER}{NAME}.{number}.out")
        return data

    def test_both_sides_are_passed_on_in_order(self):
        self.open_inbox()
        self.put("0.in")
        self.assertEqual(self.said(0), b"hello")
        self.put("2.in", data=b"two")
        self.put("1.in", data=b"one")
        said, number = b"", 1
        while len(said) < 6:
            said, number = said + self.said(number), number + 1
        self.assertEqual(said, b"onetwo")
        self.put("3.in", data=b"end")
        self.assertEqual(self.said(number), b"")
        self.put("end")
        self.wait(lambda: not self.ends())

    def test_a_client_that_reads_nothing_holds_few_objects(self):
        self.open_inbox()
        self.put("0.in")
        for number in range(1, 12):
            self.put(f"{number}.in", data=b"more")
            self.wait(lambda: f"{number}.in" not in self.ends())
        self.assertLessEqual(len(self.ends()), inbox.WINDOW)
        self.put("end")
        self.wait(lambda: not self.ends())

    def test_a_silent_client_is_forgotten(self):
        self.change(inbox, "SILENT_SECONDS", 0.2)
        self.open_inbox()
        self.put("0.in")
        self.wait(lambda: self.host.came and not self.ends())

    def test_an_object_that_is_too_large(self):
        self.open_inbox()
        self.put("0.in")
        self.assertEqual(self.said(0), b"hello")
        self.put("1.in", data=b"x" * (inbox.PIECE + 1))
        self.wait(lambda: not self.ends())

    def test_an_outage_loses_nothing(self):
        self.open_inbox()
        self.put("0.in")
        self.assertEqual(self.said(0), b"hello")
        for number in range(1, 6):
            self.bucket.fail(403, 1, rf"(POST|DELETE|GET) .*{NAME}")
            self.put(f"{number}.in", data=b"%d" % number)
            self.assertEqual(self.said(number), b"%d" % number)

    def test_what_others_have_left_is_no_connection(self):
        self.put("0.in", "1.in", "3.out", "end", name="f" * 32)
        self.put("0.in", name="../evil")
        self.put("1.in", name="e" * 32)
        self.put("0.in")
        self.open_inbox()
        self.assertEqual(self.said(0), b"hello")
        self.wait(lambda: not self.ends("f" * 32))
        self.assertEqual((self.host.came, self.ends("e" * 32), self.ends("../evil")), (1, ["1.in"], ["0.in"]))

    def test_last_words(self):
        opened = self.open_inbox()
        self.put("0.in")
        self.wait(lambda: self.host.came)
        self.put("1.in", data=b"end")
        self.wait(lambda: "1.in" not in self.ends())
        opened.close()
        said, number = b"", 0
        while more := self.said(number):
            said, number = said + more, number + 1
        self.assertEqual(said, b"hello")


if __name__ == "__main__":
    unittest.main()
