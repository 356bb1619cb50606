"""A finished call is never run again and never reported as anything else, whatever happens from its end to the job's."""

import os
import signal
import textwrap
import unittest

from fixture import JOB, function, program, script
from group import GroupCase
from kinetic_runner.judge import Told
from kinetic_runner.records import read_document
from test_map import MapCase
from test_pod import PodCase

# The steps from the end of the call to the end of the job, in order.
STEPS = (
    "supervisor.Supervisor._drain",
    "judge.Told.read_spare",
    "ending.explain_file_error",
    "ending.save_outputs",
    "ending.tell_losses",
    "publish.publish_log",
    "publish.is_replaced",
    "publish.publish_result",
    "publish.publish_end",
    "publish.write_termination_message",
)
OURS = ("supervisor.Supervisor._drain", *STEPS[2:7])  # in which an exception is no more than a warning
OF_LEADER = ("publish.is_replaced", "publish.publish_result", "publish.publish_end")  # of the hosts
# Fails the first time that a step begins.
FAIL = """
import errno, os, signal, time
from kinetic_runner import judge
from kinetic_runner.errors import Unreachable
def strike():
    {fault}
def wrap(step, struck=[]):
    def first(*args, **kwargs):
        if not struck:
            struck.append(True)
            open({mark!r}, "w").close()
            strike()
        return step(*args, **kwargs)
    return first
{step} = wrap({step})
"""
FAULTS = {
    "exception": "raise RuntimeError('our own')",
    "system call": "raise OSError(errno.EIO, 'an error of the disk')",
    "store away": "raise Unreachable('the store is away')",
    "SIGTERM": "os.kill(os.getpid(), signal.SIGTERM)",
    "deadline": "time.monotonic = lambda now=time.monotonic: now() + 10_000",
    "SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
}
LASTING = ("exception", "system call", "store away")
FLAGS = ("--max-runtime", "5000", "--grace", "1000")


def runs(counted):
    """How often the calls that count in this file have run."""
    with open(counted) as file:
        return len(file.read())


class Faults(PodCase):
    """Runs a call whose runs are counted, with one fault."""

    def setUp(self):
        super().setUp()
        self.counted, self.mark = os.path.join(self.root, "counted"), os.path.join(self.root, "mark")

    @property
    def runs(self):
        return runs(self.counted)

    def change(self, step, fault):
        return FAIL.format(step=step, fault=FAULTS[fault], mark=self.mark)

    def source(self, body="", end=""):
        count = f"with open({self.counted!r}, 'a') as file: file.write('x')"
        return f"def f(n=0):\n  {count}\n{textwrap.indent(body, '  ')}\n  return 7\n" + end

    def each(self, test, faults, steps=STEPS):
        """Runs a test with each of the steps and faults."""
        for step in steps:
            for fault in faults:
                if fault not in LASTING or step in OURS:
                    with self.subTest(step, fault=fault):
                        self.setUp()
                        test(step, fault)

    def check(self, ran, runs=1):
        self.assertTrue(os.path.exists(self.mark), "the step is none")
        self.assertEqual((ran.code, ran.end["state"], ran.end["reason"], ran.end["exit_code"], self.runs), (0, "SUCCEEDED", "Completed", 0, runs), ran.out + ran.err)


