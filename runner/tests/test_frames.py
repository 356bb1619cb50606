"""The frames between a client and a warm host."""

import json
import unittest

from kinetic_runner.warm import frames
from kinetic_runner.warm.calls import check
from kinetic_runner.warm.frames import BadFrame, Frames


def pair(client_secret=b"secret", client_uid="uid-1"):
    """Both ends of a connection, after their greetings."""
    holder, client = Frames(b"secret", "uid-1", True), Frames(client_secret, client_uid, False)
    holder.receive(client.greeting), client.receive(holder.greeting)
    return holder, client


class TestFrames(unittest.TestCase):
    def test_frames_arrive_whole_however_they_are_cut(self):
        for size in (1, 7, 1000):
            holder, client = pair()
            data = client.send(frames.CALL, b"first") + client.send(frames.STAT) + client.send(frames.CALL, bytes(2000))
            got = [frame for at in range(0, len(data), size) for frame in holder.receive(data[at : at + size])]
            self.assertEqual(got, [(frames.CALL, b"first"), (frames.STAT, b""), (frames.CALL, bytes(2000))])
            self.assertEqual(client.receive(holder.send(frames.STATE, b"x")), [(frames.STATE, b"x")])

    def test_first_frame_may_come_with_the_greeting(self):
        holder, client = Frames(b"secret", "uid-1", True), Frames(b"secret", "uid-1", False)
        client.receive(holder.greeting)
        self.assertEqual(holder.receive(client.greeting + client.send(frames.STAT)), [(frames.STAT, b"")])

    def test_nothing_wrong_is_accepted(self):
        holder, client = pair()
        good = client.send(frames.CALL, b"payload")
        for name, bad in {
            "changed payload": good[:15] + b"x" + good[16:],
            "changed type": good[:4] + b"\x05" + good[5:],
            "changed signature": good[:-1] + bytes([good[-1] ^ 1]),
            "too long": frames.HEAD.pack(frames.PAYLOAD_LIMIT + 1, 1, 0),
            "another secret": pair(client_secret=b"guess")[1].send(frames.CALL, b"payload"),
            "another pod": pair(client_uid="uid-2")[1].send(frames.CALL, b"payload"),
            "another connection": pair()[1].send(frames.CALL, b"payload"),
            "its own frame": holder.send(frames.STATE, b"payload"),
        }.items():
            with self.subTest(name):
                fresh = Frames(b"secret", "uid-1", True)
                fresh.__dict__.update({key: value for key, value in holder.__dict__.items() if key != "_rest"}, _rest=bytearray())
                with self.assertRaises(BadFrame):
                    fresh.receive(bad)
        self.assertEqual(holder.receive(good), [(frames.CALL, b"payload")])
        with self.assertRaises(BadFrame, msg="sent twice"):
            holder.receive(good)

    def test_who_does_not_greet_is_refused(self):
        for data in (b"G", b"GET / HTTP/1.1\r\n", b"KWH2" + bytes(32)):
            with self.assertRaises(BadFrame):
                Frames(b"secret", "uid-1", True).receive(data)
        self.assertEqual(Frames(b"secret", "uid-1", True).receive(b"KWH"), [])

    def test_a_call_that_a_frame_holds_is_taken_and_given_to_other_hosts(self):
        order = {"id": "call-1", "argv": [], "environ": {"TABLE": "é" * (500 << 10)}}
        check(order)
        holder, client = pair()
        ((_, payload),) = client.receive(holder.send(frames.CALL, frames.encode(order)))
        self.assertEqual(json.loads(payload), order)
        with self.assertRaisesRegex(ValueError, "too large for a frame"):
            check(dict(order, argv=["é" * (20 << 10)]))

    def test_half_a_character_passes(self):
        self.assertEqual(json.loads(frames.encode({"value": "\ud800"})), {"value": "\ud800"})


if __name__ == "__main__":
    unittest.main()
