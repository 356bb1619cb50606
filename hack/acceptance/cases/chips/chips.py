import ctypes
import os

HOSTS = int(os.environ.get("KINETIC_HOSTS", "1"))


def tpus():
    """The chips that JAX finds on this host, and how many hosts there are."""
    import jax

    return [jax.local_device_count(), HOSTS]


def gpus():
    """The same for GPUs, as the driver that GKE mounts counts them."""
    driver = ctypes.CDLL("/usr/local/nvidia/lib64/libcuda.so.1")
    count = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        raise RuntimeError("the driver finds no GPU")
    return [count.value, HOSTS]


def hosts():
    """How many hosts there are, where nodes only pretend to have chips."""
    return HOSTS
