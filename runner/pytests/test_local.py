# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Programs whose functions run as jobs on this machine, through the real binaries."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from conftest import Project

TRAIN = """
import os, sys, threading
import kinetic

kinetic.configure(local=True, logs="none")

class Odd(Exception):
    def __init__(self, number):
        super().__init__(number)
        self.number = number
    def __str__(self): return f"{self.number} is odd"

class Picky(Exception):
    def __init__(self, one, two):
        super().__init__("picky")
        self.one = one

class Pickier(Picky):
    def __new__(cls, one, two): return super().__new__(cls)

class Point:
    def __init__(self, x): self.x = x

@kinetic.run()
def half(number):
    print("halving", number)
    if number % 2:
        raise Odd(number)
    return number // 2

@kinetic.run
def picky(x):
    raise (Picky if x else Pickier)(1, 2)

@kinetic.run()
def point(x): return Point(x)

@kinetic.run()
async def later(x): return x

@kinetic.run()
def lock(): return {"inner": [threading.Lock()]}

@kinetic.run()
def leave(code): sys.exit(code)

@kinetic.run()
def interrupt(): raise KeyboardInterrupt

@kinetic.run()
def die(): os._exit(3)

@kinetic.run()
def here(): return os.path.relpath(__file__), "KINETIC_JOB_ID" in os.environ, half(8)

@kinetic.run()
def size(path): return sorted(os.listdir(path)), type(path).__name__

@kinetic.run(env={"COLOUR": "blue"}, secrets=["TOKEN"], volumes={})
def environment(): return os.environ["COLOUR"], os.environ["TOKEN"]

@kinetic.run()
def write(text):
    with open(os.path.join(os.environ["KINETIC_OUTPUT_DIR"], "out.txt"), "w") as file:
        file.write(text)

def caught(call, *args):
    try:
        call(*args)
    except Exception as exc:
        return exc
    raise AssertionError("nothing was raised")
"""

VALUES = {
    "a value": ("half(8)", "4"),
    "None": ("leave(0)", "None"),
    "an object of a class of the script": ("type(point(3)) is Point and point(3).x", "3"),
    "an async function": ("later(x=5)", "5"),
    "the script's file, the job's id, a plain call": ("here()", "('main.py', True, 4)"),
    "its own exception": ("(lambda exc: (type(exc) is Odd, exc.number, str(exc)))(caught(half, 3))", "(True, 3, '3 is odd')"),
    "an exception with an __init__ of its own": ("(lambda exc: (type(exc) is Picky, str(exc), exc.one))(caught(picky, 1))", "(True, 'picky', 1)"),
    "an exception that can't be loaded": (
        "(lambda exc: (type(exc).__name__, exc.type.endswith('Pickier'), 'raise (Picky' in exc.traceback))(caught(picky, 0))",
        "('RemoteError', True, True)",
    ),
    "an exception that would end this program": (
        "(lambda exc: (type(exc).__name__, exc.type, str(exc).partition('  (')[2]))(caught(interrupt))",
        "('RemoteError', 'KeyboardInterrupt', 'a KeyboardInterrupt is not raised as itself: here it would mean that this program is to end)')",
    ),
    "sys.exit": ("type(caught(leave, 'no rows')).__name__", "RemoteError"),
    "a process that dies": ("type(caught(die)).__name__", "RemoteError"),
    "the environment": ("environment()", "('blue', 'x')"),
}


@pytest.mark.parametrize("expression, text", VALUES.values(), ids=VALUES)
def test_calls(local: Project, expression: str, text: str) -> None:
    done = local.run(f"{TRAIN}\nprint({expression})", env={"TOKEN": "x"})
    assert done.stdout == text + "\n"


def test_remote_traceback_is_the_cause(local: Project) -> None:
    done = local.run(f"{TRAIN}\nhalf(3)", code=1)
    assert "kinetic.errors.RemoteTraceback" in done.stderr
    assert "(host 0, attempt 1)\nTraceback (most recent call last):" in done.stderr
    number = next(number for number, line in enumerate(TRAIN.splitlines(), 1) if "raise Odd" in line)
    assert f'  File "main.py", line {number}, in half\n    raise Odd(number)\n' in done.stderr
    assert done.stderr.endswith("Odd: 3 is odd\n")


