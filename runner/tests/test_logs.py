"""The log: copied through, stamped, published in parts, in constant memory."""

import os
import re
import sys
import threading
import unittest
import unittest.mock

from fixture import JOB, RUNNER, RunnerCase, command, function, remote_runner, script

STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z $")
MIB = 1 << 20


def unstamped(log):
    """The log without its times; every line must have one."""
    lines = log.split("\n")
    rest = lines.pop()
    for line in lines + [rest] * bool(rest):
        assert STAMP.match(line[:28]), line[:40]
    return "\n".join(line[28:] for line in lines + [rest])


class SpoolCase(RunnerCase):
    def spool(self, keep):
        self.path = os.path.join(self.root, f"spool-{keep}")
        spool = remote_runner.Spool(self.path, keep)
        self.addCleanup(os.close, spool.fd)
        return spool

    def content(self):
        with open(self.path, "rb") as file:
            return file.read()


class LogTest(SpoolCase):
    def test_a_line_has_the_time_before_it_is_printed(self):
        spool = self.spool(True)
        written = []
        parts = {"write_all": lambda fd, data: written.append((fd, data)), "timestamp": lambda: str(len(written))}
        with unittest.mock.patch.multiple(remote_runner, **parts):
            remote_runner.Log(spool, 1).write(b"one\n")
        self.assertEqual(written, [(1, b"one\n"), (spool.fd, b"0 one\n")])


class SpoolTest(SpoolCase):
    def test_every_line_is_stamped_once_however_it_arrives(self):
        text = b"one\n\ntwo\rtwo\nthree\n\nend"
        for size in range(1, len(text) + 1):
            spool = self.spool(keep=False)
            for start in range(0, len(text), size):
                spool.append(text[start : start + size])
            self.assertEqual(unstamped(self.content().decode()), text.decode())
            self.assertEqual((spool.pending, spool.line_open), (len(self.content()), True))

    def test_whole_lines(self):
        spool = self.spool(keep=False)
        self.assertEqual(spool.whole_lines(100), 0)
        spool.append(b"ab\n")
        spool.append(b"cd\n")
        spool.append(b"x" * (3 * MIB))
        line = 28 + 3
        for limit, want in ((10, 0), (line - 1, 0), (line, line), (2 * line, 2 * line), (4 * MIB, 2 * line)):
            self.assertEqual(spool.whole_lines(limit), want, limit)

    def test_released_bytes_leave_the_disk_unless_the_file_is_kept(self):
        for keep in (False, True):
            spool = self.spool(keep)
            spool.append(b"first\n")
            length = spool.pending
            spool.append(b"second\nthird")
            before = self.content()
            spool.release(length)
            spool.append(b", fourth\n")
            self.assertEqual(b"".join(spool.blocks(spool.pending)), self.content()[length if keep else 0 :])
            self.assertTrue(self.content().startswith(before if keep else before[length:]))
            self.assertTrue(unstamped(self.content().decode()).endswith("second\nthird, fourth\n"))


    def test_what_is_pending_is_moved_only_when_that_pays(self):
        with unittest.mock.patch.object(remote_runner, "PART_BYTES", 0):
            spool = self.spool(keep=False)
            spool.append(b"1\n")
            first = spool.pending
            spool.append(b"2\n3\n")
            whole = self.content()
            spool.release(first)
            self.assertEqual(self.content(), whole)
            spool.release(first)
            self.assertEqual(self.content(), whole[2 * first :])
            self.assertEqual(b"".join(spool.blocks(spool.pending)), whole[2 * first :])

    def test_one_thread_appends_and_another_publishes(self):
        spool, got = self.spool(keep=False), []
        writer = threading.Thread(target=lambda: [spool.append(b"line %d\n" % n) for n in range(20_000)])
        writer.start()
        while writer.is_alive() or spool.pending:
            if length := spool.whole_lines(10_000):
                got += spool.blocks(length)
                spool.release(length)
        writer.join()
        self.assertEqual(unstamped(b"".join(got).decode()), "".join(f"line {n}\n" for n in range(20_000)))


