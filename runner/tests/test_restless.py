"""What counts as finished although it is never at rest, and what does not although programs once appended to it."""

import os
import unittest
from unittest import mock

from test_keeper import KeeperCase

from kinetic_runner.outputs import rules


class Restless(KeeperCase):
    def setUp(self):
        super().setUp()
        patch = mock.patch.object(rules, "RESTLESS_SECONDS", 0.05)
        patch.start()
        self.addCleanup(patch.stop)

    def add(self, number):
        """Writes one more file."""
        self.replace(f"results/day/{number}", str(number))

    def last(self, add):
        """Takes moments while add goes on, until something is saved. Returns what is saved in the end, when the call dies at once."""
        for number in range(1000):
            add(2 * number)
            if self.moment(lambda: add(2 * number + 1)):
                break
        self.living = False
        self.keeper.finish(False)
        return self.restored(), number

    def test_files_that_keep_coming_into_a_new_directory(self):
        for add in (self.add, lambda number: self.write(f"results/day/{number}", str(number))):
            self.setUp()
            found, _ = self.last(add)
            self.assertIn("results/day/0", found)
            self.assertGreater(len(found), 3)

    def test_a_checkpoint_that_is_being_written_is_never_in_use(self):
        for number in range(30):
            self.write(f"step-1/{number}")
            process = self.hold(f"step-1/{number + 1}")
            self.assertEqual(self.moment(), {})
            process.communicate()
            self.write(f"step-1/{number + 1}.again")

    def test_a_checkpoint_in_a_directory_in_use_counts_as_a_whole(self):
        self.last(self.add)
        self.living = True
        self.write("results/step-1/a")
        self.assertNotIn("results/step-1/a", self.moment(lambda: self.write("results/step-1/b")))


class HeldOpen(KeeperCase):
    """A run's directory, with its checkpoints and a log that stays open."""

    def test_a_log_that_stays_open_holds_its_directory_back_for_a_while(self):
        self.hold("run/progress.csv", "1,2\n", ">")
        self.write("run/step-1/model.pt")
        self.assertEqual(self.moment(), {})
        with mock.patch.object(rules, "OPEN_SECONDS", 0.05):
            found = self.until_saved("run/step-1/again")
        self.assertIn("run/step-1/model.pt", found)
        self.assertNotIn("run/progress.csv", found)
        self.write("run/step-2/model.pt")
        self.assertIn("run/step-2/model.pt", self.moment())

    def until_saved(self, name):
        """Takes moments, with something new at each, until one is saved; returns what is saved."""
        for number in range(1000):
            self.write(f"{name}-{number}")
            if found := self.moment():
                return found
        self.fail("nothing was saved")

    def test_a_large_file_that_stays_open_is_no_log(self):
        with mock.patch.object(rules, "OPEN_SECONDS", -1), mock.patch.object(rules, "OPEN_BYTES", 3):
            self.write("step-1/config.json")
            self.hold("step-1/model.pt", "half", ">")
            for _ in range(3):
                self.write("step-1/more")
                self.assertEqual(self.moment(), {})

    def test_files_that_are_open_one_after_the_other_are_no_logs(self):
        with mock.patch.object(rules, "OPEN_SECONDS", 0.0):
            for number in range(5):
                process = self.hold(f"step-1/{number}", "half", ">")
                self.assertEqual(self.moment(), {})
                process.communicate()

    def test_a_file_of_wandb_is_a_log(self):
        self.hold("run/wandb/run-1.wandb", "1,2\n", ">")
        self.write("run/model.pt")
        self.assertEqual(self.moment(), {"run/model.pt": "run/model.pt", "run/wandb/run-1.wandb": "1,2\n"})

    def test_a_file_that_is_opened_again_and_again_is_no_log(self):
        with mock.patch.object(rules, "OPEN_SECONDS", 0.0):
            self.write("step-1/model.pt")
            for _ in range(5):
                process = self.hold("step-1/optim.pt", "half")
                self.assertEqual(self.moment(), {})
                process.communicate()

    def test_a_commit_leaves_out_the_directory_of_a_file_that_was_just_opened(self):
        self.write("step-1/rank-0/model.pt")
        self.hold("step-1/rank-1/model.pt", "half", ">")
        self.write("last.pt")
        self.assertEqual(self.keeper.commit(), ["step-1"])
        self.assertEqual(self.restored(), {"last.pt": "last.pt"})

    def test_commits_alone_show_that_a_file_stays_open(self):
        self.hold("run/progress.csv", "1,2\n", ">")
        self.write("run/model.pt", "1")
        self.assertEqual(self.keeper.commit(), ["run"])
        with mock.patch.object(rules, "OPEN_SECONDS", -1):
            self.write("run/model.pt", "22")
            self.assertEqual(self.keeper.commit(), ["run"])
            self.write("run/model.pt", "333")
            self.assertEqual(self.keeper.commit(), ["run/progress.csv"])
        self.assertEqual(self.restored(), {"run/model.pt": "333"})


