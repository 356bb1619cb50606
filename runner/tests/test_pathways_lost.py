"""What the runner does about the parts of Pathways when a call fails: whether one was lost, and what their logs say."""

import signal
import unittest

from fixture import JOB, function, script
from pathways import DATA_LOSS, E0101, HEAD, NAME, RAISE, TPU_HOSTS, PathwaysCase, head, worker


class Failures(PathwaysCase):
    def test_jax_distributed_is_told_to_go(self):
        for call in (function(), script()):
            with self.subTest(call["kind"]):
                self.setUp()
                ran = self.ended(call, "import jax\ndef f(): jax.distributed.initialize()\nif __name__ == '__main__': f()")
                said = "with --backend pathways there is one process: remove jax.distributed.initialize()"
                self.assertTrue(ran.end["message"].endswith(f": {said}"), ran.end)
                self.assertIn(f"kinetic: {said}\n", ran.stderr)

    def test_lost_tpu_host(self):
        want = "TPU host 2 was lost (preempted, drained or crashed)"
        for call in (function(), script()):
            with self.subTest(call["kind"]):
                self.setUp()
                self.assertEqual(self.after(lambda: self.api.pods.pop(f"{NAME}-3"), call), want)
                self.assertIn(f"kinetic: {want}\n", self.log(1))
                self.assertEqual((self.exists("end.json"), self.api.patches), (False, []))
                self.assertNotIn("reason", self.document("attempts/1.json"), "a lost host is no crash")

    def test_sidecar_that_was_restarted_before_sigterm(self):
        process = self.begin(script(), "import signal\nprint('ready', flush=True)\nsignal.pause()")
        while (line := process.stdout.readline()) != b"ready\n":
            self.assertTrue(line)
        self.api.pods[NAME] = head(**{"pathways-rm": 139})
        self.api.pods[f"{NAME}-2"] = worker(1, restarts=1, ended=1)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process).code, 143)
        want = "the Pathways resource manager was restarted (exit code 139, Error)"
        self.assertEqual((self.document("attempts/1.json")["message"], self.exists("end.json")), (want, False))

    def test_sidecar_without_memory_is_a_crash(self):
        want = "the Pathways proxy is out of memory: it used all of its 32Gi; raise its limit with --overlay, or run on machines with more memory"
        self.assertEqual(self.after(lambda: self.api.pods.update({NAME: head(**{"pathways-proxy": 137})}), code=137), want)
        self.assertEqual(self.document("attempts/1.json")["reason"], "Killed")
        ran = self.ended(script(), "print('ran')", "--retries", "0", pod=1)
        self.assertEqual(ran.stdout, "", "there are no retries")
        self.assertTrue(ran.end["message"].endswith(f"the last time: {want}"), ran.end)

    def test_sidecar_without_memory_before_sigterm(self):
        process = self.begin(script(), "import signal\nprint('ready', flush=True)\nsignal.pause()", "--retries", "1")
        while (line := process.stdout.readline()) != b"ready\n":
            self.assertTrue(line)
        self.api.pods[NAME] = head(**{"pathways-rm": 137})
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process).code, 137)
        record = self.document("attempts/1.json")
        self.assertEqual((record["reason"], self.exists("end.json")), ("Killed", False))
        self.assertIn("the Pathways resource manager is out of memory", record["message"])

    def test_what_a_lost_part_looks_like(self):
        lost = "TPU host 1 was lost (preempted, drained or crashed)"
        cases = {
            "deleted": (lambda pods: pods.pop(f"{NAME}-2"), lost),
            "being deleted": (lambda pods: pods[f"{NAME}-2"]["metadata"].update(deletionTimestamp="2026-11-20T08:20:19Z"), lost),
            "replaced": (lambda pods: pods[f"{NAME}-2"]["metadata"].update(uid="another"), lost),
            "not ready": (lambda pods: pods.update({f"{NAME}-2": worker(1, ready=False)}), lost),
            "crashed": (lambda pods: pods.update({f"{NAME}-2": worker(1, ready=False, ended=1)}), lost),
            "failed": (lambda pods: pods.update({f"{NAME}-2": worker(1, phase="Failed", ready=False)}), lost),
            "restarted": (lambda pods: pods.update({f"{NAME}-2": worker(1, restarts=1, ended=139)}), "TPU host 1 was restarted (exit code 139, Error)"),
            "ended": (lambda pods: pods.update({f"{NAME}-2": worker(1, restarts=1, ended=0)}), "TPU host 1 was restarted (exit code 0, Completed)"),
            "two": (lambda pods: (pods.pop(f"{NAME}-1"), pods.pop(f"{NAME}-2")), lost.replace("1", "0") + ", " + lost),
            "the manager": (
                lambda pods: pods.update({NAME: head(**{"pathways-rm": 139})}),
                "the Pathways resource manager was restarted (exit code 139, Error)",
            ),
            "the proxy, and all that is made again": (
                lambda pods: (pods.update({NAME: head(**{"pathways-proxy": 1})}), pods.pop(f"{NAME}-1"), pods.update({f"{NAME}-2": worker(1, restarts=1, ended=1)})),
                "the Pathways proxy was restarted (exit code 1, Error)",
            ),
            "the proxy": (lambda pods: pods.update({NAME: head(**{"pathways-proxy": 1})}), "the Pathways proxy was restarted (exit code 1, Error)"),
        }
        for name, (change, want) in cases.items():
            with self.subTest(name):
                self.setUp()
                self.assertEqual(self.after(lambda: change(self.api.pods)), want)

    def test_a_job_that_loses_too_many_says_what_it_lost(self):
        lost = self.after(lambda: self.api.pods.update({NAME: head(**{"pathways-rm": 139})}))
        ran = self.ended(script(), "print('ran')", "--max-disruptions", "0", pod=1)
        self.assertEqual((ran.end["reason"], ran.stdout), ("Disrupted", ""))
        self.assertTrue(ran.end["message"].endswith(f"--max-disruptions allows 0; the last time: {lost}"), ran.end)

    def test_a_loss_that_the_cluster_notices_late(self):
        self.change += "\npathways.LOSS_SECONDS = 1000"
        process = self.begin(script(), RAISE.format("IFRT proxy server disconnected"))
        self.eventually(lambda: self.api.gets.count(f"/api/v1/namespaces/ml/pods/{NAME}") > 4, process)
        self.api.pods[f"{NAME}-1"]["metadata"]["deletionTimestamp"] = "2026-11-20T08:20:19Z"
        self.assertEqual(self.finish(process).code, 143)
        self.assertIn("TPU host 0 was lost", self.document("attempts/1.json")["message"])

    def test_sigterm_while_it_looks_is_a_lost_host(self):
        self.change += "\npathways.LOSS_SECONDS = 1000"
        process = self.begin(script(), RAISE.format(DATA_LOSS))
        self.eventually(lambda: self.api.gets.count(f"/api/v1/namespaces/ml/pods/{NAME}") > 4, process)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process).code, 143)
        self.assertEqual(self.document("attempts/1.json")["message"], "its hosts were terminated (preempted, drained or deleted)")
        self.assertFalse(self.exists("end.json"))

    def test_exception_without_a_loss_stays_final(self):
        ran = self.ended(function(), "import jax\ndef f(): raise jax.errors.JaxRuntimeError('INTERNAL: Mosaic failed to compile')")
        self.assertEqual((ran.end["reason"], ran.end["exit_code"]), ("Exception", 1))
        self.assertEqual(ran.end["message"], "jax.errors.JaxRuntimeError: INTERNAL: Mosaic failed to compile")

    def test_other_exceptions_stay_final_whatever_was_lost(self):
        self.api.pods[f"{NAME}-3"] = worker(2, restarts=1, ended=1)
        ran = self.ended(function(), "def f(): raise ValueError('DATA_LOSS')")
        self.assertEqual((ran.end["reason"], ran.end["message"]), ("Exception", "ValueError: DATA_LOSS"))

    def test_hosts_that_have_not_come_are_not_lost(self):
        self.api.pods.update({f"{NAME}-2": worker(1, phase="Pending", ready=False)})
        del self.api.pods[f"{NAME}-3"]
        ran = self.ended(script(), RAISE.format("UNAVAILABLE: no slice"))
        self.assertEqual(ran.end["reason"], "ExitCode", ran.out)

    def test_cluster_that_is_not_to_be_asked(self):
        self.api.refuses = True
        ran = self.ended(function(), "import jax\ndef f(): raise jax.errors.JaxRuntimeError('DATA_LOSS: gone')")
        self.assertEqual(ran.end["reason"], "Exception")
        self.assertIn("warning: cannot look for lost TPU hosts: the API server answered 403", ran.stderr)
        self.assertIn("cannot look for lost TPU hosts", ran.result["warnings"][0])