STACKS = {
    "a call": ("half(3)", 1),
    "a handle": ("half.run_async(3).result()", 1),
    "an error of the package": ("half.with_options(flags=['--nosuch'])(3)", 1),
}


@pytest.mark.parametrize("statement, frames", STACKS.values(), ids=STACKS)
def test_stack_has_little_of_the_package(local: Project, statement: str, frames: int) -> None:
    """The stack of the last exception: what the package adds tells users nothing, unless something went wrong in it."""
    done = local.run(f"{TRAIN}\n{statement}", code=1)
    stack = done.stderr.rpartition("Traceback (most recent call last):")[2]
    assert f'in <module>\n    {statement}\n' in stack
    count = stack.count('/runner/kinetic/')
    assert count == frames if frames == 1 else count >= frames, stack


def test_result_that_cannot_be_pickled(local: Project) -> None:
    done = local.run(f"{TRAIN}\nexc = caught(lock)\nprint(exc)\nprint(exc.repr)")
    assert "['inner'][0]" in done.stdout
    assert "lock" in done.stdout.splitlines()[-1]


def test_log_goes_to_stderr(local: Project) -> None:
    done = local.run(TRAIN.replace('logs="none"', 'logs="stderr"') + "\nprint(half(8))")
    assert done.stdout == "4\n"
    assert "halving 8\n" in done.stderr


def test_what_the_program_prints_to_is_not_packaged(local: Project) -> None:
    local.write("main.py", TRAIN + "\n@kinetic.run(logs='stderr')\ndef files():\n    return sorted(os.listdir())\nfor _ in range(2):\n    print(files(), flush=True)\n")
    with open(local.directory / "out.txt", "wb") as out, open(local.directory / "err.txt", "wb") as err:
        subprocess.run([sys.executable, "main.py"], cwd=local.directory, env=local.environment({}), stdout=out, stderr=err, timeout=120, check=True)
    listed = (local.directory / "out.txt").read_text().splitlines()
    assert len(listed) == 2
    assert all("main.py" in line and ".txt" not in line for line in listed), listed


def test_data_is_a_path(local: Project) -> None:
    local.write("images/1.png", "one")
    done = local.run(f"{TRAIN}\nprint(size(kinetic.Data('images')))")
    assert done.stdout == "(['1.png'], 'str')\n"


def test_data_with_a_comma_in_its_path(local: Project) -> None:
    local.write("images/1.png", "one")
    local.write("images,fuse/2.png", "two")
    done = local.run(f"{TRAIN}\nprint(size(kinetic.Data('images,fuse')))")
    assert done.stdout == "(['2.png'], 'str')\n"


def test_method_and_module_of_the_project(local: Project) -> None:
    local.write(
        "models.py",
        """
        import kinetic

        class Model:
            def __init__(self, scale): self.scale = scale

            @kinetic.run(local=True, logs="none")
            def predict(self, value):
                self.scale += 1
                return self.scale * value
        """,
    )
    done = local.run("from models import Model\nmodel = Model(2)\nprint(model.predict(5), model.scale)")
    assert done.stdout == "15 2\n"


def test_detached(local: Project) -> None:
    text = """
    job = half.run_async(8)
    print(job.wait(timeout=60).value, job.status().value)
    print(job.tail(1), end="")
    again = kinetic.attach(job.job_id, local=True)
    print(again.func_name, [each.job_id for each in kinetic.list_jobs(local=True)] == [job.job_id])
    print(again.result(cleanup=False), again.result())
    print(job.status().value)
    """
    done = local.run(TRAIN + "\n".join(line.strip() for line in text.splitlines()))
    assert done.stdout.splitlines() == ["SUCCEEDED SUCCEEDED", "halving 8", "half True", "4 4", "NOT_FOUND"]


