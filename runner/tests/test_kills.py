"""Programs and the runner's copying are killed at random moments; what is restored is always whole.

KINETIC_TEST_SEEDS is how many times; make soak takes 100.
"""

import contextlib
import os
import random
import shutil
import signal
import tempfile
import time
import unittest

from bucket import BUCKET, RealBucket, real_program
from fixture import JOB
from writers import WRITERS, Steps, broken

from kinetic_runner.outputs.index import Index
from kinetic_runner.outputs.keeper import Keeper
from kinetic_runner.outputs.restore import Restore
from kinetic_runner.outputs.sender import Owner, Sender
from kinetic_runner.store.gcs import GCSStore

SEEDS = int(os.environ.get("KINETIC_TEST_SEEDS", "10"))
STEPS = 2  # of each writer, at least, between two scans: longer than a library pauses within a checkpoint


def stores(host, job):
    return GCSStore(f"gs://{BUCKET}", host), GCSStore(f"gs://{BUCKET}/{job}/outputs", host)


def keeper_of(root, host, job, attempt, restored=None):
    store, outputs = stores(host, job)
    sender = Sender(outputs, root, Owner(job, 0, attempt))
    index = Index(store, job, 0, attempt)
    keeper = Keeper(root, sender, index, 1000, lambda text: None)
    if restored is not None:
        index.entries, keeper.saved, keeper.absent = restored.entries, restored.saved, restored.absent
    return keeper


def restore(root, host, job, attempt):
    store, outputs = stores(host, job)
    os.makedirs(root)
    found = Restore(store, outputs, root, Owner(job, 0, attempt), lambda text: None)
    found.run(outputs, job)
    for bucket in (store, outputs):
        bucket.close()
    return found


def child(action):
    """Runs action in a process of its own; returns its pid."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.setpgid(0, 0)
        action()
        code = 0
    finally:
        os._exit(code)


def kill(*pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@unittest.skipUnless(real_program(os.environ), "there is no fake-gcs-server")
class Kills(unittest.TestCase):
    def setUp(self):
        self.bucket = RealBucket(real_program(os.environ))
        self.addCleanup(self.bucket.close)
        self.root = tempfile.mkdtemp(prefix="kinetic-kills-")
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)

    def test_what_is_restored_is_whole(self):
        kept = 0
        for seed in range(SEEDS):
            with self.subTest(seed=seed):
                kept += self.two_attempts(seed)
        self.assertGreater(kept, SEEDS, "hardly anything was ever saved")

    def two_attempts(self, seed):
        job, choice, restored, count = f"job-{seed}", random.Random(seed), None, 0
        for attempt in (1, 2):
            root = os.path.join(self.root, f"{seed}-{attempt}")
            os.makedirs(root, exist_ok=True)
            self.attempt(root, seed * 2 + attempt, choice, lambda: keeper_of(root, self.bucket.host, job, attempt, restored))
            target = os.path.join(self.root, f"{seed}-{attempt + 1}")
            restored = restore(target, self.bucket.host, job, attempt + 1)
            found, count = broken(target)
            self.assertEqual(found, [])
        return count

    def attempt(self, root, seed, choice, make_keeper):
        """Runs the writers and the copying until a random moment."""
        steps, pids = Steps(len(WRITERS) + 1), []
        for number, (name, kind) in enumerate(WRITERS.items()):
            writer = kind(os.path.join(root, name), seed, lambda: (steps.count(number), time.sleep(0.001)), lambda: steps[-1])
            pids.append(child(lambda: write(writer)))
        syncer = child(lambda: copy(make_keeper(), steps))
        end = choice.randrange(3, 20)
        while steps[-1] < end:
            time.sleep(choice.random() * 0.01)
        victims = [syncer, *pids]
        choice.shuffle(victims)  # either may outlive the other for a moment
        for pid in victims:
            kill(pid)
            time.sleep(choice.random() * 0.02)


def write(writer):
    first = 1 + max((number_in(name) for name in os.listdir(writer.root)), default=0)
    for number in range(first, 10**6):
        writer.run(number if type(writer).__name__ != "Log" else number - first + 1)


def number_in(name):
    return max(map(int, filter(str.isdigit, name.replace(".", "-").split("-"))), default=0)


def copy(keeper, steps):
    while True:
        keeper.round()
        steps.count(-1)
        seen = steps.all()[:-1]
        while any(now < then + STEPS for now, then in zip(steps.all(), seen)):
            time.sleep(0.001)


if __name__ == "__main__":
    unittest.main()