class Logs(PathwaysCase):
    def part(self, name):
        return self.bucket.read(f"{JOB}/parts/1/{name}.log")

    def parts(self):
        prefix = f"{JOB}/parts/"
        return sorted(name[len(prefix) :] for name in self.bucket.names(prefix))

    def test_the_logs_of_all_parts_are_kept_when_a_call_fails(self):
        self.api.logs = {(f"{NAME}-{number + 1}", "pathways-worker", "false"): b"worker %d\n" % number for number in range(TPU_HOSTS)}
        self.api.logs.update({(NAME, name, "false"): name.encode() + b"\n" for name in HEAD})
        ran = self.ended(function(), "def f(): raise ValueError('boom')")
        self.assertEqual(ran.end["message"], "ValueError: boom")
        self.assertEqual(self.parts(), ["1/proxy.log", "1/rm.log"] + [f"1/worker-{number}.log" for number in range(TPU_HOSTS)])
        self.assertEqual((self.part("rm"), self.part("worker-3")), (b"pathways-rm\n", b"worker 3\n"))
        self.assertEqual(ran.result["warnings"], [])

    def test_only_the_end_of_a_log_is_kept(self):
        self.api.logs[NAME, "pathways-rm", "false"] = b"first\n" + b"x" * (6 << 20) + b"last\n"
        self.ended(function(), "def f(): raise ValueError('boom')")
        self.assertEqual((len(self.part("rm")), self.part("rm")[-6:], self.part("rm")[:1]), (1 << 20, b"xlast\n", b"x"))

    def test_nothing_is_kept_of_a_call_that_succeeds(self):
        self.api.logs[NAME, "pathways-rm", "false"] = b"text\n"
        self.ended(function(), "def f(): pass")
        self.assertEqual(self.parts(), [])

    def test_the_lost_part_is_quoted_from_before_its_restart(self):
        self.api.logs[f"{NAME}-2", "pathways-worker", "true"] = f"I0101 ok\n{E0101}\nI0101 bye\n".encode()
        self.api.logs[NAME, "pathways-rm", "false"] = b"F0101 another\n"
        message = self.after(lambda: self.api.pods.update({f"{NAME}-2": worker(1, restarts=1, ended=139)}))
        self.assertEqual(message, f"TPU host 1 was restarted (exit code 139, Error); worker-1: {E0101}")

    def test_another_part_is_quoted_if_the_log_of_the_lost_one_is_gone(self):
        self.api.logs[NAME, "pathways-rm", "false"] = ("Fatal: " + "x" * 300 + "\n").encode()
        message = self.after(lambda: self.api.pods.pop(f"{NAME}-2"))
        self.assertEqual(message, "TPU host 1 was lost (preempted, drained or crashed); rm: Fatal: " + "x" * 192 + "…")

    def test_an_exception_that_stays_final_quotes_a_part(self):
        self.api.logs[NAME, "pathways-proxy", "false"] = b"I0101 x\nsome ERROR: no room\n"
        ran = self.ended(function(), "import jax\ndef f(): raise jax.errors.JaxRuntimeError('INTERNAL: x')")
        self.assertEqual(ran.end["message"], "jax.errors.JaxRuntimeError: INTERNAL: x; proxy: some ERROR: no room")

    def test_logs_that_do_not_come_are_not_waited_for(self):
        self.change += "\npathways.LOG_SECONDS = 0.1\npathways.Parts.log = lambda *_: __import__('time').sleep(1000)"
        self.assertEqual(self.ended(function(), "def f(): raise ValueError('boom')").end["message"], "ValueError: boom")

    def test_logs_that_are_refused_are_a_warning(self):
        self.api.refuses = True
        ran = self.ended(function(), "def f(): raise ValueError('boom')")
        self.assertRegex(ran.result["warnings"][0], "^the logs of Pathways are not complete: [a-z0-9-]+: the API server answered 403")


if __name__ == "__main__":
    unittest.main()
