"""The log of a job: copied through, stamped, published in parts, in constant memory."""

import os
import re
import sys
import time
import unittest

from fixture import JOB, PEAK, RunnerCase, command, function, program, read_log, script
from kinetic_runner.text import readable

STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z $")
MIB = 1 << 20


def unstamped(log):
    """The log without its times; every line must have one."""
    lines = log.split("\n")
    rest = lines.pop()
    for line in lines + [rest] * bool(rest):
        assert STAMP.match(line[:28]), line[:40]
    return "\n".join(line[28:] for line in lines + [rest])


class ChangedCase(RunnerCase):
    def start_changed(self, change, argv):
        """Starts the runner with something in it changed."""
        return self.start([sys.executable, "-u", "-c", program(change)] + argv[3:])


class Logs(ChangedCase):
    def test_stdout_is_byte_exact_and_the_part_is_stamped(self):
        text = b"a\n\n\xff\x00 bytes\rprogress\nno end"
        printed = self.start(self.argv(command("cat", "data"), {"data": text})).communicate()[0]
        self.assertEqual(printed, text + b"\x1f\n\x1ekinetic: job %s has ended\n" % JOB.encode())
        stamped = self.read("logs/0/1-1.log").split(b"\n")
        self.assertEqual(b"\n".join(line[28:] for line in stamped), text + b"\x1f\n")
        self.assertTrue(all(STAMP.match(line[:28].decode()) for line in stamped[:-1]))

    def test_streams_stay_apart(self):
        line = "echo out; echo err >&2; printf mo; printf '\\036re' ; printf 'last' >&2"
        ran = self.run_call(command("sh", "-c", line), {"x": ""})
        self.assertEqual((ran.stdout, ran.stderr, ran.err), ("out\nmo\x1ere", "err\nlast\n", ""))
        part = read_log(b"".join(self.parts(1)), stamped=True)
        self.assertEqual(part[2].count("err") + part[2].count("last"), 2)

    def test_json_on_stdout_is_not_disturbed_by_a_library_that_warns(self):
        source = "import json, warnings\nwarnings.warn('old')\nprint(json.dumps({'a': 1}))"
        ran = self.run_call(script(), {"train.py": source})
        self.assertEqual(ran.stdout, '{"a": 1}\n')
        self.assertIn("UserWarning: old", ran.stderr)

    def test_progress_bar_is_shown_while_it_moves(self):
        fifo = os.path.join(self.root, "fifo")
        os.mkfifo(fifo)
        source = f"""
            import sys
            for step in (b"1%", b"\\r2%", b"\\r3%\\n"):
                sys.stdout.buffer.write(step)
                sys.stdout.flush()
                open({fifo!r}).read()
        """
        process = self.start_changed("attempt.PIECE_SECONDS = 0.01", self.argv(script(), {"train.py": source}))
        for want in (b"1%\x1f\n", b"\r2%\x1f\n", b"\r3%\n"):
            self.assertEqual(process.stdout.readline(), want)
            with open(fifo, "wb"):
                pass
        ran = self.finish(process)
        self.assertEqual((ran.code, unstamped(ran.log)), (0, "1%\r2%\r3%\n"))

    BAR = """
        import os, signal, sys

        def bar(*texts):
            for text in texts:
                sys.stderr.write(text)
                sys.stderr.flush()

        def in_a_burst(action):
            # The runner sees all of it at once.
            os.kill(os.getppid(), signal.SIGSTOP)
            action()
            os.kill(os.getppid(), signal.SIGCONT)
    """

    def test_a_bar_and_the_line_below_it(self):
        """As tqdm prints them: a bar ends its line, and the next one is drawn at once."""
        source = self.BAR + """
        for epoch in range(20):
            bar(f"\\r{epoch}:   0%|    | 0/2 [00:00<?, ?it/s]")
            bar(f"\\r{epoch}:  50%|##  | 1/2 [00:00<00:00]")
            if epoch % 2:
                in_a_burst(lambda: (bar(f"\\r{epoch}: 100%|####| 2/2 [00:00<00:00]", "\\n"), print("epoch", epoch)))
            else:
                bar(f"\\r{epoch}: 100%|####| 2/2 [00:00<00:00]", "\\n")
                print("epoch", epoch)
            wait_until_read()
        """
        source = source.replace("import os,", "import fcntl, os, struct, termios, time,").replace("wait_until_read()", self.READ)
        ran = self.run_call(script(), {"train.py": source})
        self.assertEqual(ran.code, 0, ran.out)
        ends = [line for line in ran.raw.decode().split("\n") if "100%" in line or line.startswith("epoch")]
        want = [f"{epoch}: 100%|####| 2/2 [00:00<00:00]" if bar else f"epoch {epoch}" for epoch in range(20) for bar in (True, False)]
        self.assertEqual([line.rpartition("\r")[2] for line in ends], want)

    # Waits until the runner has read both streams.
    READ = "while any(struct.unpack('i', fcntl.ioctl(fd, termios.FIONREAD, b'\\0' * 4))[0] for fd in (1, 2)): time.sleep(0.001)"

    def test_the_next_bar_is_below_the_line(self):
        source = self.BAR + """
        bar("\\r50%")
        in_a_burst(lambda: (bar("\\r100%", "\\n"), print("loss"), bar("\\r0%")))
        """
        ran = self.run_call(script(), {"train.py": source})
        lines = ran.raw.decode().replace("\x1e", "").replace("\x1f", "").split("\n")
        self.assertEqual([line.rpartition("\r")[2] for line in lines if "50%" not in line[-4:]], ["100%", "loss", "0%", "", ""])

    def test_a_line_that_is_printed_while_the_bar_is_read(self):
        """The bar ends, and a line is printed, after the runner has read the one stream, and before it reads the other."""
        fifos = [os.path.join(self.root, name) for name in ("half", "printed")]
        for fifo in fifos:
            os.mkfifo(fifo)
        change = f"""
from kinetic_runner.supervisor import Supervisor
read = Supervisor._read
def between(self, fd):
    data = read(self, fd)
    if data == b"\\r50%":
        for fifo in {fifos!r}:
            open(fifo, "w" if fifo.endswith("half") else "r").close()
    return data
Supervisor._read = between
"""
        source = self.BAR + f"""
        bar("\\r50%")
        open({fifos[0]!r}).close()
        bar("\\r100%", "\\n")
        print("loss")
        sys.stdout.flush()
        open({fifos[1]!r}, "w").close()
        """
        ran = self.finish(self.start_changed(change, self.argv(script(), {"train.py": source})))
        self.assertLess(ran.raw.index(b"100%"), ran.raw.index(b"loss"), ran.raw)

    def test_progress_bar_of_a_local_job(self):
        fifo, path = os.path.join(self.root, "fifo"), os.path.join(self.root, "log")
        os.mkfifo(fifo)
        source = f"import sys\nprint('1%', end='', file=sys.stderr, flush=True)\nopen({fifo!r}).read()\nprint('2%', file=sys.stderr)"
        process = self.start(self.argv(script(), {"train.py": source}, "--log-file", path))
        with open(fifo, "wb"):
            while not os.path.exists(path) or not os.path.getsize(path):
                self.assertIsNone(process.poll())
                time.sleep(0.01)
        self.assertEqual(self.finish(process).code, 0)
        with open(path, "rb") as file:
            self.assertEqual([line[28:] for line in file], [b"\x1e1%\x1f\n", b"\x1e2%\n"])

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
        source = "import sys\nfor n in range(200_000): sys.stdout.write(f'line {n} ' + 'x' * 40 + '\\n')\n"  # print would write a line in pieces
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

    def test_endless_line_is_in_parts_of_whole_lines(self):
        ran = self.run_call(script(), {"train.py": "import sys; sys.stdout.write('short\\n' + 'x' * (20 << 20))"})
        parts = self.parts(1)
        self.assertEqual(len(parts), 3)
        for part in parts:
            self.assertTrue(part.endswith(b"\n") and len(part) <= 8 * MIB)
        self.assertEqual(ran.out, "short\n" + "x" * (20 * MIB))
        self.assertEqual(unstamped(ran.log), ran.out)

    def test_parts_are_published_while_the_call_runs(self):
        part = os.path.join(self.store, JOB, "logs/0/1-1.log")
        source = f"""
            import os
            print("early")
            print("unfinished", end="")
            while not os.path.exists({part!r}):
                os.sched_yield()
            print(" line")
        """
        ran = self.finish(self.start_changed("errands.PART_SECONDS = 0.05", self.argv(script(), {"train.py": source})))
        self.assertEqual((ran.code, unstamped(ran.log)), (0, "early\nunfinished line\n"))
        self.assertEqual(unstamped(self.parts(1)[0].decode()), "early\n")

    def test_memory_does_not_grow_with_the_log(self):
        peaks = []
        report = PEAK + "import atexit; atexit.register(lambda: print(peak(), file=sys.stderr))"
        for lines in (10, 400_000):
            self.setUp()
            source = f"import sys\nfor n in range({lines} // 10): sys.stdout.write('line %d\\n' % n * 10)"
            argv = self.argv(script(), {"train.py": source}, "--log-file", os.path.join(self.root, "log"))
            ran = self.finish(self.start_changed(report, argv))
            peaks.append(int(ran.err))
            self.assertEqual(ran.log.count("\n"), lines)
        self.assertLess(peaks[1] - peaks[0], 16 * MIB)

    def test_log_file_that_somebody_cuts_does_not_cost_the_result(self):
        path = os.path.join(self.root, "log")
        source = f"""
            import os
            def f():
                print("x" * 100, flush=True)
                while not os.path.getsize({path!r}): os.sched_yield()
                os.truncate({path!r}, 0)
                return 1
        """
        ran = self.run_call(function(), {"train.py": source}, "--log-file", path)
        self.assertEqual((ran.code, ran.result["value"]), (0, 1))
        self.assertIn(f"the log file {path} was truncated", ran.result["warnings"][0])

    def test_messages_of_the_runner_stand_on_their_own_line(self):
        for stream, out in (("", ["no end", ""]), (" >&2", ["", "no end\n"])):
            with self.subTest(stream):
                self.setUp()
                ran = self.run_call(command("sh", "-c", f"printf 'no end'{stream}; kill -9 $$"), {"x": ""})
                self.assertEqual(ran.stdout, out[0])
                self.assertTrue(ran.stderr.startswith(out[1] + "kinetic: sh was killed by SIGKILL"), ran.stderr)
                part = b"\n".join(line[28:] for line in self.parts(1)[0].split(b"\n"))
                self.assertEqual(part, ran.raw)

    def test_reader_that_goes_away_does_not_end_the_job(self):
        process = self.start(self.argv(script(), {"train.py": "print('first')\nfor n in range(50_000): print(n)"}))
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(), 0)
        self.assertEqual(self.log(1).count("\n"), 50_001)