class OneHost(Faults):
    def function(self, change=""):
        return self.finish(self.start_changed(change, self.argv(function(), {"train.py": self.source()}, *FLAGS)))

    def script(self, change=""):
        return self.finish(self.start_changed(change, self.argv(script(), {"train.py": self.source(end="f()")}, *FLAGS)))

    def test_function(self):
        def test(step, fault):
            ran = self.function(self.change(step, fault))
            self.check(ran)
            self.assertEqual(ran.result["value"], 7)
            self.assertEqual(any("cannot" in text or "failed after" in text for text in ran.result["warnings"]), fault in LASTING)

        self.each(test, [fault for fault in FAULTS if fault != "SIGKILL"])

    def test_script(self):
        self.each(lambda step, fault: self.check(self.script(self.change(step, fault))), [fault for fault in FAULTS if fault != "SIGKILL"])

    def test_killed_runner(self):
        for call in (self.function, self.script):

            def test(step, fault, call=call):
                self.environment["KINETIC_POD_UID"] = "first"
                self.assertEqual(call(self.change(step, fault)).code, -9)
                stored = self.exists("result.json")
                self.environment["KINETIC_POD_UID"] = "second"
                self.check(call(), 1 if stored else 2)

            with self.subTest(call.__name__):
                self.each(test, ["SIGKILL"])

    def test_end_that_cannot_be_stored(self):
        for fault in LASTING:
            with self.subTest(fault):
                self.setUp()
                self.environment["KINETIC_POD_UID"] = "first"
                ran = self.function(self.change("publish.publish_end", fault))
                self.assertEqual((ran.code, self.exists("end.json"), ran.result["value"]), (0, False, 7), ran.out)
                self.environment["KINETIC_POD_UID"] = "second"
                self.check(self.function())

    def test_result_that_cannot_be_stored(self):
        """The record of the end is small: on a full disk, it says why there is no result."""
        for retries, ended in ((0, True), (1, False)):
            with self.subTest(retries=retries):
                self.setUp()
                change = self.change("publish.publish_result", "system call")
                argv = self.argv(function(), {"train.py": self.source()}, "--retries", str(retries), *FLAGS)
                ran = self.finish(self.start_changed(change, argv))
                self.assertEqual((ran.code, self.exists("result.json"), self.exists("end.json")), (125, False, ended), ran.out)
                record = ran.end if ended else self.document("attempts/1.json")
                self.assertEqual((record["reason"], record["message"]), ("RunnerFailure", "cannot store the result: [Errno 5] an error of the disk"))

    def test_store_that_fails_for_a_while(self):
        for name in ("result.json", "end.json", "logs"):
            with self.subTest(name):
                self.setUp()
                fault = self.bucket.fail(503, times=2, pattern=f"POST .*{name}")
                open(self.mark, "w").close()
                self.check(self.function())
                del fault

    def test_failure_stays_that_failure(self):
        def test(step, fault):
            files = {"train.py": self.source("raise ValueError('boom')")}
            ran = self.finish(self.start_changed(self.change(step, fault), self.argv(function(), files, *FLAGS)))
            self.assertEqual((ran.code, ran.end["reason"], ran.end["message"]), (1, "Exception", "ValueError: boom"), ran.out + ran.err)

        self.each(test, ["SIGTERM", "deadline"])


class Leftovers(Faults):
    """What the call left running is ended, which takes a second, when the fault comes."""

    LEAVE = """
import subprocess
left = subprocess.Popen(["bash", "-c", "trap '' TERM; echo ready; while :; do read -t 1000 <> <(:); done"], stdout=subprocess.PIPE)
assert left.stdout.readline() == b"ready\\n"
"""
    REAPED = """
reap = supervisor.reap
def reaped():
    found = list(reap())
    if found:
        strike()
    return found
supervisor.reap = reaped
"""

    def test_script(self):
        for code, state in ((0, "SUCCEEDED"), (3, "FAILED")):
            for fault in ("SIGTERM", "deadline"):
                with self.subTest(fault, code=code):
                    self.setUp()
                    change = "import os, signal, time\ndef strike(struck=[]):\n    if not struck:\n        struck.append(1)\n        " + FAULTS[fault] + self.REAPED
                    files = {"train.py": self.LEAVE + f"raise SystemExit({code})"}
                    ran = self.finish(self.start_changed(change, self.argv(script(), files, *FLAGS)))
                    self.assertEqual((ran.code, ran.end["state"], ran.end["exit_code"]), (code, state, code), ran.out + ran.err)

    def test_sigterm_in_the_moment_of_the_end(self):
        """Both signals wait for the runner."""
        change = """
handle = supervisor.Supervisor._handle
def both(self, numbers):
    return handle(self, bytes(numbers) + b"\\x0f" if type(numbers) is bytes and 17 in numbers else numbers)
supervisor.Supervisor._handle = both
"""
        argv = self.argv(command_that_waits(self), {"train.py": ""}, *FLAGS)
        process = self.start_changed(change, argv)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        with open(self.fifo, "w"):
            pass
        ran = self.finish(process)
        self.assertEqual((ran.code, ran.end["state"]), (0, "SUCCEEDED"), ran.out + ran.err)