def test_other_process_fetches_the_result(local: Project) -> None:
    handle = local.run(f"{TRAIN}\nprint(half.run_async(8).to_json())").stdout
    done = local.run(f"import kinetic\njob = kinetic.JobHandle.from_json({handle!r})\nprint(job.result(timeout=60))", name="other.py")
    assert done.stdout == "4\n"


def test_await(local: Project) -> None:
    text = "\nimport asyncio\nasync def main(): return await asyncio.gather(half.run_async(8), half.submit(6))\nprint(asyncio.run(main()))"
    assert local.run(TRAIN + text).stdout == "[4, 3]\n"


def test_rerun(local: Project) -> None:
    text = """
    job = half.run_async(8)
    print(job.result(cleanup=False))
    again = job.rerun(name="again")
    print("again" in again.job_id, again.result())
    exc = caught(lambda: again.rerun())
    print(type(exc).__name__, "the call of that job was deleted from the store" in str(exc))
    exc = caught(lambda: job.rerun({"n": 4}))
    print(type(exc).__name__, "its arguments are pickled" in str(exc))
    """
    done = local.run(TRAIN + "\n".join(line.strip() for line in text.splitlines()))
    assert done.stdout.splitlines() == ["4", "True 4", "UsageError True", "UsageError True"]


def test_outputs(local: Project) -> None:
    text = "\njob = write.run_async('hello')\njob.wait()\nprint(job.outputs(), job.outputs(to='copy'), open('copy/out.txt').read())"
    assert local.run(TRAIN + text).stdout == "['out.txt'] ['out.txt'] hello\n"



def test_debugging_what_is_not_debugged(local: Project) -> None:
    text = "\njob = half.run_async(8)\nexc = caught(job.debug_attach)\nprint(type(exc).__name__, 'was not submitted with --debug' in str(exc))"
    done = local.run(TRAIN + text)
    assert (done.stdout, done.stderr) == ("UsageError True\n", "")


def test_volumes_are_links_while_the_job_runs(local: Project) -> None:
    text = """
words = os.path.join(os.getcwd(), "words")
os.makedirs("data/words")
open("data/words/a.txt", "w").close()

@kinetic.run(volumes={words: kinetic.Data("data/words"), "/nowhere/words": kinetic.Data("data/words/a.txt")})
def read(path):
    return os.listdir(path), os.path.samefile(path, os.environ["KINETIC_VOLUME_0"]), os.listdir(os.environ["KINETIC_VOLUME_1"])
print(read(words))
"""
    done = local.run(TRAIN.replace('logs="none"', 'logs="stderr"') + text)
    assert done.stdout == "(['a.txt'], True, ['a.txt'])\n"
    assert "warning: --volume: no link can be made at /nowhere/words" in done.stderr


SAID = {
    "volumes": ({"volumes": "{'/usr': kinetic.Data('.')}"}, "in Python: volumes= for --volume"),
    "no cluster": ({"local": "False"}, "in Python: local=True for --local"),
    "what the package follows itself": ({"debug": "True", "retries": "1", "flags": "['--nosuch']"}, "unknown flag: --nosuch"),
}


@pytest.mark.parametrize("options, text", SAID.values(), ids=SAID)
def test_errors_of_the_binaries_name_parameters(local: Project, options: dict[str, str], text: str) -> None:
    words = ", ".join(f"{name}={value}" for name, value in options.items())
    program = TRAIN + f"\nprint(caught(half.with_options({words}), 8))"
    assert text in local.run(program, env={"KINETIC_NO_TTY_DEBUG": "1"}).stdout


def test_job_that_submits_jobs(local: Project) -> None:
    text = "\n@kinetic.run()\ndef outer(): return half.run_async(8).result()\nprint(outer())"
    assert local.run(TRAIN + text).stdout == "4\n"


