"""A function that is called with each of many inputs."""

import json
import os
import signal
import sys
import time
import unittest

from bucket import BUCKET
from fixture import JOB, command, function, program, sha256
from test_pod import DAY, PodCase

SQUARE = "def f(n):\n  return n * n"


class MapCase(PodCase):
    """A test that runs pods of a map."""

    pods = 0

    def start_chunk(self, source, inputs, *flags, chunk=0, size=1000, call=None, **kwargs):
        """One more pod, for that chunk of the inputs."""
        self.pods += 1
        data = inputs if isinstance(inputs, bytes) else b"".join(json.dumps(value).encode() + b"\n" for value in inputs)
        self.put_blob(data)
        flags = ("--map", sha256(data), "--chunk", str(size), "--inputs", str(data.count(b"\n"))) + flags
        argv = self.argv(call or function(**kwargs), {"train.py": source}, *flags)
        return self.start(argv, {"JOB_COMPLETION_INDEX": str(chunk), "KINETIC_POD_UID": f"uid-{self.pods}"})

    def chunk(self, *args, **kwargs):
        return self.finish(self.start_chunk(*args, **kwargs))

    def results(self, count):
        """The result of each input, None where there is none."""
        names = [f"results/{number}.json" for number in range(count)]
        return [self.document(name) if self.exists(name) else None for name in names]

    def values(self, count):
        return [result and (result["value"] if result["ok"] else result["error"]["message"]) for result in self.results(count)]


