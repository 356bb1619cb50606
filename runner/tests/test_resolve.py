"""Requirements that a pod resolves with pip."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

from fixture import JOB, command, function, script
from kinetic_runner.packages.resolve import git_credentials
from test_full_disk import ROOM, SmallDisk
from test_map import MapCase
from test_pod import PodCase
from test_pythons import interpreter
from wheels import HAS_PIP, PYTHON_VERSION, USE, MadeWheel, Packages, document


def command_lines():
    """The command lines of all processes."""
    for name in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else ()):
        with contextlib.suppress(OSError), open(f"/proc/{name}/cmdline") as file:
            yield file.read()


def setUpModule():
    if not HAS_PIP:
        raise unittest.SkipTest("needs pip")


class Resolved(Packages, PodCase):
    def listed(self):
        return {wheel["file"]: wheel for wheel in self.document("environment.json")["wheels"]}

    def test_requirements(self):
        old, new, needed = MadeWheel(version="1.0"), MadeWheel(version="2.0", requires=["needed"]), MadeWheel("needed")
        local = MadeWheel("local")
        index = self.index(old, new, needed)
        files = {"train.py": USE, f"wheels/{local.file}": local.data, "pip.py": "raise SystemExit('not pip')", "logging.py": "raise SystemExit('not logging')"}
        flag = self.wish("# a comment", "demo>=1", f"./wheels/{local.file}", options=[index.option()], constraints=["needed==1.0"])
        ran = self.run_call(script(), {**files, "train.py": "import demo, needed, local; print(demo.VERSION)"}, *flag)
        self.assertEqual((ran.code, ran.stdout), (0, "2.0\n"), ran.out)
        self.assertEqual(self.document("environment.json"), {
            "version": 1, "python": PYTHON_VERSION, "wheels": sorted((wheel.entry() for wheel in (new, local, needed)), key=lambda entry: -entry["size"])})
        for wheel in (new, local, needed):
            self.assertEqual(self.bucket.read(self.blob(wheel)), wheel.data)
        self.assertEqual(self.workspace(), sorted(["logging.py", "pip.py", "train.py", "wheels", f"wheels/{local.file}"]))
        self.assertEqual(sorted(os.listdir(self.work + "/scratch")), ["commit", "log", "place.json", "stacks"])

    def test_complete_requirements(self):
        wheel = MadeWheel(requires=["needed"])
        index = self.index(wheel, MadeWheel("needed"))
        flag = self.flag(document(requirements=[f"demo @ {index.url}/files/{wheel.file}#sha256={wheel.sha256}"], options=[index.option()], complete=True))
        ran = self.run_call(command("true"), {"x": ""}, *flag)
        self.assertEqual((ran.code, list(self.listed())), (0, [wheel.file]), ran.out)

    def test_hash_in_a_url(self):
        wheel = MadeWheel()
        index = self.index(wheel)
        self.final(self.wish(f"demo @ {index.url}/files/{wheel.file}#sha256={'0' * 64}", options=[index.option()]), "pip cannot install the job's requirements")

    def test_next_attempt_resolves_nothing(self):
        index = self.index(MadeWheel())
        flag = self.wish("demo", options=[index.option()])
        call = command("sh", "-c", "python -c 'import demo; print(demo.VERSION)' && kill -9 $$")
        for uid in ("a", "b"):
            ran = self.run_call(call, {"x": ""}, *flag, env={"KINETIC_POD_UID": uid})
            self.assertEqual((ran.code, ran.stdout), (137, "1.0\n"), ran.out)
            asked = len(index.requests)
            newer = MadeWheel(version="3.0")
            index.wheels[newer.file] = newer
        self.assertEqual((asked, ran.result["attempt"]), (2, 2))

    def test_wheels_that_are_in_the_store_are_not_sent_again(self):
        wheel = MadeWheel()
        index = self.index(wheel)
        self.put_blob(wheel.data)
        self.bucket.objects[self.blob(wheel)].created -= 25 * 86_400
        generation = self.bucket.objects[self.blob(wheel)].generation
        ran = self.run_call(command("true"), {"x": ""}, *self.wish("demo", options=[index.option()]))
        self.assertEqual((ran.code, len(self.bucket.asked(f"POST .*rewriteTo.*{wheel.sha256}"))), (0, 2), ran.out)
        self.assertGreater(self.bucket.objects[self.blob(wheel)].generation, generation)

    def test_credentials(self):
        index = self.index(MadeWheel(), user="me:secret")
        flag, source = self.wish("demo", options=[index.option()]), "import os\ndef f(): return [dict(os.environ), os.listdir(os.environ['VIRTUAL_ENV'] + '/..')]"
        netrc = "machine 127.0.0.1 login me password secret\n"
        ran = self.run_call(function(), {"train.py": source}, *flag, env={"KINETIC_NETRC": netrc})
        self.assertEqual(ran.code, 0, ran.out)
        environ, files = ran.result["value"]
        self.assertEqual(({"NETRC", "KINETIC_NETRC"} & set(environ), "secret" in json.dumps(environ)), (set(), False))
        self.assertEqual(sorted(files), ["env", "outputs", "scratch", "workspace"])
        self.assertNotIn("secret", ran.out + ran.log)
        found = subprocess.run(["grep", "-r", "secret", self.work], capture_output=True, text=True)
        self.assertEqual(found.stdout, "")

    @unittest.skipUnless(shutil.which("git"), "needs git")
    def test_credentials_for_git(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "netrc")
            with open(path, "w") as file:
                file.write('machine git.example login to/ken password ""\nmachine other.example login me password se:cret\n')
            environ = dict(os.environ, HOME=folder, **git_credentials(path, os.path.join(folder, "git's")))
            for host, want in {"git.example": ["username=to/ken", "password="], "other.example": ["username=me", "password=se:cret"]}.items():
                ran = subprocess.run(["git", "credential", "fill"], input=f"protocol=https\nhost={host}\n\n", capture_output=True, text=True, env=environ)
                self.assertEqual(ran.stdout.splitlines()[2:], want, ran.stderr)

    def test_oldest_python(self):
        python = interpreter("3.9")
        if python is None:
            self.skipTest("no Python 3.9")
        flag = self.wish("demo", options=[self.index(MadeWheel()).option()])
        self.assertEqual(self.run_call(function(), {"train.py": USE}, *flag, python=python).result["value"], ["1.0", self.prefix_of_env])

    def test_nothing_to_resolve(self):
        ran = self.run_call(command("python", "-c", "import sys; print(sys.prefix)"), {"x": ""}, *self.wish())
        self.assertEqual((ran.code, ran.stdout, self.listed()), (0, self.prefix_of_env + "\n", {}), ran.out)

    def test_sigterm_ends_pip(self):
        index, reached, go = self.index(MadeWheel()), threading.Event(), threading.Event()
        self.addCleanup(go.set)
        index.before = lambda _: reached.set() or not go.wait(60)
        process = self.start(self.argv(script(), {"train.py": "print('it ran')"}, *self.wish("demo", options=[index.option()])))
        self.assertTrue(reached.wait(60))
        process.terminate()
        ran = self.finish(process)
        self.assertEqual((ran.code, ran.stdout, self.exists("environment.json")), (143, "", False), ran.out)
        self.assertEqual(self.workspace(), ["train.py"])
        self.assertEqual([line for line in command_lines() if self.work in line], [])

    def test_pod_that_was_slower_takes_the_list_of_the_other(self):
        ours, theirs = MadeWheel(version="1.0"), MadeWheel(version="2.0")
        index = self.index(ours)
        self.put_blob(theirs.data)
        index.before = lambda _: self.put(f"{JOB}/environment.json", document(python=PYTHON_VERSION, wheels=[theirs.entry()]))
        ran = self.run_call(function(), {"train.py": USE}, *self.wish("demo", options=[index.option()]))
        self.assertEqual((ran.code, ran.result["value"][0], list(self.listed())), (0, "2.0", [theirs.file]), ran.out)


class Unresolved(Packages, PodCase):
    def test_requirement_that_nothing_fits(self):
        index = self.index(MadeWheel())
        ran = self.final(self.wish("demo>=7", options=[index.option()]), "pip cannot install the job's requirements: ERROR: ", "No matching distribution found for demo>=7")
        self.assertIn("from versions: 1.0", ran.out)
        self.assertFalse(self.exists("environment.json"))

    def test_line_that_pip_does_not_read(self):
        self.final(self.wish("demo ==== 1"), "Invalid requirement")

    def test_no_pip(self):
        image = os.path.join(self.root, "image")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", image], check=True)
        self.final(self.wish("demo"), "the image has no pip", "use an image with pip", python=os.path.join(image, "bin/python"))

    def test_pip_that_is_killed_may_work_later(self):
        index = self.index(MadeWheel())
        argv = self.argv(script(), {"train.py": ""}, *self.wish("demo", options=[index.option()]))
        ran = self.finish(self.start_changed("from kinetic_runner.packages import resolve\nresolve.run = lambda *_: -9", argv))
        self.assertEqual((ran.code, self.exists("end.json")), (125, False))
        self.assertIn("pip was killed by SIGKILL", ran.out)


class Maps(Packages, MapCase):
    def test_pods_that_resolve_at_once_agree(self):
        wheels = [MadeWheel(version="1.0"), MadeWheel(version="2.0")]
        index, meet, left = self.index(*wheels), threading.Barrier(2), list(wheels)

        def one_each(handler):
            if not handler.path.startswith("/simple/"):
                return False
            handler.answer(200, handler.page([left.pop().file]))
            meet.wait(60)
            return True

        index.before = one_each
        flag = self.wish("demo", options=[index.option()])
        pods = [self.start_chunk(USE, [1, 2], "--work", f"{self.work}-{chunk}", *flag, chunk=chunk, size=1) for chunk in (0, 1)]
        for ran in map(self.finish, pods):
            self.assertEqual(ran.code, 0, ran.out)
        agreed = self.document("environment.json")["wheels"][0]["file"].split("-")[1]
        self.assertEqual([value[0] for value in self.values(2)], [agreed] * 2)
        self.assertEqual(left, [])


class NoRoom(Packages, SmallDisk):
    def test_pip(self):
        wheel = MadeWheel(files={"demo.py": "", "data": os.urandom(5 << 20)})
        with open(path := os.path.join(self.root, wheel.file), "wb") as file:
            file.write(wheel.data)
        ran = self.run_call(script(), {"train.py": ""}, *self.wish(path), "--final")
        self.assertEqual((ran.code, ran.end["message"]), (125, f"[Errno 28] No space left on device: '{self.work}/scratch/pip': {ROOM}"), ran.out)


if __name__ == "__main__":
    unittest.main()
