"""What each host of a job knows of the others, and what the leader's port bears."""

import io
import json
import os
import signal
import socket
import time
import types
import unittest
import unittest.mock

from fixture import JOB, TIMEOUT, function
from group import KEY, WAIT, GroupCase, is_open
from test_shell import OWN, beside
from kinetic_runner.place import TOLD_PICKLE
from kinetic_runner.hosts import peers
from kinetic_runner.hosts.channel import KEEPALIVE, LINE_LIMIT, PIPE_READ, Channel, Greeting
from kinetic_runner.hosts.verdict import report
from kinetic_runner.outcome import Outcome, Unsaved
from kinetic_runner.text import encode_json

OPTIONS = types.SimpleNamespace(job=JOB, call="0" * 64, group_port=0)


def connected():
    """The two ends of a connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        return ours, server.accept()[0]


class Environment(GroupCase):
    HOSTS = 2

    def test_call_sees_it_and_what_the_user_has_set(self):
        source = "import json, os\ndef f(): print(json.dumps(dict(os.environ)))"
        processes = self.hosts(function(), {"train.py": source}, "--chips", "gpu:2", env={"MASTER_PORT": "1234"})
        self.parked(*processes)
        for host in (0, 1):
            found = json.loads(self.lines(host)[0])
            want = {
                "KINETIC_HOST": str(host), "KINETIC_HOSTS": "2", "KINETIC_ATTEMPT": "1", "KINETIC_JOB_ID": JOB, "RANK": str(host),
                "MASTER_PORT": "1234", "JAX_LOCAL_DEVICE_IDS": "0,1",
            }
            self.assertEqual({name: found.get(name) for name in want}, want)

    def test_job_that_the_call_runs_on_its_host_is_none_of_its_hosts(self):
        processes = self.hosts(function(), {"train.py": "import os\ndef f(): print(os.environ.get('KINETIC_LEADER'))"}, indexed=True)
        for process in processes:
            self.finish(process)
        self.assertEqual([self.lines(0), self.lines(1)], [["None"]] * 2)

    def test_a_shell_beside_the_call_gets_no_key(self):
        processes = self.hosts(function(), {"train.py": WAIT}, indexed=True)
        self.ready(*processes)
        for host in (0, 1):
            self.assertEqual(beside(os.path.join(self.root, f"host-{host}-0"), "printenv", "KINETIC_HOSTS", *OWN).stdout, b"2\n")
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
            self.finish(process)

    def test_call_holds_no_connection_of_the_runner(self):
        source = """
            import os
            def f():
                print(sorted(os.path.basename(os.readlink(f"/proc/self/fd/{fd}")).partition(":")[0] for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")))
        """
        if not os.path.isdir("/proc/self/fd"):
            self.skipTest("no /proc here")
        self.parked(*self.hosts(function(), {"train.py": source}))
        for host in (0, 1):
            self.assertEqual(self.lines(host), ["['null', 'pipe', 'pipe', 'pipe', 'pipe', 'stacks']"])  # where it reports, the duplicate, and where it answers jobs stacks


class Port(GroupCase):
    HOSTS = 3

    def setUp(self):
        super().setUp()
        self.leader = self.host(0, function(), {"train.py": WAIT}, change="leader.MEET_SECONDS = 1000")
        self.eventually(lambda: is_open(self.port), self.leader)
        self.greeting = Greeting(types.SimpleNamespace(job=JOB, call=self.call_hash(), group_port=0), KEY)

    def call_hash(self):
        return self.leader.args[self.leader.args.index("--call") + 1]

    def talk(self, *messages):
        """What the leader answers before it hangs up; a callable makes its message of the challenge."""
        with socket.create_connection(("127.0.0.1", self.port)) as connection, connection.makefile("rb") as answers:
            challenge = json.loads(answers.readline())["challenge"]
            messages = [message(challenge) if callable(message) else message for message in messages]
            connection.sendall(b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in messages))
            return answers.read()

    def hello(self, key=KEY, host=1, **change):
        """The greeting of a host that has that key; what is changed is signed, too."""
        options = types.SimpleNamespace(job=change.get("job", JOB), call=change.get("call", self.call_hash()), group_port=0)
        return lambda challenge: Greeting(options, key).of(host, change.get("start", "0" * 32), challenge)

    def test_strangers(self):
        strangers = {
            "another job": [self.hello(job="cpu-other")],
            "another call": [self.hello(call="0" * 64)],
            "the leader itself": [self.hello(host=0)],
            "no such host": [self.hello(host=3)],
            "no number": [self.hello(host="1")],
            "true": [self.hello(host=True)],
            "another key": [self.hello(key="guessed")],
            "no key": [self.hello(key="")],
            "no start": [self.hello(start=None)],
            "a start of another kind": [self.hello(start="x")],
            "no signature": [{"job": JOB, "call": self.call_hash(), "host": 1}],
            "a signature that is no text of bytes": [lambda challenge: dict(self.hello()(challenge), signature="\ud800")],
            "the answer to another challenge": [self.hello()("0" * 32)],
            "nothing": [{}],
            "another language": [b"GET / HTTP/1.1\r\n\r\n"],
            "a list": [b"[1]\n"],
            "nested": [b"[" * 100_000 + b"\n"],
            "a line without end": [b'"' + b"x" * (LINE_LIMIT + PIPE_READ) + b"\n"],
        }
        for name, lines in strangers.items():
            with self.subTest(name):
                try:
                    self.assertIn(self.talk(*lines), (b"", b'{"refused":true}\n'))
                except ConnectionError:
                    pass  # the leader does not hear it out
                self.assertIsNone(self.leader.poll())
        self.ready(*self.hosts(function(), {"train.py": WAIT}, numbers=(1, 2)))

    def test_member_that_talks_nonsense_is_lost(self):
        self.assertEqual(json.loads(self.talk(self.hello(), {"reason": 1}))["attempt"], 1)
        self.assertEqual(json.loads(self.talk(self.hello(start="1" * 32))), {"end": True})

    def test_a_refused_greeting_is_said_without_its_signature(self):
        self.talk(self.hello(key="guessed"))
        said = self.leader.stdout.readline().decode()
        self.assertIn(f"refused a connection to port {self.port}", said)
        self.assertRegex(said, "'signature': '…'")

    def test_outcome_of_the_wrong_types_is_that_of_no_host(self):
        outcome = {"reason": "Exception", "exit_code": 1, "message": "", "at": 0.0, "error": {"type": "", "message": "", "traceback": ""}, "warnings": []}
        wrong = {"reason": None, "exit_code": "1", "message": 1, "at": "x", "error": {"type": "E"}, "warnings": [1]}
        for name, value in wrong.items():
            heard = io.StringIO()
            leader = peers.Leader(2, Greeting(OPTIONS, ""), heard.write)
            ours, theirs = connected()
            with self.subTest(name), theirs:
                leader._watch(ours, lambda: leader._hear(channel, ""))
                channel = Channel(ours)
                leader._seat(1, None, channel, "0" * 32)
                Channel(theirs).send(dict(outcome, **{name: value}))
                leader.attend(30)
                self.assertEqual((leader.missing, leader.outcomes), ({1}, {}))
                self.assertIn(name, heard.getvalue())
            leader.close()

    def test_readiness_probe(self):
        for _ in range(100):
            self.assertTrue(is_open(self.port))
        self.ready(*self.hosts(function(), {"train.py": WAIT}, numbers=(1, 2)), self.leader)


class Channels(unittest.TestCase):
    def test_half_a_line_is_the_last(self):
        ours, theirs = connected()
        with ours, theirs:
            theirs.settimeout(TIMEOUT)
            channel = Channel(ours)
            ours.settimeout(0.01)
            channel.send({"message": "x" * (64 << 20)})  # more than fits when nobody reads
            self.assertIsNone(channel.receive())
            while theirs.recv(1 << 20):
                pass

    def test_the_largest_report_is_a_message(self):
        outcome = Outcome("Exception", 1, "\0" * 10_000, dict.fromkeys(("type", "message", "traceback"), "\0" * 3_000_000))
        outcome.warnings = ["\0" * 2_000] * 5_000
        outcome.unsaved = [Unsaved("\0" * 4096, 1, "\0" * 4096)] * 5_000
        outcome.pickled = "x" * (4 * TOLD_PICKLE // 3)
        self.assertLess(len(encode_json(report(outcome, 0.0))), LINE_LIMIT)

    def test_node_that_is_lost_is_noticed(self):
        ours, theirs = connected()
        with ours, theirs:
            connection = Channel(ours).connection
            self.assertTrue(connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE))
            for name, value in KEEPALIVE:
                if hasattr(socket, name):
                    self.assertEqual(connection.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)), value)

    def test_leader_that_is_late_is_not_asked_all_the_time(self):
        tries, now = [], [0.0]
        with unittest.mock.patch.object(peers.Member, "_connect", lambda _: tries.append(now[0])), \
                unittest.mock.patch.object(peers.time, "monotonic", lambda: now[0]):
            member = peers.Member("leader", Greeting(OPTIONS, ""), 1)
            while now[0] < 600:
                member.attend()
                now[0] += 0.1
        gaps = [after - before for before, after in zip(tries, tries[1:])]
        self.assertLess(gaps[0], 0.5)
        self.assertLess(max(gaps), peers.LONGEST_PAUSE + 0.2)
        self.assertLess(len(tries), 300)
        self.assertGreater(len(set(round(gap, 1) for gap in gaps[9:])), 3, "all hosts would come back at one moment")


class WithoutKey(GroupCase):
    HOSTS = 2

    def test_hosts_meet_with_a_warning(self):
        processes = self.hosts(function(), {"train.py": "def f(): return 1"}, env={"KINETIC_GROUP_KEY": ""})
        leader, _ = self.parked(*processes)
        self.assertEqual(leader.end["state"], "SUCCEEDED")
        self.assertIn("warning: the job has no key for its hosts' port", leader.out)

    def test_a_host_without_the_key_leaves_so_that_all_start_again(self):
        leader = self.host(0, function(), {"train.py": WAIT})
        member = self.finish(self.host(1, function(), {"train.py": WAIT}, env={"KINETIC_GROUP_KEY": ""}))
        self.assertEqual(member.code, 125)
        self.assertIn("the leader refused this host: was the job's Secret created after this pod?", member.out)
        self.assertIsNone(leader.poll())

    def test_the_call_does_not_see_the_key(self):
        source = "import os\ndef f(): return [name for name in os.environ if 'GROUP_KEY' in name]"
        leader, _ = self.parked(*self.hosts(function(), {"train.py": source}))
        self.assertEqual(leader.result["value"], [])


class ManyHosts(unittest.TestCase):
    def test_open_files_are_allowed_for_all_of_them(self):
        limits = []
        with unittest.mock.patch("resource.getrlimit", lambda _: (1024, 65536)), \
                unittest.mock.patch("resource.setrlimit", lambda _, limit: limits.append(limit)):
            for hosts in (64, 4000, 100_000):
                peers.allow_open_files(hosts)
        self.assertEqual(limits, [(4256, 65536), (65536, 65536)])

    def test_too_many_open_files_do_not_keep_the_leader_busy(self):
        leader = peers.Leader(2, Greeting(OPTIONS, ""), print)
        leader._listener = socket.create_server(("127.0.0.1", 0))
        leader._watch(leader._listener, leader._accept)
        self.addCleanup(leader.close)
        with socket.create_connection(leader._listener.getsockname()):
            with unittest.mock.patch.object(leader, "_listener", wraps=leader._listener) as listener:
                listener.accept.side_effect = OSError(24, "Too many open files")
                leader.attend(5)
                self.assertLess(leader.next_at, float("inf"))
                leader.next_at = time.monotonic() + 1000  # this test may be late
                begin = time.monotonic()
                leader.attend(0.05)
                self.assertGreaterEqual(time.monotonic() - begin, 0.05, "the port is still readable")
            leader.next_at = 0.0
            leader.attend(5)
            leader.attend(5)
        self.assertEqual(leader.next_at, float("inf"))


class TakenPort(GroupCase):
    HOSTS = 2

    def test_it_is_told(self):
        with socket.create_server(("", self.port)):
            (ran,) = self.parked(self.host(0, function(), {"train.py": WAIT}))
        self.assertEqual((ran.code, ran.end["state"]), (125, "FAILED"))
        self.assertIn(f"cannot listen on port {self.port}, which the job's hosts connect to", ran.end["message"])


if __name__ == "__main__":
    unittest.main()
