"""Training that continues where it was stopped.

    python3 examples/checkpoints/train.py [--local]

What is below kinetic.checkpoint_dir() is there again after a preemption or a retry. A second
job continues from the first one's with resume_from.
"""

import argparse
import json
import os
from pathlib import Path

import kinetic


def step(weight: float) -> float:
    """Return the weight after one step of gradient descent on (w - 3)²."""
    return weight - 0.1 * 2 * (weight - 3)


@kinetic.run(name="descent", retries=3)
def train(steps: int) -> dict:
    """Take steps, from the last checkpoint if there is one; return where that led."""
    file = Path(kinetic.checkpoint_dir(), "last.json")
    state = json.loads(file.read_text()) if file.exists() else {"step": 0, "weight": 0.0}
    first = state["step"]
    while state["step"] < steps:
        state = {"step": state["step"] + 1, "weight": step(state["weight"])}
        save(file, state)
    print(f"attempt {kinetic.attempt()}: steps {first} to {state['step']}")
    return {"resumed_at": first, **state}


def save(file: Path, state: dict) -> None:
    """Replace the checkpoint. No reader ever sees half of one."""
    new = file.with_suffix(".tmp")
    new.write_text(json.dumps(state))
    os.replace(new, file)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--local", action="store_true", help="run on this machine")
    kinetic.configure(local=parser.parse_args().local)
    begun = train.run_async(10)
    print(begun.result())
    print(train.with_options(resume_from=begun.job_id)(25))