def test_job_of_which_nothing_is_left(local: Project) -> None:
    text = "\njob = half.run_async(8)\njob.wait()\njob.cleanup()\njob.cleanup()\n"
    text += "print(job.status().value, [type(caught(call)).__name__ for call in (job.result, job.wait)])"
    assert local.run(TRAIN + text).stdout == "NOT_FOUND ['JobNotFound', 'JobNotFound']\n"


def test_cleanup_of_what_another_handle_has_collected(local: Project) -> None:
    text = "\nbatch = half.run_async_map([8])\nother = kinetic.attach_batch(batch.group_id)\nprint(batch.results(), other.cleanup(), other.job.cleanup(gcs=False))"
    assert local.run(TRAIN + text).stdout == "[4] None None\n"


def test_job_that_is_not_there(local: Project) -> None:
    text = "\nprint(type(caught(lambda: kinetic.attach('cpu-nosuch', local=True))).__name__)"
    assert local.run(TRAIN + text).stdout == "JobNotFound\n"


def test_command_line(local: Project) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kinetic", "jobs", "list", "--local", "-o", "json"],
        cwd=local.directory, env=local.environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == {"items": []}


def test_nothing_is_left_behind(local: Project) -> None:
    local.run(f"{TRAIN}\nhalf(8)\ncaught(half, 3)\ncaught(half, threading.Lock())")
    assert [path.name for path in local.home.iterdir() if path.name.startswith("kinetic-")] == []


AWAITED = """
import asyncio
import time
import kinetic

@kinetic.run(local=True)
def late():
    time.sleep(2)
    return 7

async def main():
    job = late.run_async()
    try:
        await asyncio.wait_for(job, 0.3)
    except asyncio.TimeoutError:
        print("timed out")
    print(await job, job.result())

asyncio.run(main())
"""


def test_waiting_that_is_cancelled_loses_nothing(local: Project) -> None:
    assert local.run(AWAITED).stdout == "timed out\n7 7\n"


SECRETS = """
import glob
import os
import tempfile
import time
import kinetic

kinetic.configure(local=True, env={"A_TOKEN": "s3cret"})
KEPT = {}

@kinetic.run()
def inner():
    return 1

@kinetic.run()
def outer():
    '''Wait until the file with the payload is gone.'''
    path = os.path.join(KEPT["directory"], "kinetic-*", "payload.pkl")
    while glob.glob(path):
        time.sleep(0.01)
    return inner() + 1, os.environ["A_TOKEN"]

KEPT["directory"] = tempfile.gettempdir()
print(outer())
"""


def test_payloads_have_no_variables_and_are_not_kept(local: Project) -> None:
    assert local.run(SECRETS + "\nprint('s3cret' in repr(inner.by_value()))").stdout == "(2, 's3cret')\nFalse\n"


def test_a_handle_keeps_the_value_and_refuses_maps(local: Project) -> None:
    done = local.run(
        """
        import kinetic
        kinetic.configure(local=True)

        @kinetic.run()
        def twice(x):
            return 2 * x

        job = twice.run_async(2)
        print(job.result(), job.result())
        batch = twice.run_async_map([1, 2])
        try:
            kinetic.attach(batch.job.job_id).result()
        except kinetic.UsageError as exc:
            print(str(exc).partition(" is a map")[1])
        print(list(batch.results()))
        """
    )
    assert done.stdout == "4 4\n is a map\n[2, 4]\n"


def test_a_file_that_was_not_packaged(local: Project) -> None:
    """A user of Python is told what to write in Python."""
    (local.home / "data.csv").write_text("1")
    text = TRAIN.replace('logs="none"', 'logs="stderr"') + "\n@kinetic.run()\ndef opened(path):\n    return open(path).read()\n"
    told = 'is packaged: pass kinetic.Data("../home/data.csv") as an argument, and open the path that the function gets\n'
    for call in ("opened('../home/data.csv')", "opened.map(['../home/data.csv'])"):
        done = local.run(f"{text}\nprint(type(caught(lambda: {call})).__name__)")
        assert told in done.stderr
        assert "--data" not in done.stderr
