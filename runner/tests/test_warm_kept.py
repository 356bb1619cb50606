"""Processes that several hosts keep, and hosts that end before they have met."""

import os
import signal
import socket
import unittest

from fixture import TIMEOUT
from test_warm_hosts import Hosts


class KeptOnHosts(Hosts):
    def test_processes_are_kept_on_all_hosts_or_on_none(self):
        alone = {
            "fails": "while not glob.glob(os.path.join(STORE, os.environ['KINETIC_JOB_ID'], 'logs/1/*')): time.sleep(0.01)\n    1 / 0",
            "leaves a thread": "threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
        }
        kept = "import glob, os, threading, time, kinetic\ndef f():\n  kept = kinetic.keep('calls', list)\n  kept.append(1)\n  print('kept', len(kept))\n  if os.environ['RANK'] == '0':\n    %s"
        for name, what in alone.items():
            with self.subTest(name):
                self.setUp()
                self.calls = 0
                zero, one, port = self.pair("process")
                _, printed = self.values(port, *(kept % what.replace("STORE", repr(self.store)) for what in ("pass", what, "pass", "pass")))
                for number, count in enumerate((1, 2, 1, 2)):
                    self.assertIn(f"kept {count}\n", printed[number])
                    self.assertIn(f"kept {count}\n", self.log_of(f"call-{number}", 1))
                for process in (zero, one):
                    process.kill()

    def test_a_host_that_is_terminated_before_host_0_has_answered(self):
        with socket.create_server(("127.0.0.1", self.port)) as listener:
            listener.settimeout(TIMEOUT)
            one, _ = self.one(1)
            connection, _ = listener.accept()
            one.send_signal(signal.SIGTERM)
            code, told = self.ended(one)
            connection.close()
        self.assertEqual((code, told), (0, ""))


if __name__ == "__main__":
    unittest.main()