class Maps(MapCase):
    def test_each_input_has_a_result(self):
        ran = self.chunk(SQUARE, [3, 1, 2])
        self.assertEqual(ran.code, 0, ran.out + ran.err)
        self.assertEqual(self.values(3), [9, 1, 4])
        result = self.results(3)[1]
        self.assertLessEqual(result.pop("started"), result.pop("finished"))
        want = {"version": 1, "index": 1, "ok": True, "pickle": None, "error": None, "warnings": [], "differs": False}
        self.assertEqual(result, dict(want, host=0, attempt=1, value=1))

    def test_a_pod_takes_its_chunk_alone_and_ends_nothing(self):
        for chunk, want in ((1, [None, None, 9, 16, None]), (2, [None, None, 9, 16, 25])):
            ran = self.chunk(SQUARE, [1, 2, 3, 4, 5], chunk=chunk, size=2)
            self.assertEqual((ran.code, self.values(5)), (0, want), ran.out)
        self.assertFalse(self.exists("end.json") or self.exists("result.json") or ran.said_end)
        records = [self.document(f"attempts/{n}-1.json") for n in (1, 2)]
        self.assertEqual([(record["uid"], record["host"]) for record in records], [("uid-1", 1), ("uid-2", 2)])

    def test_chunks_of_those_that_are_missing(self):
        inputs, only = [1, 2, 3, 4, 5, 6, 7], ("--only", "1-2,4-4,6-6")
        for chunk, want in ((1, [None, None, None, None, 25, None, 49]), (0, [None, 4, 9, None, 25, None, 49])):
            ran = self.chunk(SQUARE, inputs, *only, chunk=chunk, size=2)
            self.assertEqual((ran.code, self.values(7)), (0, want), ran.out + ran.err)
        ran = self.chunk(SQUARE, inputs, *only, chunk=2, size=2)
        self.assertEqual(ran.code, 125)
        self.assertIn("chunk 2 has no inputs", ran.out)
        ran = self.chunk(SQUARE, inputs, "--only", "1,2")
        self.assertEqual(ran.code, 125)
        self.assertIn("is not a list of ranges", ran.out)

    def test_kinds_of_inputs(self):
        source = "def f(*args, **kwargs):\n  return [args, kwargs]"
        inputs = [{"a": 1, "lr": 2}, [1, 2], "x", None, [], {}, [[1]], 2**70]
        self.chunk(source, inputs, kwargs={"lr": 1, "n": 0})
        shared = {"lr": 1, "n": 0}
        want = [[[], {"lr": 2, "n": 0, "a": 1}]] + [[args, shared] for args in ([1, 2], ["x"], [None], [], [], [[1]], [2**70])]
        self.assertEqual(self.values(len(inputs)), want)

    def is_young(self, name):
        return self.bucket.objects[name].created > time.time() - DAY

    def test_old_inputs_are_renewed_while_a_chunk_runs(self):
        until = os.path.join(self.root, "until")
        os.mkfifo(until)
        start = self.start
        self.start = lambda argv, env: start([sys.executable, "-u", "-c", program("errands.RENEW_SECONDS = 0.05")] + argv[3:], env)
        process = self.start_chunk("def f(path):\n  return open(path).read()", [until])
        inputs = "blobs/sha256/{0:.2}/{0}".format(sha256(json.dumps(until).encode() + b"\n"))
        record = f"{JOB}/attempts/0-1.json"
        with open(until, "wb"):  # the call ends when this is closed
            self.bucket.objects[inputs].created -= 25 * DAY
            for _ in range(2):  # between two renewals of the record, everything is renewed
                self.bucket.objects[record].created -= 25 * DAY
                self.eventually(lambda: self.is_young(record), process)
            self.assertTrue(self.is_young(inputs))
        self.assertEqual(self.finish(process).code, 0)

    def test_no_call_changes_the_arguments_of_the_next(self):
        self.chunk("def f(n, seen):\n  seen.append(n)\n  return seen", [1, 2], kwargs={"seen": []})
        self.assertEqual(self.values(2), [[1], [2]])

    def test_a_failure_is_a_result_and_the_rest_goes_on(self):
        source = "import sys\ndef f(n):\n  if n == 1: raise ValueError('one')\n  if n == 2: sys.exit(3)\n  if n == 3: return (x for x in ())\n  return n"
        ran = self.chunk(source, [0, 1, 2, 3, 4])
        self.assertEqual(ran.code, 0, ran.out)
        results = self.results(5)
        self.assertEqual([result["ok"] for result in results], [True, False, False, False, True])
        self.assertEqual([result["error"]["type"] for result in results[1:4]], ["ValueError", "SystemExit", "TypeError"])
        trace = 'Traceback (most recent call last):\n  File "train.py", line 3, in f\n'
        self.assertTrue(results[1]["error"]["traceback"].startswith(trace), results[1]["error"]["traceback"])
        self.assertIn("ValueError: one", ran.out)

    def test_what_json_does_not_have_is_kept(self):
        self.chunk("def f(n): return {n: float('nan')}", [7])
        self.assertEqual((self.values(1), self.results(1)[0]["pickle"]), ([{"7": None}], "results/0.pkl"))
        self.assertTrue(self.exists("results/0.pkl"))

    def test_a_listing_tells_what_came_of_an_input(self):
        self.chunk("def f(n): return [n, 1 / n, float('nan') if n > 1 else 0]", [0, 1, 2])
        told = [self.bucket.metadata(f"{JOB}/results/{number}.json") for number in range(3)]
        verdicts = [("false", "false"), ("true", "false"), ("true", "true")]
        self.assertEqual(told, [{"ok": ok, "pickled": pickled} for ok, pickled in verdicts])

    def test_a_coroutine(self):
        self.chunk("async def f(n): return n", [1, 2])
        self.assertEqual(self.values(2), [1, 2])

    def test_the_function_is_imported_once(self):
        self.chunk("import os\nloaded = [os.getpid()]\ndef f(n):\n  loaded.append(n)\n  return loaded[1:]", [1, 2, 3])
        self.assertEqual(self.values(3), [[1], [1, 2], [1, 2, 3]])

    def test_a_result_is_stored_while_the_next_call_goes_on_in_silence(self):
        stored = f"http://{self.bucket.host}/storage/v1/b/{BUCKET}/o/{JOB}%2Fresults%2F0.json"
        source = f"""\
            import time, urllib.error, urllib.request
            def is_stored():
                try:
                    return urllib.request.urlopen({stored!r}).status == 200
                except urllib.error.HTTPError:
                    return False
            def f(n):
                for _ in range(n * 2000):
                    if is_stored():
                        break
                    time.sleep(0.01)
                return is_stored()
        """
        self.chunk(source, [0, 1])
        self.assertEqual(self.values(2), [False, True])

    def test_no_function_is_the_result_of_every_input(self):
        for source, want in (("import missing_one", "No module named"), ("def g(): pass", "no function 'f'"), ("raise SystemExit", "sys.exit(0)")):
            with self.subTest(source):
                self.setUp()
                ran = self.chunk(source, [1, 2])
                self.assertEqual(ran.code, 0, ran.out)
                for value in self.values(2):
                    self.assertIn(want, value)

    def test_wrong_inputs(self):
        cases = {
            "has 1 inputs, expected 2": (("--inputs", "2"), {}),
            "chunk 1 has no inputs": ((), {"chunk": 1}),
            "a map needs a function, but x is not one": ((), {"call": command("x")}),
        }
        for want, (flags, kwargs) in cases.items():
            with self.subTest(want):
                ran = self.chunk(SQUARE, [1], *flags, **kwargs)
                self.assertEqual((ran.code, self.values(1)), (125, [None]))
                self.assertIn(want, ran.out)

    def test_a_pod_must_know_its_chunk(self):
        ran = self.chunk(SQUARE, [1], chunk="x")
        self.assertEqual(ran.code, 125)
        self.assertIn("JOB_COMPLETION_INDEX='x'", ran.err)

    def test_a_thousand_inputs(self):
        ran = self.chunk(SQUARE, list(range(1000)))
        self.assertEqual((ran.code, self.values(1000)), (0, [n * n for n in range(1000)]), ran.out)