class NoRoom(ChangedCase):
    """A disk that takes no file of more than 1 MiB."""

    LIMIT = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n"

    def run_limited(self, source, change=""):
        return self.finish(self.start_changed(self.LIMIT + change, self.argv(function(), {"train.py": source})))

    def test_call_goes_on_and_is_not_repeated(self):
        ran = self.run_limited("def f():\n  for n in range(30_000): print('line', n, 'x' * 90)\n  return 'done'")
        self.assertEqual((ran.code, ran.end["state"], ran.result["value"]), (0, "SUCCEEDED", "done"))
        lines = [f"line {n} {'x' * 90}\n" for n in range(30_000)]
        self.assertEqual(ran.stdout, "".join(lines))
        self.assertEqual(ran.stderr.count("\n"), 2)
        self.assertIn(f"kinetic: warning: no room for the log in {self.work}/scratch/log: ", ran.stderr)
        (warning,) = ran.result["warnings"]
        self.assertRegex(warning, r"^\d\.\d MiB of the log are not in the store: no room in ")
        kept = [line for line in unstamped(ran.log).splitlines(keepends=True) if not line.startswith("kinetic: ")]
        self.assertEqual(kept[:5000], lines[:5000])
        self.assertEqual(kept, sorted(set(kept) & set(lines), key=lambda line: int(line.split()[1])), "whole lines, in order")

    def test_room_that_is_found_again_is_used(self):
        log, printed = f"{self.work}/scratch/log", f"{self.work}/printed"
        source = f"""
            import os, time
            def f():
                for n in range(10_000): print("x" * 200)
                open({printed!r}, "w").close()
                while os.path.getsize({log!r}) > 1 << 19: time.sleep(0.01)
                for n in range(10): print("again", n)
        """
        publish_when_printed = f"""
import os, time
errands.PART_SECONDS = 0.1
publish_all = spool.LogParts.publish_all
def publish_when_printed(*args):
    while not os.path.exists({printed!r}): time.sleep(0.01)
    publish_all(*args)
spool.LogParts.publish_all = publish_when_printed
"""
        ran = self.run_limited(source, publish_when_printed)
        self.assertEqual(ran.code, 0, ran.out)
        lines = unstamped(ran.log).splitlines()
        self.assertEqual(lines[-11:-1] if lines[-1].startswith("kinetic: warning") else lines[-10:], [f"again {n}" for n in range(10)])
        missing = [re.fullmatch(r"kinetic: (\d+) bytes of the log are missing here", line) for line in lines]
        told = sum(int(match[1]) for match in missing if match)
        self.assertGreater(told, 0)
        self.assertTrue(ran.result["warnings"][0].startswith(f"{readable(told)} of the log are not in the store"), ran.result["warnings"])


if __name__ == "__main__":
    unittest.main()