class FailingStore:
    """A store that fails so many times, then takes everything."""

    def __init__(self, failures):
        self.failures, self.parts = failures, {}

    def create(self, name, source):
        if self.failures:
            self.failures -= 1
            raise OSError("not now")
        self.parts[name] = b"".join(source())


class LogPartsTest(SpoolCase):
    def test_what_could_not_be_stored_stays_pending(self):
        store = FailingStore(failures=2)
        parts = remote_runner.LogParts(store, "job", 0, 1)
        spool = self.spool(keep=False)
        spool.append(b"one\ntwo")
        with self.assertRaises(OSError):
            parts.publish_lines(spool)
        with self.assertRaises(OSError):
            parts.publish_all(spool)
        want = self.content()
        parts.publish_lines(spool)
        parts.publish_all(spool)
        parts.publish_all(spool)
        self.assertEqual(list(store.parts), ["job/logs/0/1-1.log", "job/logs/0/1-2.log"])
        self.assertEqual(b"".join(store.parts.values()), want)


class FileStoreTest(RunnerCase):
    def test_what_is_refused_is_tried_again(self):
        local = remote_runner.neighbour("remote_local")
        store, tries = local.FileStore(self.store_url), []

        def refused(times):
            tries.append(times)
            if len(tries) <= times:
                raise OSError("not now")
            return [b"1"]

        with unittest.mock.patch.object(local, "RETRY_DELAYS", (0, 0)):
            store.create("x", lambda: refused(2))
            with store.open("x") as file:
                self.assertEqual(file.read(), b"1")
            with self.assertRaises(remote_runner.AlreadyExists):
                store.create("x", lambda: refused(0))
            tries.clear()
            with self.assertRaisesRegex(OSError, "not now"):
                store.write("x", lambda: refused(9))
        self.assertEqual(tries, [9] * 3)