class Deaths(MapCase):
    SOURCE = "import os, signal\ndef f(n):\n  print('call', n, flush=True)\n  {}\n  return n"

    def test_an_input_that_kills_its_process_twice_has_failed(self):
        source = self.SOURCE.format("if n == 1: os.kill(os.getpid(), signal.SIGKILL)\n  if n == 3: os._exit(0)\n  if n == 4: os._exit(9)")
        ran = self.chunk(source, [0, 1, 2, 3, 4, 5])
        self.assertEqual(ran.code, 0, ran.out)
        values = self.values(6)
        self.assertEqual((values[0], values[2], values[5]), (0, 2, 5))
        for number, want in ((1, "killed by SIGKILL"), (3, "ended its process"), (4, "exit code 9")):
            self.assertIn(want, values[number])
            self.assertEqual(ran.out.count(f"call {number}\n"), 2, ran.out)
        self.assertEqual([ran.out.count(f"call {number}\n") for number in (0, 2, 5)], [1, 1, 1])

    def test_one_death_is_no_failure(self):
        marker = os.path.join(self.root, "marker")
        source = self.SOURCE.format(f"if n == 1 and not os.path.exists({marker!r}): open({marker!r}, 'w').close(); os._exit(1)")
        ran = self.chunk(source, [0, 1, 2])
        self.assertEqual((ran.code, self.values(3)), (0, [0, 1, 2]), ran.out)

    def test_a_module_that_kills_its_process_ends_the_pod(self):
        ran = self.chunk("import os; os.kill(os.getpid(), 9)", [0, 1])
        self.assertEqual((ran.code, self.values(2)), (137, [None, None]), ran.out)
        self.assertEqual(self.document("attempts/0-1.json")["reason"], "Killed")

    def test_a_time_limit_keeps_what_is_done(self):
        source = self.SOURCE.format("signal.pause() if n == 1 else None")
        ran = self.chunk(source, [0, 1, 2], "--max-runtime", "10", "--grace", "0.1")
        self.assertEqual((ran.code, self.values(3)), (124, [0, None, None]), ran.out)


