"""The outputs of several hosts."""

import gzip
import json
import os
import unittest

from fixture import JOB, function
from group import GroupCase

SAVE = """
import os
def f():
    for name in ("both", "host-" + os.environ["KINETIC_HOST"]):
        with open(os.path.join(os.environ["KINETIC_OUTPUT_PATH"], name), "w") as file:
            file.write("of " + os.environ["KINETIC_HOST"])
"""

# Attempt 1 saves the checkpoints that each host is told to, keeps the last one, and does not end. Attempt 2 returns what it finds.
ROTATE = """
import os, shutil, time
def f():
    out, host = os.environ["KINETIC_OUTPUT_PATH"], os.environ["KINETIC_HOST"]
    if os.environ["KINETIC_ATTEMPT"] != "1":
        return sorted(os.path.join(folder, name)[len(out) + 1 :] for folder, _, names in os.walk(out) for name in names)
    os.chdir(out)
    for step in (1, 2):
        while not os.path.exists(os.path.join(os.environ["GATES"], f"step-{step}")):
            time.sleep(0.05)
        os.makedirs("ckpt.tmp")
        with open(f"ckpt.tmp/shard-{host}", "w") as file:
            file.write(f"{step} of {host}")
        os.rename("ckpt.tmp", f"ckpt-{step}")
        shutil.rmtree(f"ckpt-{step - 1}", ignore_errors=True)
    open(os.path.join(os.environ["GATES"], f"done-{host}"), "w").close()
    if host == "0":
        while not os.path.exists(os.path.join(os.environ["GATES"], "done-1")):
            time.sleep(0.05)
        os.makedirs("runs")
    while True:
        if host == "0":
            with open("runs/events.out.tfevents.1", "a") as file:
                file.write("loss")
        time.sleep(0.1)
"""

# Prints what it finds, and writes a shard when it is told to.
SHARDS = """
import os, time
def f():
    folder = os.path.join(os.environ["KINETIC_OUTPUT_PATH"], "ckpt")
    os.makedirs(folder, exist_ok=True)
    print("found", *sorted(os.listdir(folder)))
    while not os.path.exists(os.environ.get("GATE", "/")):
        time.sleep(0.05)
    with open(os.path.join(folder, "shard-" + os.environ["KINETIC_HOST"]), "w") as file:
        file.write("whole")
"""


# This host restores its outputs once a file is there.
PREPARES_LATE = """
import os, time
from kinetic_runner.outputs.directory import Outputs
prepare = Outputs.prepare
def prepare_late(*words):
    while not os.path.exists(%r):
        time.sleep(0.01)
    return prepare(*words)
Outputs.prepare = prepare_late
"""


