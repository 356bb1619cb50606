import time

import kinetic

kinetic.configure(local=True)  # leave it out, and it runs on the cluster


@kinetic.run(accelerator="tpu-v6e-8")
def train(epochs: int, rate: float = 0.5):
    loss = 1.0
    for epoch in range(epochs):
        time.sleep(0.4)
        loss *= 1 - rate
        print(f"epoch {epoch}  loss {loss:.4f}")
    return {"loss": loss}


if __name__ == "__main__":
    print(train(epochs=4))