class Resumed(MapCase):
    """What the next pod does."""

    WAITS = "import os, signal\ndef f(n):\n  print('call', n, flush=True)\n  if n == 3 and {!r} == os.environ['KINETIC_ATTEMPT']: signal.pause()\n  return [n, os.environ['KINETIC_HOST']]"

    def test_what_is_done_is_not_done_again(self):
        source, inputs = self.WAITS.format("1"), list(range(6))
        process = self.start_chunk(source, inputs)
        while process.stdout.readline() != b"call 3\n":
            pass
        process.send_signal(signal.SIGTERM)
        ran = self.finish(process)
        self.assertEqual((ran.code, self.values(6)), (143, [[0, "0"], [1, "0"], [2, "0"], None, None, None]), ran.out)
        ran = self.chunk(source, inputs)
        self.assertEqual((ran.code, self.values(6)), (0, [[n, "0"] for n in inputs]), ran.out)
        self.assertEqual(ran.out, "call 3\ncall 4\ncall 5\n")
        self.assertEqual([result["attempt"] for result in self.results(6)], [1, 1, 1, 2, 2, 2])
        self.assertNotIn("reason", self.document("attempts/0-1.json"))
        ran = self.chunk(source, inputs)
        self.assertEqual((ran.code, ran.out), (0, ""))

    def held(self):
        """A pod whose function waits until its file is there, and has begun to."""
        go = os.path.join(self.root, "go")
        source = f"import os\ndef f(n):\n  print('call', n, flush=True)\n  while not os.path.exists({go!r}): os.sched_yield()\n  return 'mine'"
        process = self.start_chunk(source, [0, 1])
        self.assertEqual(process.stdout.readline(), b"call 0\n")
        return process, lambda: open(go, "w").close()

    def test_what_another_pod_has_stored_stays(self):
        process, go = self.held()
        self.put(f"{JOB}/results/0.json", b'{"ok":true,"value":"theirs"}')
        go()
        ran = self.finish(process)
        self.assertEqual((ran.code, self.values(2)), (0, ["theirs", "mine"]), ran.out)

    def test_a_store_that_refuses_a_result_ends_the_pod(self):
        process, go = self.held()
        self.bucket.fail(403, 1, "POST /upload")
        go()
        ran = self.finish(process)
        self.assertEqual(ran.code, 125, ran.out)
        self.assertIn(None, self.values(2))
        self.assertIn("storage.objects.create", ran.out)

    def test_a_list_of_results_that_is_refused_is_told(self):
        self.bucket.fail(403, 1, "GET .*prefix=")
        ran = self.chunk(SQUARE, [1, 2])
        self.assertEqual(ran.code, 125)
        self.assertIn("needs the permission storage.objects.list on the bucket", ran.out)

    def test_a_pod_with_a_small_chunk_asks_for_its_own_results_alone(self):
        self.put(f"{JOB}/results/1.json", b'{"ok":true,"value":"theirs"}')
        for chunk in range(3):
            ran = self.chunk(SQUARE, [1, 2, 3], chunk=chunk, size=1)
            self.assertEqual(ran.code, 0, ran.out)
        self.assertEqual(self.values(3), [1, "theirs", 9])
        self.assertEqual(self.bucket.asked("prefix="), [])
        self.assertEqual(len(self.bucket.asked(r"^GET .*/results/\d+\.json$")), 3, self.bucket.requests)

    def test_a_small_chunk_whose_results_may_not_be_read(self):
        self.bucket.fail(403, 1, "GET .*/results/0.json")
        ran = self.chunk(SQUARE, [1, 2], size=1)
        self.assertEqual(ran.code, 125)
        self.assertIn("needs the permission storage.objects.get on the bucket", ran.out)


class ToldToEnd(MapCase):
    def test_an_input_that_the_end_interrupts_has_no_result(self):
        for leaves in ("sys.exit(0)", "1 / 0"):
            with self.subTest(leaves):
                self.setUp()
                source = f"""
                    import os, signal, sys
                    def leave(*_): {leaves}
                    signal.signal(signal.SIGTERM, leave)
                    def f(n):
                        if os.environ["KINETIC_ATTEMPT"] == "1" and n == 6:
                            print("ready", flush=True)
                            while True: signal.pause()
                        return n
                """
                process = self.start_chunk(source, [5, 6, 7])
                self.assertEqual(process.stdout.readline(), b"ready\n")
                process.send_signal(signal.SIGTERM)
                self.assertEqual(self.finish(process).code, 143)
                self.assertEqual(self.values(2), [5, None])
                self.assertEqual((self.chunk(source, [5, 6, 7]).code, self.values(3)), (0, [5, 6, 7]))

    def test_results_of_a_call_that_has_closed_its_pipe(self):
        ran = self.chunk("import os\ndef f(n):\n  if n == 1: os.close(3)\n  return n", [0, 1, 2])
        self.assertEqual((ran.code, self.values(3)), (0, [0, 1, 2]), ran.out)

    def test_folders_of_inputs_do_not_stay(self):
        self.chunk(SQUARE, list(range(20)))
        self.assertEqual(os.listdir(os.path.join(self.work, "scratch", "inputs")), [])


