"""The packages that --environment names, from the store or the web to the call that imports them."""

import contextlib
import os
import subprocess
import threading
import time
import unittest

from fixture import JOB, command, function, script
from group import GroupCase
from kinetic_runner.errors import BadEnvironment
from kinetic_runner.packages.install import parse_wheels
from test_full_disk import ROOM, SmallDisk
from test_map import MapCase
from test_pod import DAY, PodCase
from test_pythons import interpreter
from wheels import PYTHON_VERSION, SITE, USE, MadeWheel, Packages, document


class Lists(unittest.TestCase):
    def test_lists(self):
        wheel = MadeWheel().entry()
        cases = {
            "no Python": ({"wheels": [wheel]}, "python is None"),
            "another Python": ({"python": "3.1", "wheels": []}, "for Python 3.1, but the image has " + PYTHON_VERSION),
            "no list": ({"python": PYTHON_VERSION, "wheels": {}}, "wheels is {}"),
            "no object": ({"python": PYTHON_VERSION, "wheels": [1]}, "file is None"),
            "hash that is a path": ({"python": PYTHON_VERSION, "wheels": [dict(wheel, sha256="../../x")]}, "malformed wheel"),
            "negative size": ({"python": PYTHON_VERSION, "wheels": [dict(wheel, size=-1)]}, "malformed wheel"),
            "URL of a file": ({"python": PYTHON_VERSION, "wheels": [dict(wheel, url="file:///etc/passwd")]}, "malformed wheel"),
            "twice": ({"python": PYTHON_VERSION, "wheels": [wheel, wheel]}, "lists a wheel twice"),
        }
        for name, (listed, want) in cases.items():
            with self.subTest(name), self.assertRaises(BadEnvironment) as caught:
                parse_wheels(listed, "the list")
            self.assertIn(want, str(caught.exception))


