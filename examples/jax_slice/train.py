"""JAX on every chip of a slice of four hosts.

    python3 examples/jax_slice/train.py

Each host runs the same program. jax.distributed.initialize() finds the others by itself.
"""

import argparse

import kinetic


@kinetic.run(accelerator="tpu-v6e-16")
def train(steps=100):
    """Fit a linear model with the batch split over all chips; host 0 returns the loss."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    jax.distributed.initialize()
    mesh = Mesh(np.array(jax.devices()), ("batch",))
    split, whole = NamedSharding(mesh, PartitionSpec("batch")), NamedSharding(mesh, PartitionSpec())
    print(f"host {kinetic.host()} of {kinetic.hosts()}: {jax.local_device_count()} of {jax.device_count()} chips")

    def loss(weights, x, y):
        return jnp.mean((x @ weights - y) ** 2)

    @jax.jit
    def step(weights, x, y):
        value, gradient = jax.value_and_grad(loss)(weights, x, y)
        return weights - 0.1 * gradient, value

    target = np.arange(8, dtype=np.float32)
    weights = jax.device_put(jnp.zeros(8), whole)
    random = np.random.default_rng(kinetic.host())
    for _ in range(steps):
        rows = random.normal(size=(256, 8)).astype(np.float32)
        x = jax.make_array_from_process_local_data(split, rows)
        y = jax.make_array_from_process_local_data(split, rows @ target)
        weights, value = step(weights, x, y)
    return float(value)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print(f"loss: {train():.2g}")
