"""What --debug adds: the call waits for a debugger, here a stand-in for debugpy that says what it is asked."""

import unittest

from fixture import RunnerCase, function, script

DEBUGPY = """
    import os, sys, threading

    COMES, BUSY = (os.environ.get("DEBUGGER") == state for state in ("comes", "busy"))
    too_early = threading.Event()

    class WaitForClient:
        def __call__(self):
            if BUSY:
                too_early.wait()
            given_up = threading.Event()
            self.cancel = given_up.set
            COMES or given_up.wait()

        @staticmethod
        def cancel():
            too_early.set()
            raise RuntimeError("wait_for_client() must be called first")

    def listen(address):
        if os.environ.get("DEBUGGER") == "refuses":
            raise RuntimeError("Can't listen for client connections: [Errno 98] Address already in use")
        print("listens", address)

    wait_for_client = WaitForClient()

    def is_client_connected():
        return COMES

    def breakpoint():
        caller = sys._getframe().f_back
        print("stops in", caller.f_code.co_name)
"""
TRAIN = "print('begins')\ndef f(): return 1\n"
NEVER = {"KINETIC_DEBUG": "1", "KINETIC_DEBUG_WAIT_TIMEOUT": "0.01"}
COMES = {"KINETIC_DEBUG": "1", "DEBUGGER": "comes"}


class Debug(RunnerCase):
    def run_debugged(self, call, env, source=TRAIN, **files):
        return self.run_call(call, {"train.py": source, "debugpy.py": DEBUGPY, **files}, env=env)

    def test_a_function_is_stopped_before_its_call(self):
        ran = self.run_debugged(function(), COMES)
        self.assertEqual(ran.stdout, "listens ('127.0.0.1', 5678)\nbegins\nstops in value_of\n")
        job = "cpu-train-20261120-082019-abc1234"
        self.assertEqual(ran.stderr, f"kinetic: waiting up to 600 seconds for a debugger on port 5678: attach with kubectl kinetic jobs debug {job}\n")
        self.assertEqual((ran.code, ran.result["value"]), (0, 1))

    def test_who_does_not_come_is_not_waited_for(self):
        ran = self.run_debugged(function(), NEVER)
        self.assertIn("waiting up to 0.01 seconds", ran.stderr)
        self.assertIn("kinetic: no debugger attached in time: the call starts without one, and you can still attach\n", ran.stderr)
        self.assertTrue(ran.stdout.endswith("\nbegins\n"), ran.stdout)
        self.assertEqual((ran.code, ran.result["value"]), (0, 1))

    def test_time_that_is_over_before_the_wait_begins(self):
        ran = self.run_debugged(function(), dict(NEVER, DEBUGGER="busy"))
        self.assertIn("kinetic: no debugger attached in time", ran.stderr)
        self.assertEqual((ran.code, ran.result["value"]), (0, 1))

    def test_another_port(self):
        ran = self.run_debugged(function(), dict(NEVER, KINETIC_DEBUG_PORT="4711"))
        self.assertIn("listens ('127.0.0.1', 4711)\n", ran.out)

    def test_a_script_is_what_python_makes_of_it(self):
        source = """
            import json, os, sys, runpy
            print(json.dumps([__name__, os.path.relpath(__file__, os.getcwd()), sys.argv[1:], os.path.relpath(sys.path[0], os.getcwd())]))
            print(os.environ.get("KINETIC_DEBUG"), sys.modules["__main__"].sys is sys, queue_is_ours())
        """.replace("import json", "from queue import queue_is_ours; import json")
        files = {"sub/train.py": source, "sub/queue.py": "def queue_is_ours(): return True", "debugpy.py": DEBUGPY}
        ran = self.run_call(script("sub/train.py", "-x", "a b"), files, env=COMES)
        self.assertIn('stops in main\n["__main__", "sub/train.py", ["-x", "a b"], "sub"]\nNone True True\n', ran.stdout)
        self.assertEqual(ran.code, 0, ran.out)

    def test_the_exit_code_of_a_script_is_its_own(self):
        ran = self.run_debugged(script(), NEVER, source="import sys; sys.exit(7)")
        self.assertEqual((ran.code, ran.end["reason"]), (7, "ExitCode"))

    def test_a_script_that_leaves_after_SIGTERM_has_not_finished(self):
        source = "import os, signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit()); os.kill(os.getppid(), signal.SIGTERM); signal.pause()"
        ran = self.run_debugged(script(), NEVER, source=source)
        self.assertEqual(ran.code, 143)

    def test_a_module(self):
        call = {"version": 1, "kind": "module", "module": "pkg", "args": ["-x"], "cwd": "", "sys_path": []}
        files = {"pkg/__init__.py": "", "pkg/__main__.py": "import sys; print(__name__, __package__, sys.argv[1:])", "debugpy.py": DEBUGPY}
        ran = self.run_call(call, files, env=COMES)
        self.assertIn("stops in main\n__main__ pkg ['-x']\n", ran.stdout)

    def test_without_debugpy_nothing_runs_and_what_to_add_is_said(self):
        for call in (function(), script()):
            with self.subTest(call["kind"]):
                self.setUp()
                ran = self.run_call(call, {"train.py": TRAIN, "debugpy.py": "raise ModuleNotFoundError(\"No module named 'debugpy'\")"}, env=COMES)
                said = "--debug needs the package debugpy (No module named 'debugpy'): install it where the job runs, or add it to the project"
                self.assertEqual(ran.out, f"kinetic: {said}\n")
                message = said if call["kind"] == "function" else "train.py ended with exit code 1"
                self.assertEqual((ran.code, ran.end["reason"], ran.end["message"]), (1, "ExitCode", message))

    def test_what_keeps_the_debugger_away_is_told(self):
        for env, want in (
            ({"DEBUGGER": "refuses"}, "on port 5678 for 600 seconds: Can't listen for client connections: [Errno 98] Address already in use\n"),
            ({"KINETIC_DEBUG_PORT": "x"}, "on port x for 600 seconds: invalid literal"),
            ({"KINETIC_DEBUG_WAIT_TIMEOUT": "soon"}, "on port 5678 for soon seconds: could not convert string to float: 'soon'\n"),
        ):
            with self.subTest(env):
                self.setUp()
                ran = self.run_debugged(function(), dict(env, KINETIC_DEBUG="1"))
                self.assertIn("kinetic: cannot wait for a debugger " + want, ran.stderr)
                self.assertEqual(ran.code, 1)

    def test_without_the_flag_nothing_is_imported(self):
        ran = self.run_call(function(), {"train.py": TRAIN, "debugpy.py": "raise SystemError"})
        self.assertEqual(ran.out, "begins\n")


if __name__ == "__main__":
    unittest.main()
