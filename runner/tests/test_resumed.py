"""What a job begins with that resumes from another one: all that this one has saved, and what its program wrote to the bucket itself."""

import json
import os
import unittest

from bucket import BUCKET, Handler
from fixture import JOB, script, sha256
from test_outputs import AGAIN, OUTPUTS, OutputCase

LIST = """
import os, sys
top = os.environ["KINETIC_OUTPUT_PATH"]
print(sorted(os.path.relpath(os.path.join(folder, name), top) for folder, _, names in os.walk(top) for name in names))
"""
SAVE = """
import os
for number in ("100", "200"):
    folder = os.environ["KINETIC_OUTPUT_PATH"] + "/checkpoints/" + number
    os.makedirs(folder + ".tmp")
    with open(folder + ".tmp/weights", "w") as file:
        file.write(number)
    os.rename(folder + ".tmp", folder)
print("ready", flush=True)
open(GO).read()
"""
RESUME = ("--resume-from", "job-b")


class Resumed(OutputCase):
    def job_b(self, paths, done=False):
        """A job that has saved these files; done: under their plain names."""
        entries = []
        for number, path in enumerate(paths):
            data, name = path.encode(), f"sync/0/1-aa/{number}"
            entries.append({"path": path, "mode": 0o644, "mtime_ns": 1, "size": len(data), "sha256": sha256(data), "object": "" if done else name})
            if done:
                self.bucket.put(f"job-b/outputs/{path}", data, {"kinetic-sync": "job-b/0/1", "kinetic-sha256": sha256(data)})
            else:
                self.bucket.put(f"job-b/{name}", data)
        index = {"version": 2, "attempt": 1, "done": done, "at": "2026-01-02T03:04:05Z", "files": entries}
        self.bucket.put("job-b/sync/0.json", json.dumps(index).encode())

    def found(self, number, *flags, source=LIST):
        """What an attempt finds, and what it says."""
        ran = self.attempt(number, source, *flags)
        self.assertNotEqual(ran.code, 125, ran.err)
        return ran.stdout.splitlines()[-1], ran.stderr

    def test_the_answer_to_a_copy_is_lost(self):
        self.job_b(["ckpt/a", "ckpt/b"])
        self.bucket.fail(Handler.lose_answer, 1, "POST .*/sync/0/1-aa/1/rewriteTo.*adopted.*rewriteToken")
        self.all_are_there_in_the_next_attempt()

    def test_an_object_is_replaced_before_it_is_copied(self):
        self.job_b(["ckpt/a", "ckpt/b"])
        self.bucket.fail(lambda handler: (self.bucket.remove("job-b/sync/0/1-aa/1"), handler.serve()), 1, "POST .*/sync/0/1-aa/1/rewriteTo.*adopted")
        self.all_are_there_in_the_next_attempt()

    def test_a_plain_name_is_replaced_before_it_is_copied(self):
        self.job_b(["ckpt/a", "ckpt/b"], done=True)
        self.bucket.fail(lambda handler: (self.bucket.put("job-b/outputs/ckpt/b", b"another"), handler.serve()), 1, "POST .*/outputs/ckpt/b/rewriteTo.*adopted")
        self.all_are_there_in_the_next_attempt()

    def all_are_there_in_the_next_attempt(self):
        source = LIST + "print([open(top + '/ckpt/' + name).read() for name in 'ab'])\nsys.exit(200 if os.environ['KINETIC_ATTEMPT'] == '1' else 0)"
        for number in (1, 2):
            self.assertEqual(self.found(number, *RESUME, *AGAIN, source=source)[0], "['ckpt/a', 'ckpt/b']")
        self.assertEqual(sorted(self.saved()), ["ckpt/a", "ckpt/b"])

    def test_what_the_program_wrote_to_the_bucket_itself(self):
        for paths in ([], ["run.log"]):
            with self.subTest(paths):
                self.setUp()
                self.job_b(paths, done=True)
                self.bucket.put("job-b/outputs/backup/weights.h5", b"written by the program")
                self.bucket.put("job-b/outputs/run.log/x", b"can't be there, too")
                found, told = self.found(1, *RESUME)
                self.assertEqual(found, str(["backup/weights.h5", *(paths or ["run.log/x"])]))
                self.assertIn("resuming from job job-b\n", told)

    def test_an_output_was_removed(self):
        self.job_b(["ckpt/a", "ckpt/b"], done=True)
        self.bucket.remove("job-b/outputs/ckpt/a")
        found, told = self.found(1, *RESUME)
        self.assertEqual(found, "['ckpt/b']")
        self.assertIn("warning: outputs of job job-b were removed since it ended: ckpt/a\n", told)

    def test_a_directory_whose_outputs_were_removed(self):
        """An empty one would be taken for the newest checkpoint. Others that are empty come back."""
        self.job_b(["checkpoint-400/a", "checkpoint-500/a", "checkpoint-500/opt/b"], done=True)
        index = json.loads(self.bucket.read("job-b/sync/0.json"))
        index["files"] += [{"path": path, "mode": 0o755, "mtime_ns": 1, "directory": True} for path in ("checkpoint-400", "checkpoint-500", "checkpoint-500/opt", "empty.dir")]
        self.bucket.put("job-b/sync/0.json", json.dumps(index).encode())
        for name in ("checkpoint-500/a", "checkpoint-500/opt/b"):
            self.bucket.remove(f"job-b/outputs/{name}")
        source = "import os\nprint(sorted(os.listdir(os.environ['KINETIC_OUTPUT_PATH'])))"
        self.assertEqual(self.found(1, *RESUME, source=source)[0], "['checkpoint-400', 'empty.dir']")

    def test_a_plain_name_is_removed_while_the_job_runs(self):
        go = os.path.join(self.root, "go")
        os.mkfifo(go)
        change = "from kinetic_runner.outputs import plain; plain.TRUSTED_SECONDS = 0.0"
        process = self.start_changed(change, self.argv(script(), {"train.py": SAVE.replace("GO", repr(go))}, "--output-sync", "0.5"))
        self.eventually(lambda: len(self.saved()) == 2, process)
        self.bucket.remove(OUTPUTS + "checkpoints/100/weights")
        with open(go, "wb"):
            pass
        self.assertEqual(self.finish(process).code, 0)
        for name in self.bucket.names(f"{JOB}/"):
            self.bucket.objects[name.replace(JOB, "job-b")] = self.bucket.objects.pop(name)
        self.assertEqual(self.found(1, *RESUME)[0], "['checkpoints/100/weights', 'checkpoints/200/weights']")


