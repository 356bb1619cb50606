"""The connection between two healthy hosts breaks: the attempt goes on, and nothing of its outcome changes."""

import math
import os
import socket
import subprocess
import threading
import types
import unittest
import unittest.mock

from fixture import JOB, function, script
from group import KEY, GroupCase
from kinetic_runner.hosts import peers
from kinetic_runner.hosts.channel import Greeting
from kinetic_runner.hosts.leader import LeaderAttempt
from kinetic_runner.outcome import COMPLETED, Outcome

OPTIONS = types.SimpleNamespace(job=JOB, call="0" * 64, group_port=0)


class Line:
    """A port through which a member reaches the leader, and which can be cut."""

    def __init__(self, port):
        self._leader, self._open = port, []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self.blocked, self.tries = False, 0
        self._threads = []
        self._start(self._serve)

    def _start(self, target, *words):
        self._threads.append(threading.Thread(target=target, args=words, daemon=True))
        self._threads[-1].start()

    def _serve(self):
        while True:
            try:
                ours = self._server.accept()[0]
            except OSError:
                return
            self.tries += 1
            try:
                theirs = None if self.blocked else socket.create_connection(("127.0.0.1", self._leader))
            except OSError:
                theirs = None
            if theirs is None:
                ours.close()
                continue
            self._open += [ours, theirs]
            for pair in ((ours, theirs), (theirs, ours)):
                self._start(self._copy, *pair)

    @staticmethod
    def _copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        """Breaks the connections."""
        for end in self._open:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self._server.shutdown(socket.SHUT_RDWR)
        self.cut()
        for thread in self._threads:
            thread.join()
        for end in (self._server, *self._open):
            end.close()


