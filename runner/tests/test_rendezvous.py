"""What a host finds out about its place in the job, and what it tells torch, JAX and libtpu."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from kinetic_runner.hosts.rendezvous import Group, PlaceUnknown, find_group, rendezvous, tpu_environment

JOB = "kinetic-v6e16-train-20260417-153012-abc1234"
LEADER = f"{JOB}-0.{JOB}.default"  # of a LeaderWorkerSet


def in_set(host, hosts, slices=1):
    return Group(host, hosts, LEADER, slices, True)


def indexed(host, hosts, leader=f"{JOB}-0.{JOB}"):
    return Group(host, hosts, leader, 1, False)


def names(*suffixes, domain=JOB):
    """The names of the pods JOB-SUFFIX."""
    return [f"{JOB}-{suffix}.{domain}" for suffix in suffixes]


class FindGroup(unittest.TestCase):
    LWS = {"LWS_WORKER_INDEX": "1", "LWS_GROUP_SIZE": "4", "LWS_LEADER_ADDRESS": LEADER}
    JOB = {"JOB_COMPLETION_INDEX": "3", "KINETIC_HOSTS": "4", "KINETIC_LEADER": f"{JOB}-0.{JOB}"}

    def test_found(self):
        self.assertEqual(find_group(self.LWS, True), in_set(1, 4))
        self.assertEqual(find_group(dict(self.LWS, KINETIC_SLICES="2"), True), in_set(1, 4, 2))
        self.assertEqual(find_group(self.JOB, False), indexed(3, 4))

    def test_unknown(self):
        cases = {
            "nothing": ({}, True, "LWS_WORKER_INDEX='', LWS_GROUP_SIZE='', LWS_LEADER_ADDRESS='', KINETIC_SLICES=''"),
            "nothing of an Indexed Job": (self.LWS, False, "JOB_COMPLETION_INDEX='', KINETIC_HOSTS=''"),
            "no number": (dict(self.LWS, LWS_WORKER_INDEX="one"), True, "LWS_WORKER_INDEX='one'"),
            "negative": (dict(self.LWS, LWS_WORKER_INDEX="-1"), True, "LWS_WORKER_INDEX='-1'"),
            "too large": (dict(self.LWS, LWS_WORKER_INDEX="4"), True, "LWS_WORKER_INDEX='4', LWS_GROUP_SIZE='4'"),
            "no leader": (dict(self.JOB, KINETIC_LEADER=""), False, "KINETIC_LEADER=''"),
            "no slices": (dict(self.LWS, KINETIC_SLICES="0"), True, "KINETIC_SLICES='0'"),
            "slices of different sizes": (dict(self.LWS, KINETIC_SLICES="3"), True, "KINETIC_SLICES='3'"),
        }
        for name, (environ, of_set, message) in cases.items():
            with self.subTest(name), self.assertRaises(PlaceUnknown) as caught:
                find_group(environ, of_set)
            self.assertIn(message, str(caught.exception))

    def test_address(self):
        cases = {
            "leader": (in_set(1, 4), 0, LEADER),
            "of a LeaderWorkerSet": (in_set(1, 4), 12, f"{JOB}-0-12.{JOB}.default"),
            "of an Indexed Job": (indexed(1, 4), 12, f"{JOB}-12.{JOB}"),
            "leader by its IP address": (indexed(1, 4, "127.0.0.1"), 1, ""),
            "leader without a domain": (indexed(1, 4, "localhost-0"), 1, ""),
        }
        for name, (group, host, want) in cases.items():
            with self.subTest(name):
                self.assertEqual(group.address(host), want)


class Rendezvous(unittest.TestCase):
    def test_cpu(self):
        self.assertEqual(
            rendezvous(indexed(1, 4), ""),
            {
                "MASTER_ADDR": f"{JOB}-0.{JOB}", "MASTER_PORT": "29500", "WORLD_SIZE": "4", "RANK": "1",
                "LOCAL_WORLD_SIZE": "1", "LOCAL_RANK": "0", "NODE_RANK": "1", "GROUP_RANK": "1", "GROUP_WORLD_SIZE": "4",
                "JAX_COORDINATOR_ADDRESS": f"{JOB}-0.{JOB}:8602", "JAX_NUM_PROCESSES": "4", "JAX_PROCESS_ID": "1",
                "OMPI_VERSION": "4.1.0", "OMPI_MCA_orte_hnp_uri": f"0.0;tcp://{JOB}-0.{JOB}:8602",
                "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_LOCAL_RANK": "0",
            },
        )

    def test_gpu(self):
        found = rendezvous(indexed(1, 2), "gpu:8")
        self.assertEqual(found["JAX_LOCAL_DEVICE_IDS"], "0,1,2,3,4,5,6,7")
        self.assertEqual(found["OMPI_COMM_WORLD_RANK"], "1")

    def test_tpu(self):
        found = rendezvous(in_set(3, 4), "tpu:4")
        self.assertEqual((found["JAX_COORDINATOR_ADDRESS"], found["JAX_PROCESS_ID"]), (LEADER + ":8602", "3"))
        self.assertFalse([name for name in found if name.startswith(("OMPI_", "MEGASCALE_", "JAX_LOCAL_"))])

    def test_slices(self):
        found = rendezvous(in_set(2, 4, slices=2), "tpu:4")
        self.assertEqual(
            {name: value for name, value in found.items() if name.startswith("MEGASCALE_")},
            {"MEGASCALE_COORDINATOR_ADDRESS": LEADER, "MEGASCALE_NUM_SLICES": "2", "MEGASCALE_SLICE_ID": "1"},
        )


def worker_names(host_names, worker):
    return {"TPU_WORKER_HOSTNAMES": ",".join(host_names), "TPU_WORKER_ID": str(worker)}


def processes(host_names, port):
    return {"TPU_PROCESS_ADDRESSES": ",".join(f"{name}:{port}" for name in host_names), "TPU_PROCESS_PORT": str(port)}


# What a node of GKE gives every container with TPUs, beside the variables that are looked at.
DEVICE = {"TPU_ACCELERATOR_TYPE": "tpu7x-16", "TPU_TOPOLOGY": "2x2x2", "TPU_HOST_BOUNDS": "1,1,2", "TPU_SKIP_MDS_QUERY": "true"}
ONE_HOST = dict(DEVICE, TPU_WORKER_HOSTNAMES="localhost", TPU_WORKER_ID="0")
LOCAL_PROCESS = {"TPU_PROCESS_ADDRESSES": "localhost:8471", "TPU_PROCESS_PORT": "8471"}
FOUR = names("0", "0-1", "0-2", "0-3")  # as LeaderWorkerSet writes them
OURS = names("0", "0-1", "0-2", "0-3", domain=f"{JOB}.default")


class TPUEnvironment(unittest.TestCase):
    def check(self, cases):
        for name, (group, environ, want) in cases.items():
            with self.subTest(name):
                self.assertEqual(tpu_environment(group, "tpu:4", environ), want)

    def test_enough_hosts(self):
        self.check({
            "v6e by LeaderWorkerSet 0.7": (in_set(1, 4), dict(worker_names(FOUR, 1), TPU_NAME=f"{JOB}-0"), {}),
            "v6e by LeaderWorkerSet 0.9": (in_set(1, 4), dict(worker_names(FOUR, 1), **processes(FOUR, 8476)), {}),
            "two slices by LeaderWorkerSet 0.7": (in_set(2, 4, slices=2), worker_names(FOUR[2:], 0), {}),
            "two slices by LeaderWorkerSet 0.9": (
                in_set(2, 4, slices=2), dict(worker_names(FOUR[2:], 0), **processes(FOUR[2:], 8476)), {},
            ),
            "Indexed Job on GKE": (indexed(2, 4), dict(DEVICE, **worker_names(names(0, 1, 2, 3), 2)), {}),
            "several processes on each host": (
                in_set(0, 2), dict(worker_names(FOUR[:2], 0), TPU_PROCESS_ADDRESSES=",".join(
                    f"{name}:{port}" for name in FOUR[:2] for port in (8471, 8472)
                )), {},
            ),
            "slices of one host": (in_set(1, 2, slices=2), dict(ONE_HOST, **LOCAL_PROCESS), {}),
        })

    def test_nothing_to_replace(self):
        self.check({
            "no TPU variable": (indexed(1, 4), {"PATH": "/bin"}, {}),
            "none that names hosts": (indexed(1, 4), DEVICE, {}),
            "emptied": (in_set(1, 4), {"TPU_WORKER_HOSTNAMES": "", "TPU_PROCESS_ADDRESSES": ""}, {}),
            "hosts named by a file": (in_set(1, 2), dict(ONE_HOST, TPU_PROCESS_ADDRESSES_PATH="/etc/tpu/addresses"), {}),
            "the names of the others are not known": (indexed(1, 2, "10.0.0.1"), ONE_HOST, {}),
        })

    def test_too_few_hosts(self):
        self.check({
            "tpu7x by LeaderWorkerSet 0.7": (
                in_set(1, 2), dict(DEVICE, **worker_names(FOUR[:2], 1), **LOCAL_PROCESS),
                dict(worker_names(OURS[:2], 1), **processes(OURS[:2], 8471)),
            ),
            "tpu7x whose variables GKE sets before LeaderWorkerSet": (
                in_set(1, 2), dict(ONE_HOST, **LOCAL_PROCESS), dict(worker_names(OURS[:2], 1), **processes(OURS[:2], 8471)),
            ),
            "four processes on one host": (
                in_set(0, 2), dict(worker_names(FOUR[:2], 0), TPU_PROCESS_ADDRESSES="localhost:8471,localhost:8472,localhost:8473,localhost:8474"),
                dict(worker_names(OURS[:2], 0), **processes(OURS[:2], 8471)),
            ),
            "a port that is told apart from the addresses": (
                in_set(0, 2), dict(ONE_HOST, TPU_PROCESS_PORT="8480"), dict(worker_names(OURS[:2], 0), **processes(OURS[:2], 8480)),
            ),
            "process addresses only": (
                in_set(0, 2), {"TPU_PROCESS_ADDRESSES": "[::1]:8471"}, dict(worker_names(OURS[:2], 0), **processes(OURS[:2], 8471)),
            ),
            "process addresses without a port": (
                in_set(0, 2), dict(ONE_HOST, TPU_PROCESS_ADDRESSES="local"),
                dict(worker_names(OURS[:2], 0), **processes(OURS[:2], 8476)),
            ),
            "v6e on one host only": (in_set(3, 4), ONE_HOST, worker_names(OURS, 3)),
            "first of two slices": (in_set(1, 4, slices=2), ONE_HOST, worker_names(OURS[:2], 1)),
            "second of two slices": (
                in_set(3, 4, slices=2), dict(ONE_HOST, **LOCAL_PROCESS),
                dict(worker_names(OURS[2:], 1), **processes(OURS[2:], 8471)),
            ),
            "Indexed Job": (
                indexed(2, 4), dict(ONE_HOST, **LOCAL_PROCESS),
                dict(worker_names(names(0, 1, 2, 3), 2), **processes(names(0, 1, 2, 3), 8471)),
            ),
        })

    def test_other_chips(self):
        for chips in ("", "gpu:8"):
            self.assertEqual(tpu_environment(in_set(1, 2), chips, dict(ONE_HOST, **LOCAL_PROCESS)), {})


if __name__ == "__main__":
    unittest.main()