class HostOutputs(GroupCase):
    HOSTS = 2

    def index(self, host):
        """What a host has saved: the paths, and the moment."""
        try:
            index = json.loads(gzip.decompress(self.bucket.read(f"{JOB}/sync/{host}.json")))
        except KeyError:
            return set(), ""
        return {entry["path"] for entry in index["files"]}, index["at"]

    def objects(self, host, parts=("files", "before")):
        """The objects that the index of a host names."""
        index = json.loads(gzip.decompress(self.bucket.read(f"{JOB}/sync/{host}.json")))
        self.restored = index["restored_ns"]
        return {entry["object"] for part in parts for entry in index[part] if "object" in entry}

    def found(self, interval, saved):
        """Kills attempt 1 when what it was to save is saved. Returns what attempt 2 finds. interval is that of host 1."""
        gates = os.path.join(self.root, "gates")
        os.mkdir(gates)
        start = lambda host, sync: self.host(host, function(), {"train.py": ROTATE}, "--output-sync", sync, env={"GATES": gates})  # noqa: E731
        hosts = [start(0, "0.5"), start(1, interval)]
        open(os.path.join(gates, "step-1"), "w").close()
        self.eventually(lambda: all(f"ckpt-1/shard-{host}" in self.index(host)[0] for host in (0, 1)), *hosts)
        open(os.path.join(gates, "step-2"), "w").close()
        self.eventually(saved, *hosts)
        for host in hosts:
            host.kill()
            host.communicate()
        leader, _ = self.parked(*self.hosts(function(), {"train.py": ROTATE}, pod=1))
        return leader.result["value"]

    def test_a_host_that_saves_later_than_others(self):
        found = self.found("9", lambda: {"ckpt-2/shard-0", "runs/events.out.tfevents.1"} <= self.index(0)[0])
        checkpoints = [path for path in found if path.startswith("ckpt")]
        self.assertIn(checkpoints, ([f"ckpt-{step}/shard-{host}" for host in (0, 1)] for step in (1, 2)))

    def test_what_one_host_writes_beside_what_all_do(self):
        def saved():
            paths, at = self.index(0)
            if "runs/events.out.tfevents.1" in paths:
                self.since = getattr(self, "since", at)
                return self.index(1)[1] > self.since and "ckpt-2/shard-1" in self.index(1)[0]
            return False

        self.assertEqual(self.found("0.5", saved), ["ckpt-2/shard-0", "ckpt-2/shard-1", "runs/events.out.tfevents.1"])

    def test_a_name_that_two_hosts_write_is_told_and_the_others_are_there(self):
        leader, _ = self.parked(*self.hosts(function(), {"train.py": SAVE}))
        names = self.bucket.names(f"{JOB}/outputs/")
        self.assertEqual(sorted(map(os.path.basename, names)), ["both", "host-0", "host-1"])
        (told,) = leader.result["warnings"]
        self.assertRegex(told, r"^the output 'both' is saved, but not under its plain name: host \d has written it, too: each host needs names of its own$")

    def ended(self):
        """Runs a job whose hosts have each saved a shard. Its name is job-b then."""
        self.parked(*self.hosts(function(), {"train.py": SHARDS}))
        self.assertEqual(sorted(self.bucket.names(f"{JOB}/sync/")), [f"{JOB}/sync/0.json", f"{JOB}/sync/1.json"])
        for name in self.bucket.names(f"{JOB}/"):
            self.bucket.objects[name.replace(JOB, "job-b")] = self.bucket.objects.pop(name)
        self.api.patches.clear()

    def test_a_job_that_has_ended_is_resumed_with_what_both_have_saved(self):
        self.ended()
        leader, member = self.parked(*self.hosts(function(), {"train.py": SHARDS}, "--resume-from", "job-b", pod=1))
        self.assertEqual([ran.stdout.splitlines()[-1] for ran in (leader, member)], 2 * ["found shard-0 shard-1"])
        self.assertEqual(leader.end["state"], "SUCCEEDED")

    def test_a_host_resumes_while_another_already_replaces_what_both_begin_with(self):
        self.ended()
        gate, go, kept = os.path.join(self.root, "gate"), os.path.join(self.root, "go"), []
        words, env = (function(), {"train.py": SHARDS}, "--resume-from", "job-b"), {"GATE": gate}

        def serve_late(handler):
            open(gate, "w").close()
            self.eventually(lambda: not self.objects(0, ["files"]) >= begun)
            kept.append(self.objects(0) >= begun)
            handler.serve()

        leader, member = self.host(0, *words, pod=1, env=env), self.host(1, *words, pod=1, env=env, change=PREPARES_LATE % go)
        self.eventually(lambda: self.index(0)[0], leader)
        begun = self.objects(0)
        self.assertGreater(self.restored, 0)
        self.bucket.fail(serve_late, pattern="GET .*-adopted-.*alt=media")
        open(go, "w").close()
        leader, member = self.parked(leader, member)
        self.assertEqual(kept, [True])
        self.assertEqual([ran.stdout.splitlines()[-1] for ran in (leader, member)], 2 * ["found shard-0 shard-1"])


if __name__ == "__main__":
    unittest.main()