def children(pid):
    """The processes that a process has."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return file.read().split()


class Broken(GroupCase):
    HOSTS = 2
    LOST, BACK = b"\x1ekinetic: lost the connection to host 1\n", b"\x1ekinetic: host 1 has connected again\n"

    def begin(self, call, body, leader="", **kwargs):
        """Starts two hosts whose calls wait for a file, with a line between them."""
        self.go = os.path.join(self.root, "go")
        self.line = Line(self.port)
        self.addCleanup(self.line.close)
        wait = f"print('ready', flush=True)\nwhile not os.path.exists({self.go!r}): os.sched_yield()\n"
        text = f"import os\n{wait}{body}"
        if call["kind"] == "function":
            text = "import os\ndef f():\n" + "".join(f"  {line}\n" for line in (wait + body).splitlines())
        files = {"train.py": text}
        processes = [
            self.host(0, call, files, "--grace", "1000", change=leader, **kwargs),
            self.host(1, call, files, "--grace", "1000", "--group-port", str(self.line.port), **kwargs),
        ]
        self.ready(*processes)
        return processes

    def end_calls(self):
        open(self.go, "w").close()

    def test_while_the_calls_run(self):
        for name, call, body in (("function", function(), "return 7"), ("script", script(), "print('done')")):
            with self.subTest(name):
                self.setUp()
                processes = self.begin(call, body)
                self.line.cut()
                self.assertEqual([processes[0].stdout.readline() for _ in range(2)], [self.LOST, self.BACK])
                self.end_calls()
                leader, _ = self.parked(*processes)
                self.assertEqual((leader.code, leader.end["state"]), (0, "SUCCEEDED"))

    def test_when_a_call_has_ended(self):
        processes = self.begin(function(), "print('ended')\nreturn 7")
        self.line.blocked = True
        self.line.cut()
        self.assertEqual(processes[0].stdout.readline(), self.LOST)
        self.end_calls()
        self.eventually(lambda: self.lines(0)[-1:] == self.lines(1)[-1:] == ["ended"], *processes)
        tries = self.line.tries
        self.eventually(lambda: self.line.tries > tries, *processes)
        self.assertFalse(self.exists("end.json"))
        self.line.blocked = False
        leader, _ = self.parked(*processes)
        self.assertEqual((leader.code, leader.result["value"]), (0, 7))

    def test_failure_after_it_stays_the_failure(self):
        processes = self.begin(function(), "if os.environ['KINETIC_HOST'] == '1': raise ValueError('boom')\nwhile True: os.sched_yield()")
        self.line.cut()
        self.assertEqual([processes[0].stdout.readline() for _ in range(2)], [self.LOST, self.BACK])
        self.end_calls()
        leader, _ = self.parked(*processes)
        self.assertEqual((leader.end["reason"], leader.end["message"]), ("Exception", "host 1: ValueError: boom"))

    def test_hosts_of_an_indexed_job_leave_when_it_has_ended(self):
        processes = self.begin(script(), "", indexed=True)
        self.line.cut()
        self.assertEqual([processes[0].stdout.readline() for _ in range(2)], [self.LOST, self.BACK])
        self.end_calls()
        self.assertEqual([self.finish(process).code for process in processes], [0, 0])
        self.assertEqual(self.document("end.json")["state"], "SUCCEEDED")

    def test_while_the_last_outputs_are_saved(self):
        """A host that saves much after its call still connects again."""
        asked, goes_on = threading.Event(), threading.Event()

        def hold(handler):
            asked.set()
            goes_on.wait()
            return handler.serve()

        self.bucket.fail(hold, math.inf, r"POST .*/sync/1/")
        processes = self.begin(function(), "if os.environ['KINETIC_HOST'] == '1':\n  open(os.environ['KINETIC_OUTPUT_PATH'] + '/x', 'w').close()\nreturn 7")
        self.end_calls()
        self.eventually(asked.is_set, *processes)
        self.eventually(lambda: not children(processes[1].pid), *processes)  # the call has ended
        give_up = threading.Timer(60, goes_on.set)
        give_up.start()
        self.addCleanup(give_up.cancel)
        self.line.cut()
        self.assertEqual([processes[0].stdout.readline() for _ in range(2)], [self.LOST, self.BACK])
        self.assertFalse(goes_on.is_set())
        goes_on.set()
        leader, _ = self.parked(*processes)
        self.assertEqual((leader.code, leader.end["state"], leader.result["value"]), (0, "SUCCEEDED", 7))

    def test_host_that_does_not_come_back_is_lost(self):
        processes = self.begin(function(), "return 7", leader="peers.BACK_SECONDS = leader.RESTART_SECONDS = 0.1")
        self.line.blocked = True
        self.line.cut()
        self.end_calls()
        ran = self.finish(processes[0])
        self.assertEqual((ran.code, self.exists("end.json")), (143, False))
        self.assertIn("host 1 was lost", ran.out)
        with self.assertRaises(subprocess.TimeoutExpired):
            processes[1].wait(0.1)


class Patience(unittest.TestCase):
    """How long host 0 waits for a host that is away, once its own call has ended."""

    def test_it_counts_from_when_a_host_is_gone(self):
        steps = iter([(0, set(), False), (1000, {1}, False), (1299, {1}, False), (1300, set(), False), (9000, {1}, False), (9299, set(), True)])
        link = types.SimpleNamespace(outcomes={}, missing=set(), report=lambda outcome: None, give_time=lambda: None, gone=set(), settled=lambda came: self.settled)
        attempt = LeaderAttempt.__new__(LeaderAttempt)
        attempt.link, attempt.hosts, attempt.signals = link, 1, types.SimpleNamespace(came=False)
        attempt.options, attempt.say = types.SimpleNamespace(warm=False), lambda text: None

        def wait(done):
            for self.now, link.gone, self.settled in steps:
                if done():
                    return

        attempt.wait = wait
        mine = Outcome(COMPLETED, 0)
        link.outcomes[0] = mine
        with unittest.mock.patch("kinetic_runner.hosts.leader.time.monotonic", lambda: self.now):
            self.assertIs(attempt.agree(mine), mine)
        self.assertEqual(self.now, 9299)


class Seats(unittest.TestCase):
    """The leader in this process, with a clock that stands still."""

    def setUp(self):
        self.now, self.said = 0.0, []
        patch = unittest.mock.patch.object(peers.time, "monotonic", lambda: self.now)
        patch.start()
        self.addCleanup(patch.stop)
        self.greeting = Greeting(OPTIONS, KEY)
        self.leader = peers.Leader(2, self.greeting, self.said.append)
        self.leader.attempt = 3
        self.leader.listen()
        self.greeting.port = self.leader._listener.getsockname()[1]
        self.addCleanup(self.leader.close)

    def serve(self, member, done):
        for _ in range(1000):
            self.leader.attend(0.005)
            member.attend(0.005)
            if done():
                return
        self.fail("it never happened")

    def member(self):
        member = peers.Member("127.0.0.1", self.greeting, 1)
        self.addCleanup(member._close)
        return member

    def joined(self):
        member = self.member()
        self.serve(member, lambda: member.attempt == 3)
        return member

    def test_host_has_thirty_seconds_to_come_back(self):
        member = self.joined()
        member._close()
        self.serve(self.member_that_waits(), lambda: self.leader.missing)
        self.assertEqual(self.leader.gone, set())
        self.now += peers.BACK_SECONDS
        self.assertEqual(self.leader.gone, {1})
        member._connect_at = self.now
        self.serve(member, lambda: not self.leader.missing)
        self.assertEqual(self.leader.gone, set())

    def member_that_waits(self):
        return types.SimpleNamespace(attend=lambda patience: None)

    def test_restarted_host_is_gone_at_once(self):
        self.joined()._close()
        self.serve(self.member_that_waits(), lambda: self.leader.missing)
        other = self.member()
        self.serve(other, lambda: other.lost)
        self.assertEqual((other.attempt, self.leader.gone), (0, {1}))

    def test_connection_that_only_the_host_knows_to_be_broken_is_replaced(self):
        member = self.joined()
        held = member._channel  # stays open
        self.addCleanup(held.connection.close)
        member._channel = None
        member.report(Outcome(COMPLETED, 0))
        member._connect_at, member._back_by = self.now, self.now + 100
        self.serve(member, lambda: 1 in self.leader.outcomes)
        self.assertEqual((self.leader.missing, self.said), (set(), []))

    def test_order_to_end_that_was_cut_off_is_repeated(self):
        member = self.joined()
        member._close()
        self.leader.report(Outcome("Exception", 1, "boom"))
        member._connect_at = self.now
        self.serve(member, lambda: member.stopping)
        self.assertFalse(member.lost)

    def test_host_waits_for_the_leader_without_asking_all_the_time(self):
        member = self.joined()
        self.assertEqual(member.next_at, peers.math.inf)
        member._close()
        member._back_by = self.now + peers.RESTART_SECONDS
        self.assertLess(member.next_at, peers.math.inf)
        self.now += peers.RESTART_SECONDS
        member.attend()
        self.assertEqual((member.lost, member.next_at), (True, peers.math.inf))

    def test_idle_strangers_make_room_for_hosts(self):
        idle = []
        for _ in range(2 * (peers.SPARE_CONNECTIONS + 2)):
            idle.append(socket.create_connection(("127.0.0.1", self.greeting.port)))
            self.addCleanup(idle[-1].close)
            self.leader.attend()
        self.joined()
        self.assertEqual(len(self.said), 1, self.said)
        self.assertIn("closing the oldest ones", self.said[0])
        self.assertTrue(idle[0].recv(1 << 16).startswith(b'{"challenge"'))
        idle[0].settimeout(30)
        self.assertEqual(idle[0].recv(1), b"")
        self.assertTrue(idle[-1].recv(1 << 16).startswith(b'{"challenge"'))

    def test_refused_greetings_are_told_once(self):
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", self.greeting.port)) as stranger:
                self.leader.attend(1)
                stranger.sendall(b"{}\n")
                self.leader.attend(1)
        self.assertEqual(len(self.said), 1, self.said)


if __name__ == "__main__":
    unittest.main()
