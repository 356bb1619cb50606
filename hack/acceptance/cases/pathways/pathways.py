import os
import time

CHECKPOINT = os.path.join(os.environ.get("KINETIC_OUTPUT_PATH", "."), "checkpoint")


def total():
    """The devices and processes that JAX finds, the chips that have a part of an array, and the sum over all of them."""
    import jax
    import jax.numpy as jnp

    mesh = jax.make_mesh((jax.device_count(),), ("x",))
    rows = jax.device_put(jnp.arange(1024.0), jax.NamedSharding(mesh, jax.P("x")))
    chips = len({shard.device for shard in rows.addressable_shards})
    return [jax.device_count(), jax.process_count(), chips, int(jax.jit(jnp.sum)(rows))]


def survive():
    """Returns what the first attempt has saved: it computes until a chip is lost."""
    first = os.environ["KINETIC_ATTEMPT"] == "1"
    print(total())
    if first:
        with open(CHECKPOINT + ".tmp", "w") as file:
            file.write("epoch 3")
        os.replace(CHECKPOINT + ".tmp", CHECKPOINT)
        compute()
    with open(CHECKPOINT) as file:
        return [not first, file.read()]


def compute():
    """Uses all chips for an hour."""
    for _ in range(3600):
        total()
        time.sleep(1)
