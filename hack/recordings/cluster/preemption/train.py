import json
import os
import pathlib
import time

import kinetic


def train(epochs: int):
    file = pathlib.Path(kinetic.checkpoint_dir(), "last.json")
    first = json.loads(file.read_text())["epoch"] + 1 if file.exists() else 0
    for epoch in range(first, epochs):
        time.sleep(1.5)
        print(f"epoch {epoch}  loss {0.7 ** epoch:.3f}")
        new = file.with_suffix(".new")
        new.write_text(json.dumps({"epoch": epoch}))
        os.replace(new, file)
    return {"began_at": first, "loss": 0.7 ** epochs}