class Calls(Packages, PodCase):
    def test_function(self):
        ran = self.run_call(function(), {"train.py": USE}, *self.packages(MadeWheel(), rich_other()))
        self.assertEqual((ran.code, ran.result["value"]), (0, ["1.0", self.prefix_of_env]), ran.out + ran.err)
        self.assertRegex(ran.out, r"^kinetic: installed 2 packages in [0-9.]+ s\n$")
        self.assertEqual(sorted(os.listdir(self.work + "/scratch")), ["commit", "log", "place.json", "stacks"])

    def test_script_module_and_command(self):
        show = "import demo, os, sys, shutil; print(demo.VERSION, sys.prefix, os.environ['VIRTUAL_ENV'], shutil.which('python3'))"
        module = {"version": 1, "kind": "module", "module": "train", "args": [], "cwd": "", "sys_path": [""]}
        for call in (script(), module, command("python3", "train.py"), command("sh", "-c", "exec python train.py")):
            with self.subTest(call["kind"]):
                self.setUp()
                want = f"1.0 {self.prefix_of_env} {self.prefix_of_env} {self.prefix_of_env}/bin/python3\n"
                ran = self.run_call(call, {"train.py": show}, *self.packages(MadeWheel()))
                self.assertEqual((ran.code, ran.stdout), (0, want), ran.err + ran.out)

    def test_half_made_environment_is_made_again(self):
        flag = self.packages(MadeWheel())
        outside = os.path.join(self.root, "outside")
        os.makedirs(outside)
        os.makedirs(os.path.join(self.prefix_of_env, SITE, "demo.py/x"))
        os.symlink(outside, os.path.join(self.prefix_of_env, "bin"))
        for _ in range(2):
            ran = self.run_call(command("sh", "-c", "python -c 'import demo' && kill -9 $$"), {"x": ""}, *flag)
            self.assertEqual(ran.code, 137, ran.out)
        self.assertEqual(os.listdir(outside), [])

    def test_they_are_renewed_while_the_call_runs(self):
        until, wheel = os.path.join(self.root, "until"), MadeWheel()
        os.mkfifo(until)
        listed = self.flag(document(python=PYTHON_VERSION, wheels=[wheel.entry()]))[1]
        wish = self.wish("demo")
        self.put(f"{JOB}/environment.json", self.bucket.read(f"blobs/sha256/{listed[:2]}/{listed}"))
        self.put_blob(wheel.data)
        argv = self.argv(command("cat", until), {"x": ""}, *wish)
        needed = [f"{JOB}/environment.json", self.blob(wheel), f"blobs/sha256/{wish[1][:2]}/{wish[1]}"]
        for stored in self.bucket.objects.values():
            stored.created -= 25 * DAY
        process = self.start_changed("errands.RENEW_SECONDS = 0.05", argv)
        with open(until, "wb"):  # the call ends when this is closed
            while any(self.bucket.objects[name].created < time.time() - DAY for name in needed):
                self.assertIsNone(process.poll())
                os.sched_yield()
        self.assertEqual(self.finish(process).code, 0)

    def test_no_packages(self):
        ran = self.run_call(command("python", "-c", "import sys; print(sys.prefix)"), {"x": ""}, *self.packages())
        self.assertEqual((ran.code, ran.stdout), (0, self.prefix_of_env + "\n"), ran.out)

    def test_wheels_are_fetched_several_at_a_time(self):
        wheels = [MadeWheel(f"demo{number}", files={"last.py": f"NUMBER = {number}"}) for number in range(12)]
        meet = threading.Barrier(4)

        def together(handler):
            meet.wait(30)
            handler.serve()

        flag = self.packages(*wheels)
        self.bucket.fail(together, times=4, pattern="|".join(wheel.sha256 for wheel in wheels))
        ran = self.run_call(command("python", "-c", "import last; print(last.NUMBER)"), {"x": ""}, *flag)
        self.assertEqual((ran.code, ran.stdout, meet.broken), (0, "11\n", False), ran.out)

    def test_wheels_are_installed_in_their_order(self):
        wheels = [MadeWheel(f"demo{number}", files={"last.py": f"NUMBER = {number}", f"own{number}.py": ""}) for number in range(8)]
        flag = self.packages(*wheels)
        others = "|".join(wheel.sha256 for wheel in wheels[1:])

        def come_last(handler):
            while len(self.bucket.asked(others)) < len(wheels) - 1:
                os.sched_yield()
            handler.serve()

        self.bucket.fail(come_last, pattern=wheels[0].sha256)
        ran = self.run_call(command("python", "-c", f"import last, {', '.join(f'own{n}' for n in range(8))}; print(last.NUMBER)"), {"x": ""}, *flag)
        self.assertEqual((ran.code, ran.stdout), (0, "7\n"), ran.out)

    def test_store_that_fails_may_work_later(self):
        wheel = MadeWheel()
        flag = self.packages(wheel)
        self.bucket.fail(403, times=99, pattern=wheel.sha256)
        ran = self.run_call(script(), {"train.py": "print('it ran')"}, *flag)
        self.assertEqual((ran.code, self.exists("end.json"), ran.stdout), (125, False, ""), ran.err)


def rich_other():
    return MadeWheel("other", "2", requires=["demo"])


