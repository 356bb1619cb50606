# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What of a script travels by value, and is used in the job as in the script: found by name, and with its fields."""

from __future__ import annotations

import pytest
from conftest import Project

BY_NAME = """
import multiprocessing, pickle
import kinetic

class Layer:
    def __init__(self, size): self.size = size
    def twice(self): return double(self.size)

class Model:
    def __init__(self, *sizes): self.layers = [Layer(size) for size in sizes]

def double(number): return 2 * number

@kinetic.run(local=True, logs="none")
def train(model):
    saved = pickle.loads(pickle.dumps([model, Model(3, 4)]))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        doubled = pool.map(double, [1, 2])
    return [layer.size for model in saved for layer in model.layers], doubled, saved[0]
"""


def test_the_job_finds_what_is_in_the_script_by_name(local: Project) -> None:
    """As torch.save(model) and a Pool need it. Other programs have no such class: they get it with the value."""
    done = local.run(f"{BY_NAME}\njob = train.run_async(Model(1, 2))\nnumbers, doubled, model = job.result(cleanup=False)\nprint(job.job_id, numbers, doubled, type(model) is Model)")
    job, _, printed = done.stdout.partition(" ")
    assert printed == "[1, 2, 3, 4] [2, 4] True\n"
    elsewhere = local.run(f"import kinetic\nmodel = kinetic.attach('{job}', local=True).result()[2]\nprint(model.layers[1].size)")
    assert elsewhere.stdout == "2\n"


def test_processes_that_start_anew_are_told_at_once(local: Project) -> None:
    """They lack the script's names: a Pool would start them again for ever."""
    text = BY_NAME.replace('get_context("fork")', 'get_context("spawn")')
    done = local.run(f"{text}\ntry: train(Model(1))\nexcept Exception as exc: print(type(exc).__name__, exc)")
    assert "PicklingError Can't pickle <function double" in done.stdout


def test_forked_processes_find_names_beside_new_ones(local: Project) -> None:
    text = """
@kinetic.run(local=True, logs="none")
def both():
    new = multiprocessing.get_context("spawn").Process(target=print)
    new.start()
    new.join()
    queue = multiprocessing.get_context("fork").Queue()
    multiprocessing.get_context("fork").Process(target=queue.put, args=[Layer(7)]).start()
    return queue.get().size
"""
    assert local.run(f"{BY_NAME}{text}\nprint(both())").stdout == "7\n"


def test_a_class_of_a_function_is_no_class_of_the_script(local: Project) -> None:
    text = """
def make():
    class Layer: pass
    return Layer()

@kinetic.run(local=True, logs="none")
def saved(inner):
    data = pickle.dumps(Layer(5))
    try:
        pickle.dumps(inner)
    except Exception as exc:
        return pickle.loads(data).size, type(inner).__qualname__, "local" in str(exc)
"""
    done = local.run(f"{BY_NAME}{text}\nprint(saved(make()))")
    assert done.stdout == "(5, 'make.<locals>.Layer', True)\n"


REFUSED = {
    "as it is": "kinetic.checkpoint_dir()",
    "below it": "os.path.join(kinetic.output_dir(), 'last.pt')",
    "a path": "pathlib.Path(kinetic.output_dir())",
}


@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED)
def test_outputs_of_this_machine_as_a_global(local: Project, value: str) -> None:
    """The job would write to them, where nothing is saved."""
    text = f"""
import os, pathlib, kinetic

PLACE = {value}

def save(): return str(PLACE)

@kinetic.run(local=True, logs="none")
def train(): return save()

try:
    train()
except kinetic.UsageError as exc:
    print(exc)
"""
    done = local.run(text)
    assert done.stdout.startswith("PLACE is '")
    assert "what save() writes there in a job is lost: call kinetic.output_dir() or checkpoint_dir() in the function" in done.stdout


def test_outputs_around_the_program_as_a_global(local: Project) -> None:
    text = "import kinetic\nPLACE = kinetic.output_dir()\n@kinetic.run(local=True, logs='none')\ndef train(): return PLACE\nprint(train())"
    assert local.run(text, env={"KINETIC_OUTPUT_DIR": "."}).stdout == f"{local.directory}\n"


def test_other_paths_as_a_global(local: Project) -> None:
    text = "import kinetic\nkinetic.output_dir()\nPLACE = '/data'\n@kinetic.run(local=True, logs='none')\ndef train(): return PLACE\nprint(train())"
    assert local.run(text).stdout == "/data\n"


def test_dataclasses_of_the_script_keep_their_fields(local: Project) -> None:
    text = """
import dataclasses, kinetic

@dataclasses.dataclass
class Config:
    rate: float
    sizes: list = dataclasses.field(default_factory=list)

def shown(): return [(f.name, f.default is dataclasses.MISSING, f.default_factory is list) for f in dataclasses.fields(Config)]

@kinetic.run(local=True, logs="none")
def train(config): return config, shown(), dataclasses.asdict(config)

job = train.run_async(Config(0.1))
config, inside, data = job.result(cleanup=False)
print(job.job_id, shown() == inside == [("rate", True, False), ("sizes", True, True)], data, config == Config(0.1))
"""
    job, _, printed = local.run(text).stdout.partition(" ")
    assert printed == "True {'rate': 0.1, 'sizes': []} True\n"
    elsewhere = local.run(f"import dataclasses, kinetic\nprint(dataclasses.asdict(kinetic.attach('{job}', local=True).result()[0]))")
    assert elsewhere.stdout == "{'rate': 0.1, 'sizes': []}\n"


def test_inputs_of_a_map_are_found_by_name(local: Project) -> None:
    text = "\n@kinetic.run(local=True, logs='none')\ndef size(layer): return pickle.loads(pickle.dumps([layer, double]))[1](layer.twice())\n"
    done = local.run(f"{BY_NAME}{text}print(size.map([Layer(1), Layer(2)]))")
    assert done.stdout == "[4, 8]\n"


def test_paths_of_windows_are_paths_in_the_job(local: Project) -> None:
    """No job can have a WindowsPath. (Here it is made without the check that it fits the system.)"""
    text = """
import pathlib, kinetic
path = object.__new__(pathlib.WindowsPath)
path._drv, path._root, path._parts = "", "", ["data", "a.csv"]
DATA = path

@kinetic.run(local=True, logs="none")
def where(given): return str(given), str(DATA)

print(where(path))
"""
    assert local.run(text).stdout == "('data/a.csv', 'data/a.csv')\n"


@pytest.mark.parametrize("call", ["train()", "train.run_async()", "train.map([1])"])
def test_a_process_that_starts_anew_submits_nothing(local: Project, call: str) -> None:
    """It imports the program first, whose top level calls the job."""
    text = f"""
import multiprocessing, kinetic

@kinetic.run(local=True, logs="none")
def train(n=1): return n

{call}

if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=print, args=("started",))
    process.start()
    process.join()
    print(process.exitcode)
"""
    done = local.run(text)
    assert done.stdout == "1\n"
    assert "multiprocessing imports this program again, and its top level submits a job: put the call under" in done.stderr
