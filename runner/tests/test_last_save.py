"""What is saved at the end, or when a program asks for it, although something is in the way."""

import errno
import os
import shutil
import threading
import time
import unittest
from unittest import mock

import test_keeper

from kinetic_runner.errors import RunnerError
from kinetic_runner.outputs import keeper as keepers
from kinetic_runner.outputs.observer import TICK
from kinetic_runner.outputs.sender import Sender


class LastSave(test_keeper.KeeperCase):
    finish = test_keeper.Ends.finish

    def test_what_is_sent_already_is_not_lost_with_what_comes_after_it(self):
        self.replace("step-9", "old")
        self.moment()
        self.replace("step-10", "whole")
        self.keeper.start()
        moment = self.keeper.moment
        with mock.patch.object(keepers, "INDEX_SECONDS", 3600):  # the last one was just written
            while not moment.sent or moment.is_open:
                self.keeper.carry_on()
                self.assertIs(self.keeper.moment, moment)
        self.replace("step-11", "late")

        def send(sender, path, *args):
            raise RunnerError("no time was left")

        with mock.patch.object(Sender, "send", send), self.assertRaisesRegex(RunnerError, "no time"):
            self.finish()
        self.assertEqual(self.restored(), {"step-9": "old", "step-10": "whole"})

    def test_what_was_seen_finished_while_it_was_sent_counts_when_it_is_sent(self):
        for seen, want in ((True, {"a": "2", "new/b": "1"}), (False, {"a": "1"})):
            with self.subTest(seen=seen):
                self.setUp()
                self.write("a", "1")
                self.moment()
                self.write("a", "2")
                self.write("new/b", "1")
                goes_on, send = threading.Event(), Sender.send

                def slow(*args, goes_on=goes_on, send=send):
                    self.assertTrue(goes_on.wait(60))
                    return send(*args)

                with mock.patch.object(Sender, "send", slow):
                    self.keeper.start()
                    self.living = seen
                    self.keeper.carry_on()
                    goes_on.set()
                    found, _ = self.finish()
                self.assertEqual(found, want)

    def test_a_file_that_nothing_soon_followed_holds_nothing_back(self):
        """The interval is 0: nothing has seen that the configuration was finished."""
        for seconds, want in ((0, {"last.pt": "500"}), (600, {})):
            with self.subTest(seconds=seconds), mock.patch.object(keepers, "APART_SECONDS", seconds, create=True):
                self.setUp()
                self.write("config.json")
                time.sleep(TICK)
                self.replace("last.pt", "500")
                found, unsaved = self.finish()
                self.assertEqual((found, unsaved["config.json"]), (want, keepers.UNFINISHED))

    def test_a_file_that_was_saved_before_holds_back_what_may_belong_to_it(self):
        self.write("model.pt", "1")
        self.replace("state.json", "1")
        self.keeper.commit()
        self.write("model.pt", "2")
        time.sleep(TICK)
        self.replace("state.json", "2")
        with mock.patch.object(keepers, "APART_SECONDS", 0, create=True):
            self.assertEqual(self.finish()[0], {"model.pt": "1", "state.json": "1"})

    def test_a_directory_that_is_gone_has_nothing(self):
        self.replace("a")
        self.moment()
        shutil.rmtree(self.root)
        self.assertEqual(self.finish(everything=True), ({}, {}))

    def test_a_link_that_leads_elsewhere_is_not_followed(self):
        outside = os.path.join(self.top, "token")
        with open(outside, "w") as file:
            file.write("hush")
        os.symlink(outside, self.path("link"))
        self.write("a")
        for everything in (False, True):
            _, unsaved = self.finish(everything)
            self.assertIn("which is not in the directory of outputs", unsaved["link"])
        self.assertEqual([name for name in self.bucket.names("") if "link" in name], [])


class Clock(test_keeper.KeeperCase):
    def test_a_clock_that_is_set_back_holds_no_moment(self):
        self.write("a")
        self.keeper.start()
        self.keeper.moment.at += 3600
        self.assertEqual(self.moment(), {"a": "a"})


class Commits(test_keeper.KeeperCase):
    def test_a_log_for_whose_copy_there_is_no_room_is_left_out(self):
        self.write("a")
        self.keeper.commit()
        self.write("train.log", "one line\n")
        full = OSError(errno.ENOSPC, "no space")
        with mock.patch.object(self.observer, "_check_room", side_effect=full):
            self.assertEqual(self.keeper.commit(), ["train.log"])
        self.assertEqual(self.keeper.commit(), [])
        self.assertEqual(self.restored(), {"a": "a", "train.log": "one line\n"})

    def test_a_log_that_is_replaced_meanwhile_is_left_out(self):
        self.write("m.jsonl", "1\n")
        hold = self.observer._hold

        def replaced(path, *args):
            self.replace("m.jsonl", "1\n2\n")
            return hold(path, *args)

        with mock.patch.object(self.observer, "_hold", replaced):
            self.assertEqual(self.keeper.commit(), ["m.jsonl"])
        self.assertEqual(self.keeper.commit(), [])
        self.assertEqual(self.restored(), {"m.jsonl": "1\n2\n"})


if __name__ == "__main__":
    unittest.main()