class Shared(OutputCase):
    """Jobs whose outputs are in one directory."""

    DIRECTORY = ("--output-dir", f"gs://{BUCKET}/team")
    found = Resumed.found

    def test_an_output_is_replaced_while_it_is_read(self):
        self.bucket.put("team/last.pt", b"of them, 1")
        self.bucket.fail(lambda handler: (self.bucket.put("team/last.pt", b"of them, 2"), handler.serve()), 1, "GET .*team/last.pt.*alt=media")
        self.assertEqual(self.found(1, *self.DIRECTORY, source=LIST + "print(open(top + '/last.pt').read())")[0], "of them, 2")

    def test_an_output_is_replaced_whenever_it_is_read(self):
        """A log is taken as it is. Other files may belong together, so all are listed again, but not for ever."""
        for name, reads in (("runs/events.out.tfevents.1", 1), ("last.pt", 5)):
            written = [b"of them"]

            def replace(handler, name=name, written=written):
                written.append(b"of them, %d" % len(written))
                self.bucket.put(f"team/{name}", written[-1])
                handler.serve()

            with self.subTest(name):
                self.setUp()
                self.bucket.put(f"team/{name}", written[0])
                self.bucket.fail(replace, 10**6, f"GET .*team/{name}.*alt=media")
                found, _ = self.found(1, *self.DIRECTORY, source=LIST + f"print(open(top + '/{name}').read())")
                self.assertEqual((found, len(written)), (f"of them, {reads}", reads + 1))

    def test_an_output_that_is_not_replaced(self):
        self.bucket.put("team/tokenizer.json", b"of them")
        for number in (1, 2):
            found, told = self.found(number, *self.DIRECTORY, *AGAIN, source=LIST + "sys.exit(200)")
            self.assertEqual(found, "['tokenizer.json']")
            self.assertNotIn("replaced", told)


if __name__ == "__main__":
    unittest.main()
