"""A map of a pickled function, whose inputs and results are pickles."""

import base64
import json
import pickle
import signal
import unittest

from fixture import JOB, pickled, sha256
from payloads import Payloads, header, payload
from test_map import MapCase

LIMIT = 64 << 10  # bytes of a pickle that stays in the result


def line(*args, **kwargs):
    """An input of a map: its arguments."""
    return json.dumps(base64.b64encode(pickle.dumps((args, kwargs), protocol=5)).decode()).encode() + b"\n"


class PickledMaps(Payloads, MapCase):
    def start_map(self, source, lines, *flags, shared=(), **kwargs):
        data = payload(source, *shared)
        self.put(f"{JOB}/payload.pkl", data)
        return self.start_chunk(source, b"".join(lines), "--payload", sha256(data), *flags, call=pickled(), **kwargs)

    def map(self, *args, **kwargs):
        return self.finish(self.start_map(*args, **kwargs))

    def loaded(self, count):
        """The value or the exception of each input, from pickles that are what their results say."""
        found = []
        for result in self.results(count):
            if "pickle_sha256" not in result:
                found.append(None)
                continue
            data = base64.b64decode(result["pickled"]) if "pickled" in result else self.read(result["pickle"])
            self.assertEqual((result["pickle_sha256"], result["pickle_size"]), (sha256(data), len(data)))
            found.append(pickle.loads(data))
        return found

    def hashes(self, name):
        """The hashes of a chunk by input, and the hash of their list."""
        data = self.read(f"results/{name}.hashes")
        return {int(number): sha for number, sha in (row.split() for row in data.decode().splitlines())}, sha256(data)

    def test_values(self):
        ran = self.map("def f(a, b=0): return {(a, b)}", [line(1), line(2, b=3), line(a=4)])
        self.assertEqual((ran.code, ran.out), (0, ""))
        self.assertEqual(self.loaded(3), [{(1, 0)}, {(2, 3)}, {(4, 0)}])
        result = self.results(3)[1]
        self.assertEqual((result["value"], result["pickle"], result["ok"]), ([[2, 3]], None, True))
        self.assertEqual(self.bucket.metadata(f"{JOB}/results/1.json"), {"ok": "true", "pickled": "false"})

    def test_arguments_that_all_share(self):
        self.map("def f(a, b, c=0): return [a, b, c]", [line(2), line(3, c=4)], shared=(1,))
        self.assertEqual(self.loaded(2), [[1, 2, 0], [1, 3, 4]])

    def test_large_values(self):
        self.map("def f(n): return bytes(n)", [line(LIMIT - 100), line(LIMIT)])
        self.assertEqual(self.loaded(2), [bytes(LIMIT - 100), bytes(LIMIT)])
        self.assertEqual([result["pickle"] for result in self.results(2)], [None, "results/1.pkl"])
        self.assertEqual(self.bucket.metadata(f"{JOB}/results/1.json"), {"ok": "true", "pickled": "true"})

    def test_failures(self):
        source = "import sys, threading\ndef f(n):\n  if n == 0: raise KeyError('zero')\n  if n == 1: raise SystemExit(3)\n  if n == 2: return threading.Lock()\n  return n"
        broken = json.dumps("gASV").encode() + b"\n"
        ran = self.map(source, [line(0), line(1), line(2), line(3), broken, b"7\n"])
        self.assertEqual(ran.code, 0, ran.out)
        self.assertEqual([repr(one) for one in self.loaded(6)], ["KeyError('zero')", "None", "None", "3", "None", "None"])
        messages = [result["error"] and result["error"]["message"] for result in self.results(6)]
        self.assertIn("value is of type _thread.lock", messages[2])
        for message in messages[4:]:
            self.assertRegex(message, "^cannot unpickle an input of f: ")
        self.assertEqual(sorted(self.hashes(0)[0]), [0, 3])

    def test_payload_that_cannot_be_unpickled(self):
        data = payload("def f(): pass", before=header(python="3.999.1"))
        self.put(f"{JOB}/payload.pkl", data)
        ran = self.chunk("def f(): pass", line(1) + line(2), "--payload", sha256(data), call=pickled())
        self.assertEqual((ran.code, ran.out.count("was pickled with Python 3.999")), (0, 1))
        self.assertEqual([result["error"]["type"] for result in self.results(2)], ["BadPayload"] * 2)

    def test_each_chunk_vouches_for_its_pickles(self):
        ran = self.map("def f(n): return n", [line(n) for n in range(5)], chunk=1, size=2)
        self.assertEqual(ran.code, 0)
        told, of_list = self.hashes(1)
        self.assertEqual(told, {n: self.results(5)[n]["pickle_sha256"] for n in (2, 3)})
        message = json.loads(self.termination())
        self.assertEqual((message["hashes"], "pickle" in message), (of_list, False))

    def test_what_the_store_has_already_is_computed_all_the_same(self):
        """Anybody who may write to the store could have put it there, and no pod can vouch for it."""
        forged = json.dumps({"version": 1, "index": 1, "ok": True, "pickled": "gASV", "pickle_sha256": "0" * 64, "pickle_size": 3, "value": 7})
        self.put(f"{JOB}/results/1.json", forged.encode())
        ran = self.map("def f(n): return n * n", [line(n) for n in range(3)])
        self.assertEqual((ran.code, self.loaded(3)), (0, [0, 1, 4]), ran.out)
        self.assertEqual(self.hashes(0)[0], {n: self.results(3)[n]["pickle_sha256"] for n in range(3)})

    def test_the_pod_after_one_that_was_killed_computes_all(self):
        """The killed one has reported nothing."""
        source = "import os, signal\ndef f(n):\n  if n == 1 and os.environ['KINETIC_ATTEMPT'] == '1':\n    print('ready', flush=True)\n    signal.pause()\n  return (n, os.environ['KINETIC_ATTEMPT'])"
        lines = [line(n) for n in range(3)]
        process = self.start_map(source, lines)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.kill()
        self.finish(process)
        self.assertEqual(self.map(source, lines).code, 0)
        self.assertEqual(self.loaded(3), [(0, "2"), (1, "2"), (2, "2")])
        self.assertEqual(sorted(self.hashes("0-2")[0]), [0, 1, 2])

    def test_a_failure_without_a_pickle_is_kept(self):
        """Nothing is loaded, and the input may have killed its pods."""
        failure = {"version": 1, "index": 1, "ok": False, "pickle": None, "error": {"type": "", "message": "was killed"}, "value": None}
        self.put(f"{JOB}/results/1.json", json.dumps(failure).encode())
        lines = [line(n) for n in range(2)]
        process = self.start_map("import signal\ndef f(n):\n  print('ready', flush=True)\n  signal.pause()", lines)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.kill()
        self.finish(process)
        self.assertEqual(self.map("def f(n): return n", lines).code, 0)
        self.assertEqual((self.loaded(2), self.results(2)[1]["error"]["message"]), ([0, None], "was killed"))

    def test_a_pod_vouches_only_for_what_it_has_computed(self):
        source = "import os, signal\ndef f(n):\n  if n == 1 and os.environ['KINETIC_ATTEMPT'] == '1':\n    print('ready', flush=True)\n    signal.pause()\n  return n"
        lines = [line(n) for n in range(3)]
        process = self.start_map(source, lines)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process).code, 143)
        first, of_first = self.hashes(0)
        self.assertEqual((sorted(first), json.loads(self.termination())["hashes"]), ([0], of_first))
        self.assertEqual(self.map(source, lines).code, 0)
        second, of_second = self.hashes("0-2")
        self.assertEqual((sorted(second), json.loads(self.termination())["hashes"]), ([0, 1, 2], of_second))
        self.assertEqual(self.hashes(0), (first, of_first))

    def test_child_that_is_killed(self):
        """Another one computes the rest, for which it needs the payload again."""
        ran = self.map("import os\ndef f(n):\n  if n == 1: os.kill(os.getpid(), 9)\n  return n", [line(n) for n in range(3)])
        self.assertEqual((ran.code, self.loaded(3)), (0, [0, None, 2]))
        self.assertEqual(sorted(self.hashes(0)[0]), [0, 2])

    def test_local(self):
        """No other process knows how a local map ended, so its end vouches for the pickles."""
        self.map("def f(n): return n", [line(1)], "--final")
        self.assertEqual(self.document("end.json")["hashes"], self.hashes(0)[1])

    def test_module_functions_have_none(self):
        self.chunk("def f(n): return n", [1])
        self.assertFalse(self.exists("results/0.hashes"))
        self.assertNotIn("hashes", json.loads(self.termination()))


if __name__ == "__main__":
    unittest.main()