class Logs(RunnerCase):
    def test_stdout_is_byte_exact_and_the_part_is_stamped(self):
        text = b"a\n\n\xff\x00 bytes\rprogress\nno end"
        ran_bytes = self.start(self.argv(command("cat", "data"), {"data": text})).communicate()[0]
        self.assertEqual(ran_bytes, text + b" [no line end]\nkinetic: job %s has ended\n" % JOB.encode())
        part = self.read("logs/0/1-1.log")
        stamped = [line for line in part.split(b"\n")]
        self.assertEqual(b"\n".join(line[28:] for line in stamped), text)
        self.assertTrue(all(STAMP.match(line[:28].decode()) for line in stamped))

    def test_the_end_is_said_on_a_line_of_its_own_once_it_is_final(self):
        for line, code, want in (("echo x", 0, "x\n"), ("printf x", 0, "x"), ("echo x; exit 7", 7, "x\n"), ("exit 0", 0, "")):
            with self.subTest(line):
                self.setUp()
                ran = self.run_call(command("sh", "-c", line), {"x": ""})
                self.assertEqual((ran.code, ran.out, ran.said_end), (code, want, True))
                self.assertNotIn("has ended", ran.log if want else "")
        self.setUp()
        ran = self.run_call(command("sh", "-c", "kill -9 $$"), {"x": ""})
        self.assertEqual((ran.code, ran.said_end), (137, False), "another attempt may follow")

    def test_no_output_no_part(self):
        self.run_call(command("true"), {"x": ""})
        self.assertEqual(self.parts(1), [])

    def test_log_file_is_the_parts_joined_and_stdout_is_silent(self):
        path = os.path.join(self.root, "log")
        source = "for n in range(200_000): print('line', n, 'x' * 40)\n"
        ran = self.run_call(script(), {"train.py": source}, "--log-file", path)
        self.assertEqual((ran.code, ran.out, ran.err), (0, "", ""))
        with open(path, "rb") as file:
            log = file.read()
        parts = self.parts(1)
        self.assertEqual(b"".join(parts), log)
        self.assertEqual(unstamped(log.decode()), "".join(f"line {n} {'x' * 40}\n" for n in range(200_000)))
        self.assertGreater(len(parts), 1)
        for part in parts:
            self.assertLessEqual(len(part), 8 * MIB)
            self.assertTrue(part.endswith(b"\n"))

    def test_scratch_stays_small(self):
        ran = self.run_call(script(), {"train.py": "for n in range(300): print('x' * 100_000)"})
        self.assertEqual(ran.code, 0)
        self.assertEqual(ran.log.count("\n"), 300)
        self.assertEqual(os.path.getsize(os.path.join(self.work, "scratch/log")), 0)

    def test_endless_line_is_cut(self):
        ran = self.run_call(script(), {"train.py": "import sys; sys.stdout.write('short\\n' + 'x' * (20 << 20))"})
        parts = self.parts(1)
        self.assertEqual([len(part) for part in parts[1:3]], [8 * MIB, 8 * MIB])
        self.assertTrue(parts[0].endswith(b"short\n"))
        self.assertFalse(parts[2].startswith(b"2"))
        self.assertEqual(unstamped(ran.log), ran.out)

    def driver(self, before, after=""):
        """A command line that runs the runner with something changed."""
        code = f"import sys; sys.path.insert(0, {os.path.dirname(RUNNER)!r}); import remote_runner as r\n{before}\ncode = r.main(sys.argv[1:])\n{after}\nsys.exit(code)"
        return [sys.executable, "-u", "-c", code]

    def test_parts_are_published_while_the_call_runs(self):
        part = os.path.join(self.store, "cpu-train-20261120-082019-abc1234/logs/0/1-1.log")
        source = f"""
            import os
            print("early")
            print("unfinished", end="")
            while not os.path.exists({part!r}):
                os.sched_yield()
            print(" line")
        """
        argv = self.driver("r.PART_SECONDS = 0.05") + self.argv(script(), {"train.py": source})[3:]
        self.assertEqual(self.finish(self.start(argv)).code, 0)
        parts = [unstamped(part.decode()) for part in self.parts(1)]
        self.assertEqual(parts, ["early\n", "unfinished line\n"])

    def test_memory_does_not_grow_with_the_log(self):
        peaks = []
        for lines in (10, 400_000):
            self.setUp()
            report = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
            source = f"import sys\nfor n in range({lines} // 10): sys.stdout.write('line %d\\n' % n * 10)"
            argv = self.driver("", report) + self.argv(script(), {"train.py": source}, "--log-file", os.path.join(self.root, "log"))[3:]
            # Swept stragglers would include the driver, so it leads no group.
            ran = self.finish(self.start(["sh", "-c", '"$@"; exit', "sh"] + argv))
            peaks.append(int(ran.err))
            self.assertEqual(ran.log.count("\n"), lines)
        unit = 1 if sys.platform == "darwin" else 1024
        self.assertLess((peaks[1] - peaks[0]) * unit, 16 * MIB)

    def test_log_file_that_somebody_cuts_does_not_cost_the_result(self):
        path = os.path.join(self.root, "log")
        ran = self.run_call(function(), {"train.py": f"import os\ndef f():\n  print('x' * 100)\n  while not os.path.getsize({path!r}): os.sched_yield()\n  os.truncate({path!r}, 0)\n  return 1"}, "--log-file", path)
        self.assertEqual((ran.code, ran.result["value"]), (0, 1))
        self.assertIn("the log file was cut", ran.result["warnings"][0])

    def test_messages_of_the_runner_stand_on_their_own_line(self):
        ran = self.run_call(command("sh", "-c", "printf 'no end'; kill -9 $$"), {"x": ""})
        self.assertEqual(ran.out.split("\n")[:1], ["no end"])
        self.assertTrue(ran.out.split("\n")[1].startswith("kinetic: sh was killed by SIGKILL"))
        self.assertEqual(unstamped(ran.log), ran.out)

    def test_reader_that_goes_away_does_not_end_the_job(self):
        process = self.start(self.argv(script(), {"train.py": "print('first')\ninput if 0 else None\nfor n in range(50_000): print(n)"}))
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(), 0)
        self.assertEqual(self.log(1).count("\n"), 50_001)


if __name__ == "__main__":
    unittest.main()
