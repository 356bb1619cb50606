"""What each host of a job knows of the others, and what the leader's port bears."""

import io
import json
import os
import socket
import types
import unittest
import unittest.mock

from fixture import JOB, TIMEOUT, function, remote_runner as r
from group import WAIT, GroupCase, is_open

g, p = r.neighbour("remote_group"), r.neighbour("remote_peers")

LWS = {"LWS_WORKER_INDEX": "3", "LWS_GROUP_SIZE": "8", "LWS_LEADER_ADDRESS": "set-0.set.ml"}
INDEXED = {"JOB_COMPLETION_INDEX": "3", "KINETIC_HOSTS": "8", "KINETIC_LEADER": "job-0.job"}


def find(environ, release="ml/set"):
    return g.find_group(types.SimpleNamespace(release=release), environ)


def connected():
    """The two ends of a connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        return ours, server.accept()[0]


class Places(unittest.TestCase):
    def test_place(self):
        cases = {
            "LeaderWorkerSet": (LWS, "ml/set", (3, 8, "set-0.set.ml", 1)),
            "with slices": (dict(LWS, KINETIC_SLICES="2"), "ml/set", (3, 8, "set-0.set.ml", 2)),
            "Indexed Job": (INDEXED, "", (3, 8, "job-0.job", 1)),
        }
        for name, (environ, release, want) in cases.items():
            with self.subTest(name):
                self.assertEqual(find(environ, release), want)

    def test_one_host_has_no_place(self):
        options = types.SimpleNamespace(release="", map="", work="/work", final=False, log_file="")
        for environ in ({}, {"JOB_COMPLETION_INDEX": "3"}, LWS):
            with self.subTest(environ=environ):
                self.assertIs(type(r.choose_runner(options, environ)), r.Runner)

    def test_no_place(self):
        wrong = {
            "no index": {"LWS_WORKER_INDEX": ""}, "no leader": {"LWS_LEADER_ADDRESS": ""}, "no number": {"LWS_GROUP_SIZE": "x"},
            "beyond": {"LWS_WORKER_INDEX": "8"}, "slices that differ": {"KINETIC_SLICES": "3"}, "no slice": {"KINETIC_SLICES": "0"},
        }
        for name, change in wrong.items():
            with self.subTest(name), self.assertRaisesRegex(r.RunnerError, "LWS_WORKER_INDEX="):
                find(dict(LWS, **change))


class Rendezvous(unittest.TestCase):
    def variables(self, chips="", **change):
        return g.rendezvous(find(dict(LWS, **change)), chips)

    def test_every_host(self):
        for chips in ("", "gpu:8", "tpu:4"):
            found = self.variables(chips)
            want = {
                "MASTER_ADDR": "set-0.set.ml", "MASTER_PORT": "29500", "WORLD_SIZE": "8", "RANK": "3", "LOCAL_RANK": "0",
                "LOCAL_WORLD_SIZE": "1", "JAX_COORDINATOR_ADDRESS": "set-0.set.ml:8476", "JAX_NUM_PROCESSES": "8", "JAX_PROCESS_ID": "3",
            }
            self.assertEqual({name: found[name] for name in want}, want)
            self.assertTrue(all(type(value) is str for value in found.values()))
            self.assertFalse([name for name in found if name.startswith(("MEGASCALE", "TPU", "NODE_RANK"))])

    def test_jax_finds_its_number_as_with_open_mpi(self):
        want = {
            "OMPI_VERSION": "4.1.0", "OMPI_MCA_orte_hnp_uri": "0.0;tcp://set-0.set.ml:8476", "OMPI_COMM_WORLD_SIZE": "8",
            "OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_LOCAL_RANK": "0",
        }
        for chips, devices, names in (("", None, want), ("gpu:8", "0,1,2,3,4,5,6,7", want), ("tpu:4", None, {})):
            found = self.variables(chips)
            self.assertEqual({name: value for name, value in found.items() if name.startswith("OMPI")}, names)
            self.assertEqual(found.get("JAX_LOCAL_DEVICE_IDS"), devices)

    def test_slices(self):
        for host, slice_id in enumerate("00001111"):
            found = self.variables("tpu:4", LWS_WORKER_INDEX=str(host), KINETIC_SLICES="2")
            self.assertEqual(found["MEGASCALE_SLICE_ID"], slice_id)
        self.assertEqual((found["MEGASCALE_NUM_SLICES"], found["MEGASCALE_COORDINATOR_ADDRESS"]), ("2", "set-0.set.ml"))


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

    def test_call_holds_no_connection_of_the_runner(self):
        source = """
            import os
            def f():
                print(sorted(os.readlink(f"/proc/self/fd/{fd}").partition(":")[0] for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")))
        """
        if not os.path.isdir("/proc/self/fd"):
            self.skipTest("no /proc here")
        self.parked(*self.hosts(function(), {"train.py": source}))
        for host in (0, 1):
            self.assertEqual(self.lines(host), ["['/dev/null', 'pipe', 'pipe']"])


class Port(GroupCase):
    HOSTS = 3

    def setUp(self):
        super().setUp()
        self.leader = self.host(0, function(), {"train.py": WAIT})
        self.ready(self.leader)
        self.hello = {"job": JOB, "call": r.sha256_hex(self.call_hash()), "host": 1}

    def call_hash(self):
        return self.leader.args[self.leader.args.index("--call") + 1]

    def talk(self, *lines):
        """What the leader says to that before it hangs up."""
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines))
            return connection.makefile("rb").read()

    def test_strangers(self):
        strangers = {
            "another job": [dict(self.hello, job="cpu-other")],
            "another call": [dict(self.hello, call="0" * 64)],
            "the leader itself": [dict(self.hello, host=0)],
            "no such host": [dict(self.hello, host=3)],
            "no number": [dict(self.hello, host="1")],
            "true": [dict(self.hello, host=True)],
            "nothing": [{}],
            "another language": [b"GET / HTTP/1.1\r\n\r\n"],
            "a list": [b"[1]\n"],
            "nested": [b"[" * 100_000 + b"\n"],
            "a line without end": [b'"' + b"x" * (p.LINE_LIMIT + r.PIPE_READ) + b"\n"],
        }
        for name, lines in strangers.items():
            with self.subTest(name):
                try:
                    self.assertEqual(self.talk(*lines), b"")
                except ConnectionError:
                    pass  # the leader does not hear it out
                self.assertIsNone(self.leader.poll())
        member = self.host(1, function(), {"train.py": WAIT})
        self.ready(member)

    def test_member_that_talks_nonsense_is_lost(self):
        self.assertEqual(json.loads(self.talk(self.hello, {"reason": 1})), {"attempt": 1})
        self.assertEqual(json.loads(self.talk(self.hello)), {"end": True})

    def test_outcome_of_the_wrong_types_is_that_of_no_host(self):
        outcome = {"reason": "Exception", "exit_code": 1, "message": "", "age": 0.0, "error": {"type": "", "message": "", "traceback": ""}, "warnings": []}
        wrong = {"reason": None, "exit_code": "1", "message": 1, "age": "x", "error": {"type": "E"}, "warnings": [1]}
        for name, value in wrong.items():
            heard = io.StringIO()
            leader = p.Leader(2, {}, heard.write)
            ours, theirs = connected()
            with self.subTest(name), theirs:
                leader._watch(ours, lambda: leader._hear(channel))
                channel = leader._members[1] = p.Channel(ours)
                p.Channel(theirs).send(dict(outcome, **{name: value}))
                leader.attend(30)
                self.assertEqual((leader.gone, leader.outcomes), ({1}, {}))
                self.assertIn(name, heard.getvalue())
            leader.close()

    def test_readiness_probe(self):
        for _ in range(100):
            self.assertTrue(is_open(self.port))
        self.ready(self.host(1, function(), {"train.py": WAIT}))


class Channels(unittest.TestCase):
    def test_half_a_line_is_the_last(self):
        ours, theirs = connected()
        with ours, theirs:
            theirs.settimeout(TIMEOUT)
            channel = p.Channel(ours)
            ours.settimeout(0.01)
            channel.send({"message": "x" * (64 * r.MIB)})  # more than fits when nobody reads
            self.assertIsNone(channel.receive())
            while theirs.recv(r.MIB):
                pass

    def test_report_of_a_large_error_is_no_line_without_end(self):
        outcome = r.Outcome("Exception", 1, "boom", dict.fromkeys(("type", "message", "traceback"), "\0" * 3_000_000))
        self.assertLess(len(r.encode_json(p.report(outcome))), p.LINE_LIMIT)

    def test_node_that_is_lost_is_noticed(self):
        ours, theirs = connected()
        with ours, theirs:
            connection = p.Channel(ours).connection
            self.assertTrue(connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE))
            for name, value in p.KEEPALIVE:
                if hasattr(socket, name):
                    self.assertEqual(connection.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)), value)

    def test_leader_that_is_late_is_not_asked_all_the_time(self):
        tries, now = [], [0.0]
        with unittest.mock.patch.object(p.Member, "_connect", lambda _: tries.append(now[0])), \
                unittest.mock.patch.object(p.time, "monotonic", lambda: now[0]):
            member = p.Member("leader", {})
            while now[0] < 600:
                member.attend()
                now[0] += 0.1
        gaps = [after - before for before, after in zip(tries, tries[1:])]
        self.assertLess(gaps[0], 0.5)
        self.assertLess(max(gaps), r.LONGEST_PAUSE + 0.2)
        self.assertLess(len(tries), 300)
        self.assertGreater(len(set(round(gap, 1) for gap in gaps[9:])), 3, "all hosts would come back at one moment")


class TakenPort(GroupCase):
    HOSTS = 2

    def test_it_is_told(self):
        with socket.create_server(("", self.port)):
            (ran,) = self.parked(self.host(0, function(), {"train.py": WAIT}))
        self.assertEqual((ran.code, ran.end["state"]), (125, "FAILED"))
        self.assertIn(f"cannot listen on port {self.port}, by which the hosts of the job talk", ran.end["message"])


if __name__ == "__main__":
    unittest.main()