class Retries(MapCase):
    def test_a_chunk_that_has_crashed_too_often_is_final(self):
        for number in (1, 2):
            self.put(f"{JOB}/attempts/0-{number}.json", b'{"version":1,"uid":"other-%d","reason":"Killed"}' % number)
        ran = self.chunk(SQUARE, [1], "--retries", "1")
        self.assertEqual((ran.code, self.values(1)), (1, [None]))
        self.assertIn("crashed 2 times; --retries allows 1", ran.out)

    def test_pods_that_die_before_they_have_noted_an_input_are_not_replaced_for_ever(self):
        for number in range(1, 5):
            self.put(f"{JOB}/attempts/0-{number}.json", b'{"version":1,"uid":"other-%d"}' % number)
        ran = self.chunk(SQUARE, [1], "--retries", "0")
        self.assertEqual((ran.code, self.values(1)), (1, [None]))
        self.assertIn("4 pods of this chunk were killed before starting an input", ran.out)


class KilledPods(MapCase):
    """Inputs that kill the whole container, as the kernel does when its memory runs out."""

    def kill_at(self, number, noted):
        """A function that kills its container when it computes on that input, at once or after its pod has noted that it does."""
        tries = f"http://{self.bucket.host}/storage/v1/b/{BUCKET}/o/{JOB}%2Fresults%2F{number}.try?alt=media"
        return f"""
            import json, os, signal, time, urllib.error, urllib.request
            def is_noted():
                try:
                    with urllib.request.build_opener(urllib.request.ProxyHandler({{}})).open({tries!r}) as file:
                        return int(os.environ["KINETIC_ATTEMPT"]) in json.load(file)["attempts"]
                except urllib.error.HTTPError:
                    return False
            def f(n):
                if n == {number}:
                    while {noted} and not is_noted():
                        time.sleep(0.01)
                    os.kill(os.getppid(), signal.SIGKILL)
                    os.kill(os.getpid(), signal.SIGKILL)
                return n * n
        """

    def pods_until_done(self, source, inputs):
        """The number of pods that it takes until one of them ends by itself."""
        for count in range(1, 6):
            if self.chunk(source, inputs, "--retries", "1").code == 0:
                return count
        self.fail(f"five pods died: {self.values(len(inputs))}")

    def test_an_input_that_kills_slowly_is_given_up_after_two_tries(self):
        self.assertEqual(self.pods_until_done(self.kill_at(1, True), [0, 1, 2, 3]), 3)
        self.check()

    def test_an_input_that_kills_at_once_is_given_up_after_two_tries_that_were_noted(self):
        self.assertEqual(self.pods_until_done(self.kill_at(1, False), [0, 1, 2, 3]), 4)
        self.check()

    def check(self):
        values = self.values(4)
        self.assertEqual(values[:1] + values[2:], [0, 4, 9])
        self.assertEqual(self.results(4)[1]["error"]["type"], "Killed")
        self.assertIn("was killed with its pod 2 times on this input: probably out of memory, or its nodes were lost", values[1])

    def test_an_input_of_pods_that_were_told_to_end_is_computed(self):
        source = "import os, signal\ndef f(n):\n  if os.environ['KINETIC_ATTEMPT'] == '3': return n\n  print('ready', flush=True)\n  while True: signal.pause()"
        for _ in range(2):
            process = self.start_chunk(source, [5])
            self.assertEqual(process.stdout.readline(), b"ready\n")
            while not self.exists("results/0.try"):
                self.assertIsNone(process.poll())
            process.send_signal(signal.SIGTERM)
            self.assertEqual(self.finish(process).code, 143)
        self.assertEqual((self.chunk(source, [5]).code, self.values(1)), (0, [5]))


if __name__ == "__main__":
    unittest.main()
