"""SIGTERM, as a pod gets it: what was done so far is saved within the grace."""

import json
import math
import os
import signal
import textwrap
import threading
import unittest

from fixture import script
from test_pod import PodCase, first_upload

WAIT = "import signal\nprint('ready', flush=True)\nwhile True: signal.pause()"


class Termination(PodCase):
    def stop(self, process, wait_for=b"ready\n"):
        self.assertEqual(process.stdout.readline(), wait_for)
        process.send_signal(signal.SIGTERM)
        return self.finish(process)

    def test_log_and_result_are_saved(self):
        ran = self.stop(self.start(self.argv(script(), {"train.py": WAIT})))
        self.assertEqual((ran.code, ran.result["error"]["type"], self.exists("end.json")), (143, "Terminated", False))
        self.assertIn("ready", ran.log)

    def test_log_is_saved_at_the_signal(self):
        seen = os.path.join(self.root, "seen")
        os.mkfifo(seen)
        source = f"import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('ready', flush=True)\nopen({seen!r}).read()\nprint('late')"
        process = self.start(self.argv(script(), {"train.py": source}))
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGTERM)
        with open(seen, "wb"):
            while not self.part_names():
                os.sched_yield()
        ran = self.finish(process)
        self.assertEqual((ran.code, sorted(self.part_names())), (143, ["1-1.log", "1-2.log"]))

    def test_store_that_stays_away_is_not_waited_for_beyond_the_grace(self):
        argv = self.argv(script(), {"train.py": WAIT}, "--grace", "0.2")
        self.bucket.faults.append(first_upload())
        self.bucket.fail(503, times=math.inf, pattern="POST")
        # Else it would try for ever.
        ran = self.stop(self.start_changed("gcs.RETRY_SECONDS = gcs.math.inf; attempt.PUBLISH_GRACE = 0.2", argv))
        self.assertEqual((ran.code, json.loads(self.termination())["exit_code"]), (125, 125))

    def test_signal_while_publishing(self):
        reached = threading.Event()

        def fail(handler):
            reached.set()
            handler.error(503, "")

        argv = self.argv(script(), {"train.py": "print('ready', flush=True)"}, "--grace", "0.2")
        self.bucket.faults.append(first_upload())
        self.bucket.fail(fail, times=math.inf, pattern="POST")
        process = self.start_changed("gcs.RETRY_SECONDS = gcs.math.inf; attempt.PUBLISH_GRACE = 0.2", argv)
        self.assertTrue(reached.wait(60))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process).code, 125)

    def test_signal_before_the_call(self):
        argv = self.argv(script(), {"train.py": "print('it ran')"}, "--grace", "0.2")
        reached, go_on = threading.Event(), threading.Event()
        self.addCleanup(go_on.set)

        def hold(handler):
            reached.set()
            go_on.wait()
            handler.serve()

        self.bucket.fail(hold, times=math.inf, pattern="GET .*call.json")
        process = self.start(argv)
        self.assertTrue(reached.wait(60))
        process.send_signal(signal.SIGTERM)
        ran = self.finish(process)
        self.assertEqual((ran.code, ran.result["error"]["type"]), (143, "Terminated"))
        self.assertNotIn("it ran", ran.out)

    def test_two_signals_before_the_call(self):
        argv = self.argv(script(), {"train.py": "print('it ran')"})
        # The second one comes while the first one is acted on.
        change = """
            import os, signal
            hurry = gcs.GCSStore.hurry
            def twice(store, moment):
                gcs.GCSStore.hurry = hurry
                os.kill(os.getpid(), signal.SIGTERM)
                hurry(store, moment)
                print("hurries")
            gcs.GCSStore.hurry = twice
            attempt.Attempt.fetch = lambda *_: os.kill(os.getpid(), signal.SIGTERM)
        """
        ran = self.finish(self.start_changed(textwrap.dedent(change), argv))
        self.assertEqual((ran.code, ran.result["error"]["type"]), (143, "Terminated"), ran.err)
        self.assertIn("hurries\n", ran.out)

    def test_call_that_saves_is_not_held_up_by_the_store(self):
        saved = os.path.join(self.root, "saved")
        source = f"""
            import signal, sys
            def save(*_):
                for n in range(50_000): print("saving", n)
                open({saved!r}, "w").close()
                print("saved")
                sys.exit(0)
            signal.signal(signal.SIGTERM, save)
            print("ready", flush=True)
            while True: signal.pause()
        """
        argv = self.argv(script(), {"train.py": source})
        self.bucket.faults.append(first_upload())
        self.bucket.fail(503, times=math.inf, pattern="POST")
        process = self.start_changed("spool.PART_BYTES = 1000; spool.SPOOL_BYTES = 2000", argv)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGTERM)
        while not os.path.exists(saved):
            self.assertIsNone(process.poll(), "it was killed before it had saved")
            process.stdout.read1()
        self.bucket.faults.clear()
        ran = self.finish(process)
        self.assertEqual((ran.code, "saving 49999" in ran.log), (143, True))

    def test_second_signal_does_not_cut_the_grace(self):
        source = """
            import signal
            seen = []
            signal.signal(signal.SIGTERM, lambda *_: seen.append(1))
            print('ready', flush=True)
            while not seen: signal.pause()
            print('saving', flush=True)
            input_is_open = open({fifo!r}).read()
            print('saved', len(seen))
        """
        fifo = os.path.join(self.root, "fifo")
        os.mkfifo(fifo)
        process = self.start(self.argv(script(), {"train.py": source.replace("{fifo!r}", repr(fifo))}))
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.readline(), b"saving\n")
        process.send_signal(signal.SIGTERM)
        with open(fifo, "wb"):
            pass
        ran = self.finish(process)
        self.assertEqual(ran.code, 143)
        self.assertIn("saved 1", ran.log)

    def test_a_signal_that_another_thread_gets_is_noticed(self):
        change = """
import os, signal, threading, time
from kinetic_runner.signals import Signals
signals = Signals()
signals.install()
signals.never_raise()
def get():
    time.sleep(0.2)  # the main thread waits by now; if not, this shows nothing
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
threading.Thread(target=get, daemon=True).start()
signals.wait()
print("noticed", signals.came)
sys.exit()
"""
        self.assertEqual(self.finish(self.start_changed(change, ["", "", ""])).out, "noticed True\n")


if __name__ == "__main__":
    unittest.main()
