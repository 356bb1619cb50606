# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A host's place in its job, and the variables with which the hosts of a call find each other."""

import re
from collections import namedtuple

TORCH_PORT = 29500  # on the leader, for the call
JAX_PORT = 8602  # for JAX; Google's TPU software uses ports from 8470 to 8490
TPU_PORT = 8476  # where LeaderWorkerSet has libtpu listen

HOST_NAMES, WORKER_ID = "TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID"
PROCESS_ADDRESSES, PROCESS_PORT = "TPU_PROCESS_ADDRESSES", "TPU_PROCESS_PORT"


class PlaceUnknown(ValueError):
    """The environment does not say which host of the job this is."""


class Group(namedtuple("Group", "host hosts leader slices in_set")):
    """This host's number, how many hosts there are, the leader's address, the number of
    TPU slices, and whether the hosts are those of a LeaderWorkerSet or of an Indexed Job."""

    @property
    def slice_size(self):
        return self.hosts // self.slices

    @property
    def slice_number(self):
        return self.host // self.slice_size

    def address(self, host):
        """Return the DNS name of a host, or "" if the leader's name does not imply it.

        The leader of a LeaderWorkerSet is NAME-0.SUBDOMAIN.NAMESPACE, and its worker 3
        NAME-0-3.SUBDOMAIN.NAMESPACE. Those of an Indexed Job are NAME-0.SERVICE and
        NAME-3.SERVICE.
        """
        if host == 0:
            return self.leader
        name, _, domain = self.leader.partition(".")
        if not domain or not name.endswith("-0"):
            return ""
        prefix = name if self.in_set else name[: -len("-0")]
        return f"{prefix}-{host}.{domain}"


def find_group(environ, in_set):
    """Return this host's place, from the variables of a LeaderWorkerSet or an Indexed Job, or raise PlaceUnknown."""
    if in_set:
        names = ("LWS_WORKER_INDEX", "LWS_GROUP_SIZE", "LWS_LEADER_ADDRESS")
    else:
        names = ("JOB_COMPLETION_INDEX", "KINETIC_HOSTS", "KINETIC_LEADER")
    host, hosts, leader = (environ.get(name, "") for name in names)
    slices = environ.get("KINETIC_SLICES", "1")
    if leader and all(re.fullmatch("[0-9]{1,9}", number) for number in (host, hosts, slices)):
        group = Group(int(host), int(hosts), leader, int(slices), in_set)
        if group.host < group.hosts and group.slices > 0 and group.hosts % group.slices == 0:
            return group
    found = ", ".join(f"{name}={environ.get(name, '')!r:.80}" for name in names + ("KINETIC_SLICES",))
    raise PlaceUnknown(f"the environment does not say which host of the job this is: {found}")


def rendezvous(group, chips):
    """Return the variables with which torch and JAX find each other. chips is what each host has, such as gpu:8."""
    kind, _, count = chips.partition(":")
    host, hosts = str(group.host), str(group.hosts)
    found = {
        "MASTER_ADDR": group.leader,
        "MASTER_PORT": str(TORCH_PORT),
        "WORLD_SIZE": hosts,
        "RANK": host,
        "LOCAL_WORLD_SIZE": "1",
        "LOCAL_RANK": "0",
        "NODE_RANK": host,  # of Lightning
        "GROUP_RANK": host,
        "GROUP_WORLD_SIZE": hosts,
        "JAX_COORDINATOR_ADDRESS": f"{group.leader}:{JAX_PORT}",
        "JAX_NUM_PROCESSES": hosts,
        "JAX_PROCESS_ID": host,
    }
    if kind != "tpu":
        # JAX itself reads only the address. It takes the other two from a TPU slice, or
        # from a launcher that it knows: this is what Open MPI before version 5 sets.
        found["OMPI_VERSION"] = "4.1.0"
        found["OMPI_MCA_orte_hnp_uri"] = f"0.0;tcp://{group.leader}:{JAX_PORT}"
        found["OMPI_COMM_WORLD_SIZE"] = hosts
        found["OMPI_COMM_WORLD_RANK"] = host
        found["OMPI_COMM_WORLD_LOCAL_RANK"] = "0"
    if kind == "gpu":
        # Open MPI starts one process for each GPU. Here one process uses all of them.
        found["JAX_LOCAL_DEVICE_IDS"] = ",".join(map(str, range(int(count))))
    if group.slices > 1:  # with one slice libtpu would wait for others
        found["MEGASCALE_COORDINATOR_ADDRESS"] = group.leader
        found["MEGASCALE_NUM_SLICES"] = str(group.slices)
        found["MEGASCALE_SLICE_ID"] = str(group.slice_number)
    return found


def tpu_environment(group, chips, environ):
    """Return replacements for TPU variables that name fewer hosts than this host's slice has.

    GKE 1.34.1 and later gives the pods of a tpu7x slice TPU_PROCESS_ADDRESSES=localhost:PORT,
    and JAX and libtpu read that before TPU_WORKER_HOSTNAMES. LeaderWorkerSet sets it right
    from v0.8.0 on, but adds nothing to a pod that already has TPU_WORKER_HOSTNAMES.

    Nothing is replaced if no such variable is set, or if they name enough hosts: a v4,
    v5e, v5p or v6e slice needs no TPU_PROCESS_ADDRESSES. Nor if a file names the hosts
    (TPU_PROCESS_ADDRESSES_PATH, which JAX reads first).
    """
    size = group.slice_size
    if not chips.startswith("tpu:") or environ.get("TPU_PROCESS_ADDRESSES_PATH"):
        return {}
    lists = [environ[name] for name in (HOST_NAMES, PROCESS_ADDRESSES) if environ.get(name)]
    if all(len(hosts_in(addresses)) >= size for addresses in lists):
        return {}
    first = group.slice_number * size
    names = [group.address(host) for host in range(first, first + size)]
    if "" in names:
        return {}
    found = {HOST_NAMES: ",".join(names), WORKER_ID: str(group.host - first)}
    if environ.get(PROCESS_ADDRESSES) or environ.get(PROCESS_PORT):
        port = process_port(environ)
        found[PROCESS_ADDRESSES] = ",".join(f"{name}:{port}" for name in names)
        found[PROCESS_PORT] = port
    return found


def hosts_in(addresses):
    """Return the different hosts in a list like a:8471,a:8472,b:8471; several processes may run on each."""
    return {re.sub(r"^([^:]*|\[.*\]):[0-9]+$", r"\1", address.strip()) for address in addresses.split(",")}


def process_port(environ):
    """Return the port for libtpu to listen on."""
    first = environ.get(PROCESS_ADDRESSES, "").partition(",")[0]
    for port in (environ.get(PROCESS_PORT, ""), first.rpartition(":")[2]):
        if re.fullmatch("[0-9]{1,5}", port):
            return port
    return str(TPU_PORT)