class Final(Packages, PodCase):
    """What no retry changes ends the job."""

    def test_another_python(self):
        self.final(self.packages(MadeWheel(), python="3.1"), "for Python 3.1, but the image has " + PYTHON_VERSION, f"--python {PYTHON_VERSION}")

    def test_wheel_that_was_changed(self):
        wheel = MadeWheel()
        for name, data in {"changed": wheel.data[:-1] + b"x", "truncated": wheel.data[:-9], "longer": wheel.data + b"x"}.items():
            with self.subTest(name):
                flag = self.packages(wheel, url="http://127.0.0.1:1/never-asked")
                self.put(self.blob(wheel), data)
                self.final(flag, f"cannot install the wheel {wheel.file}: gs://bucket/{self.blob(wheel)} ")
                self.assertEqual(self.bucket.read(self.blob(wheel)), data)
                self.bucket.objects.pop(f"{JOB}/end.json")

    def test_wheel_that_is_missing(self):
        wheel = MadeWheel()
        self.final(self.packages(wheel, stored=False), f"gs://bucket/{self.blob(wheel)} does not exist", "submit the job again")

    def test_wheel_that_is_none(self):
        wheel = MadeWheel()
        wheel.data = b"no archive"
        self.final(self.packages(wheel), f"cannot install the wheel {wheel.file} (gs://bucket/{self.blob(wheel)})", "not a zip file")

    def test_wheel_that_the_web_does_not_have(self):
        index, wheel = self.index(), MadeWheel()
        self.final(self.packages(wheel, stored=False, url=index.url + "/files/demo.whl"), f"cannot fetch {index.url}/files/demo.whl: the server answered 404")
        self.assertEqual(len(index.requests), 1)

    def test_signatures_are_not_shown(self):
        wheel, other = MadeWheel(), MadeWheel(version="2.0")
        index = self.index(other)
        for path, want in (("files/demo.whl", "cannot fetch {}: the server answered 404"), (f"files/{other.file}", "{} does not have the SHA-256")):
            with self.subTest(path):
                url = f"{index.url}/{path}"
                ran = self.final(self.packages(wheel, stored=False, url=url + "?sig=hush"), want.format(url))
                self.assertNotIn("hush", ran.out + ran.log + ran.err)
                self.bucket.objects.pop(f"{JOB}/end.json")

    def test_wheel_that_the_web_has_changed(self):
        wheel, other = MadeWheel(), MadeWheel(version="2.0")
        index = self.index(other)
        self.final(self.packages(wheel, stored=False, url=f"{index.url}/files/{other.file}"), f"cannot install the wheel {wheel.file}: {index.url}/files/{other.file} ")


class FromTheWeb(Packages, PodCase):
    def test_what_the_store_lacks(self):
        here, there = MadeWheel(), MadeWheel("there")
        index = self.index(here, there)
        self.put_blob(here.data)
        wheels = [wheel.entry(url=f"{index.url}/files/{wheel.file}", size=0) for wheel in (here, there)]
        ran = self.run_call(command("python", "-c", "import demo, there"), {"x": ""}, *self.flag(document(python=PYTHON_VERSION, wheels=wheels)))
        self.assertEqual((ran.code, index.requests), (0, [f"/files/{there.file}"]), ran.out)

    def test_server_that_stumbles(self):
        wheel = MadeWheel()
        index = self.index(wheel)

        def stumble(handler):
            if len(index.requests) == 1:
                return handler.answer(503, b"") or True
            if len(index.requests) == 2:
                handler.send_response(200)
                handler.send_header("Content-Length", str(len(wheel.data)))
                handler.end_headers()
                handler.wfile.write(wheel.data[:100])
                return True
            return False

        index.before = stumble
        flag = self.packages(wheel, stored=False, url=f"{index.url}/files/{wheel.file}")
        argv = self.argv(command("python", "-c", "import demo"), {"x": ""}, *flag)
        ran = self.finish(self.start_changed("from kinetic_runner.packages import web; web.PAUSES = (0, 0, 0)", argv))
        self.assertEqual((ran.code, len(index.requests)), (0, 3), ran.out)

    def test_server_that_is_away_may_come_back(self):
        wheel = MadeWheel()
        flag = self.packages(wheel, stored=False, url="http://127.0.0.1:1/x.whl")
        argv = self.argv(command("true"), {"x": ""}, *flag)
        ran = self.finish(self.start_changed("from kinetic_runner.packages import web; web.PAUSES = (0,)", argv))
        self.assertEqual((ran.code, self.exists("end.json")), (125, False))
        self.assertRegex(ran.out, r"cannot fetch http://127.0.0.1:1/x.whl: .*refused.* \(2 tries\): check that the pod's node can reach it")


class Pythons(Packages, PodCase):
    def test_each(self):
        for version in ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14"):
            python = interpreter(version)
            if python is None:
                continue
            with self.subTest(version):
                self.setUp()
                ran = self.run_call(function(), {"train.py": USE}, *self.packages(rich_other(), MadeWheel(), python=version), python=python)
                self.assertEqual((ran.code, ran.result["value"]), (0, ["1.0", self.prefix_of_env]), ran.out + ran.err)