def command_that_waits(case):
    """A command that ends once the test opens its fifo."""
    case.fifo = os.path.join(case.root, "fifo")
    os.mkfifo(case.fifo)
    return dict({"version": 1, "kind": "command", "cwd": ""}, args=["sh", "-c", f"echo ready; read line < {case.fifo}; exit 0"])


class Map(Faults, MapCase):
    STEPS = ("supervisor.Supervisor._drain", "maps.MapAttempt.end_input", "judge.Told.read_spare", *STEPS[2:6], "publish.record_end", "publish.write_termination_message")

    def start(self, argv, env=None):
        code = program("from kinetic_runner.maps import runner as maps\n" + self.changed)
        return super().start([argv[0], "-u", "-c", code] + argv[3:], env)

    def test_results(self):
        def test(step, fault):
            self.changed = self.change(step, fault)
            ran = self.chunk(self.source(), [1, 2, 3], *FLAGS)
            self.assertTrue(os.path.exists(self.mark), "the step is none")
            if ran.code == 124:  # the clock jumped at the end of the first input, before the end of the others
                self.assertEqual((step, fault), ("maps.MapAttempt.end_input", "deadline"), ran.out + ran.err)
                return self.assertEqual(set(self.values(3)), {7, None})
            most = 3
            if ran.code in (-9, 143):  # the inputs that had not ended are computed by the next attempt
                self.assertEqual(ran.code, {"SIGKILL": -9, "SIGTERM": 143}[fault])
                most = 6 - sum(value == 7 for value in self.values(3))
                self.changed = ""
                ran = self.chunk(self.source(), [1, 2, 3], *FLAGS)
            self.assertEqual((ran.code, self.values(3)), (0, [7, 7, 7]), ran.out + ran.err)
            self.assertLessEqual(self.runs, most)

        self.each(test, FAULTS, self.STEPS)


# Counts its runs, and returns when it runs on both hosts.
TOGETHER = """
import os, time
def f():
    host, attempt = os.environ["KINETIC_HOST"], os.environ["KINETIC_ATTEMPT"]
    with open(COUNTED, "a") as file:
        file.write("x")
    open(f"{COUNTED}-{host}-{attempt}", "w").close()
    while not all(os.path.exists(f"{COUNTED}-{other}-{attempt}") for other in (0, 1)):
        time.sleep(0.01)
    return 7
"""


class Hosts(GroupCase):
    HOSTS = 2

    def setUp(self):
        super().setUp()
        self.counted, self.mark = os.path.join(self.root, "counted"), os.path.join(self.root, "mark")
        self.files = {"train.py": f"COUNTED = {self.counted!r}\n{TOGETHER}"}

    @property
    def runs(self):
        return runs(self.counted)

    def start_with(self, number, step, fault):
        """Starts the hosts, one of them with a fault."""
        change = FAIL.format(step=step, fault=FAULTS[fault], mark=self.mark)
        return [self.host(host, function(), self.files, *FLAGS, change=change if host == number else "") for host in (0, 1)]

    def test_each_host(self):
        for number in (0, 1):
            for step in STEPS:
                for fault in ("exception", "store away", "deadline", "SIGTERM"):
                    if fault in LASTING and step not in OURS or number and step in OF_LEADER:
                        continue
                    with self.subTest(step, host=number, fault=fault):
                        self.setUp()
                        processes = self.start_with(number, step, fault)
                        self.eventually(lambda: f"{JOB}/end.json" in self.bucket.names(JOB))
                        self.eventually(lambda: self.api.patches or fault == "SIGTERM")
                        for process in processes:
                            process.send_signal(signal.SIGTERM)
                        leader, _ = map(self.finish, processes)
                        self.assertTrue(os.path.exists(self.mark), "the step is none")
                        self.assertEqual((leader.code, leader.end["state"], leader.result["value"]), (0, "SUCCEEDED", 7), leader.out)

    def test_killed_leader(self):
        for step in STEPS:
            with self.subTest(step):
                self.setUp()
                first = self.start_with(0, step, "SIGKILL")
                self.assertEqual(first[0].wait(60), -9)
                first[1].kill()
                stored = f"{JOB}/result.json" in self.bucket.names(JOB)
                self.restart(2 if stored else 4)

    def restart(self, runs):
        """Starts both hosts again, which must end the job; the call has run so often by then."""
        leader, _ = self.parked(*self.hosts(function(), self.files, *FLAGS, pod=1))
        self.assertEqual((leader.code, leader.end["state"], leader.result["value"]), (0, "SUCCEEDED", 7), leader.out)
        self.assertEqual(self.runs, runs)

    def test_killed_member(self):
        for step in STEPS:
            if step not in OF_LEADER:
                with self.subTest(step):
                    self.setUp()
                    self.change += "\npeers.BACK_SECONDS = leader.RESTART_SECONDS = 0.1"
                    leader, member = self.start_with(1, step, "SIGKILL")
                    self.assertEqual(member.wait(60), -9)
                    ran = self.finish(leader)
                    self.assertEqual((ran.code, self.exists("end.json"), ran.result["error"]["type"]), (143, False, "Terminated"), ran.out)
                    self.assertIn("host 1 was lost", ran.out)
                    self.restart(4)

    def test_member_killed_after_its_report(self):
        killed = "import os\ndef report(self, outcome, send=peers.Member.report):\n    send(self, outcome)\n    os.kill(os.getpid(), 9)\npeers.Member.report = report"
        leader, member = [self.host(host, function(), self.files, *FLAGS, change=killed if host else "") for host in (0, 1)]
        self.assertEqual(member.wait(60), -9)
        (ran,) = self.parked(leader)
        self.assertEqual((ran.code, ran.end["state"], ran.result["value"], self.runs), (0, "SUCCEEDED", 7, 2), ran.out)


