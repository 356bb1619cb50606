"""SQLite databases are saved by a copy that SQLite makes, and hold nothing else up."""

import os
import sqlite3
import subprocess
import sys
import threading
import unittest
from types import SimpleNamespace
from unittest import mock

from test_keeper import KeeperCase

from kinetic_runner.outputs import database
from kinetic_runner.outputs.observer import Observer
from kinetic_runner.outputs.tree import read_tree, stamp_of

HOLD = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2:]:
    database.execute(statement).fetchall()
print("ready", flush=True)
sys.stdin.read()
"""


class Databases(KeeperCase):
    def execute(self, *statements):
        """Opens study.db, executes statements, and closes it."""
        connection = sqlite3.connect(self.path("study.db"), isolation_level=None)
        for statement in statements:
            connection.execute(statement).fetchall()
        connection.close()

    def keep_open(self, *statements):
        """Lets another process execute statements, and keep study.db open."""
        argv = [sys.executable, "-c", HOLD, self.path("study.db"), *statements]
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def values(self, found):
        """What a table of the restored database holds."""
        path = os.path.join(self.top, "copy.db")
        with open(path, "wb") as file:
            file.write(os.fsencode(found["study.db"]))
        copy = sqlite3.connect(path)
        self.addCleanup(copy.close)
        return [value for (value,) in copy.execute("SELECT value FROM trials")]

    def commit(self):
        """Returns what a commit leaves out, in a thread that may hang."""
        found, done = [], threading.Event()
        threading.Thread(target=lambda: (found.append(self.keeper.commit()), done.set()), daemon=True).start()
        self.assertTrue(done.wait(30), "the commit waits for the lock")
        return found[0]

    def test_a_database_for_whose_copy_there_is_no_room(self):
        self.execute("CREATE TABLE trials (value)", "INSERT INTO trials VALUES (1)")
        self.write("a")
        size, spare = os.path.getsize(self.path("study.db")), 1000
        with mock.patch.object(self.observer, "room", return_value=(size + spare - 1, spare)), mock.patch.object(database, "copy_database") as copy:
            self.assertEqual(self.commit(), ["study.db"])
            copy.assert_not_called()
        with mock.patch.object(self.observer, "room", return_value=(size + spare, spare)):
            self.assertEqual(self.commit(), [])
        self.assertEqual(self.values(self.restored()), [1])

    def test_a_lock_holds_up_nothing_but_its_database(self):
        locks = {
            "a transaction": ["BEGIN EXCLUSIVE"],
            "for ever": ["PRAGMA locking_mode=EXCLUSIVE", "INSERT INTO trials VALUES (2)"],
            "for ever, without a journal": ["PRAGMA locking_mode=EXCLUSIVE", "PRAGMA journal_mode=MEMORY", "INSERT INTO trials VALUES (2)"],
            "for ever, with a WAL": ["PRAGMA locking_mode=EXCLUSIVE", "PRAGMA journal_mode=WAL", "INSERT INTO trials VALUES (2)"],
        }
        for name, statements in locks.items():
            with self.subTest(name):
                self.setUp()
                self.execute("CREATE TABLE trials (value)", "INSERT INTO trials VALUES (1)")
                self.write("a")
                process = self.keep_open(*statements)
                self.assertIn("study.db", self.commit())
                self.assertEqual(self.restored(), {"a": "a"})
                process.communicate()
                self.assertEqual(self.commit(), [])
                self.assertEqual(self.values(self.restored())[:1], [1])

    def test_a_lock_for_one_transaction_is_waited_for(self):
        self.execute("CREATE TABLE trials (value)", "INSERT INTO trials VALUES (1)")
        process = self.keep_open("BEGIN EXCLUSIVE")
        answers = iter([lambda: 0.0])  # the copy begins; when it looks at the clock again, it has found the lock
        clock = SimpleNamespace(monotonic=lambda: next(answers, lambda: process.communicate() and 0.0)())
        with mock.patch.object(database, "time", clock):
            self.assertEqual(self.commit(), [])
        self.assertEqual(self.values(self.restored()), [1])

    def restore(self):
        """Lets another attempt begin with what was saved: the database as an ordinary file, closed."""
        listing = read_tree(self.root)
        self.observer.saved.update({path: stamp_of(node) for path, node in listing.items()})
        fresh = Observer(self.root, self.observer.stage, self.observer.saved, {}, self.observer.watch)
        self.keeper._observer = self.observer = fresh

    def test_a_database_with_a_wal_is_saved_after_a_restore(self):
        self.execute("PRAGMA journal_mode=WAL", "CREATE TABLE trials (value)", "INSERT INTO trials VALUES (1)")
        self.moment()
        self.restore()
        self.keep_open("INSERT INTO trials VALUES (2)")
        self.assertEqual(self.commit(), [])
        found = self.restored()
        self.assertEqual((list(found), self.values(found)), (["study.db"], [1, 2]))

    def end_in_order(self):
        """Lets the call end without having closed the database: its files are saved as they are. Then another attempt begins."""
        process = self.keep_open("PRAGMA journal_mode=WAL", "CREATE TABLE trials (value)", "INSERT INTO trials VALUES (1)")
        process.kill()
        process.wait()
        self.keeper.finish(True)
        self.assertEqual(sorted(self.restored()), ["study.db", "study.db-shm", "study.db-wal"])
        self.restore()

    def test_a_wal_of_before_does_not_come_back_beside_a_newer_copy(self):
        for end in (lambda: self.keeper.finish(False), self.commit):
            self.setUp()
            self.end_in_order()
            self.execute("INSERT INTO trials VALUES (2)")  # which merges the WAL, and removes it
            end()
            found = self.restored()
            self.assertEqual((sorted(found), self.values(found)), (["study.db"], [1, 2]))

    def test_a_wal_of_before_stays_with_its_database_while_that_is_locked(self):
        self.end_in_order()
        self.keep_open("PRAGMA locking_mode=EXCLUSIVE", "INSERT INTO trials VALUES (2)")
        self.keeper._current_at = 0  # it has waited for long
        self.replace("a")
        self.assertEqual(sorted(self.moment()), ["a", "study.db", "study.db-shm", "study.db-wal"])

    def test_a_database_that_is_only_read_after_a_restore_is_not_sent_again(self):
        self.execute("PRAGMA journal_mode=WAL", "CREATE TABLE trials (value)", "INSERT INTO trials VALUES (1)")
        self.moment()
        self.restore()
        self.keep_open("SELECT value FROM trials")
        self.assertTrue(os.path.exists(self.path("study.db-wal")))
        before = self.index.document.objects()
        self.commit()
        self.assertEqual(self.index.document.objects(), before)
        self.assertEqual(self.values(self.restored()), [1])

    def test_a_database_that_was_restored_from_another_host_stays_that_ones(self):
        self.execute("CREATE TABLE trials (value)")
        self.observer.others.update({path: stamp_of(node) for path, node in read_tree(self.root).items()})
        self.assertEqual(self.moment(), {})
        self.execute("INSERT INTO trials VALUES (1)")
        self.assertEqual(list(self.moment()), ["study.db"])


if __name__ == "__main__":
    unittest.main()