class Maps(Packages, MapCase):
    def test_list(self):
        ran = self.chunk(USE, [1, 2], *self.packages(MadeWheel()))
        self.assertEqual((ran.code, self.values(2)), (0, [["1.0", self.prefix_of_env]] * 2), ran.out)

class Hosts(Packages, GroupCase):
    HOSTS = 2
    SHOW = "import demo, os, sys\ndef f(): print(demo.VERSION, os.path.basename(sys.prefix), os.environ.get('KINETIC_NETRC'))"

    def test_list(self):
        processes = self.hosts(function(), {"train.py": self.SHOW}, *self.packages(MadeWheel()), env={"KINETIC_NETRC": "secret"})
        self.parked(*processes)
        for host in (0, 1):
            self.assertEqual(self.lines(host)[-1], "1.0 env None")

    def test_wheel_that_is_missing(self):
        processes = self.hosts(function(), {"train.py": self.SHOW}, *self.packages(MadeWheel(), stored=False))
        ran, _ = self.parked(*processes)
        self.assertEqual((ran.end["reason"], ran.end["exit_code"]), ("BadEnvironment", 1))


class NoRoom(Packages, SmallDisk):
    def test_wheel(self):
        wheel = MadeWheel(files={"demo.py": "", "data": bytes(8 << 20)})
        ran = self.run_call(script(), {"train.py": ""}, *self.packages(wheel), "--final")
        self.assertEqual((ran.code, ran.end["reason"]), (125, "RunnerFailure"))
        self.assertEqual(ran.end["message"], f"[Errno 28] No space left on device: '{self.work}/env/{SITE}/data': {ROOM}")

    def test_wheel_that_is_larger_than_the_disk(self):
        wheel = MadeWheel(files={"demo.py": "", "data": os.urandom(5 << 20)})
        ran = self.run_call(script(), {"train.py": ""}, *self.packages(wheel), "--final")
        self.assertEqual(ran.end["message"], f"[Errno 28] No space left on device: '{self.work}/scratch/wheels/{wheel.sha256}': {ROOM}")

class Restricted(Packages, PodCase):
    """A root that is read-only, and a user other than root without a home."""

    PYTHON = "/usr/bin/python3"

    def setUp(self):
        super().setUp()
        os.chmod(self.root, 0o777)
        bound = 'mount --bind "$0" "$0" && mount -o remount,bind,ro / && exec setpriv --reuid 65534 --regid 65534 --clear-groups env -u HOME "$@"'
        self.before = ["unshare", "--mount", "sh", "-c", bound, self.root]
        runner = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        probe = "import sys; assert sys.version_info >= (3, 9); open(sys.argv[1])\ntry: open('/tmp/written', 'w')\nexcept OSError: sys.exit(7)"
        with contextlib.suppress(OSError):
            if subprocess.run(self.before + [self.PYTHON, "-c", probe, runner + "/__main__.py"], capture_output=True).returncode == 7:
                return
        self.skipTest("no right to make the root read-only here, or no python3 for other users")

    def test_call(self):
        version = subprocess.run([self.PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True).stdout.strip()
        flags = [self.packages(MadeWheel(), python=version)]
        if subprocess.run([self.PYTHON, "-I", "-m", "pip", "--version"], capture_output=True).returncode == 0:
            flags.append(self.wish("demo", options=[self.index(MadeWheel()).option()]))
        for flag in flags:
            ran = self.finish(self.start(self.before + self.argv(function(), {"train.py": USE}, *flag, python=self.PYTHON)))
            self.assertEqual((ran.code, ran.result["value"]), (0, ["1.0", self.prefix_of_env]), ran.out + ran.err)
            self.bucket.objects.pop(f"{JOB}/end.json")


class NotPaidForByOthers(PodCase):
    def test_job_without_packages_imports_nothing(self):
        argv = self.argv(script(), {"train.py": ""})
        argv[argv.index("-u"):argv.index("-u") + 1] = ["-u", "-X", "importtime"]
        ran = self.finish(self.start(argv))
        self.assertEqual(ran.code, 0)
        self.assertIn("kinetic_runner.attempt", ran.err)
        self.assertNotIn("kinetic_runner.packages", ran.err)


if __name__ == "__main__":
    unittest.main()