class Reading(PodCase):
    def test_record_whose_body_is_cut_is_read_again(self):
        self.finish(self.start_changed("", self.argv(function(), {"train.py": "import os, signal\ndef f(): os.kill(os.getpid(), 9)"})))
        self.bucket.fail(lambda handler: handler.cut(), times=1, pattern="GET .*attempts/1.json")
        self.environment["KINETIC_POD_UID"] = "second"
        ran = self.finish(self.start_changed("", self.argv(function(), {"train.py": "def f(): return 7"})))
        self.assertEqual((ran.code, ran.result["value"], ran.end["attempt"]), (0, 7, 2), ran.out)

    def test_short_reads_are_no_end(self):
        class Store:
            def open(self, name):
                class Short:
                    left = b'{"version":1,"a":2}'

                    def __enter__(self):
                        return self

                    def __exit__(self, *_):
                        pass

                    def read(self, size):
                        data, self.left = self.left[:5], self.left[5:]
                        return data

                return Short()

            def url(self, name):
                return name

        self.assertEqual(read_document(Store(), "a"), {"version": 1, "a": 2})

    def test_torn_report_is_none(self):
        with open(os.path.join(self.root, "report.jsonl"), "w") as file:
            file.write('[]\n{"broken": "b"}\n{"outcome": {}}\n{"no_progr')
        told = Told(self.root, in_pod=False)
        told.read_spare()
        self.assertEqual((told.broken, told.outcome, told.no_program), ("b", None, None))


class Replaced(PodCase):
    """Another attempt has begun because the pod of this one was taken for lost."""

    def test_it_publishes_nothing(self):
        for body, end in (("", "return 7"), ("", "raise ValueError('boom')")):
            with self.subTest(end):
                self.setUp()
                fifo = os.path.join(self.root, "fifo")
                os.mkfifo(fifo)
                files = {"train.py": f"def f():\n  print('ready', flush=True)\n  open({fifo!r}).read()\n  {end}"}
                process = self.start_changed("", self.argv(function(), files))
                self.assertEqual(process.stdout.readline(), b"ready\n")
                self.bucket.put(f"{JOB}/attempts/2.json", b'{"version":1,"attempt":2,"uid":"second"}')
                with open(fifo, "w"):
                    pass
                ran = self.finish(process)
                self.assertEqual((ran.code, self.exists("result.json"), self.exists("end.json"), ran.said_end), (143, False, False, False))
                self.assertIn("attempt 2 has started in the meantime, so this one ends without a result", ran.out)
                self.assertNotIn("reason", self.document("attempts/1.json"))


if __name__ == "__main__":
    unittest.main()
