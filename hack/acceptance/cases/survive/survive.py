import os
import time


def survive():
    """Returns what the first attempt has saved: it waits for its machine to go."""
    attempt = int(os.environ["KINETIC_ATTEMPT"])
    checkpoint = os.path.join(os.environ["KINETIC_OUTPUT_PATH"], "checkpoint")
    if attempt == 1:
        with open(checkpoint + ".tmp", "w") as file:
            file.write("epoch 3")
        os.replace(checkpoint + ".tmp", checkpoint)
        time.sleep(3600)
    with open(checkpoint) as file:
        return [attempt > 1, file.read()]