class Collections(KeeperCase):
    """Checkpoints below a new directory, such as kinetic.checkpoint_dir()."""

    def save(self, folder, mark, *files):
        for file in (*files, mark):
            self.write(f"{folder}/{file}", "{\"step\": 1}")

    def ended(self):
        """Returns what is saved when the call is killed at once."""
        self.living = False
        self.keeper.finish(False)
        return set(self.restored())

    def test_the_first_checkpoint_with_its_mark_is_saved_at_once(self):
        for folder, mark in (("checkpoints/step-100", ".metadata"), ("run/checkpoint-5", "trainer_state.json"), ("a/b/epoch_3", "DONE")):
            with self.subTest(folder):
                self.setUp()
                self.save(folder, mark, "model", "optimizer/state")
                self.assertEqual(self.ended(), {f"{folder}/model", f"{folder}/optimizer/state", f"{folder}/{mark}"})

    def test_a_new_directory_in_one_in_use(self):
        self.save("a/step-1", ".metadata", "model")
        self.moment()
        self.save("a/b/step-1", ".metadata", "model")
        self.assertIn("a/b/step-1/model", self.ended())

    def test_a_checkpoint_that_follows_holds_it_not_back(self):
        self.save("checkpoints/step-1", ".metadata", "model")
        self.hold("checkpoints/step-2/model", "half", ">")
        self.assertIn("checkpoints/step-1/model", self.moment(lambda: self.write("checkpoints/step-2/more")))
        self.assertNotIn("checkpoints/step-2/more", self.ended())

    def test_the_mark_of_a_part_tells_nothing_of_the_checkpoint(self):
        for part in ("checkpoint-1/optimizer_0", "run/checkpoint-1/global_step1", "snap/5/trainer"):
            with self.subTest(part):
                self.setUp()
                self.save(part, ".metadata", "model")
                self.hold("half", "half", ">")
                self.assertEqual(self.ended(), set())

    def test_a_mark_while_another_process_writes(self):
        self.save("run/step-1", "DONE", "model-0")
        self.hold("run/step-1/model-1", "half", ">")
        self.write("run/config.json")
        self.assertEqual(self.moment(), {})

    def test_files_after_the_mark(self):
        self.save("checkpoints/step-1", ".metadata", "model")
        os.utime(self.path("checkpoints/step-1/model"), (2e9, 2e9))
        self.assertEqual(self.ended(), set())


class Appended(KeeperCase):
    def append(self, name, text):
        process = self.hold(name, text, ">>")
        self.moment()
        process.communicate()

    def test_a_file_that_has_the_inode_of_one_that_was_appended_to(self):
        self.append("metrics.csv", "a,b\n")
        os.rename(self.path("metrics.csv"), self.path("model.pt"))
        self.hold("model.pt", "half")
        self.assertNotIn("model.pt", self.moment())

    def test_a_file_that_is_written_anew(self):
        self.append("metrics.csv", "1,2\n3,4\n")
        self.hold("metrics.csv", "ha", ">")
        self.assertEqual(self.moment(), {"metrics.csv": "1,2\n3,4\n"})

    def test_a_file_that_is_written_anew_when_the_call_dies(self):
        self.append("metrics.csv", "1,2\n3,4\n")
        self.write("metrics.csv", "half of another table\n")
        self.living = False
        self.keeper.finish(False)
        self.assertEqual(self.restored(), {"metrics.csv": "1,2\n3,4\n"})

    def test_a_file_that_was_appended_to_when_the_call_dies(self):
        self.append("metrics.csv", "1,2\n")
        self.write("metrics.csv", "3,4\n", "a")
        self.living = False
        self.keeper.finish(False)
        self.assertEqual(self.restored(), {"metrics.csv": "1,2\n3,4\n"})

    def test_a_file_that_is_appended_to_is_saved_while_it_is_open(self):
        self.hold("metrics.csv", "1,2\n", ">>")
        self.assertEqual(self.moment(), {"metrics.csv": "1,2\n"})


if __name__ == "__main__":
    unittest.main()
