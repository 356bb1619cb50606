# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""SQLite, as Optuna and MLflow use it: two tables that agree after each transaction."""

import os
import shutil
import sqlite3
import tempfile
import time

import contents

from .pattern import Pattern

NAME = "study.db"
NONE = "0@empty"


def read(path):
    """Return the state of the last transaction, from a copy: reading may change a database."""
    with tempfile.TemporaryDirectory() as folder:
        for name in os.listdir(os.path.dirname(path)):
            if name.startswith(NAME):
                shutil.copy(os.path.join(os.path.dirname(path), name), folder)
        database = sqlite3.connect(os.path.join(folder, NAME))
        try:
            health = database.execute("pragma integrity_check").fetchone()[0]
            if not database.execute("select count(*) from sqlite_master").fetchone()[0]:
                return NONE
            trials, *last = database.execute("select count(*), max(step), id from trials").fetchone()
            params, values = database.execute("select count(*), count(distinct value) from params").fetchone()
        except sqlite3.Error as problem:
            raise contents.Broken(f"sqlite: {problem}") from None
        finally:
            database.close()
    if health != "ok" or trials != params or values > 1:
        raise contents.Broken(f"integrity_check: {health[:100]}; {trials} trials, {params} parameters of {values} transactions")
    return last[1] or NONE


class Database(Pattern):
    """A database that is kept open."""

    atomic, every, store, mode, closes, readers = False, 0.3, "throttled", "wal", False, {NAME: read}

    def look(self, out):
        """The companions of the database alone are wrong."""
        states = super().look(out)
        for unit in [unit for unit in states if unit.startswith(NAME + "-")]:
            del states[unit]
            if NAME not in states:
                states[unit] = f"BROKEN without {NAME}"
        return states

    def begin(self, p):
        """Make the tables."""
        with p.change(NAME, NONE if not p.step else f"{p.step}@{p.attempt}"):
            pass
        self.database = None
        self.open(p)

    def open(self, p):
        """Open the database."""
        if self.database is None:
            self.database = sqlite3.connect(p.at(NAME), isolation_level=None)
            self.database.execute(f"pragma journal_mode={self.mode}")
            self.database.execute("pragma wal_autocheckpoint=20")
            self.database.execute("pragma cache_size=10")  # pages reach the file in the middle of a transaction
            self.database.execute("begin")
            self.database.execute("create table if not exists trials (step integer primary key, id text)")
            self.database.execute("create table if not exists params (step integer primary key, value text)")
            self.database.execute("commit")

    def save(self, p, identity):
        """Commit a transaction."""
        self.open(p)
        with p.change(NAME, identity):
            run = self.database.execute
            run("begin immediate")
            run("insert into trials values (?, ?)", (p.step, identity))
            for part in range(5):
                run("update params set value = ? where step % 5 = ?", (identity.ljust(3000), part))
                time.sleep(0.02)
            p.maybe_die()
            run("insert into params values (?, ?)", (p.step, identity.ljust(3000)))
            run("commit")
            self.close()

    def close(self):
        """Close the database after a transaction, if this variant does."""
        if self.closes:
            self.database.close()
            self.database = None


PATTERNS = {
    "sqlite-wal": Database(),
    "sqlite-journal": Database(mode="delete", promise="whole"),
    "sqlite-persist": Database(mode="persist", promise="whole"),
    "sqlite-closed": Database(mode="delete", closes=True, every=2.2),
}
